/* SPDX-License-Identifier: Apache-2.0 */
/* What the launcher samples of a process, with stand-ins for the file and for what else it knows. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/cpus.h"
#include "runtime/launch/perf/sample_file.h"
#include "runtime/launch/run.h"
#include "runtime/shared/outside/process_stat.h"

static struct living process;
static struct run run;
static unsigned samples, ends, thread_ends;
static int thread_stop; /* the child's thread ends when this is closed */

/* ---- stand-ins ---- */

size_t living_processes(struct run *r, struct living **ret)
{
	*ret = &process;
	return 1;
}

void living_on_end(void (*forget)(struct living *))
{
}

bool sample_file_open(struct sample_file *f, const struct run *r, const char *name, const void *head, size_t size)
{
	f->fd = 0;
	return true;
}

bool sample_file_add(struct sample_file *f, const void *bytes, size_t size)
{
	const struct tf_usage_sample *list = bytes;

	for (size_t i = 0; i < size / sizeof(*list); i++) {
		samples += list[i].kind == TF_USAGE_PROCESS;
		ends += list[i].kind == TF_USAGE_GONE && !list[i].tid;
		thread_ends += list[i].kind == TF_USAGE_GONE && list[i].tid;
	}
	return true;
}

bool sample_file_turn(struct sample_file *f, const struct run *r)
{
	return false;
}

void cpus_affinity(uint32_t pid, struct tf_usage_cpus *ret)
{
}

void cpus_quota(const char *root, const char *groups, struct tf_usage_cpus *ret)
{
}

void capture_line_note(struct run *r, const char *text)
{
}

void oom_note(struct run *r)
{
}

/* ---- tests ---- */

static void *wait_for_close(void *stop)
{
	char byte;
	ssize_t n = read(*(int *)stop, &byte, 1);

	(void)n;
	return NULL;
}

static uint32_t child_threads(void)
{
	struct process_stat stat;

	cr_assert(process_stat_read(process.pid, &stat));
	process.start = stat.start;
	return stat.threads;
}

static void wait_for_threads(uint32_t count)
{
	while (child_threads() != count)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void setup(void)
{
	int ends_of_pipe[2];

	cr_assert_eq(pipe(ends_of_pipe), 0);
	process.pid = (uint32_t)fork();
	if (!process.pid) {
		pthread_t t;

		close(ends_of_pipe[1]);
		_exit(pthread_create(&t, NULL, wait_for_close, &ends_of_pipe[0]) || pause());
	}
	close(ends_of_pipe[0]);
	thread_stop = ends_of_pipe[1];
	wait_for_threads(2);
}

static void end_child(void)
{
	kill((pid_t)process.pid, SIGKILL);
	waitpid((pid_t)process.pid, NULL, 0);
}

/* A round in which no descriptor of this number or above can be opened. */
static void sample_with(rlim_t descriptors)
{
	struct rlimit limit, few;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){descriptors, limit.rlim_max};
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	usage_sample(&run);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TestSuite(usage, .init = setup);

Test(usage, a_process_of_which_nothing_can_be_read_for_a_moment_has_not_ended)
{
	usage_sample(&run);
	cr_assert_eq(samples, 1);
	sample_with(0);
	cr_expect_not(process.has_ended);
	cr_expect_eq(ends, 0);
	end_child();
	usage_sample(&run);
	cr_expect(process.has_ended);
	cr_expect_eq(ends, 1);
}

/* The stat file can be opened, or the list of the threads, but no file of a thread beside the list. */
Test(usage, threads_that_are_listed_and_cannot_be_read_have_not_ended)
{
	int next = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	close(next);
	usage_sample(&run);
	sample_with((rlim_t)next + 1);
	sample_with((rlim_t)next);
	cr_expect_eq(thread_ends, 0);
	close(thread_stop);
	wait_for_threads(1);
	usage_sample(&run);
	cr_expect_eq(thread_ends, 1);
	cr_expect_eq(ends, 0);
	end_child();
}

Test(usage, another_process_with_its_number_is_not_taken_for_it)
{
	usage_sample(&run);
	process.start++;
	usage_sample(&run);
	cr_expect(process.has_ended);
	cr_expect_eq(ends, 1);
	end_child();
}
