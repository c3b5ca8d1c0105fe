/* SPDX-License-Identifier: Apache-2.0 */
/* Python stacks: the code objects that the calling thread runs, and the position in each, read from CPython's
 * frames. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { PYSTACK_FRAMES = 256 };

struct pystack_frame {
	const char *code;  /* NULL: an invocation without visible frames, or, without is_entry, the walk was cut off */
	uint32_t offset;   /* of the instruction, in bytes */
	uint32_t is_entry; /* the outermost frame of one C invocation of the interpreter */
};

/* Called for each module that is new in the trace: remembers it if it is CPython. `base` and `dynamic` as in struct
 * link_map. Takes no lock; any signal handler. The next walk determines the version, or writes to the ledger why
 * there are no frames. */
void pystack_check_module(uintptr_t base, const void *dynamic);

/* Has an interpreter been found? Without one, no stack has Python frames. */
bool pystack_has_interpreter(void);

/* Is it the object with this dynamic section? */
bool pystack_is_interpreter(const void *dynamic);

/* Can its frames be read? Known after the first walk. */
bool pystack_is_readable(void);

/* Stores the calling thread's Python frames, innermost first, at most `size`, and returns their number; 0: none.
 * They are read by plain loads, with or without the GIL, so the thread must be in a call that it made itself, not in
 * a signal handler. The frames are added to *hash. */
unsigned pystack_take(struct pystack_frame *ret, unsigned size, uint64_t *hash);

/* Likewise from a signal handler, on a stack with 100 KiB of space. Frames may be incomplete or freed, so the kernel
 * reads them (process_vm_readv), and the walk ends, perhaps too early, at the first that is not as expected. */
unsigned pystack_sample(struct pystack_frame *ret, unsigned size, uint64_t *hash);

/* The caller of fflush(stdout) is code of the object with this dynamic section, `frame` the frame of its callee. If the
 * interpreter exits there by a SystemExit whose status is not 0: where that was raised, at most PYSTACK_FRAMES. */
__attribute__((cold)) unsigned pystack_exit(uintptr_t frame, const void *dynamic,
					    struct pystack_frame *ret, int *status);

/* Writes the frames as the Python part of stack `id`, and the code objects that the trace does not have yet. */
void pystack_write(uint32_t id, const struct pystack_frame *frames, unsigned count, bool is_sample);

/* Returns the id of a stack that has these Python frames, innermost first, and no native ones; 0: not possible. Unless
 * is_sample, their code objects are alive, and the GIL is held. */
__attribute__((cold)) uint32_t pystack_intern(const struct pystack_frame *frames, unsigned count, bool is_sample);

/* The number of frames within the outermost import: that one's first frame is the next one. 0: there is no import. */
__attribute__((cold)) unsigned pystack_within_import(const struct pystack_frame *frames, unsigned count);

/* See slowed.h. The frame is alive; 0: its code could not be read. */
__attribute__((cold)) uint64_t pystack_key(const struct pystack_frame *frame);

/* After a dlclose, which may have unloaded the interpreter. */
void pystack_module_unloaded(void);
