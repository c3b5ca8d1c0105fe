/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter of the process that is being read: where_python.c reads its frames, where_tasks.c asyncio's tasks. */
#pragma once

#include <string.h>

#include "runtime/shared/common/pystack_name.h"
#include "runtime/shared/outside/where.h"

enum { PYTHON_FRAMES = 256, PYTHON_STATES = WHERE_THREADS, PYTHON_CODES = 4096, PYTHON_FUTEXES = 64 };

struct python_state {
	uint64_t address, thread; /* thread: as pthread_self() returns it */
	uint32_t tid;
};

/* Offsets that only a remote reader needs. */
struct python_offsets {
	uint16_t version, interpreters, threads, thread, native;
};

struct python {
	uint32_t pid;
	struct pystack_layout layout;
	struct python_offsets offsets;
	uint32_t next_interpreter, threads;
	uint64_t code_type, text_type, bytes_type, method_type, coroutine_type, set_type;
	struct python_state states[PYTHON_STATES];
	size_t count;
	uint64_t codes[PYTHON_CODES]; /* addresses; the id is the position + 1 */
	size_t code_count;
	uint64_t futexes[PYTHON_FUTEXES]; /* that threads wait on */
	size_t futex_count;
};
extern struct python python;

static inline uint64_t python_word_in(const char *bytes, unsigned offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* 0: it cannot be read. */
uint64_t python_word_at(uint64_t address);
/* A str in its compact form as UTF-8, truncated to `size` bytes. Returns their number; -1: it is not one. */
int python_text_read(uint64_t text, char *ret, unsigned size);
bool python_is_type(uint64_t type, const char *name);

struct python_walk {
	struct tf_python_frame frames[PYTHON_FRAMES];
	size_t count;
	bool is_open; /* the last frame is the outermost of its invocation, unless another one follows */
};
/* Adds a frame, of which there are at least 5/8 of PYSTACK_FRAME_BYTES. False: it is not as expected. */
bool python_frame_add(struct python_walk *w, const char *frame);
