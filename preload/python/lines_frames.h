/* SPDX-License-Identifier: Apache-2.0 */
/* --lines-of before CPython 3.12: a trace function in C in the frames of chosen functions alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct line_code;

/* Of lines.c. The code object's, NULL: it is not known yet. */
struct line_code *lines_known(void *code);
void lines_know(void *code, struct line_code *c);
bool lines_wants(const struct line_code *c);
/* `name`: the qualified one, as bytes of Python; NULL: co_name. */
struct line_code *lines_describe(void *code, const char *module, const char *name, bool is_decorated);
void lines_line(struct line_code *c, uint32_t line);
void lines_leave(const struct line_code *c);

/* With the GIL: `settrace` is sys.settrace, minor that of the version. False: not possible in this interpreter. */
bool lines_frames_begin(void *settrace, unsigned minor);
