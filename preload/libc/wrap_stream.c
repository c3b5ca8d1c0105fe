/* SPDX-License-Identifier: Apache-2.0 */
/* Single characters of standard streams: nearly all come out of a buffer, or go into one, within a few ns. Only a call
 * that must go to the file is timed; with a threshold of 0, every one. */
#include "preload/hook/hook.h"

/* A look that is stale, for another thread works on the stream, only lets a call pass untimed. */
#define HAS_INPUT(f) ((f)->_IO_read_ptr < (f)->_IO_read_end && process_osrt_threshold)
#define HAS_ROOM(f) ((f)->_IO_write_ptr < (f)->_IO_write_end && process_osrt_threshold)

#define GET(symbol)                                                                                                    \
	int wrap_##symbol(FILE *f)                                                                                     \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		int result;                                                                                            \
                                                                                                                       \
		if (__builtin_expect(HAS_INPUT(f), 1))                                                                 \
			return real_##symbol(f);                                                                       \
		HOOK_TIME(real_##symbol(f), STREAM(f, result != EOF));                                                 \
		return result;                                                                                         \
	}
#define PUT(symbol)                                                                                                    \
	int wrap_##symbol(int c, FILE *f)                                                                              \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		int result;                                                                                            \
                                                                                                                       \
		if (__builtin_expect(HAS_ROOM(f), 1))                                                                  \
			return real_##symbol(c, f);                                                                    \
		HOOK_TIME(real_##symbol(c, f), STREAM(f, result != EOF));                                              \
		return result;                                                                                         \
	}

GET(getc)
GET(fgetc)
GET(_IO_getc)
GET(getc_unlocked)
GET(fgetc_unlocked)
PUT(putc)
PUT(fputc)
PUT(_IO_putc)
PUT(putc_unlocked)
PUT(fputc_unlocked)
