/* SPDX-License-Identifier: Apache-2.0 */
/* Python stacks: which code objects the calling thread runs and where in each, read out of CPython's own frames. */
#ifndef PILLION_PYSTACK_H
#define PILLION_PYSTACK_H

#include <stdbool.h>
#include <stdint.h>

enum { PYSTACK_FRAMES = 256 };

struct pystack_frame {
	const char *code; /* the code object; NULL: an evaluation that shows no frame of its own, or not is_entry: the walk ended */
	uint32_t offset;  /* of the instruction, in bytes */
	uint32_t is_entry; /* the outermost of those that one C invocation of the interpreter runs */
};

/* A module on the stack that the trace did not have yet: is it CPython? `base` and `dynamic` as the loader has them. Takes no
 * lock; any signal handler. The first walk after it finds the version, or writes into the ledger why there are no frames. */
void pystack_look(uintptr_t base, const void *dynamic);

/* Has an interpreter been met? Without one no stack has Python frames. */
bool pystack_is_there(void);

/* The calling thread's Python frames, innermost first, at most `size`; 0 where it runs none. Plain loads, with or without the
 * GIL: the thread must be in a call that it made itself, not in a signal handler. *hash covers what tells two stacks apart. */
unsigned pystack_take(struct pystack_frame *ret, unsigned size, uint64_t *hash);

/* Likewise where a signal came upon the thread, from the handler and on a stack with 100 KiB of room: frames are half made or gone, so
 * all is read by the kernel (process_vm_readv) and ends, perhaps early, where it is not what it should be. */
unsigned pystack_sample(struct pystack_frame *ret, unsigned size, uint64_t *hash);

/* Writes the frames as the Python side of stack `id`, and those of their code objects that the trace does not have yet. */
void pystack_write(uint32_t id, const struct pystack_frame *frames, unsigned count, bool is_sample);

/* After a dlclose, which may have been the interpreter's. */
void pystack_module_gone(void);

#endif
