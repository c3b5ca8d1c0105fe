/* SPDX-License-Identifier: Apache-2.0 */
/* The names of code that a program compiled while it ran, from the file that virtual machines write for perf(1): its
 * lines are "START SIZE NAME", in hexadecimal. */
#pragma once

#include "report/names/symbol_file.h"

struct symbol_map;

/* The file "/tmp/perf-PID.map" is only one of a process with that PID. NULL: there is none that was last written in
 * that time (CLOCK_REALTIME), or it is another user's. */
struct symbol_map *symbol_map_open(const char *path, uint64_t from_ns, uint64_t to_ns);
void symbol_map_close(struct symbol_map *m);

/* The function at an address. Its line is the one at which it begins. Borrowed from the map. False: not known. */
bool symbol_map_find(struct symbol_map *m, uint64_t address, struct symbol_line *ret);
