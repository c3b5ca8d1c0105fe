/* SPDX-License-Identifier: Apache-2.0 */
/* pillion-launch: starts COMMAND recorded, supervises it, tells what came of it. One struct goes through its parts in
 * the order of main(): options, capture, spool, environment, wait, summary. A program of its own: libc is welcome. */
#ifndef PILLION_LAUNCH_H
#define PILLION_LAUNCH_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "runtime/common/index.h"
#include "runtime/common/options.h"
#include "runtime/common/preloadable.h"
#include "runtime/format/trace_format.h"

enum { EXIT_USAGE = 2, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

/* The batch job that we run in. Empty strings: not told. */
struct job {
	const char *scheduler; /* NULL: no batch job */
	char id[128];
	char array[128]; /* what all tasks of an array share; the id where there is no array */
	char task[32], restart[32], step[32], node[64];
};

struct launch {
	struct options options;
	bool has_output; /* -o was given: no report# */
	char **command;	 /* NULL-terminated, within argv */
	char **variables; /* the values of every -e, NULL-terminated; owned */
	char program[PATH_MAX]; /* COMMAND's file */
	struct preloadable preloadable;

	char host[INDEX_HOST_BYTES], boot[40];
	uint64_t run;
	char index[INDEX_NAME_BYTES]; /* HOST.BOOT.index */

	char directory[PATH_MAX]; /* the capture, absolute */
	bool is_creator;	  /* of the capture; the others are ranks that joined */
	char key[512];		  /* names the job step, "": no rank of any */
	char rank[32];		  /* within it, "": not told */
	struct job job;
	char spool[PATH_MAX];	  /* "": processes write into the capture itself */
	struct tf_range_page *range;

	char library[PATH_MAX], report[PATH_MAX]; /* libpillion.so and pillion-report, "": not found */

	/* as they were when we started, for COMMAND */
	sigset_t mask;
	struct sigaction child_action;
	struct rlimit file_size;

	pid_t child;
	int status; /* as wait(2) gives it */
};

/* launch.c */
/* One line on stderr, "pillion: ...", control characters replaced. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t monotonic_ns(void);

/* launch_options.c: 0, or prints and returns the exit status wanted; -1: all is said and done (--help, --version). */
int launch_options(struct launch *l, int argc, char **argv);

/* Whether the value of an option differs from `initial`; prints it. False: it has none of its own. */
bool option_is_changed(const struct option *row, const struct options *o, const struct options *initial, char *ret,
		size_t size);

/* launch_python.c: 0, or EXIT_USAGE with the line said. A path in it becomes absolute. */
int python_options_check(struct launch *l);

/* launch_capture.c: each 0, or says why and returns EXIT_USAGE. */
int capture_open(struct launch *l);
int capture_write_launch(struct launch *l); /* the launch and clock lines */
/* Takes away what this launcher made, when COMMAND could not be started. */
void capture_discard(struct launch *l);
void capture_line_clock(struct launch *l);
void capture_line_bare(struct launch *l);
void capture_line_child(struct launch *l);
/* Launchers of the capture at `path` that have not yet written their child line, and how many have started. */
unsigned capture_launchers_running(const char *path, unsigned *ret_started);

/* launch_job.c */
void job_find(struct job *job);
/* Two names, "" in no batch job: of this job or task of an array, and of what all tasks of the array share. */
enum { JOB_NAME_BYTES = 192 };
void job_names(const struct job *job, char ret_job[JOB_NAME_BYTES], char ret_array[JOB_NAME_BYTES]);

/* launch_step.c: fills key and rank from the environment of a job step. */
void step_find(struct launch *l);
/* True if this rank is in the capture already: a second run within one step, not a rank of the first. */
bool step_has_rank(const struct launch *l, const char *directory);

/* launch_name.c: the -o patterns; 0, or says why and returns EXIT_USAGE. */
int name_expand(const struct launch *l, const char *pattern, char ret[PATH_MAX]);
/* PREFIX and a number, with the suffix of captures. */
int name_number(const char *prefix, int number, char ret[PATH_MAX]);
/* Removes that suffix. */
void name_strip(char path[PATH_MAX]);

/* launch_range.c: makes and moves the page of range.h. */
int range_prepare(struct launch *l);
void range_begin(struct launch *l);
/* What is due; returns the ms until it wants to be called again, -1: never. */
int range_tick(struct launch *l);
void range_leave(struct launch *l);

/* launch_spool.c */
int spool_prepare(struct launch *l);
void spool_drain(struct launch *l, bool is_last);
/* At the end: drains all and removes the spool, or leaves a process behind that does it when the last writer has
 * gone. */
void spool_finish(struct launch *l, unsigned living);

/* launch_env.c */
char **environment_build(struct launch *l); /* leaked on purpose: it is COMMAND's */
void paths_find(struct launch *l);

/* launch_wait.c */
void supervise(struct launch *l);
/* Waits for the other processes of the run as --wait says; returns how many still live. */
unsigned wait_for_rest(struct launch *l);
bool process_is_alive(uint32_t pid);
unsigned processes_alive(struct launch *l);

/* launch_summary.c */
void summary_print(struct launch *l);
/* --pack: says so where it cannot be done; the directory stays then. */
void summary_pack(struct launch *l, unsigned living);

#endif
