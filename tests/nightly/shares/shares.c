/* SPDX-License-Identifier: Apache-2.0 */
/* shares TRUTH WAY SEED MS: four lines that compute, whose CPU time each thread measures itself and appends to TRUTH as
 * "LINE NS". WAY: plain, threads, recursion, phases, children, all, or step A: in step with a tick of 4 ms, A % of the
 * work of each tick at the first line. MS: CPU time in all. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 4, WORKERS = 4, DEPTH = 20, TICK_NS = 4000000 };

struct work {
	unsigned int seed;
	long long left, spent[LINES];
};

static const char *way;
static int truth, first_line;

static long long used_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* clang-format off: each loop is one line */
#define TIMES for (int k = 0; k < 20000; k++)
#define LOOP for (long long end = used_ns() + ns; used_ns() < end;) TIMES x = x * 1.0000001 + 1e-9
static __attribute__((noinline)) double line_0(long long ns, double x) { LOOP; return x; }
static __attribute__((noinline)) double line_1(long long ns, double x) { LOOP; return x; }
static __attribute__((noinline)) double line_2(long long ns, double x) { LOOP; return x; }
static __attribute__((noinline)) double line_3(long long ns, double x) { LOOP; return x; }
/* clang-format on */

static void spend(struct work *w, int line, long long ns)
{
	static double (*const lines[])(long long, double) = {line_0, line_1, line_2, line_3};
	static __thread volatile double sink __attribute__((unused));
	long long from = used_ns();

	sink = lines[line](ns, 1);
	from = used_ns() - from;
	w->spent[line] += from;
	w->left -= from;
}

/* Spends in a frame that lies `depth` calls of itself deep. */
static __attribute__((noinline)) void recurse(struct work *w, int line, long long ns, int depth)
{
	if (depth)
		recurse(w, line, ns, depth - 1);
	else
		spend(w, line, ns);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

/* Slices of a random length are in step with nothing. Weights are the squares of 1 to 4, from a random line on. */
static void run_slices(struct work *w)
{
	int from = rand_r(&w->seed) % LINES, depth = !strcmp(way, "recursion") || !strcmp(way, "all") ? DEPTH : 0;

	while (w->left > 0) {
		int at = rand_r(&w->seed) % 30, k = at < 16 ? 3 : at < 25 ? 2 : at < 29 ? 1 : 0;

		recurse(w, (from + k) % LINES, 300000 + rand_r(&w->seed) % 5000000,
			depth ? rand_r(&w->seed) % depth : 0);
	}
}

static void run_phases(struct work *w)
{
	long long all = w->left;

	for (int k = 0; k < LINES; k++)
		spend(w, k, all * (k + 1) / 10);
}

static void run_steps(struct work *w, long long percent)
{
	struct timespec at;
	long long ns = TICK_NS / 2;

	clock_gettime(CLOCK_MONOTONIC, &at);
	while (w->left > 0) {
		at.tv_nsec += TICK_NS - at.tv_nsec % TICK_NS;
		if (at.tv_nsec >= 1000000000) {
			at.tv_nsec -= 1000000000;
			at.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		spend(w, 0, ns * percent / 100);
		spend(w, 1, ns * (100 - percent) / 100);
		clock_gettime(CLOCK_MONOTONIC, &at);
	}
}

static void *run(void *argument)
{
	struct work *w = argument;
	char text[256];
	int size = 0;

	if (!strcmp(way, "phases"))
		run_phases(w);
	else if (!strncmp(way, "step", 4))
		run_steps(w, atoll(way + 4));
	else
		run_slices(w);
	for (int k = 0; k < LINES; k++)
		size += snprintf(text + size, sizeof(text) - size, "%d %lld\n", first_line + k, w->spent[k]);
	return write(truth, text, size) == size ? NULL : w;
}

static void run_threads(struct work of)
{
	struct work works[WORKERS];
	pthread_t threads[WORKERS];

	for (int k = 0; k < WORKERS; k++) {
		works[k] = of;
		works[k].left /= WORKERS;
		works[k].seed += 17 * k;
		pthread_create(&threads[k], NULL, run, &works[k]);
	}
	for (int k = 0; k < WORKERS; k++)
		pthread_join(threads[k], NULL);
}

int main(int argc, char **argv)
{
	struct work w = {0};
	int is_all;

	if (argc < 5 || (truth = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) < 0)
		return 2;
	way = argv[2];
	is_all = !strcmp(way, "all");
	w = (struct work){.seed = atoi(argv[3]), .left = atoll(argv[4]) * 1000000};
	first_line = FIRST_LINE;
	if (is_all || !strcmp(way, "children")) {
		w.left /= WORKERS;
		for (int k = 0; k < WORKERS; k++, w.seed += 100)
			if (!fork()) {
				if (is_all)
					run_threads(w);
				else
					run(&w);
				exit(0);
			}
		while (wait(NULL) > 0)
			;
	} else if (!strcmp(way, "threads")) {
		run_threads(w);
	} else {
		run(&w);
	}
	return 0;
}
