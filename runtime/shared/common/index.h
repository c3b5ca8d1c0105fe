/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a host's index (their fields: end of trace_format.h). Used by the launcher and, in the target, also by a
 * vfork child: raw system calls, no allocation, everything on the caller's stack. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INDEX_NAME_BYTES = 128, INDEX_HOST_BYTES = 64 };

/* A line under construction in the caller's buffer. If a value does not fit, it is cut and is_cut is set; the line
 * remains valid. */
struct index_writer {
	char *bytes;
	size_t used, size;
	bool is_cut;
};

void index_begin(struct index_writer *line, char *buffer, size_t size, const char *kind);
/* key=value with the bytes below 0x21, 0x7f and '\' as \xHH; `length` bytes, which may contain NULs. */
void index_field(struct index_writer *line, const char *key, const void *value, size_t length);
void index_text(struct index_writer *line, const char *key, const char *value);
void index_number(struct index_writer *line, const char *key, uint64_t value);
void index_signed(struct index_writer *line, const char *key, int64_t value);
/* 16 hexadecimal digits, as in names of files. */
void index_hex(struct index_writer *line, const char *key, uint64_t value);
/* Ends the line and adds it to the file of that name in `directory` by one write. 0 or -errno. */
int index_append(struct index_writer *line, const char *directory, const char *name);

/* The host's name for file names: characters other than [A-Za-z0-9._-], and a leading dot, become '_'. */
void index_host(char *ret, size_t size, const char *host);
/* HOST.BOOT.index; `boot` is the boot_id, of which 8 digits are used. */
void index_name(char *ret, size_t size, const char *host, const char *boot);
/* HOST.RUN.range, HOST.RUN.usage, HOST.RUN.where and HOST.RUN.energy. */
void index_run_name(char *ret, size_t size, const char *host, uint64_t run, const char *suffix);
