/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/live/doctor/doctor.h"
#include "report/live/proc_file.h"

/* The text of the row about counters of a GPU, NULL: none. The caller frees it. */
static char *counters(const char *params)
{
	char path[] = "/tmp/pillion-doctor-XXXXXX", *ret = NULL;
	int fd = mkstemp(path);
	static struct doctor all[8], *next = all;
	struct doctor *d = next++;

	cr_assert_eq(write(fd, params, strlen(params)), (ssize_t)strlen(params));
	close(fd);
	doctor_counters(d, path);
	unlink(path);
	cr_assert_eq(d->count, 1);
	ret = strdup(d->checks[0].found.data);
	doctor_counters(d, path);
	cr_assert_eq(d->count, 1, "no file: no driver");
	return ret;
}

Test(doctor, who_may_read_the_counters_of_a_gpu)
{
	char *restricted = counters("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n");
	char *open = counters("RmProfilingAdminOnly: 0\n");

	cr_expect_not_null(strstr(restricted, "ERR_NVGPUCTRPERM"));
	cr_expect_not_null(strstr(restricted, "NVreg_RestrictProfilingToAdminUsers=0"));
	cr_expect_null(strstr(open, "ERR_NVGPUCTRPERM"));
	free(restricted);
	free(open);
}

/* ---- rows ---- */

Test(doctor, the_state_of_a_row_only_grows_worse)
{
	static struct doctor d;

	for (int i = 0; i < 20; i++)
		check_add(&d, "row", "number %d", i);
	check_worse(&d.checks[19], CHECK_MISSING, "install it");
	check_worse(&d.checks[19], CHECK_LIMITED, "raise the limit");
	check_worse(&d.checks[18], CHECK_LIMITED, "raise the limit");
	cr_assert_eq(d.count, 20);
	cr_expect_str_eq(d.checks[0].found.data, "number 0");
	cr_expect_str_eq(d.checks[19].found.data, "number 19");
	cr_expect_eq(d.checks[0].state, CHECK_OK);
	cr_expect_eq(d.checks[0].advice.size, 0);
	cr_expect_eq(d.checks[18].state, CHECK_LIMITED);
	cr_expect_str_eq(d.checks[18].advice.data, "raise the limit");
	cr_expect_eq(d.checks[19].state, CHECK_MISSING);
	cr_expect_str_eq(d.checks[19].advice.data, "install it; raise the limit");
}

static int shell(const char *script, bool takes_errors, struct buffer *ret)
{
	char *const words[] = {"/bin/sh", "-c", (char *)script, NULL};

	buffer_clear(ret);
	return doctor_execute(words, takes_errors, ret);
}

Test(doctor, a_program_has_an_output_and_a_status)
{
	SCOPED(buffer) text = {0};

	cr_expect_eq(shell("echo out; echo err >&2; exit 3", false, &text), 3);
	cr_expect_str_eq(buffer_string(&text), "out\n");
	cr_expect_eq(shell("echo out; echo err >&2; read line; echo \"$line.\"", true, &text), 0);
	cr_expect_str_eq(buffer_string(&text), "out\nerr\n.\n", "it reads nothing");
	cr_expect_eq(shell("kill -9 $$", false, &text), -1, "no status");
	cr_expect_eq(shell("head -c 10000 /dev/zero", false, &text), 0);
	cr_expect_eq(text.size, 10000);
	cr_expect_eq(shell("exec cat /dev/zero", false, &text), -1, "it is killed where it does not end");
	cr_expect_geq(text.size, 1 << 20);
	buffer_clear(&text);
	cr_expect_eq(doctor_execute((char *const[]){"/nonexistent/program", NULL}, false, &text), 127);
	cr_expect_eq(text.size, 0);
}

/* ---- CUDA ---- */

static const struct check *row_of(const struct doctor *d, const char *name, size_t *ret_count)
{
	const struct check *ret = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < d->count; i++)
		if (!strcmp(d->checks[i].name, name) && !(*ret_count)++)
			ret = &d->checks[i];
	return ret;
}

static bool is_there(const char *library)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);

	if (handle)
		dlclose(handle);
	return handle;
}

/* A library that has CUPTI's name and not its functions is none. */
Test(doctor, without_a_driver_nothing_is_needed)
{
	char directory[] = "/tmp/pillion-doctor-XXXXXX", path[64];
	static struct doctor d;
	const struct check *c;
	size_t count;

	if (is_there("libcuda.so.1") || !access("/proc/driver/nvidia/version", R_OK))
		cr_skip_test("there is a driver");
	cr_assert_not_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/libcupti.so.12", directory);
	cr_assert_eq(symlink("/lib/x86_64-linux-gnu/libm.so.6", path), 0);
	buffer_print(&d.cupti, "%s\n/nonexistent/libcupti.so.2024.3\n/nonexistent/other.so", path);
	doctor_cuda(&d);
	c = row_of(&d, "CUDA driver", &count);
	cr_assert_eq(count, 1);
	cr_expect_eq(c->state, CHECK_MISSING);
	cr_expect_str_eq(c->found.data, "no libcuda.so.1");
	cr_expect_not_null(strstr(c->advice.data, "install the driver, or run on a node with a GPU"));
	c = row_of(&d, "CUPTI", &count);
	cr_assert_geq(count, 1);
	if (c->state == CHECK_MISSING) {
		cr_expect_eq(count, 1);
		cr_expect_str_eq(c->found.data,
				 "no libcupti on the library path, in /usr/local/cuda or in a Python here");
	} else {
		cr_expect_eq(strncmp(c->found.data, "of CUDA 1", 9), 0, "%s", c->found.data);
		cr_expect_not_null(strstr(c->found.data, "; no driver to compare it with"));
	}
	c = row_of(&d, "NVML", &count);
	cr_assert_eq(count, 1);
	cr_expect_eq(c->state, CHECK_OK);
	if (!is_there("libnvidia-ml.so.1"))
		cr_expect_str_eq(c->found.data, "no libnvidia-ml.so.1; recording does not need it");
	unlink(path);
	rmdir(directory);
}

