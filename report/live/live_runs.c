/* SPDX-License-Identifier: Apache-2.0 */
#include "report/live/live_runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/live/proc_file.h"
#include "report/read/job/command.h"
#include "report/read/job/model.h"
#include "runtime/shared/spool/spool.h"

/* A process that was found, before its run is known. */
struct live_found {
	uint32_t pid, user;
	struct process_stat stat;
	char *environment;
	size_t size;
	uint64_t run;	   /* of the variable; 0: it has none */
	uint64_t launches; /* the run of which it is the launcher or a helper, 0: of none */
};

struct live_search {
	struct live_found *items; /* by PID */
	size_t count, capacity;
	struct map by_pid; /* position + 1 */
	struct live_runs *runs;
};

/* ---- processes ---- */

/* "DIRECTORY/HOST.RUN.range": sets the run, and cuts the path at the last slash and the name at the run. */
static bool range_file_parse(char *path, uint64_t *ret_run, char **ret_host)
{
	enum { DIGITS = 16 };
	static const char ending[] = ".range";
	char *slash = strrchr(path, '/'), *end;
	size_t length = slash ? strlen(slash) : 0, after = DIGITS + strlen(ending);

	if (length < after + 2 || !text_ends_with(path, ending) || slash[length - after - 1] != '.')
		return false;
	*ret_run = strtoull(slash + length - after, &end, 16);
	*slash = slash[length - after - 1] = '\0';
	*ret_host = slash + 1;
	return end == slash + length - strlen(ending) && *ret_run;
}

/* The line of /proc/PID/maps whose path is that of a range file; the caller frees it. NULL: there is none. */
static char *mapped_range_file(uint32_t pid)
{
	size_t size;
	char *maps = proc_file_read(pid, "maps", &size), *ret = NULL;

	for (char *line = maps, *end; line && !ret && (end = strchr(line, '\n')); line = end + 1) {
		char *path;

		*end = '\0';
		path = strchr(line, '/');
		if (path && text_ends_with(path, ".range"))
			ret = mem_copy_text(path, strlen(path));
	}
	free(maps);
	return ret;
}

static struct live_run *run_of(struct live_runs *runs, uint64_t id)
{
	return list_find(run, runs, run->id == id);
}

static struct live_run *run_add(struct live_runs *runs, uint64_t id, uint32_t user, const char *directory,
				const char *host)
{
	return list_new(runs, (struct live_run){
		.id = id,
		.user = user,
		.directory = mem_copy_text(directory, strlen(directory)),
		.host = mem_copy_text(host, strlen(host)),
		.rank = "",
	});
}

static void read_launcher(struct live_search *s, struct live_found *f)
{
	char *path = mapped_range_file(f->pid), *host;

	if (path && range_file_parse(path, &f->launches, &host) && !run_of(s->runs, f->launches))
		run_add(s->runs, f->launches, f->user, path, host);
	free(path);
}

static void read_process(struct live_search *s, uint32_t pid)
{
	struct live_found f = {.pid = pid};
	char path[32];
	const char *run;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (stat(path, &st) || !process_stat_read(pid, &f.stat) || f.stat.state == 'Z' || f.stat.state == 'X')
		return;
	f.user = st.st_uid;
	f.environment = proc_file_read(pid, "environ", &f.size);
	run = f.environment ? proc_file_variable(f.environment, f.size, "PILLION_RUN") : NULL;
	f.run = run ? strtoull(run, NULL, 16) : 0;
	if (proc_file_is_launcher(&f.stat))
		read_launcher(s, &f);
	list_add(s, f);
	*map_put(&s->by_pid, pid, 0, NULL) = s->count;
}

static void read_processes(struct live_search *s)
{
	DIR *d = opendir("/proc");

	for (struct dirent *entry; d && (entry = readdir(d));) {
		unsigned long pid = strtoul(entry->d_name, NULL, 10);

		if (pid && pid <= INT32_MAX)
			read_process(s, (uint32_t)pid);
	}
	if (d)
		closedir(d);
}

/* ---- runs ---- */

static const struct live_found *found_at(const struct live_search *s, uint32_t pid)
{
	const uint64_t *place = map_find(&s->by_pid, pid, 0);

	return place ? &s->items[*place - 1] : NULL;
}

/* A program may overwrite its variables (setproctitle); its ancestors have not. The report that a launcher has asked
 * why its job is quiet is not of the job. */
