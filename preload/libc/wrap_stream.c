/* SPDX-License-Identifier: Apache-2.0 */
/* Single characters of standard streams: most calls only access a buffer, within a few ns. Only calls that access the
 * file are timed; with a threshold of 0, all calls. */
#include "preload/hook/hook_record.h"

/* The state may be outdated if another thread uses the stream; a call is then not timed. */
#define HAS_INPUT(f) ((f)->_IO_read_ptr < (f)->_IO_read_end && process_osrt_threshold)
#define HAS_ROOM(f) ((f)->_IO_write_ptr < (f)->_IO_write_end && process_osrt_threshold)

/* The slow part is a function of its own, because it would need registers to be saved in the fast one, too. It is
 * called last, so that its caller is the program. */
#define SLOWLY(symbol, parameters, arguments, record)                                                                  \
	static __attribute__((noinline)) int symbol##_slowly parameters                                                \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		int result;                                                                                            \
                                                                                                                       \
		HOOK_TIME(real_##symbol arguments, record);                                                            \
		return result;                                                                                         \
	}
#define GET(symbol, parameters, arguments, f)                                                                          \
	SLOWLY(symbol, parameters, arguments, INPUT(f, result != EOF))                                                 \
	int wrap_##symbol parameters                                                                                   \
	{                                                                                                              \
		return __builtin_expect(HAS_INPUT(f), 1) ? real_##symbol arguments : symbol##_slowly arguments;        \
	}
#define PUT(symbol, parameters, arguments, f)                                                                          \
	SLOWLY(symbol, parameters, arguments, OUTPUT(f, result != EOF))                                                \
	int wrap_##symbol parameters                                                                                   \
	{                                                                                                              \
		return __builtin_expect(HAS_ROOM(f), 1) ? real_##symbol arguments : symbol##_slowly arguments;         \
	}

GET(getc, (FILE * f), (f), f)
GET(fgetc, (FILE * f), (f), f)
GET(_IO_getc, (FILE * f), (f), f)
GET(getc_unlocked, (FILE * f), (f), f)
GET(fgetc_unlocked, (FILE * f), (f), f)
GET(getchar, (void), (), stdin)
GET(getchar_unlocked, (void), (), stdin)
PUT(putc, (int c, FILE *f), (c, f), f)
PUT(fputc, (int c, FILE *f), (c, f), f)
PUT(_IO_putc, (int c, FILE *f), (c, f), f)
PUT(putc_unlocked, (int c, FILE *f), (c, f), f)
PUT(fputc_unlocked, (int c, FILE *f), (c, f), f)
PUT(putchar, (int c), (c), stdout)
PUT(putchar_unlocked, (int c), (c), stdout)
