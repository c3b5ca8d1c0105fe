/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that run now: what they use, and where they are. Everything is read from outside, from /proc, the captures
 * and NVML, so that the processes pay nothing for it. */
#pragma once

#include "report/base/table/emit.h"
#include "report/causes/where/place.h"
#include "runtime/shared/outside/energy_nvml.h"
#include "runtime/shared/outside/where.h"

/* What is not known is TOP_UNKNOWN; of a real number, it is negative. */
#define TOP_UNKNOWN UINT64_MAX

/* What the tables of a capture cover: so much of the last time. */
#define TOP_LAST_NS 5000000000ull

struct top_thread {
	uint32_t tid;
	uint64_t cpu_ns, delay_ns; /* delay: runnable without a CPU */
};

/* What a process has used up to a moment. */
struct top_reading {
	uint64_t at_ns; /* a time of one clock of its machine; 0: it was not read */
	uint64_t cpu_ns, resident_bytes, read_bytes, written_bytes;
	struct top_thread *threads; /* by TID */
	size_t thread_count;
};

struct top_process {
	uint32_t pid;
	uint64_t start; /* field 22 of /proc/PID/stat */
	uint64_t run;	/* of the capture; 0: pillion did not start it */
	bool is_here;	/* on this machine */
	bool was_seen;	/* in this round */
	char *rank, *host, *command;
	struct top_reading before, now;
	double cpu_percent, wait_percent, gpu_percent;
	uint64_t device_bytes, read_per_s, written_per_s;
	uint32_t busiest; /* TID of the thread that has used most CPU time meanwhile */
	const struct where_item *item; /* that thread, NULL: not known; borrowed from the place */
};

struct top_device {
	const struct energy_meter *meter; /* never freed */
	struct tf_energy_sample sample;
	uint64_t memory_bytes; /* 0: not known */
};

struct top {
	const char *target; /* as of live_find; NULL: the runs of this user */
	uint32_t pid;	    /* of the process, which pillion did not start; 0: there are captures */
	struct texts captures; /* of this round */

	uint64_t at_ns; /* CLOCK_REALTIME of this round */
	struct model model;	  /* of this round */
	struct symbols *symbols;
	struct where_place place;
	struct where_files *files; /* kept from round to round */
	struct top_process *processes; /* most CPU time first */
	size_t count, capacity;
	struct top_device *devices; /* of this machine */
	size_t device_count;
	char machine[256]; /* the name of this machine */
	struct top_line *lines; /* of sampled Python frames */
	size_t line_count, line_capacity, sample_count;
	struct texts problems; /* of this round: what could not be read */
	struct texts notes;    /* likewise: what was left out on purpose */
	bool has_round;
};

struct top_line {
	const struct code_line *line;
	size_t samples;
};

/* A round: reads what the processes have used; then, if `looks`, where they are. The figures are those of the time
 * since the previous round. -ENOENT: there is no such live run; -errno if a capture cannot be read. */
int top_round(struct top *t, bool looks, struct err *err);

/* The line where the process is, "" if it is not known. */
void top_line_text(const struct top_process *p, struct buffer *ret);

/* ---- top_reading.c ---- */

/* False: there is no such process. The caller frees it by top_reading_done. */
bool top_reading_take(uint32_t pid, struct top_reading *ret);
void top_reading_done(struct top_reading *r);
/* The command line of a process of this machine; the caller frees it. */
char *top_command(uint32_t pid);

/* ---- top_remote.c ---- */

void top_remote_read(const struct model *m, struct top_process *p);

/* ---- top_look.c ---- */

/* Looks into the processes of this machine, and adds what they do to the model as launchers do. Returns the request
 * that where_place_read_now finds it by. `flags`: of enum where_flag. Of a process that cannot be read, errors has a
 * line. */
uint64_t top_look(struct model *m, const struct top_process *list, size_t count, unsigned flags,
		  struct texts *errors);

/* ---- top_sample.c ---- */

/* Samples the Python frames of one process until CLOCK_MONOTONIC is `until_ns`, and counts their lines. */
void top_sample(struct top *t, uint64_t until_ns);
/* Takes and counts one sample. */
void top_sample_one(struct top *t);

/* ---- top_devices.c ---- */

/* Reads the GPUs, and what the processes use of them. */
void top_devices_read(struct top *t);

/* ---- top_tables.c ---- */

struct top_table {
	const char *name, *title;
	void (*fill)(struct top *l, struct table *ret);
	const char *report; /* instead of fill: of the last seconds */
};
enum { TOP_TABLES = 10 };
extern const struct top_table top_tables[TOP_TABLES]; /* processes first */
void top_table_fill(const struct top_table *row, struct top *l, struct table *ret);

void top_devices_table(struct top *t, struct table *ret); /* top_devices.c */

/* ---- top_metrics.c ---- */

/* OpenMetrics text for the textfile collector of Prometheus. */
void top_metrics(const struct top *t, struct buffer *ret);
