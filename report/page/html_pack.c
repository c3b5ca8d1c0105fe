/* SPDX-License-Identifier: Apache-2.0 */
/* Deflate, base64. */
#include "report/page/html_pack.h"

#include <stdlib.h>
#include <zlib.h>

enum { PACK_BYTES = 48 * 1024 };

struct page_pack {
	struct sink *out;
	z_stream stream;
	unsigned char bytes[PACK_BYTES]; /* packed bytes; what is left over is at the start */
	size_t left;			 /* 0 to 2: base64 encodes three bytes at a time */
};

static void add_base64(struct sink *out, const unsigned char *bytes, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[4 * 256];
	size_t used = 0;

	for (size_t i = 0; i < size; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (i + 2 < size ? bytes[i + 2] : 0);

		text[used++] = digits[three >> 18];
		text[used++] = digits[three >> 12 & 63];
		text[used++] = i + 1 < size ? digits[three >> 6 & 63] : '=';
		text[used++] = i + 2 < size ? digits[three & 63] : '=';
		if (used == sizeof(text)) {
			sink_add(out, text, used);
			used = 0;
		}
	}
	sink_add(out, text, used);
}

struct page_pack *pack_begin(struct sink *out, const char *id, enum pack_level level)
{
	struct page_pack *p = mem_alloc(sizeof(*p));

	p->out = out;
	if (deflateInit2(&p->stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(p);
		return NULL;
	}
	sink_text(out, "<script type=\"text/plain\" id=\"");
	sink_text(out, id);
	sink_text(out, "\">");
	return p;
}

static void deflate_all(struct page_pack *p, const void *data, size_t size, bool is_last)
{
	z_stream *z = &p->stream;
	bool is_full;

	z->next_in = (unsigned char *)(uintptr_t)data;
	z->avail_in = (unsigned int)size;
	do {
		size_t have, whole;

		z->next_out = p->bytes + p->left;
		z->avail_out = (unsigned int)(PACK_BYTES - p->left);
		deflate(z, is_last ? Z_FINISH : Z_NO_FLUSH);
		is_full = !z->avail_out;
		have = PACK_BYTES - z->avail_out;
		whole = is_last && !is_full ? have : have - have % 3;
		add_base64(p->out, p->bytes, whole);
		p->left = have - whole;
		for (size_t i = 0; i < p->left; i++)
			p->bytes[i] = p->bytes[whole + i];
	} while (is_full);
}

void pack_add(struct page_pack *p, const void *data, size_t size)
{
	enum { PIECE = 1 << 30 }; /* zlib's counters have 32 bits */
	const char *at = data;

	for (; size > PIECE; at += PIECE, size -= PIECE)
		deflate_all(p, at, PIECE, false);
	deflate_all(p, at, size, false);
}

void pack_take(struct page_pack *p, struct buffer *b)
{
	pack_add(p, b->data, b->size);
	buffer_clear(b);
}

void pack_end(struct page_pack *p)
{
	deflate_all(p, NULL, 0, true);
	deflateEnd(&p->stream);
	sink_text(p->out, "</script>\n");
	free(p);
}
