/* SPDX-License-Identifier: Apache-2.0 */
/* Who the process is and where its capture lies, read once from the kernel and the environment: no allocation. */
#ifndef PILLION_IDENTITY_H
#define PILLION_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/format/trace_format.h"

struct identity {
	char host[TF_HOST]; /* as file names have it */
	char boot[40];
	uint32_t parent_pid;
	uint64_t start; /* clock ticks since boot */
	char executable[512], arguments[1536], variables[1024]; /* the latter two: items, each with its NUL */
	size_t arguments_size, variables_size;
};

/* What the loader gave to our constructor; else /proc/self/cmdline serves. */
void identity_set_arguments(int argc, char **argv);

/* The upper end of the main thread's stack. */
uintptr_t identity_stack_top(void);

void identity_read(struct identity *id, char *const *environment);

/* In a forked child: the parent's host, executable and arguments, but another pid, parent and start. */
void identity_forked(struct identity *id);

void identity_describe(const struct identity *id, struct tf_header *header);

/* The value of NAME, or NULL. Borrowed. */
const char *identity_variable(char *const *environment, const char *name);
uint64_t identity_number(const char *digits); /* NULL: 0 */

/* The capture's directory, absolute, from PILLION_OUTPUT, with %p %h %q{ENV} %% expanded where no launcher has done so.
 * False: too long. */
bool identity_capture(char *ret, size_t size, char *const *environment, const struct identity *id);

/* Keeps what children need: all PILLION_*, NVTX_INJECTION64_PATH and CUDA_INJECTION64_PATH, PILLION_OUTPUT and
 * PILLION_RUN as given. Where the process's own environment lacks one, `environ` is replaced by a longer copy (setenv
 * would allocate). */
void identity_export(char *const *environment, const char *directory, uint64_t run, const char *library);

/* "NAME=value" strings of identity_export, NULL-ended. */
char *const *identity_exported(void);

#endif
