/* SPDX-License-Identifier: Apache-2.0 */
/* The variadic functions of formatted output and input. Each calls the real function that takes a va_list, and is
 * recorded by its own name. */
#include <stdarg.h>

#include "preload/hook/hook_record.h"
#include "preload/libc/undeclared.h"

#define PUT_BYTES (result < 0 ? 0 : result)

/* The arguments that follow `last` are passed on. No header declares the fortified functions and those of one ISO C. */
#define FORMAT(symbol, parameters, last, call, record)                                                                 \
	HOOK_EXPORT int symbol parameters;                                                                             \
	HOOK_EXPORT ALIGNS_STACK int symbol parameters                                                                 \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		va_list list;                                                                                          \
		int result;                                                                                            \
                                                                                                                       \
		va_start(list, last);                                                                                  \
		HOOK_TIME(real_##call, record);                                                                        \
		va_end(list);                                                                                          \
		return result;                                                                                         \
	}

/* The functions of one width: plain and fortified. */
#define OUTPUTS(w, character)                                                                                          \
	FORMAT(w##printf, (const character *format, ...), format, v##w##printf(format, list),                          \
	       OUTPUT(stdout, PUT_BYTES))                                                                              \
	FORMAT(f##w##printf, (FILE * f, const character *format, ...), format, vf##w##printf(f, format, list),         \
	       OUTPUT(f, PUT_BYTES))                                                                                   \
	FORMAT(__##w##printf_chk, (int flag, const character *format, ...), format,                                    \
	       __v##w##printf_chk(flag, format, list), OUTPUT(stdout, PUT_BYTES))                                      \
	FORMAT(__f##w##printf_chk, (FILE * f, int flag, const character *format, ...), format,                         \
	       __vf##w##printf_chk(f, flag, format, list), OUTPUT(f, PUT_BYTES))

#define INPUTS(iso, w, character)                                                                                      \
	FORMAT(iso##w##scanf, (const character *format, ...), format, iso##v##w##scanf(format, list),                  \
	       INPUT_TEXT(stdin, 0))                                                                                   \
	FORMAT(iso##f##w##scanf, (FILE * f, const character *format, ...), format,                                     \
	       iso##vf##w##scanf(f, format, list), INPUT_TEXT(f, 0))

OUTPUTS(, char)
OUTPUTS(w, wchar_t)
FORMAT(dprintf, (int fd, const char *format, ...), format, vdprintf(fd, format, list), FD(fd))
FORMAT(__dprintf_chk, (int fd, int flag, const char *format, ...), format, __vdprintf_chk(fd, flag, format, list),
       FD(fd))
INPUTS(, , char)
INPUTS(, w, wchar_t)
INPUTS(__isoc99_, , char)
INPUTS(__isoc99_, w, wchar_t)
INPUTS(__isoc23_, , char)
INPUTS(__isoc23_, w, wchar_t)
