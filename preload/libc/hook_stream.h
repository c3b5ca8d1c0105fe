/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the OS runtime: standard streams. hook_libc.h explains a row. */
#pragma once

#define HOOK_STREAM(X)                                                                                                 \
	/* standard streams; single characters that only access the buffer are not recorded, see wrap_stream.c */      \
	X(TIMED, FILE *, fopen, (const char *path, const char *mode), (path, mode),                                    \
	  OPENED(path, hook_mode_flags(mode)))                                                                         \
	X(TIMED, FILE *, freopen, (const char *path, const char *mode, FILE *f), (path, mode, f),                      \
	  REOPENED(f, path, hook_mode_flags(mode)))                                                                    \
	X(TIMED, FILE *, tmpfile, (void), (), NEW)                                                                     \
	X(TIMED, FILE *, fopen64, (const char *path, const char *mode), (path, mode),                                  \
	  OPENED(path, hook_mode_flags(mode)))                                                                         \
	X(TIMED, FILE *, freopen64, (const char *path, const char *mode, FILE *f),                                     \
	  (path, mode, f), REOPENED(f, path, hook_mode_flags(mode)))                                                   \
	X(TIMED, FILE *, tmpfile64, (void), (), NEW)                                                                   \
	X(TIMED, int, fclose, (FILE * f), (f), CLOSED_STREAM(f))                                                       \
	X(OWN, int, fcloseall, (void), (), NOTHING)                                                                    \
	X(TIMED, int, fflush, (FILE * f), (f), FLUSHED(f))                                                             \
	X(TIMED, int, fseek, (FILE * f, long at, int from), (f, at, from), MOVED(f))                                   \
	X(TIMED, int, fseeko, (FILE * f, off_t at, int from), (f, at, from), MOVED(f))                                 \
	X(TIMED, int, fseeko64, (FILE * f, off64_t at, int from), (f, at, from), MOVED(f))                             \
	X(TIMED, int, fsetpos, (FILE * f, const fpos_t *at), (f, at), MOVED(f))                                        \
	X(TIMED, int, fsetpos64, (FILE * f, const fpos64_t *at), (f, at), MOVED(f))                                    \
	X(TIMEDV, void, rewind, (FILE * f), (f), MOVED(f))                                                             \
	X(TIMED, int, setvbuf, (FILE * f, char *p, int mode, size_t n), (f, p, mode, n), FLUSHED(f))                   \
	X(TIMED, size_t, fread, (void *p, size_t size, size_t n, FILE *f),                                             \
	  (p, size, n, f), INPUT_BLOCK(f, size * result, size * n))                                                    \
	X(TIMED_AS(fread), size_t, __fread_chk, (void *p, size_t room, size_t size, size_t n, FILE *f),                \
	  (p, room, size, n, f), INPUT_BLOCK(f, size * result, size * n))                                              \
	X(TIMED, size_t, fwrite, (const void *p, size_t size, size_t n, FILE *f),                                      \
	  (p, size, n, f), OUTPUT_BLOCK(f, size * result))                                                             \
	X(TIMED, char *, fgets, (char *p, int n, FILE *f), (p, n, f), INPUT_TEXT(f, hook_length(result)))              \
	X(TIMED_AS(fgets), char *, __fgets_chk, (char *p, size_t size, int n, FILE *f),                                \
	  (p, size, n, f), INPUT_TEXT(f, hook_length(result)))                                                         \
	X(TIMED, int, fputs, (const char *s, FILE *f),                                                                 \
	  (s, f), OUTPUT_BLOCK(f, result < 0 ? 0 : hook_length(s)))                                                    \
	X(TIMED, wchar_t *, fgetws, (wchar_t *p, int n, FILE *f), (p, n, f), INPUT(f, 0))                              \
	X(TIMED_AS(fgetws), wchar_t *, __fgetws_chk, (wchar_t *p, size_t size, int n, FILE *f),                        \
	  (p, size, n, f), INPUT(f, 0))                                                                                \
	X(TIMED, int, fputws, (const wchar_t *s, FILE *f), (s, f), OUTPUT(f, 0))                                       \
	X(OWN, int, getc, (FILE * f), (f), NOTHING)                                                                    \
	X(OWN, int, fgetc, (FILE * f), (f), NOTHING)                                                                   \
	X(OWN, int, getchar, (void), (), NOTHING)                                                                      \
	X(TIMED, wint_t, getwc, (FILE * f), (f), INPUT(f, 0))                                                          \
	X(TIMED, wint_t, fgetwc, (FILE * f), (f), INPUT(f, 0))                                                         \
	X(OWN, int, putc, (int c, FILE *f), (c, f), NOTHING)                                                           \
	X(OWN, int, fputc, (int c, FILE *f), (c, f), NOTHING)                                                          \
	X(OWN, int, putchar, (int c), (c), NOTHING)                                                                    \
	X(TIMED, wint_t, putwc, (wchar_t c, FILE *f), (c, f), OUTPUT(f, 0))                                            \
	X(TIMED, wint_t, fputwc, (wchar_t c, FILE *f), (c, f), OUTPUT(f, 0))                                           \
	X(TIMED, int, fflush_unlocked, (FILE * f), (f), FLUSHED(f))                                                    \
	X(TIMED, size_t, fread_unlocked, (void *p, size_t size, size_t n, FILE *f),                                    \
	  (p, size, n, f), INPUT_BLOCK(f, size * result, size * n))                                                    \
	X(TIMED_AS(fread_unlocked), size_t, __fread_unlocked_chk,                                                      \
	  (void *p, size_t room, size_t size, size_t n, FILE *f),                                                      \
	  (p, room, size, n, f), INPUT_BLOCK(f, size * result, size * n))                                              \
	X(TIMED, size_t, fwrite_unlocked, (const void *p, size_t size, size_t n, FILE *f),                             \
	  (p, size, n, f), OUTPUT_BLOCK(f, size * result))                                                             \
	X(TIMED, char *, fgets_unlocked, (char *p, int n, FILE *f),                                                    \
	  (p, n, f), INPUT_TEXT(f, hook_length(result)))                                                               \
	X(TIMED_AS(fgets_unlocked), char *, __fgets_unlocked_chk, (char *p, size_t size, int n, FILE *f),              \
	  (p, size, n, f), INPUT_TEXT(f, hook_length(result)))                                                         \
	X(TIMED, int, fputs_unlocked, (const char *s, FILE *f),                                                        \
	  (s, f), OUTPUT_BLOCK(f, result < 0 ? 0 : hook_length(s)))                                                    \
	X(TIMED, wchar_t *, fgetws_unlocked, (wchar_t *p, int n, FILE *f), (p, n, f), INPUT(f, 0))                     \
	X(TIMED_AS(fgetws_unlocked), wchar_t *, __fgetws_unlocked_chk,                                                 \
	  (wchar_t *p, size_t size, int n, FILE *f),                                                                   \
	  (p, size, n, f), INPUT(f, 0))                                                                                \
	X(TIMED, int, fputws_unlocked, (const wchar_t *s, FILE *f), (s, f), OUTPUT(f, 0))                              \
	X(OWN, int, getc_unlocked, (FILE * f), (f), NOTHING)                                                           \
	X(OWN, int, fgetc_unlocked, (FILE * f), (f), NOTHING)                                                          \
	X(OWN, int, getchar_unlocked, (void), (), NOTHING)                                                             \
	X(TIMED, wint_t, getwc_unlocked, (FILE * f), (f), INPUT(f, 0))                                                 \
	X(TIMED, wint_t, fgetwc_unlocked, (FILE * f), (f), INPUT(f, 0))                                                \
	X(OWN, int, putc_unlocked, (int c, FILE *f), (c, f), NOTHING)                                                  \
	X(OWN, int, fputc_unlocked, (int c, FILE *f), (c, f), NOTHING)                                                 \
	X(OWN, int, putchar_unlocked, (int c), (c), NOTHING)                                                           \
	X(TIMED, wint_t, putwc_unlocked, (wchar_t c, FILE *f), (c, f), OUTPUT(f, 0))                                   \
	X(TIMED, wint_t, fputwc_unlocked, (wchar_t c, FILE *f), (c, f), OUTPUT(f, 0))                                  \
	/* the inline bodies of getc_unlocked and putc_unlocked in headers call these at the end of the buffer */      \
	X(TIMED_AS(getc_unlocked), int, __uflow, (FILE * f), (f), INPUT(f, result != EOF))                             \
	X(TIMED_AS(putc_unlocked), int, __overflow, (FILE * f, int c),                                                 \
	  (f, c), OUTPUT(f, c != EOF && result != EOF))                                                                \
	X(OWN_AS(getc), int, _IO_getc, (FILE * f), (f), NOTHING)                                                       \
	X(OWN_AS(putc), int, _IO_putc, (int c, FILE *f), (c, f), NOTHING)                                              \
	X(TIMED, int, getw, (FILE * f), (f), INPUT(f, 4))                                                              \
	X(TIMED, int, putw, (int word, FILE *f), (word, f), OUTPUT_BLOCK(f, result ? 0 : 4))                           \
	X(TIMED, int, puts, (const char *s), (s), OUTPUT_BLOCK(stdout, result < 0 ? 0 : hook_length(s) + 1))           \
	X(TIMED, ssize_t, getline, (char **line, size_t *n, FILE *f),                                                  \
	  (line, n, f), INPUT(f, result < 0 ? 0 : result))                                                             \
	X(TIMED, ssize_t, getdelim, (char **line, size_t *n, int end, FILE *f),                                        \
	  (line, n, end, f), INPUT(f, result < 0 ? 0 : result))                                                        \
	X(TIMED_AS(getdelim), ssize_t, __getdelim, (char **line, size_t *n, int end, FILE *f),                         \
	  (line, n, end, f), INPUT(f, result < 0 ? 0 : result))                                                        \
	X(TIMEDV, void, flockfile, (FILE * f), (f), NOTHING)                                                           \
	X(TIMED, error_t, ftrylockfile, (FILE * f), (f), NOTHING)

