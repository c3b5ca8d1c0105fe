/* SPDX-License-Identifier: Apache-2.0 */
/* With --ring, chunks are used again while the file is copied. What was overwritten by then is older than what is kept
 * now, so the copy gets the source's bounds of that, and a chunk whose head has changed since is left out: it may be
 * copied in part before, in part after it was used again. */
#include "report/live/copy_ring.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "runtime/shared/format/trace_format.h"

static bool is_head(const struct tf_chunk *head, uint64_t nonce)
{
	return head->magic == TF_CHUNK_MAGIC && head->nonce == nonce && head->size_bytes >= TF_PAGE &&
	       head->size_bytes % TF_PAGE == 0;
}

static bool is_same(const struct tf_chunk *a, const struct tf_chunk *b)
{
	return a->magic == b->magic && a->thread == b->thread && a->sequence == b->sequence &&
	       a->base_ticks == b->base_ticks && a->size_bytes == b->size_bytes;
}

static bool read_at(int fd, void *ret, size_t size, uint64_t at)
{
	return pread(fd, ret, size, (off_t)at) == (ssize_t)size;
}

static bool write_at(int fd, const void *bytes, size_t size, uint64_t at)
{
	return pwrite(fd, bytes, size, (off_t)at) == (ssize_t)size;
}

int copy_ring(int from, int to)
{
	const size_t bounds = offsetof(struct tf_header, ring_ticks);
	struct tf_header now;
	struct tf_chunk copied, source;
	uint64_t at;

	if (!read_at(from, &now, sizeof(now), 0) || now.magic != TF_MAGIC || !now.ring_ticks)
		return 0;
	if (!write_at(to, (const char *)&now + bounds, sizeof(now) - bounds, bounds))
		return -errno;
	at = TF_PAGE + ((uint64_t)now.function_bytes + TF_PAGE - 1) / TF_PAGE * TF_PAGE;
	while (read_at(to, &copied, sizeof(copied), at)) {
		const uint32_t none = 0;

		if (!is_head(&copied, now.nonce)) {
			at += TF_PAGE;
			continue;
		}
		if (!(read_at(from, &source, sizeof(source), at) && is_same(&copied, &source)) &&
		    !write_at(to, &none, sizeof(none), at + offsetof(struct tf_chunk, magic)))
			return -errno;
		at += copied.size_bytes;
	}
	return 0;
}
