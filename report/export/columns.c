/* SPDX-License-Identifier: Apache-2.0 */
/* What the formats by column share: files and compression. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "report/export/columns.h"

enum { ZSTD_LEVEL = 1 };

int columns_write(int fd, const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t piece = write(fd, (const char *)bytes + done, size - done);

		if (piece < 0 && errno != EINTR)
			return -errno;
		done += piece > 0 ? (size_t)piece : 0;
	}
	return 0;
}

#ifdef HAVE_ZSTD
bool columns_can_compress(void)
{
	return true;
}

void columns_compress(const struct buffer *from, struct buffer *ret)
{
	size_t room = ZSTD_compressBound(from->size), size;
	SCOPED_MEMORY char *bytes = mem_alloc(room);

	size = ZSTD_compress(bytes, room, from->data, from->size, ZSTD_LEVEL);
	buffer_add(ret, bytes, size); /* it cannot fail: the room is what ZSTD_compressBound says */
}
#else
bool columns_can_compress(void)
{
	return false;
}

void columns_compress(const struct buffer *from, struct buffer *ret)
{
	buffer_add(ret, from->data, from->size);
}
#endif