#define HOOK_FORMAT(X)                                                                                                 \
	/* formatted output and input: the variadic functions are in wrap_format.c */                                  \
	X(NAKED, int, printf, (const char *format), (format), NOTHING)                                                 \
	X(NAKED, int, fprintf, (FILE * f, const char *format), (f, format), NOTHING)                                   \
	X(TIMED, int, vprintf, (const char *format, va_list a),                                                        \
	  (format, a), OUTPUT(stdout, result < 0 ? 0 : result))                                                        \
	X(TIMED, int, vfprintf, (FILE * f, const char *format, va_list a),                                             \
	  (f, format, a), OUTPUT(f, result < 0 ? 0 : result))                                                          \
	X(NAKED_AS(printf), int, __printf_chk, (int flag, const char *format), (flag, format), NOTHING)                \
	X(NAKED_AS(fprintf), int, __fprintf_chk, (FILE * f, int flag, const char *format),                             \
	  (f, flag, format), NOTHING)                                                                                  \
	X(TIMED_AS(vprintf), int, __vprintf_chk, (int flag, const char *format, va_list a),                            \
	  (flag, format, a), OUTPUT(stdout, result < 0 ? 0 : result))                                                  \
	X(TIMED_AS(vfprintf), int, __vfprintf_chk, (FILE * f, int flag, const char *format, va_list a),                \
	  (f, flag, format, a), OUTPUT(f, result < 0 ? 0 : result))                                                    \
	X(NAKED, int, wprintf, (const wchar_t *format), (format), NOTHING)                                             \
	X(NAKED, int, fwprintf, (FILE * f, const wchar_t *format), (f, format), NOTHING)                               \
	X(TIMED, int, vwprintf, (const wchar_t *format, va_list a),                                                    \
	  (format, a), OUTPUT(stdout, result < 0 ? 0 : result))                                                        \
	X(TIMED, int, vfwprintf, (FILE * f, const wchar_t *format, va_list a),                                         \
	  (f, format, a), OUTPUT(f, result < 0 ? 0 : result))                                                          \
	X(NAKED_AS(wprintf), int, __wprintf_chk, (int flag, const wchar_t *format), (flag, format), NOTHING)           \
	X(NAKED_AS(fwprintf), int, __fwprintf_chk, (FILE * f, int flag, const wchar_t *format),                        \
	  (f, flag, format), NOTHING)                                                                                  \
	X(TIMED_AS(vwprintf), int, __vwprintf_chk, (int flag, const wchar_t *format, va_list a),                       \
	  (flag, format, a), OUTPUT(stdout, result < 0 ? 0 : result))                                                  \
	X(TIMED_AS(vfwprintf), int, __vfwprintf_chk, (FILE * f, int flag, const wchar_t *format, va_list a),           \
	  (f, flag, format, a), OUTPUT(f, result < 0 ? 0 : result))                                                    \
	X(NAKED, int, dprintf, (int fd, const char *format), (fd, format), NOTHING)                                    \
	X(TIMED, int, vdprintf, (int fd, const char *format, va_list a), (fd, format, a), FD(fd))                      \
	X(NAKED_AS(dprintf), int, __dprintf_chk, (int fd, int flag, const char *format),                               \
	  (fd, flag, format), NOTHING)                                                                                 \
	X(TIMED_AS(vdprintf), int, __vdprintf_chk, (int fd, int flag, const char *format, va_list a),                  \
	  (fd, flag, format, a), FD(fd))                                                                               \
	/* each ISO C has scanf functions of its own, which headers substitute */                                      \
	X(NAKED, int, scanf, (const char *format), (format), NOTHING)                                                  \
	X(NAKED, int, fscanf, (FILE * f, const char *format), (f, format), NOTHING)                                    \
	X(TIMED, int, vscanf, (const char *format, va_list a), (format, a), INPUT_TEXT(stdin, 0))                      \
	X(TIMED, int, vfscanf, (FILE * f, const char *format, va_list a), (f, format, a), INPUT_TEXT(f, 0))            \
	X(NAKED, int, wscanf, (const wchar_t *format), (format), NOTHING)                                              \
	X(NAKED, int, fwscanf, (FILE * f, const wchar_t *format), (f, format), NOTHING)                                \
	X(TIMED, int, vwscanf, (const wchar_t *format, va_list a), (format, a), INPUT_TEXT(stdin, 0))                  \
	X(TIMED, int, vfwscanf, (FILE * f, const wchar_t *format, va_list a),                                          \
	  (f, format, a), INPUT_TEXT(f, 0))                                                                            \
	X(NAKED_AS(scanf), int, __isoc99_scanf, (const char *format), (format), NOTHING)                               \
	X(NAKED_AS(fscanf), int, __isoc99_fscanf, (FILE * f, const char *format), (f, format), NOTHING)                \
	X(TIMED_AS(vscanf), int, __isoc99_vscanf, (const char *format, va_list a),                                     \
	  (format, a), INPUT_TEXT(stdin, 0))                                                                           \
	X(TIMED_AS(vfscanf), int, __isoc99_vfscanf, (FILE * f, const char *format, va_list a),                         \
	  (f, format, a), INPUT_TEXT(f, 0))                                                                            \
	X(NAKED_AS(wscanf), int, __isoc99_wscanf, (const wchar_t *format), (format), NOTHING)                          \
	X(NAKED_AS(fwscanf), int, __isoc99_fwscanf, (FILE * f, const wchar_t *format), (f, format), NOTHING)           \
	X(TIMED_AS(vwscanf), int, __isoc99_vwscanf, (const wchar_t *format, va_list a),                                \
	  (format, a), INPUT_TEXT(stdin, 0))                                                                           \
	X(TIMED_AS(vfwscanf), int, __isoc99_vfwscanf, (FILE * f, const wchar_t *format, va_list a),                    \
	  (f, format, a), INPUT_TEXT(f, 0))                                                                            \
	X(NAKED_AS(scanf), int, __isoc23_scanf, (const char *format), (format), NOTHING)                               \
	X(NAKED_AS(fscanf), int, __isoc23_fscanf, (FILE * f, const char *format), (f, format), NOTHING)                \
	X(TIMED_AS(vscanf), int, __isoc23_vscanf, (const char *format, va_list a),                                     \
	  (format, a), INPUT_TEXT(stdin, 0))                                                                           \
	X(TIMED_AS(vfscanf), int, __isoc23_vfscanf, (FILE * f, const char *format, va_list a),                         \
	  (f, format, a), INPUT_TEXT(f, 0))                                                                            \
	X(NAKED_AS(wscanf), int, __isoc23_wscanf, (const wchar_t *format), (format), NOTHING)                          \
	X(NAKED_AS(fwscanf), int, __isoc23_fwscanf, (FILE * f, const wchar_t *format), (f, format), NOTHING)           \
	X(TIMED_AS(vwscanf), int, __isoc23_vwscanf, (const wchar_t *format, va_list a),                                \
	  (format, a), INPUT_TEXT(stdin, 0))                                                                           \
	X(TIMED_AS(vfwscanf), int, __isoc23_vfwscanf, (FILE * f, const wchar_t *format, va_list a),                    \
	  (f, format, a), INPUT_TEXT(f, 0))                                                                            \
	/* reads and writes that the kernel makes during another call: only ids and names */                           \
	X(RAW, ssize_t, inner_read, (void), (), NOTHING)                                                               \
	X(RAW, ssize_t, inner_write, (void), (), NOTHING)                                                              \
	X(RAW, ssize_t, inner_spliced, (void), (), NOTHING)
