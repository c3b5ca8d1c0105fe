/* SPDX-License-Identifier: Apache-2.0 */
/* Python stacks: which code objects the calling thread runs, and where in each, read from CPython's own frames. */
#ifndef PILLION_PYSTACK_H
#define PILLION_PYSTACK_H

#include <stdbool.h>
#include <stdint.h>

enum { PYSTACK_FRAMES = 256 };

struct pystack_frame {
	const char *code;  /* NULL: an invocation that shows no frame, or, without is_entry, the walk was cut */
	uint32_t offset;   /* of the instruction, in bytes */
	uint32_t is_entry; /* the outermost frame of one C invocation of the interpreter */
};

/* For each module that is new to the trace: notes it if it is CPython. `base` and `dynamic` as in struct link_map.
 * Takes no lock; any signal handler. The next walk finds the version, or writes to the ledger why there are no
 * frames. */
void pystack_look(uintptr_t base, const void *dynamic);

/* Whether an interpreter was found. Without one no stack has Python frames. */
bool pystack_is_there(void);

/* The calling thread's Python frames, innermost first, at most `size`; 0: it runs none. Read by plain loads, with or
 * without the GIL: the thread must be in a call that it made itself, not in a signal handler. *hash is extended by
 * the frames. */
unsigned pystack_take(struct pystack_frame *ret, unsigned size, uint64_t *hash);

/* Likewise from a signal handler, on a stack with 100 KiB of room: frames may be incomplete or freed, so the kernel
 * reads them (process_vm_readv), and the walk ends, perhaps early, at the first that is not what it should be. */
unsigned pystack_sample(struct pystack_frame *ret, unsigned size, uint64_t *hash);

/* Writes the frames as the Python part of stack `id`, and those of their code objects that the trace does not have
 * yet. */
void pystack_write(uint32_t id, const struct pystack_frame *frames, unsigned count, bool is_sample);

/* After a dlclose, which may have unloaded the interpreter. */
void pystack_module_unloaded(void);

#endif
