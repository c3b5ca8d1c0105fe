/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a call of cuBLAS, cuDNN, NCCL, MPI ...: which of its arguments, as the rows' shapes say, become the
 * fields of a struct tf_operation. Libraries hide much behind handles (a plan, a communicator, a tensor's descriptor):
 * what was said when a handle was made is noted here, and told with the calls that use it.
 *
 * Any thread, any signal handler; nothing locks or allocates but by mmap. No header of a library is needed: an argument
 * is a word, as a register or a place on the stack carries it. */
#ifndef PILLION_LIBRARY_H
#define PILLION_LIBRARY_H

#include "preload/hook/call.h"

enum library_how {
	LIBRARY_ENUM,	   /* always an int */
	LIBRARY_INT,	   /* an int; in a function of 64-bit integers (..._64) an int64_t */
	LIBRARY_WIDE,	   /* always an int64_t, a size_t or a pointer; so are those after it */
	LIBRARY_OF,	   /* what was noted of this handle, in the role `field` */
	LIBRARY_OF_INT,	   /* likewise, the handle being an int */
	LIBRARY_BYTES,	   /* bytes of an MPI datatype */
	LIBRARY_COMMUNICATOR, /* MPI's */
	LIBRARY_LIST,	   /* `position`: the number of ints, `other`: their address */
	LIBRARY_LIST_WIDE, /* likewise of int64_t */
};

struct library_part {
	uint8_t field; /* enum tf_field | enum tf_role */
	uint8_t how;
	uint8_t position; /* of the argument in `words`: LIBRARY_WORD(n), from 1 */
	uint8_t other;
};

enum library_key { LIBRARY_KEY_NONE, LIBRARY_KEY_AT, LIBRARY_KEY_OUT, LIBRARY_KEY_INT, LIBRARY_KEY_INT_OUT };

enum { LIBRARY_PARTS = 20 };

/* key, key_position: the argument that is, or where the call leaves, the handle that these parts are noted of. */
struct library_shape {
	uint8_t count, key, key_position;
	struct library_part parts[LIBRARY_PARTS];
};

/* Where `words` has argument `n`: behind the registers lie the frame pointer and the return address, then the
 * caller's stack. On aarch64 these two lie elsewhere. */
#if defined(__x86_64__)
enum { LIBRARY_REGISTERS = 6 };
#define LIBRARY_WORD(n) ((n) > LIBRARY_REGISTERS ? (n) + 2 : (n))
#else
enum { LIBRARY_REGISTERS = 8 };
#define LIBRARY_WORD(n) (n)
#endif

/* What a SET or OWN row does in place of a shape. end: ends a recorded call and writes it. note: after each call that
 * has done its work, also where nothing is recorded. words[LIBRARY_WORD(n)] is the n-th argument, words[n] for those
 * in registers. */
struct library_body {
	void (*end)(struct call *e, unsigned function, int result, const uintptr_t *words);
	void (*note)(const uintptr_t *words);
};

/* A communicator that is being made in the background is there already: ncclInProgress. */
static inline bool library_has_done(unsigned group, int result)
{
	return !result || (group == TF_GROUP_NCCL && result == 7);
}

/* words[LIBRARY_WORD(1)] is the first argument. is_wide: a function of 64-bit integers. Lists of a call that failed
 * may not be there. */
void library_collect(struct tf_operation *op, const struct library_shape *shape, const uintptr_t *words, bool is_wide,
		     bool is_failed);

/* Notes what a successful call said of a handle. */
void library_note(const struct library_shape *shape, const uintptr_t *words);

/* Sets one field of what is noted of a handle; a note is made if need be. */
void library_note_field(uintptr_t handle, uint8_t field, int64_t value);

/* Replaces all that is noted of a handle. */
void library_note_all(uintptr_t handle, const struct tf_operation *op);

/* Appends what is noted of a handle, as far as there is room: in `role`, or (0) as it stands. */
void library_append(struct tf_operation *op, uintptr_t handle, uint8_t role);

static inline void library_field(struct tf_operation *op, uint8_t field, int64_t value)
{
	if (op->count < TF_OPERATION_FIELDS) {
		op->fields[op->count] = field;
		op->values[op->count++] = value;
	}
}

/* Ends a call and writes it with what it was asked for. result: its status, 0 if it succeeded. */
void library_end(struct call *e, unsigned function, int result, const struct library_shape *shape,
		 const uintptr_t *words, bool is_wide);

/* Writes a call that call_end() let through, where the operation is known. */
void library_record(const struct call *e, unsigned function, int result, const struct tf_operation *op);

/* Is this the call that its thread is in already? Libraries that only pass on to another of theirs have the same
 * names. */
static inline __attribute__((always_inline)) bool library_is_inside(unsigned function, uintptr_t frame)
{
	const struct thread *t = &thread_self;

	return __builtin_expect(t->generation == process.generation &&
					t->page->current >> TF_CURRENT_SHIFT == function + 1,
				0) &&
	       t->current_frame > frame;
}

#endif