static uint64_t run_of_process(const struct live_search *s, const struct live_found *f)
{
	const struct live_found *parent = found_at(s, f->stat.parent_pid);
	enum { ANCESTORS = 64 };

	if (!f->run && parent && parent->launches && proc_file_is_report(&f->stat))
		return 0;
	for (int i = 0; f && i < ANCESTORS; i++) {
		if (f->run)
			return f->run;
		if (f->launches)
			return i ? f->launches : 0;
		f = found_at(s, f->stat.parent_pid);
	}
	return 0;
}

static char *command_of(const struct live_found *f)
{
	size_t size;
	char *text = proc_file_read(f->pid, "cmdline", &size), *ret;
	struct buffer name = {0};

	if (text && size) {
		ret = command_join(text, text + size);
		free(text);
		return ret;
	}
	free(text);
	buffer_print(&name, "[%.*s]", (int)sizeof(f->stat.name), f->stat.name);
	return name.data;
}

static char *variable_of(const struct live_found *f, const char *const *names, size_t count)
{
	const char *value = NULL;

	for (size_t i = 0; f->environment && i < count && (!value || !*value); i++)
		value = proc_file_variable(f->environment, f->size, names[i]);
	return mem_copy_text(value ? value : "", value ? strlen(value) : 0);
}

static void add_process(struct live_run *run, const struct live_found *f)
{
	static const char *const ranks[] = {TF_RANK_VARIABLES}, *const jobs[] = {"SLURM_JOB_ID"};

	mem_append(run->processes, run->process_count, run->process_capacity, (struct live_process){
					       .pid = f->pid,
					       .parent_pid = f->stat.parent_pid,
					       .start = f->stat.start,
					       .command = command_of(f),
					       .rank = variable_of(f, ranks, sizeof(ranks) / sizeof(*ranks)),
					       .job = variable_of(f, jobs, 1),
				       });
}

/* A run without a launcher, or with one that cannot be seen from here: its directory is what its processes have. */
static struct live_run *run_of_variables(struct live_search *s, const struct live_found *f, uint64_t id)
{
	const char *output = f->environment ? proc_file_variable(f->environment, f->size, "PILLION_OUTPUT") : NULL;
	struct live_run *run;
	char ending[32];
	DIR *d = output && f->run ? opendir(output) : NULL;

	if (!d)
		return NULL;
	run = run_add(s->runs, id, f->user, output, "");
	snprintf(ending, sizeof(ending), ".%016llx.range", (unsigned long long)id);
	for (struct dirent *entry; (entry = readdir(d));)
		if (text_ends_with(entry->d_name, ending))
			mem_replace_text(&run->host, mem_copy_text(entry->d_name,
								   strlen(entry->d_name) - strlen(ending)));
	closedir(d);
	return run;
}

static void join_processes(struct live_search *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct live_found *f = &s->items[i], *parent = found_at(s, f->stat.parent_pid);
		uint64_t id = run_of_process(s, f);
		struct live_run *run = f->launches ? run_of(s->runs, f->launches) : NULL;

		/* Its helpers have its name and its mappings, too. */
		if (run && (!parent || parent->launches != f->launches))
			run->launcher = f->pid;
		if (!id || id == f->launches || (parent && f->launches && parent->launches == f->launches))
			continue;
		run = run_of(s->runs, id);
		run = run ? run : run_of_variables(s, f, id);
		if (run)
			add_process(run, f);
	}
}

