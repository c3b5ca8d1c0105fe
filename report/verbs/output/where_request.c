/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verbs/output/where_request.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "report/causes/where/look.h"
#include "report/live/proc_file.h"
#include "report/live/request_file.h"
#include "runtime/shared/common/sys.h"

/* A launcher looks for requests once per second; one on another host sees the file when its file system shows it. */
enum { POLL_NS = 20000000, ANCESTORS = 64 };

/* ---- the capture of a process ---- */

static bool is_launcher(uint32_t pid)
{
	struct process_stat stat;

	return process_stat_read(pid, &stat) && proc_file_is_launcher(&stat);
}

static uint32_t child_of(uint32_t pid)
{
	char name[48], *children;
	uint32_t child = 0;
	size_t size;

	snprintf(name, sizeof(name), "task/%u/children", pid);
	children = proc_file_read(pid, name, &size);
	if (children)
		child = (uint32_t)strtoul(children, NULL, 10);
	free(children);
	return child;
}

/* 0: it has none that can be read. */
static uint32_t parent_of(uint32_t pid)
{
	struct process_stat stat;

	return process_stat_read(pid, &stat) ? stat.parent_pid : 0;
}

/* 0, or -errno if the variables of the process cannot be read. Sets nothing if there is no such variable. */
static int find_output(uint32_t pid, struct buffer *ret)
{
	size_t size;
	SCOPED_MEMORY char *variables = proc_file_read(pid, "environ", &size);
	const char *value = variables ? proc_file_variable(variables, size, "PILLION_OUTPUT") : NULL;

	if (!variables)
		return -errno;
	if (value)
		buffer_text(ret, value);
	return 0;
}

/* A process that has overwritten its variables (setproctitle) has ancestors that have not. */
int where_capture_of(uint32_t pid, struct buffer *ret, struct err *err)
{
	bool is_parent = is_launcher(pid);
	uint32_t at = is_parent ? child_of(pid) : pid;
	int code;

	if (is_parent && !at)
		return err_set(err, -EINVAL, "PID %u is a launcher whose command has ended: name its capture instead",
			       pid);
	code = find_output(at, ret);
	if (code == -ENOENT || code == -ESRCH)
		return err_set(err, code, "PID %u: no such process", pid);
	if (code)
		return err_set(err, code,
			       "PID %u: %s: it is another user's or protects its memory; name its capture instead",
			       pid, strerror(-code));
	for (int i = 0; i < ANCESTORS && !ret->size && (at = parent_of(at)) > 1 && !is_launcher(at); i++)
		find_output(at, ret);
	if (ret->size)
		return 0;
	return err_set(err, -ENODATA, "PID %u does not run under pillion", pid);
}

/* ---- asking ---- */

static bool is_alive(const struct model *m, const struct run_record *r)
{
	return m->machines[r->machine].is_this ? is_launcher(r->pid) : !r->has_ended;
}

/* Whether the file of that run has the answer. */
static bool has_answer(const char *capture, uint64_t run, uint64_t request)
{
	SCOPED(buffer) end = {0}, path = {0};
	struct dirent *entry;
	bool has = false;
	DIR *d = opendir(capture);

	buffer_print(&end, ".%016" PRIx64 ".where", run);
	while (d && !has && (entry = readdir(d))) {
		size_t length = strlen(entry->d_name);
		SCOPED(model) m = {0};
		struct mapping file;
		struct look look;
		struct err err;

		if (length < end.size || strcmp(entry->d_name + length - end.size, end.data) != 0)
			continue;
		buffer_set(&path, "%s/%s", capture, entry->d_name);
		if (mapping_open(path.data, &file, &err))
			continue;
		model_where(&m, path.data, &file);
		has = m.where_count && look_read(&m.wheres[0], request, &look);
		if (has) {
			has = look.is_complete;
			look_done(&look);
		}
		mapping_close(&file);
	}
	if (d)
		closedir(d);
	return has;
}

/* One round over the launchers: `waits` says which have not answered and are alive. Returns whether there are any. */
static bool collect(const char *capture, const struct model *m, bool *waits, struct where_answers *ret)
{
	bool any = false;

	for (size_t i = 0; i < m->run_count; i++) {
		if (!waits[i])
			continue;
		if (has_answer(capture, m->runs[i].id, ret->request)) {
			waits[i] = false;
			ret->answered++;
		} else if (!is_alive(m, &m->runs[i])) {
			waits[i] = false;
			texts_add(&ret->missing, "the launcher PID %u has ended meanwhile", m->runs[i].pid);
		}
		any |= waits[i];
	}
	return any;
}

static void wait_for_answers(const char *capture, const struct model *m, bool *waits, struct where_answers *ret)
{
	uint64_t until = sys_clock_ns(CLOCK_MONOTONIC) + REQUEST_PATIENCE_S * 1000000000ull;
	const struct timespec pause = {0, POLL_NS};

	/* A launcher that receives SIGCHLD looks at once. */
	for (size_t i = 0; i < m->run_count; i++)
		if (waits[i] && m->machines[m->runs[i].machine].is_this)
			kill((pid_t)m->runs[i].pid, SIGCHLD);
	while (collect(capture, m, waits, ret) && sys_clock_ns(CLOCK_MONOTONIC) < until)
		nanosleep(&pause, NULL);
	for (size_t i = 0; i < m->run_count; i++)
		if (waits[i])
			texts_add(&ret->missing, "the launcher PID %u on %s did not answer within %d s", m->runs[i].pid,
				  m->machines[m->runs[i].machine].host, REQUEST_PATIENCE_S);
}

static int ask(const char *capture, const struct model *m, struct where_answers *ret, struct err *err)
{
	SCOPED_MEMORY bool *waits = mem_alloc(m->run_count + 1);
	SCOPED(buffer) path = {0};
	int code = 0;

	for (size_t i = 0; i < m->run_count; i++) {
		waits[i] = is_alive(m, &m->runs[i]);
		ret->asked += waits[i];
	}
	if (ret->asked) {
		ret->request = request_number();
		code = request_place(capture, ret->request, "", &path, err);
	}
	if (ret->asked && !code) {
		wait_for_answers(capture, m, waits, ret);
		unlink(path.data);
	}
	return code;
}

int where_request(const char *capture, struct where_answers *ret, struct err *err)
{
	char *paths[] = {(char *)capture};
	SCOPED(model) m = {0};
	int code = model_open(&m, paths, 1, err);

	*ret = (struct where_answers){0};
	if (!code)
		code = ask(capture, &m, ret, err);
	return code;
}
