/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of pystack share: the interpreter that was met, and reading its objects. */
#ifndef PILLION_PYSTACK_OBJECT_H
#define PILLION_PYSTACK_OBJECT_H

#include <sys/uio.h>

#include "runtime/record/process.h"
#include "runtime/python/pystack_layout.h"
#include "runtime/common/readable.h"
#include "runtime/common/sys.h"

/* How many code objects a signal handler reads at a time. */
enum { PYSTACK_BATCH = 32 };
/* Of a str: its type, length, hash (-1: not known yet) and state; what is read to tell it from another. */
enum { TEXT_TYPE = 8, TEXT_LENGTH = 16, TEXT_HASH = 24, TEXT_STATE = 32, TEXT_BYTES = 32 };

/* One interpreter per process, the first that is met. */
extern struct pystack_python {
	const struct pystack_layout *layout; /* NULL: none, or not to be read */
	struct pystack_layout found;
	void *(*state)(void);
	int (*is_finalizing)(void);
	const char *code_type, *text_type, *bytes_type;
	uintptr_t base;
	const void *dynamic; /* its object's; NULL: none was met */
	bool is_started;
	bool has_state;	 /* a handler may ask for any thread's state */
	bool is_sampled; /* the kernel reads for us what may be gone */
	uint32_t unchecked; /* stacks yet to be walked with a look at each pointer */
} pystack_python;

static inline uint64_t word(const char *object, unsigned offset)
{
	return *(const uint64_t *)(object + offset);
}

static inline const char *pointer(const char *object, unsigned offset)
{
	return (const char *)word(object, offset);
}

/* From memory that may have gone, or go just now: false, where a load would end the program. */
static inline bool copy(void *to, const void *from, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)from, size};

	return sys_call6(SYS_process_vm_readv, process.pid, (long)&local, 1, (long)&remote, 1, 0) == (long)size;
}

/* Where the kernel may not be asked any more, only what has been walked with a look before is walked. */
static inline bool may_read(const void *from, uint64_t size)
{
	return sys_is_silent || readable_bytes(from, size);
}

/* A str by its content, as far as its head tells: the one that lay there before was another. */
static inline uint64_t known_key(const char *head)
{
	return pointer(head, TEXT_TYPE) == pystack_python.text_type ? word(head, TEXT_HASH) : 0;
}

static inline unsigned kind_of(uint32_t state)
{
	return state >> 2 & 7;
}

static inline unsigned text_start(const struct pystack_layout *l, uint32_t state)
{
	return state >> 6 & 1 ? l->ascii : l->compact;
}

/* Likewise of a file's name, which seldom has its hash: names of generated code differ at their end. */
static inline uint64_t file_key(const struct pystack_layout *l, const char *file)
{
	uint32_t state = *(const uint32_t *)(file + TEXT_STATE);
	uint64_t length = word(file, TEXT_LENGTH), key = known_key(file);

	if (key != UINT64_MAX || !(state >> 5 & 1))
		return key;
	return length + word(file, (unsigned)(text_start(l, state) + length * kind_of(state) - sizeof(uint64_t))) * 0x9fb21c651e98df25ull;
}

/* The file that was looked at last: the frames of a stack share a few. */
struct pystack_file {
	const char *name;
	uint64_t key;
};

/* What tells this code object from one that lay at its place before. Of a code object that is alive. */
static inline uint64_t pystack_code_key(const struct pystack_layout *l, const char *code, struct pystack_file *file)
{
	if (file->name != pointer(code, l->file))
		*file = (struct pystack_file){pointer(code, l->file), file_key(l, pointer(code, l->file)) * 0xff51afd7ed558ccdull};
	return known_key(pointer(code, l->known)) + file->key;
}

/* Reads as many of these code objects as can be, up to the first that cannot; at most PYSTACK_BATCH. NULL: one that is none. */
unsigned pystack_copy_codes(const char *const *code, unsigned count, char (*ret)[PYSTACK_CODE_BYTES]);

/* pystack_code_key() of copies, as far as it can be had by one system call: the file's name is taken to be the same. */
void pystack_copy_keys(const struct pystack_layout *l, char (*codes)[PYSTACK_CODE_BYTES], unsigned count, uint64_t *ret);

#endif
