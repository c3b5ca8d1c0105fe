/* SPDX-License-Identifier: Apache-2.0 */
/* The file of --python-functions-trace, in nsys's form: JSON, a list of
 *	{"domain": "PyTorch", "color": "blue", "module": "torch.amp",
 *	 "functions": ["GradScaler.scale", {"function": "autocast"}]}
 * where domain and color are optional, and other keys are ignored. The launcher checks the file with this code, and the
 * recorder reads it.
 *
 * Nothing here allocates or does I/O: strings are unescaped in place. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FUNCTIONS_FILE_BYTES = 1 << 20 };

/* Borrowed from the file's bytes. */
struct functions_entry {
	const char *domain, *module, *name; /* domain "": the default one */
	uint32_t color;			    /* ARGB; 0: none */
};

struct functions_parser {
	char *start, *at, *end;
	char *after;   /* of the object whose functions are being read; NULL: between objects */
	bool is_first; /* no item of the list has been read */
	struct functions_entry now;
};

/* `bytes` are modified, and must have space for one byte more than `size`. */
void functions_begin(struct functions_parser *f, char *bytes, size_t size);

/* 1: *ret is the next function; 0: there is none; -EINVAL: `why` has an error message with the number of the line. */
int functions_next(struct functions_parser *f, struct functions_entry *ret, char *why, size_t size);
