/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of pystack: the interpreter of the process, and functions that read its objects. */
#pragma once

#include <string.h>
#include <sys/uio.h>

#include "runtime/recorder/loader/readable.h"
#include "runtime/recorder/python/pystack.h"
#include "runtime/recorder/record/process_state.h"
#include "runtime/shared/common/pystack_layout.h"
#include "runtime/shared/common/sys.h"

/* Number of code objects that a signal handler reads at a time. */
enum { PYSTACK_BATCH = 32 };
/* Number of bytes that are read of a str to distinguish it from others; with its state. */
enum { TEXT_BYTES = 48, TEXT_STATE_BYTES = 56 };

/* One interpreter per process, the first that is found. */
extern struct pystack_python {
	const struct pystack_layout *layout; /* NULL: no interpreter, or its frames cannot be read */
	struct pystack_layout found;
	void *(*state)(void);
	int (*is_finalizing)(void);
	const char *code_type, *text_type, *bytes_type;
	uintptr_t base;
	const void *dynamic; /* of the interpreter's DSO; NULL: none found */
	bool is_started;
	bool has_state;	 /* a signal handler may read the state of any thread */
	bool is_sampled; /* process_vm_readv is permitted */
	uint32_t unchecked; /* number of stacks that are still walked with a probe of each pointer */
} pystack_python;

/* The interpreter's layout; NULL: there is no interpreter, or its frames cannot be read. */
const struct pystack_layout *python_layout(void);

static inline uint64_t load_word(const char *object, unsigned offset)
{
	return *(const uint64_t *)(object + offset);
}

static inline const char *load_pointer(const char *object, unsigned offset)
{
	return (const char *)load_word(object, offset);
}

/* If system calls are forbidden, nothing is probed: layouts that were not checked before are not walked. While the
 * process has one thread, each page is probed once in a walk. */
bool is_readable(const void *from, uint64_t size);

/* When the interpreter is finalising, it frees the states of other threads than the main one. Needs python_layout(). */
bool is_python_ending(void);

/* At the start of a walk: what was readable in the last one may have been unmapped. */
extern bool pystack_knows_pages;
void pystack_forget_known_pages(void);
static inline void pystack_forget_pages(void)
{
	if (pystack_knows_pages)
		pystack_forget_known_pages();
}

/* Copies `each` bytes from each place, which may be unmapped at any moment: a plain load would kill the process. Stops
 * at the first that is unmapped; returns the number before it. At most PYSTACK_BATCH. */
unsigned copy_each(void *to, const void *const *from, unsigned count, size_t each);

/* Is the kernel's copy permitted, which copy_each() needs once there is a second thread? */
bool may_copy(void);

/* 0 bytes are readable anywhere: in CPython 3.8 the line table of a function of one line is empty. */
static inline bool copy_memory(void *to, const void *from, size_t size)
{
	return !size || copy_each(to, &from, 1, size) == 1;
}

static inline const char *object_type(const struct pystack_layout *l, const char *object)
{
	return load_pointer(object, PYSTACK_TYPE + l->head);
}

/* Of an object of variable size and of a str. */
static inline uint64_t object_length(const struct pystack_layout *l, const char *object)
{
	return load_word(object, PYSTACK_LENGTH + l->head);
}

/* A key of the content of a str, from its head only; it differs from that of an earlier str at this address. */
static inline uint64_t pystack_name_key(const struct pystack_layout *l, const char *head)
{
	return object_type(l, head) == pystack_python.text_type ? load_word(head, PYSTACK_HASH + l->head) : 0;
}

static inline uint32_t text_state(const struct pystack_layout *l, const char *head)
{
	return pystack_text_state(l, *(const uint32_t *)(head + PYSTACK_STATE + l->head));
}

static inline unsigned text_kind(uint32_t state)
{
	return state >> 2 & 7;
}

static inline unsigned text_start(const struct pystack_layout *l, uint32_t state)
{
	return state >> 6 & 1 ? l->ascii : l->compact;
}

/* Likewise for a file name, whose hash is seldom computed: names of generated code differ at their end. */
static inline uint64_t pystack_file_key(const struct pystack_layout *l, const char *file)
{
	uint32_t state = text_state(l, file);
	uint64_t length = object_length(l, file), key = pystack_name_key(l, file);

	if (key != UINT64_MAX || !(state >> 5 & 1))
		return key;
	return length +
	       load_word(file, (unsigned)(text_start(l, state) + length * text_kind(state) - sizeof(uint64_t))) *
		   0x9fb21c651e98df25ull;
}

/* The last file name and its key, because the frames of a stack share a few. */
struct pystack_file {
	const char *name;
	uint64_t key;
};

/* Distinguishes this code object from an earlier one at its address. The code object must be alive. */
static inline uint64_t pystack_code_key(const struct pystack_layout *l, const char *code, struct pystack_file *file)
{
	if (file->name != load_pointer(code, l->file))
		*file = (struct pystack_file){load_pointer(code, l->file),
					      pystack_file_key(l, load_pointer(code, l->file)) * 0xff51afd7ed558ccdull};
	return pystack_name_key(l, load_pointer(code, l->known)) + file->key;
}

/* Identifies the code object by more than its address, which may be reused. `bytes`: the content of the code
 * object. */
static inline uint64_t pystack_code_identity(const struct pystack_layout *l, const char *code, const char *bytes,
					     uint64_t key)
{
	return (uint64_t)code + (load_word(bytes, l->lines) ^ key) * 0x9fb21c651e98df25ull +
	       *(const uint32_t *)(bytes + l->first_line);
}

/* Copies code objects up to the first unreadable one, at most PYSTACK_BATCH; returns their number. NULL: no code
 * object. */
unsigned pystack_copy_codes(const char *const *code, unsigned count, char (*ret)[PYSTACK_CODE_BYTES]);

/* Writes the name that Python has for the calling thread, whose outermost frame is this one. */
__attribute__((cold)) void pystack_write_name(const struct pystack_layout *l, const char *frame);

/* Is it perhaps the stack of an event loop of asyncio that waits, in a version whose coroutines have their frames
 * within them? */
enum { PYSTACK_RUNNING = 3 /* run_until_complete(), outside of select(), _run_once() and run_forever() */ };
static inline bool pystack_is_loop(const struct pystack_layout *l, const struct pystack_frame *frames, unsigned count)
{
	const char *code = count > PYSTACK_RUNNING ? frames[PYSTACK_RUNNING].code : NULL;

	return code && l->version >= 0x30b && l->version <= 0x30d && !l->head &&
	       object_length(l, load_pointer(code, l->known)) == sizeof("run_until_complete") - 1;
}

/* Puts the frames of the coroutine that such a loop runs, and of what that awaits, inside of what runs the loop, as
 * they are while they execute, if it is a loop and is in select(). `frame`: the innermost one of the stack. Returns the
 * number of frames. */
__attribute__((cold)) unsigned pystack_add_awaited(const struct pystack_layout *l, const char *frame,
						   struct pystack_frame *frames, unsigned count, unsigned size,
						   uint64_t *hash);

/* pystack_code_key() of copies, without the name of the file, because only one system call is made. */
void pystack_copy_keys(const struct pystack_layout *l, char (*codes)[PYSTACK_CODE_BYTES], unsigned count,
		       uint64_t *ret);
