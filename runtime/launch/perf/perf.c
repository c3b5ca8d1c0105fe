/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which processes are sampled by perf_event_open(2): with --sampling-source=perf COMMAND and all its
 * descendants. With auto only those that cannot be sampled by signals: COMMAND if it cannot carry the recorder, and
 * each process for which the index says that it is not recorded or has no samples. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/launch/perf/perf.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/range.h"
#include "runtime/shared/format/trace_notes.h"
#include "runtime/shared/outside/system_line.h"

enum {
	INDEX_MS = 50,
	DRAIN_MS = 100,
	DRAIN_OFTEN_MS = 10, /* above OFTEN_HZ */
	OFTEN_HZ = 1000,
	FLUSH_NS = 1000000000,
	INDEX_BYTES = 65536,
	ANCESTORS = 256
};

static struct {
	const struct run *run;
	bool is_on;	  /* processes may be sampled */
	bool is_used;	  /* at least one has been */
	bool has_failed;  /* the reason is in the ledger */
	int index;	  /* descriptor of the index, -1: not open */
	off_t index_read; /* bytes of it */
	uint64_t flushed_ns;
} perf = {.index = -1};

/* ---- the ledger ---- */

static void perf_note(uint32_t pid, const char *text)
{
	char buffer[1024];
	struct index_writer line;

	index_begin(&line, buffer, sizeof(buffer), "note");
	index_hex(&line, "nonce", 0);
	index_number(&line, "pid", pid);
	index_text(&line, "text", text);
	index_append(&line, perf.run->directory, perf.run->index);
}

/* Only the first failure is noted. */
static void perf_failed(uint32_t pid, int error)
{
	enum { PERMITTED_LEVEL = 2 };
	char text[256];
	int level = (int)system_number("/proc/sys/kernel/perf_event_paranoid", -1);

	if (perf.has_failed || error == ESRCH)
		return;
	perf.has_failed = true;
	if ((error == EACCES || error == EPERM) && level > PERMITTED_LEVEL)
		snprintf(text, sizeof(text),
			 TF_NOTE_NO_SAMPLES " by perf_event_open, kernel.perf_event_paranoid is %d (at most 2 is "
					    "needed)",
			 level);
	else if (error == EACCES)
		snprintf(text, sizeof(text),
			 TF_NOTE_NO_SAMPLES " by perf_event_open: %s (the process is not dumpable?)", strerror(error));
	else if (error == EPERM)
		snprintf(text, sizeof(text),
			 TF_NOTE_NO_SAMPLES " by perf_event_open: %s (a seccomp filter, or perf_event_mlock_kb?)",
			 strerror(error));
	else
		snprintf(text, sizeof(text), TF_NOTE_NO_SAMPLES " by perf_event_open: %s", strerror(error));
	perf_note(pid, text);
}

/* ---- which processes ---- */

static void perf_add(pid_t pid, bool is_running)
{
	struct perf_events *events;
	int rc = perf_ring_open(&perf.run->options, pid, !is_running, &events);

	if (rc) {
		perf_failed((uint32_t)pid, -rc);
		return;
	}
	if (!perf.is_used)
		perf_process_init(perf.run);
	perf.is_used = true;
	perf_process_add(pid, events, is_running);
}

/* The index also has processes of other launchers on this host. */
static bool is_descendant(const struct run *run, uint32_t pid)
{
	struct process_stat stat;

	for (int i = 0; i < ANCESTORS && pid > 1; i++) {
		if (pid == (uint32_t)run->child)
			return true;
		if (!process_stat_read(pid, &stat))
			break;
		pid = stat.parent_pid;
	}
	return false;
}

static void perf_attach(const struct run *run, uint32_t pid)
{
	if (!is_descendant(run, pid))
		return;
	perf_ring_drain(UINT64_MAX, perf_process_handle); /* it may have inherited the events of its parent */
	if (!perf_process_is_known(pid))
		perf_add((pid_t)pid, true);
}

/* Whether the process exists and runs without the recorder. */
static bool is_bare(uint32_t pid)
{
	static const char *const libraries[] = {PRELOADABLE_LIBRARIES};
	char path[32], *line = NULL;
	bool has_maps = false, has_recorder = false;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	while (f && !has_recorder && getline(&line, &size, f) > 0) {
		has_maps = true;
		for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
			has_recorder |= strstr(line, libraries[i]) != NULL;
	}
	free(line);
	if (f)
		fclose(f);
	return has_maps && !has_recorder;
}

/* A "bare" line of the index precedes the exec of a program that is not recorded. Its pid is that of the process that
 * calls exec, or that of the parent if the process was created by vfork() or posix_spawn(). */
