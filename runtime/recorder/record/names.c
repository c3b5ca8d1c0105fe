/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/names.h"

#include <stdbool.h>
#include <stdint.h>

#include "runtime/shared/common/sys.h"

enum { CHUNK = 65536 };

struct names_block {
	uint64_t used;
	char room[CHUNK - 8];
};

static struct names_block *current;

/* The thread that finds the chunk full maps the next one; if several do at once, the later ones unmap theirs. */
static bool names_replace_chunk(struct names_block *full)
{
	struct names_block *fresh = sys_mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!fresh)
		return false;
	fresh->used = 8; /* room[8] is then aligned to 16 */
	if (!__atomic_compare_exchange_n(&current, &full, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		sys_munmap(fresh, CHUNK);
	return true;
}

void *names_take(size_t size)
{
	size = (size + 15) & ~(size_t)15;
	if (size > NAMES_BYTES)
		return NULL;
	for (;;) {
		struct names_block *c = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
		uint64_t at = c ? __atomic_fetch_add(&c->used, size, __ATOMIC_RELAXED) : CHUNK;

		if (at + size <= sizeof(c->room))
			return c->room + at;
		if (!names_replace_chunk(c))
			return NULL;
	}
}