/* Reads the state of the capture range, and the capture that a spool belongs to. */
static void read_state(struct live_run *run)
{
	SCOPED(buffer) path = {0};
	struct tf_range_page page;
	struct spool spool;
	int fd;

	if (!spool_open(&spool, run->directory))
		run->capture = mem_copy_text(spool.capture, strlen(spool.capture));
	else
		run->capture = mem_copy_text(run->directory, strlen(run->directory));
	spool_close(&spool);
	buffer_print(&path, "%s/%s.%016llx.range", run->directory, run->host, (unsigned long long)run->id);
	fd = open(path.data, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	run->is_recording = true; /* without such a file everything is recorded */
	if (fd >= 0 && pread(fd, &page, sizeof(page), 0) == (ssize_t)sizeof(page) && page.magic == TF_RANGE_MAGIC) {
		run->is_recording = page.recording;
		run->ranges = page.begun;
		run->range = page.recording ? page.begun : 0;
	}
	if (fd >= 0)
		close(fd);
}

COMPARATOR(by_start, struct live_process, order_of(a->start, b->start) ?: order_of(a->pid, b->pid))

COMPARATOR(by_capture, struct live_run,
	   strcmp(a->capture, b->capture) ?: order_of(a->launcher, b->launcher) ?: order_of(a->id, b->id))

static void run_done(struct live_run *run)
{
	for (size_t i = 0; i < run->process_count; i++) {
		free(run->processes[i].command);
		free(run->processes[i].rank);
		free(run->processes[i].job);
	}
	free(run->processes);
	free(run->capture);
	free(run->directory);
	free(run->host);
	free(run->command);
}

static void complete_runs(struct live_runs *runs)
{
	list_each(struct live_run, run, runs) {
		read_state(run);
		array_sort(run->processes, run->process_count, by_start);
		run->command = mem_copy_text("", 0);
		if (!run->process_count)
			continue;
		mem_replace_text(&run->command, mem_copy_text(run->processes[0].command,
							      strlen(run->processes[0].command)));
		run->rank = run->processes[0].rank;
	}
	array_sort(runs->items, runs->count, by_capture);
}

static void search_all(struct live_runs *ret)
{
	struct live_search s = {.runs = ret};

	read_processes(&s);
	join_processes(&s);
	array_free(item, s.items, s.count, free(item->environment));
	map_done(&s.by_pid);
	complete_runs(ret);
}

/* ---- targets ---- */

struct target {
	const char *job; /* NULL: the target is no job */
	uint32_t pid;	 /* 0: it is no PID */
	bool is_path;
	struct stat capture;
};

/* A capture of that name goes before a PID. */
static int target_parse(const char *word, struct target *ret, struct err *err)
{
	static const char slurm[] = "slurm:";
	SCOPED(buffer) path = {0};
	int code = 0;

	*ret = (struct target){0};
	if (word && !strncmp(word, slurm, strlen(slurm))) {
		ret->job = word + strlen(slurm);
	} else if (word) {
		code = model_find(word, false, &path, err);
		if (!code && stat(path.data, &ret->capture))
			code = err_set(err, -errno, "%s: %s", path.data, strerror(errno));
		ret->is_path = !code;
		if (code == -ENOENT && word[strspn(word, "0123456789")] == '\0') {
			unsigned long pid = strtoul(word, NULL, 10);

			ret->pid = pid && pid < INT32_MAX ? (uint32_t)pid : INT32_MAX; /* no process has that PID */
			code = 0;
		}
	}
	return code;
}

static bool run_has_process(const struct live_run *run, const struct target *t)
{
	bool has = t->pid && run->launcher == t->pid;

	for (size_t i = 0; i < run->process_count && !has; i++)
		has = t->pid ? run->processes[i].pid == t->pid : !strcmp(run->processes[i].job, t->job);
	return has;
}

static bool run_is_wanted(const struct live_run *run, const struct target *t)
{
	struct stat st;

	if (t->is_path)
		return !stat(run->capture, &st) && st.st_dev == t->capture.st_dev && st.st_ino == t->capture.st_ino;
	return t->pid || t->job ? run_has_process(run, t) : run->user == geteuid();
}

int live_find(const char *target, struct live_runs *ret, struct err *err)
{
	struct target t;
	size_t kept = 0;
	int code = target_parse(target, &t, err);

	*ret = (struct live_runs){0};
	if (code)
		return code;
	search_all(ret);
	for (size_t i = 0; i < ret->count; i++) {
		if (run_is_wanted(&ret->items[i], &t))
			ret->items[kept++] = ret->items[i];
		else
			run_done(&ret->items[i]);
	}
	ret->count = kept;
	return 0;
}

void live_done(struct live_runs *l)
{
	array_free(item, l->items, l->count, run_done(item));
	*l = (struct live_runs){0};
}

/* The captures of these runs, each once; the number of captures. */
static size_t list_captures(const struct live_runs *l, struct buffer *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < l->count; i++) {
		if (i && !strcmp(l->items[i].capture, l->items[i - 1].capture))
			continue;
		buffer_print(ret, "%s%s", count++ ? ", " : "", l->items[i].capture);
	}
	return count;
}

int live_find_one(const char *target, struct live_runs *ret, struct err *err)
{
	SCOPED(buffer) list = {0};
	struct live_runs others;
	int code = live_find(target, ret, err);
	size_t captures;

	if (code && code != -ENOENT)
		return code;
	captures = list_captures(ret, &list);
	if (captures && (target || captures == 1)) {
		code = 0;
	} else if (captures) {
		code = err_set(err, -EINVAL, "several runs are live, name one: %s", list.data);
	} else {
		if (target && !live_find(NULL, &others, err)) {
			list_captures(&others, &list);
			live_done(&others);
		}
		code = err_set(err, -ENOENT, "%s%sno live run%s%s", target ? target : "", target ? ": " : "",
			       list.size ? "; there are: " : "", buffer_string(&list));
	}
	return code;
}
