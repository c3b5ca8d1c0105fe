/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/thread/apart.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/shared/common/sys.h"

enum { PAGES = 64, LINE = 64 };

struct apart_pages {
	struct apart_pages *next;
	uint64_t taken; /* a bit for each page */
} __attribute__((aligned(LINE)));

/* The newest first. None is ever unmapped, so that no lock is needed. A forked child keeps those of its parent. */
static struct apart_pages *newest;

static uint64_t apart_rounded(uint32_t size)
{
	return (size + LINE - 1) & ~(uint64_t)(LINE - 1);
}

static char *block_page(struct apart_pages *b, uint32_t size, unsigned i)
{
	return (char *)(b + 1) + i * apart_rounded(size);
}

static char *block_take(struct apart_pages *b, uint32_t size)
{
	uint64_t taken = __atomic_load_n(&b->taken, __ATOMIC_RELAXED);

	while (~taken) {
		unsigned i = (unsigned)__builtin_ctzll(~taken);

		taken = __atomic_fetch_or(&b->taken, 1ull << i, __ATOMIC_ACQUIRE);
		if (!(taken >> i & 1))
			return block_page(b, size, i);
	}
	return NULL;
}

static struct apart_pages *block_add(uint32_t size)
{
	struct apart_pages *b = sys_mmap(NULL, sizeof(*b) + PAGES * apart_rounded(size), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (!b)
		return NULL;
	b->next = __atomic_load_n(&newest, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&newest, &b->next, b, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return b;
}

void *apart_take(uint32_t size)
{
	struct apart_pages *b = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
	char *page = NULL;

	for (; b && !page; b = b->next)
		page = block_take(b, size);
	/* Other threads may take all pages of the new block before this one does. */
	while (!page && (b = block_add(size)))
		page = block_take(b, size);
	return page ? memset(page, 0, size) : NULL;
}

void apart_give(void *page, uint32_t size)
{
	for (struct apart_pages *b = __atomic_load_n(&newest, __ATOMIC_ACQUIRE); b; b = b->next) {
		size_t at = (size_t)((char *)page - block_page(b, size, 0));

		if (at < PAGES * apart_rounded(size)) {
			__atomic_fetch_and(&b->taken, ~(1ull << at / apart_rounded(size)), __ATOMIC_RELEASE);
			return;
		}
	}
}
