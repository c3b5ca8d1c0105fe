/* SPDX-License-Identifier: Apache-2.0 */
/* A file of samples, to which one process appends. With --ring, only its newest part is kept. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/index.h"

/* SAMPLE_TURNS: the ring, and what a process keeps beyond it, have fewer turns. */
enum { SAMPLE_TURNS = 32, SAMPLE_HEAD_BYTES = 96 };

struct sample_file {
	int fd; /* -1: there is no file, or it could not be written */
	bool is_ring;
	char path[PATH_MAX + INDEX_NAME_BYTES];
	uint8_t head[SAMPLE_HEAD_BYTES];
	size_t head_size;
	uint64_t size; /* of the file */
	uint64_t added; /* bytes that were ever appended */
	/* Where the samples of a turn begin in the file, and when it began (CLOCK_MONOTONIC), oldest first */
	struct sample_turn {
		uint64_t at, ns;
	} turns[SAMPLE_TURNS];
	size_t turn_count;
};

/* How large a file without a ring may become before its writer doubles the interval between samples, and by how much
 * more before each further doubling: a day of samples fits into the bound of --mode=profile. */
static inline uint64_t sample_file_step(const struct run *run)
{
	return run->options.mode == MODE_PROFILE ? 256 << 10 : 32 << 20;
}

/* Creates the file with this name in the capture. False: there is none. */
bool sample_file_open(struct sample_file *f, const struct run *run, const char *name, const void *head, size_t size);

/* False: it could not be written, and is closed, since what comes after a part of a sample cannot be found. */
bool sample_file_add(struct sample_file *f, const void *bytes, size_t size);

/* To be called before each round of samples. True: a new turn begins, and the round must have everything that later
 * samples depend on, because the turns before it are going to be removed. The first turn is not reported. */
bool sample_file_turn(struct sample_file *f, const struct run *run);
