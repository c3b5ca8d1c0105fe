/* SPDX-License-Identifier: Apache-2.0 */
/* Single characters of standard streams: most calls only access a buffer, within a few ns. Only calls that access the
 * file are timed; with a threshold of 0, all calls. */
#include "preload/hook/hook.h"

/* The state may be outdated if another thread uses the stream; a call is then not timed. */
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