/* And may be the last one, without a newline. */
Test(doctor, a_setting_begins_its_line)
{
	char *restricted = counters("RmProfilingAdminOnly: 1"), *other = counters("XRmProfilingAdminOnly: 1\n"),
	     *later = counters("RmProfilingAdminOnly: 1\nEnableMSI: 1\n"), *empty = counters("");

	cr_expect_not_null(strstr(restricted, "for the administrator only"));
	cr_expect_not_null(strstr(later, "for the administrator only"));
	cr_expect_str_eq(other, "for all users; recording needs none");
	cr_expect_str_eq(empty, "for all users; recording needs none");
	free(restricted);
	free(other);
	free(later);
	free(empty);
}

static void end_by(void *context)
{
	const int *how = context;

	if (*how < 0)
		kill(getpid(), -*how);
	_exit(*how);
}

/* A status of each kind, and an output at the limit, 1 MiB, or one byte below. */
Test(doctor, a_child_ends_in_any_way)
{
	SCOPED(buffer) text = {0};
	int statuses[] = {0, 1, 255}, term = -SIGTERM;

	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++)
		cr_expect_eq(doctor_child(end_by, &statuses[i], false, &text), statuses[i]);
	cr_expect_eq(doctor_child(end_by, &term, false, &text), -1);
	cr_expect_eq(text.size, 0);
	cr_expect_eq(shell("head -c 1048575 /dev/zero; exit 4", false, &text), 4);
	cr_expect_eq(text.size, (1 << 20) - 1);
	cr_expect_eq(shell("head -c 1048576 /dev/zero; exec sleep 1000", false, &text), -1, "nothing more is read");
	cr_expect_eq(text.size, 1 << 20);
	cr_expect_eq(shell("echo only >&2; cat; test -c /proc/self/fd/2 && echo none", false, &text), 0);
	cr_expect_str_eq(buffer_string(&text), "none\n");
}

/* ---- files of /proc ---- */

Test(proc_file, has_what_it_has_read)
{
	size_t size;
	char *status = proc_file_read((uint32_t)getpid(), "status", &size), *other = strdup("another text");

	cr_assert(status);
	cr_expect_eq(strncmp(status, "Name:\t", strlen("Name:\t")), 0, "%.20s", status);
	cr_expect_eq(strlen(status), size);
	free(other);
	free(status);
}

Test(proc_file, may_be_longer_than_what_is_read_at_once)
{
	size_t size;
	char *maps = proc_file_read((uint32_t)getpid(), "smaps", &size);

	cr_assert(maps);
	cr_expect_gt(size, 8192);
	cr_expect_eq(strlen(maps), size);
	cr_expect_eq(maps[size - 1], '\n');
	cr_expect_not_null(strstr(maps, "[stack]"));
	free(maps);
}

Test(proc_file, that_does_not_exist_has_a_reason)
{
	size_t size = 1;

	errno = 0;
	cr_expect_null(proc_file_read((uint32_t)getpid(), "no_such_file", &size));
	cr_expect_eq(errno, ENOENT);
	cr_expect_eq(size, 0);
}

Test(proc_file, an_empty_one_is_an_empty_text)
{
	pid_t child = fork();
	char *text;
	size_t size = 1;

	if (!child)
		_exit(0);
	cr_assert_eq(waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	text = proc_file_read((uint32_t)child, "cmdline", &size);
	cr_assert_not_null(text, "a process that has ended has no command");
	cr_expect_eq(size, 0);
	cr_expect_str_eq(text, "");
	free(text);
	waitpid(child, NULL, 0);
}

Test(proc_file, has_variables)
{
	static const char text[] = "PATHS=no\0PATH=/bin\0EMPTY=\0PATH=/late\0LAST=x";
	size_t size = sizeof(text);

	cr_expect_str_eq(proc_file_variable(text, size, "PATH"), "/bin");
	cr_expect_str_eq(proc_file_variable(text, size, "PATHS"), "no");
	cr_expect_str_eq(proc_file_variable(text, size, "EMPTY"), "");
	cr_expect_str_eq(proc_file_variable(text, size, "LAST"), "x");
	cr_expect_null(proc_file_variable(text, size, "PAT"));
	cr_expect_null(proc_file_variable(text, sizeof("PATHS=no"), "PATH"), "it is behind the end");
	cr_expect_null(proc_file_variable(text, 0, "PATHS"));
}

Test(proc_file, knows_own_processes)
{
	struct process_stat launcher = {.name = "pillion-launch"}, report = {.name = "pillion-report"},
			    other = {.name = "pillion"};

	cr_expect(proc_file_is_launcher(&launcher));
	cr_expect_not(proc_file_is_report(&launcher));
	cr_expect(proc_file_is_report(&report));
	cr_expect_not(proc_file_is_launcher(&report));
	cr_expect_not(proc_file_is_launcher(&other));
	cr_expect_not(proc_file_is_report(&other));
}
