/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of the process and the path of its capture, read once from the kernel and the environment. Nothing is
 * allocated. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

struct identity {
	uint32_t parent_pid;
	uint64_t start; /* clock ticks since boot */
	char host[TF_HOST]; /* in the form used in file names */
	char boot[40];
	char executable[512], arguments[1536], variables[1024]; /* the latter two: items, each terminated by a NUL */
	size_t arguments_size, variables_size;
};

/* The arguments that the loader passed to our constructor; without them /proc/self/cmdline is read. */
void identity_set_arguments(int argc, char **argv);

void identity_read_host(struct identity *id);

/* The rest; the boot only if it is not known yet. */
void identity_read(struct identity *id, char *const *environment);

/* In a forked child: updates the parent's pid and the start time; host, executable and arguments stay the parent's. */
void identity_forked(struct identity *id);

/* A field of the stat file of a thread of this process, or of the process (tid 0); 0: not known. START: when it was
 * created; BLOCKED: how long it has waited for block devices; both in clock ticks, START since boot. */
uint64_t identity_stat(uint32_t tid, int number);
enum { IDENTITY_STAT_START = 22, IDENTITY_STAT_BLOCKED = 42, IDENTITY_TICK_NS = 10000000 };

/* False: /proc of this process cannot be read, so its start time is missing. */
bool identity_has_proc(const struct identity *id);

void identity_describe(const struct identity *id, struct tf_header *header);

/* Returns the value of NAME, or NULL. Borrowed from the environment. */
const char *identity_variable(char *const *environment, const char *name);
/* The number of a rank; NULL: it is none. */
const char *identity_rank(char *const *environment);
uint64_t identity_number(const char *digits); /* NULL: 0 */

/* The absolute path of the capture, from PILLION_OUTPUT; expands %p %h %q{ENV} %% unless a launcher has done so.
 * False: too long. */
bool identity_capture(char *ret, size_t size, char *const *environment, const struct identity *id);

/* Stores what children need: all PILLION_*, NVTX_INJECTION64_PATH and CUDA_INJECTION64_PATH, PILLION_OUTPUT and
 * PILLION_RUN as given. If the environment of the process lacks one of them, `environ` is replaced by a longer copy,
 * because setenv would allocate. */
void identity_export(char *const *environment, const char *directory, uint64_t run, const char *library);

/* The "NAME=value" strings of identity_export, NULL-terminated. */
char *const *identity_exported(void);
