/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a call of cuBLAS, cuDNN, NCCL, MPI, ... that are recorded: the shape of its row selects those that
 * become fields of a struct tf_operation. Many properties of a call are hidden in handles (a plan, a communicator, a
 * tensor's descriptor): the arguments that made a handle are kept as its note and added to each call that uses it.
 *
 * Any thread, any signal handler; nothing takes a lock, and memory comes from mmap only. No header of a library is
 * needed: an argument is the word that is in its register or stack slot. */
#pragma once

#include "preload/hook/call.h"

enum library_how {
	LIBRARY_ENUM,	   /* always an int */
	LIBRARY_INT,	   /* an int; in a function of 64-bit integers (..._64) an int64_t */
	LIBRARY_WIDE,	   /* always an int64_t, a size_t or a pointer; so are those after it */
	LIBRARY_OF,	   /* the note of this handle, in the role `field` */
	LIBRARY_OF_INT,	   /* likewise, for a handle that is an int */
	LIBRARY_BYTES,	   /* the size of an MPI datatype in bytes */
	LIBRARY_COMMUNICATOR, /* of MPI */
	LIBRARY_SOURCE,	   /* of a message of MPI; if it was a wildcard, that of the status, whose address is `other` */
	LIBRARY_SOURCE_TAG, /* likewise */
	/* from here on the value depends on more than the words */
	LIBRARY_LIST,	   /* `position`: the number of ints, `other`: their address */
	LIBRARY_LIST_WIDE, /* likewise, of int64_t */
	LIBRARY_BUFFER,	   /* what a call of MPI sends; `field`: enum library_mpi_buffer */
};

struct library_part {
	uint8_t field; /* enum tf_field | enum tf_role */
	uint8_t how;
	uint8_t position; /* of the argument in `words`: LIBRARY_WORD(n), from 1 */
	uint8_t other;
};

/* COMMUNICATOR: the call stores a communicator of MPI, whose note does not depend on the parts; LATER: likewise, but it
 * cannot be used yet, and has the ranks of the first argument. WORLD: from this call on there is
 * MPI_COMM_WORLD. */
enum library_key {
	LIBRARY_KEY_NONE,
	LIBRARY_KEY_AT,
	LIBRARY_KEY_OUT,
	LIBRARY_KEY_INT,
	LIBRARY_KEY_INT_OUT,
	LIBRARY_KEY_COMMUNICATOR,
	LIBRARY_KEY_COMMUNICATOR_LATER,
	LIBRARY_KEY_WORLD,
};

/* key, key_position: the argument with the handle to which the parts are attached, or with the address to which the
 * call stores this handle. */
struct library_shape {
	uint8_t count, key, key_position;
	struct library_part parts[];
};

/* The index of argument `n` in `words`. On x86-64 the frame pointer and the return address are between the arguments
 * passed in registers and those on the caller's stack; on aarch64 they are not. */
#if defined(__x86_64__)
enum { LIBRARY_REGISTERS = 6 };
#define LIBRARY_WORD(n) ((n) > LIBRARY_REGISTERS ? (n) + 2 : (n))
#else
enum { LIBRARY_REGISTERS = 8 };
#define LIBRARY_WORD(n) (n)
#endif

struct library_returned;

/* The code of a SET or OWN row, which has no shape. end: ends a recorded call and writes it. note: called after each
 * call that succeeded, even if nothing is recorded. words[LIBRARY_WORD(n)] is the n-th argument; if it is in a
 * register, that is words[n]. */
struct library_body {
	void (*end)(struct call *e, unsigned function, int result, const uintptr_t *words);
	void (*note)(const uintptr_t *words);
	/* Instead of both, after each call, also one that failed. e: NULL if the call is not recorded. value: the
	 * result with all 64 bits. */
	void (*finish)(struct call *e, unsigned function, const struct library_returned *call, int64_t value);
};

/* ncclInProgress (7) is a success: the communicator exists, although NCCL is still initialising it. */
static inline bool library_has_done(unsigned group, int result)
{
	return !result || (group == TF_GROUP_NCCL && result == 7);
}

/* A call that has returned. result: its status, 0 if it succeeded; else lists are not read and handles are not used,
 * because they may be invalid. */
struct library_returned {
	const uintptr_t *words; /* words[LIBRARY_WORD(1)] is the first argument */
	const void *real;	/* the function */
	int result;
	bool is_wide; /* it takes 64-bit integers */
};

void library_collect(struct tf_operation *op, const struct library_shape *shape, const struct library_returned *call);

/* Stores the note of a handle after a call that succeeded. */
void library_note(const struct library_shape *shape, const struct library_returned *call);

/* Sets one field of a handle's note. Creates the note if there is none. */
void library_note_field(uintptr_t handle, uint8_t field, int64_t value);

/* Replaces the note of a handle. */
void library_note_all(uintptr_t handle, const struct tf_operation *op);

/* Appends the fields of a handle's note, as far as there is room. role 0: with the roles that they have. */
void library_append(struct tf_operation *op, uintptr_t handle, uint8_t role);

/* Increases when the note of a handle changes or a datatype is freed, which invalidates cached operations. */
extern uint64_t library_epoch;
static inline void library_forget(void)
{
	__atomic_fetch_add(&library_epoch, 1, __ATOMIC_RELEASE);
}

static inline void library_field(struct tf_operation *op, uint8_t field, int64_t value)
{
	if (op->count < TF_OPERATION_FIELDS) {
		op->fields[op->count] = field;
		op->values[op->count++] = value;
	}
}

/* The id of an operation in the trace; 0: it has no fields. */
uint32_t library_intern(const struct tf_operation *op);

/* Ends a call and writes it with its operation. */
void library_end(struct call *e, unsigned function, const struct library_shape *shape,
		 const struct library_returned *call);

/* Likewise, with the request of MPI that it has made or started. */
void library_end_later(struct call *e, unsigned function, const struct library_shape *shape,
		       const struct library_returned *call, const uint32_t *request);

/* Likewise, with the communicator that it has made, if is_made. */
void library_end_maker(struct call *e, unsigned function, const struct library_shape *shape, bool is_made,
		       const struct library_returned *call);

/* Ends a recorded MPI_Startall, with its first requests. */
void library_end_start_all(struct call *e, unsigned function, const struct library_returned *call);

/* Writes a call for which call_end() returned true and whose operation is known. */
void library_record(const struct call *e, unsigned function, int result, const struct tf_operation *op);

/* Is the thread inside a recorded call of one of the `count` functions from `first` on? Some libraries export functions
 * that only forward to functions of the same names in another library, or call others of their own. */
static inline __attribute__((always_inline)) bool library_is_inside(unsigned first, unsigned count, uintptr_t frame)
{
	const struct thread *t = &thread_self;

	return __builtin_expect(t->generation == process.generation &&
					(t->page->current >> TF_CURRENT_SHIFT) - 1 - first < count,
				0) &&
	       t->current_frame > frame;
}
