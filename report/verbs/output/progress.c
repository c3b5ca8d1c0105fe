/* SPDX-License-Identifier: Apache-2.0 */
/* The progress indicator. */
#include "report/verbs/output/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
	const char *label;
	uint64_t done, total; /* total 0: not known */
	time_t start, begun, shown; /* of the program, of the operation, the last drawing */
	bool is_wanted, is_drawn, is_drawing;
} progress;

void progress_init(void)
{
	progress.start = time(NULL);
	progress.is_wanted = isatty(STDERR_FILENO);
}

static void draw(uint64_t done)
{
	uint64_t seconds = (uint64_t)(progress.shown - progress.begun), part;
	unsigned int percent;

	progress.is_drawn = true;
	if (!progress.total) {
		fprintf(stderr, "\r\033[K%s: %llu MB", progress.label, (unsigned long long)done / 1000000);
		return;
	}
	/* A report may read everything several times: the indicator then starts again. */
	part = done % progress.total;
	percent = (unsigned int)(part * 100 / progress.total);
	fprintf(stderr, "\r\033[K%s [%-20.*s] %u %%", progress.label, (int)percent / 5, "####################",
		percent);
	if (seconds && done)
		fprintf(stderr, ", about %.0f s left",
			(double)(progress.total - part) * (double)seconds / (double)done);
}

void progress_add(uint64_t bytes)
{
	uint64_t done = __atomic_add_fetch(&progress.done, bytes, __ATOMIC_RELAXED);
	time_t now;

	if (!progress.is_wanted)
		return;
	now = time(NULL);
	if (now - progress.start <= 2 || __atomic_exchange_n(&progress.is_drawing, true, __ATOMIC_ACQUIRE))
		return;
	if (now != progress.shown) {
		progress.shown = now;
		draw(done);
	}
	__atomic_store_n(&progress.is_drawing, false, __ATOMIC_RELEASE);
}

void progress_begin(const char *label, uint64_t total_bytes)
{
	progress.label = label;
	progress.done = 0;
	progress.total = total_bytes;
	progress.begun = time(NULL);
}

void progress_clear(void)
{
	if (progress.is_drawn)
		fputs("\r\033[K", stderr);
	progress.is_drawn = false;
}
