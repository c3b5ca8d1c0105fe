/* SPDX-License-Identifier: Apache-2.0 */
/* Shared code of the multithreaded tests. They are separate programs that print TAP, because Criterion does not run
 * under ThreadSanitizer. */
#ifndef PILLION_TEST_THREADS_H
#define PILLION_TEST_THREADS_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 4 };

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3))) static inline void ok(bool is_ok, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("%sok %d - ", is_ok ? "" : "not ", ++tap_count);
	vprintf(format, arguments);
	putchar('\n');
	va_end(arguments);
	tap_failed += !is_ok;
}

static inline int done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

/* Runs `run` in THREADS threads at once, numbered from 0, and waits for them. Returns false if a thread did not
 * start. */
static inline bool in_threads(void *(*run)(void *number))
{
	pthread_t threads[THREADS];
	unsigned started = 0;

	while (started < THREADS && !pthread_create(&threads[started], NULL, run, (void *)(uintptr_t)started))
		started++;
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return started == THREADS;
}

#endif