static void attach_bare(const struct run *run, uint32_t pid)
{
	char path[64];
	unsigned child;
	struct dirent *entry;
	DIR *d;

	if (is_bare(pid))
		perf_attach(run, pid);
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	d = opendir(path);
	while (d && (entry = readdir(d))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%u/task/%.10s/children", pid, entry->d_name);
		f = fopen(path, "re");
		while (f && fscanf(f, "%u", &child) == 1)
			if (is_bare(child))
				perf_attach(run, child);
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
}

/* The values of an index have no spaces. */
static void index_line_read(const struct run *run, const char *line)
{
	const char *at = strstr(line, "\tpid=");
	uint32_t pid = at ? (uint32_t)strtoul(at + 5, NULL, 10) : 0;

	if (pid && !strncmp(line, "bare\t", 5))
		attach_bare(run, pid);
	else if (pid && !strncmp(line, "note\t", 5) && strstr(line, "\ttext=CPU\\x20samples:\\x20none"))
		perf_attach(run, pid);
}

/* Reads the complete lines that were added since the last call. */
static void index_follow(const struct run *run)
{
	static char bytes[INDEX_BYTES];
	char path[PATH_MAX + INDEX_NAME_BYTES], *line, *end;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", run->spool[0] ? run->spool : run->directory, run->index);
	if (perf.index < 0)
		perf.index = open(path, O_RDONLY | O_CLOEXEC);
	do {
		n = perf.index < 0 ? 0 : pread(perf.index, bytes, sizeof(bytes) - 1, perf.index_read);
		bytes[n > 0 ? n : 0] = '\0';
		for (line = bytes; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			index_line_read(run, line);
		}
		/* A line that does not fit is of no interest. */
		perf.index_read += line > bytes ? line - bytes : n == sizeof(bytes) - 1 ? n : 0;
	} while (n == sizeof(bytes) - 1);
}

/* ---- the run ---- */

static bool is_needed_from_start(const struct run *run)
{
#ifdef __x86_64__
	return run->options.sampling_source == SAMPLING_PERF || run->preloadable.kind != PRELOADABLE;
#else
	return true; /* signals cannot sample any process */
#endif
}

bool perf_prepare(struct run *run)
{
	int rc;

	perf.run = run;
	if (!run->options.sample || run->options.sampling_source == SAMPLING_SIGNAL)
		return false;
	rc = perf_ring_probe(&run->options);
	if (rc && run->options.sampling_source == SAMPLING_PERF)
		say("no CPU samples: perf_event_open: %s; --sampling-source=signal needs no permission", strerror(-rc));
	if (rc && is_needed_from_start(run))
		perf_failed((uint32_t)getpid(), -rc);
	perf.is_on = true;
	return is_needed_from_start(run) && !rc;
}

void perf_start(struct run *run)
{
	perf_add(run->child, false);
}

static void perf_drain(uint64_t until_ns, uint64_t now)
{
	perf_trace_clock();
	perf_ring_drain(until_ns, perf_process_handle);
	if (now - perf.flushed_ns >= FLUSH_NS) {
		perf_process_flush(false);
		perf.flushed_ns = now;
	}
}

int perf_tick(struct run *run)
{
	uint64_t now = clock_monotonic_ns();
	int drain_ms = run->options.sampling_frequency > OFTEN_HZ ? DRAIN_OFTEN_MS : DRAIN_MS;

	if (!perf.is_on)
		return -1;
	if (run->options.sampling_source == SAMPLING_AUTO)
		index_follow(run);
	if (perf.is_used)
		perf_drain(now, now);
	if (!perf.is_used)
		return run->options.sampling_source == SAMPLING_AUTO ? INDEX_MS : -1;
	return run->options.sampling_source == SAMPLING_AUTO && drain_ms > INDEX_MS ? INDEX_MS : drain_ms;
}

void perf_finish(struct run *run, bool leaves_processes)
{
	char text[256];

	if (!perf.is_on)
		return;
	perf.is_on = false;
	if (perf.is_used && leaves_processes)
		perf_note((uint32_t)run->child, "CPU samples by perf_event_open: none after the launcher has ended");
	if (perf.is_used) {
		perf_drain(UINT64_MAX, clock_monotonic_ns());
		perf_process_flush(true);
		perf_ring_end();
	}
	if (perf.index >= 0)
		close(perf.index);
	perf.index = -1;
	snprintf(text, sizeof(text), "perf_event_open: %llu records lost, %llu traces could not be written",
		 (unsigned long long)perf_counts.lost, (unsigned long long)perf_counts.unwritten);
	if (perf_counts.lost || perf_counts.unwritten)
		perf_note((uint32_t)run->child, text);
}
