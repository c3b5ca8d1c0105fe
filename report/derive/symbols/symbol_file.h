/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a file has for its addresses: by elfutils (symbol_file_elfutils.c), or none in a build without it
 * (symbol_file_none.c). */
#ifndef PILLION_SYMBOL_FILE_H
#define PILLION_SYMBOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/base/util.h"

struct symbol_file;

/* Opens a file that a trace names, if it is the recorded build; a length of 0: any build. NULL if it cannot be used;
 * a reason that is worth reporting is added to `problems`. */
struct symbol_file *symbol_file_open(const char *path, const uint8_t *build_id, size_t length, struct texts *problems);
void symbol_file_close(struct symbol_file *f);

/* Name and source line of an address of the file, NULL if there is none; both borrowed. */
const char *symbol_file_name(struct symbol_file *f, uint64_t address);
const char *symbol_file_source(struct symbol_file *f, uint64_t address, int *ret_line);

#endif
