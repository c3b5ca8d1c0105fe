/* SPDX-License-Identifier: Apache-2.0 */
/* What the launcher samples of a process, with stand-ins for the file and for what else it knows. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/launch/cpus.h"
#include "runtime/launch/perf/sample_file.h"
#include "runtime/launch/run.h"
#include "runtime/shared/outside/process_stat.h"

static struct living process;
static struct run run;
static unsigned samples, ends;

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

static void setup(void)
{
	struct process_stat stat;

	process.pid = (uint32_t)fork();
	if (!process.pid) {
		pause();
		_exit(0);
	}
	cr_assert(process_stat_read(process.pid, &stat));
	process.start = stat.start;
}

static void end_child(void)
{
	kill((pid_t)process.pid, SIGKILL);
	waitpid((pid_t)process.pid, NULL, 0);
}

TestSuite(usage, .init = setup);

Test(usage, a_process_of_which_nothing_can_be_read_for_a_moment_has_not_ended)
{
	struct rlimit limit, none;

	usage_sample(&run);
	cr_assert_eq(samples, 1);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){0, limit.rlim_max};
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	usage_sample(&run);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_expect_not(process.has_ended);
	cr_expect_eq(ends, 0);
	end_child();
	usage_sample(&run);
	cr_expect(process.has_ended);
	cr_expect_eq(ends, 1);
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
