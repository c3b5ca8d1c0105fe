/* SPDX-License-Identifier: Apache-2.0 */
/* pillion-launch: starts COMMAND under the recorder, supervises it, and reports how it ended. struct run passes
 * through its parts in the order of main(): command line, capture, spool, environment, wait, summary. It is a
 * program of its own, so it may use all of libc. */
#pragma once

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/index.h"
#include "runtime/shared/common/options.h"
#include "runtime/shared/common/preloadable.h"
#include "runtime/shared/format/trace_format.h"
#include "runtime/shared/outside/process_stat.h"

enum { EXIT_USAGE = 2, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };
/* In place of an exit status, after an error message: nothing can be recorded there. In a batch job COMMAND runs
 * nevertheless; elsewhere the exit status is EXIT_USAGE. */
enum { NO_CAPTURE = -2 };

/* The batch job that the launcher runs in. Empty strings: unknown. */
struct batch_job {
	const char *scheduler; /* NULL: not in a batch job */
	char id[128];
	char array[128]; /* shared by all tasks of an array; equals `id` outside an array */
	char task[32], restart[32], step[32], node[64];
};

struct run {
	struct options options;
	bool has_output;	/* -o was given: no report# */
	char **command;		/* NULL-terminated, within argv */
	char **variables;	/* the values of every -e, NULL-terminated; owned */
	bool traces_pytorch; /* --pytorch=functions-trace */
	char **notes;		/* on options without effect, for the ledger; owned */
	size_t note_count;
	char program[PATH_MAX]; /* COMMAND's file */
	struct preloadable preloadable;

	char host[INDEX_HOST_BYTES], boot[40];
	uint64_t id;
	char index[INDEX_NAME_BYTES]; /* HOST.BOOT.index */

	char directory[PATH_MAX]; /* the capture, absolute */
	bool is_local; /* it is in node-local storage, because it could not be made where it was wanted */
	bool is_creator;	  /* this launcher created the capture; others are ranks that joined it */
	char key[512];		  /* identifies the job step, "": not a rank of one */
	char rank[32];		  /* within the step, "": unknown */
	struct batch_job job;
	char spool[PATH_MAX]; /* "": processes write into the capture itself */
	struct tf_range_page *range; /* with the whole table of ranges */
	uint64_t start_ticks;	     /* when it was made */

	char library[PATH_MAX], report[PATH_MAX]; /* libpillion.so and pillion-report, "": not found */

	/* as the launcher inherited them, to be restored for COMMAND */
	sigset_t mask;
	struct sigaction child_action;
	struct rlimit file_size;

	pid_t parent; /* of the launcher, when it began */
	pid_t child;
	uint64_t told_ns; /* CLOCK_MONOTONIC: when SIGTERM, SIGINT or another one told it to end last; 0: none has */
	bool was_stopped; /* COMMAND, at any time: a later SIGCONT may continue it */
	int status; /* wait status of COMMAND */
	uint64_t cpu_ns; /* that COMMAND and what it waited for had used at its end */
	uint64_t end_ticks;
	uint64_t helpers_ns; /* CPU time of helper processes that have ended */
};

/* Whether the default of a signal is to end COMMAND, as those do that users and batch systems send. */
static inline bool signal_may_end(int signal)
{
	return signal == SIGTERM || signal == SIGINT || signal == SIGQUIT || signal == SIGHUP || signal == SIGABRT ||
	       signal == SIGALRM || signal == SIGXCPU;
}

/* main.c */
/* Prints one line on stderr, "pillion: ...", with control characters replaced. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* verb.c: `words` is argv. Hands a verb over to pillion-report and does not return; or returns the exit status after
 * help or an error message; or VERB_NONE. */
enum { VERB_NONE = -1 };
int verb_run(struct run *run, char **words);
/* What to use in place of a verb of nsys; NULL: it is none. */
const char *verb_instead(const char *word);

/* command_line.c: prints --help, or --help=nsys, and returns the exit status. */
int command_line_help(bool is_nsys);
/* 0; or an exit status, after an error message; or -1 after --help and --version. */
int command_line_read(struct run *run, int argc, char **argv);

/* options_nsys.c: the options of options.h, and those accepted for compatibility with Nsight Systems and nvprof. */
extern const struct option_table command_line_options;

/* python.c: checks the options for Python programs, and makes a path in them absolute. 0, or EXIT_USAGE after an error
 * message. */
int python_check(struct run *run);
/* The value of an option without words that are the launcher's: python-gil of --trace becomes osrt, from which reports
 * derive it, and functions-trace of --pytorch a list of functions. *ret_remark: what to tell the user, NULL:
 * nothing. */
const char *python_words(struct run *run, const char *option, const char *value, const char **ret_remark);
/* Writes that list into the capture, with the user's own. */
void python_prepare(struct run *run);

/* capture.c: each returns 0, or EXIT_USAGE or NO_CAPTURE after an error message. */
int capture_open(struct run *run);
/* Opens a capture of that name in a directory of spool_local. */
int capture_open_local(struct run *run, const char *directory);
int capture_line_run(struct run *run); /* writes the lines "launch" and "clock" */
/* Removes what this launcher created, when COMMAND could not be started or not be recorded there. */
void capture_discard(struct run *run);
void capture_line_clock(struct run *run);
void capture_line_bare(struct run *run);
void capture_line_child(struct run *run);
void capture_line_note(struct run *run, const char *text); /* for the ledger */
/* The number of launchers whose COMMAND has not ended, in the capture at `path` and over all hosts, and how many
 * have started. */
unsigned capture_launchers_running(const char *path, unsigned *ret_started);

/* own_cost.c: writes what a recorded call costs on this machine, and the CPU time of the launcher so far and of its
 * helpers. */
void own_cost_calls(struct run *run);
void own_cost_launcher(struct run *run);

/* job.c */
void job_find(struct batch_job *job);
/* Names of this job or array task, and of the whole array; "" outside a batch job. */
enum { JOB_NAME_BYTES = 192 };
void job_names(const struct batch_job *job, char ret_job[JOB_NAME_BYTES], char ret_array[JOB_NAME_BYTES]);

/* step.c: sets key and rank from the environment of a job step. */
void step_find(struct run *run);
/* Whether this rank is in the capture already: then this is a second run within the step, not a rank of the first. */
bool step_has_rank(const struct run *run, const char *directory);

/* name.c: expands a pattern of -o. 0, or EXIT_USAGE or NO_CAPTURE after an error message. */
int name_expand(const struct run *run, const char *pattern, char ret[PATH_MAX]);
/* PREFIX and a number, with the suffix of captures. */
int name_number(const char *prefix, int number, char ret[PATH_MAX]);
/* Removes that suffix. */
void name_strip(char path[PATH_MAX]);

/* range_clock.c: creates the page of range.h (0, or NO_CAPTURE), and opens and closes ranges by time. */
int range_clock_prepare(struct run *run);
/* The directory that it is in: the capture, or the spool. */
const char *range_clock_directory(const struct run *run);
void range_clock_begin(struct run *run);
/* Does what is due; returns the milliseconds until the next call, -1: none is needed. */
int range_clock_tick(struct run *run);
/* COMMAND is about to be ended: waits until the processes of the run have written the device records that CUPTI still
 * has, or for a moment. */
void range_clock_collect(struct run *run);
void range_clock_leave(struct run *run);

/* session.c: starts and stops recording on request. */
struct session_request {
	uint64_t id;
	char action[16]; /* start, stop, cancel; "": the request is of another kind */
	uint64_t opens_ns; /* CLOCK_REALTIME; 0: now */
	uint64_t for_ns;   /* 0: until it is stopped */
};
void session_answer(struct run *run, const struct session_request *r);
/* Does what is due; returns the milliseconds until the next call, -1: none is needed. */
int session_tick(struct run *run);
/* --on-signal: whether the signal was this one. */
bool session_signal(struct run *run, const siginfo_t *info);
void session_finish(struct run *run); /* removes what it has left in the capture */

/* ring_files.c: with --ring, removes what processes that have ended recorded before what is kept. Returns the
 * milliseconds until the next call, -1: none is needed. */
int ring_files_tick(struct run *run);

/* trigger.c: --on. The image of this header has ended. */
void trigger_end(const struct run *run, const struct tf_header *h);
int trigger_tick(struct run *run); /* milliseconds until the next call, -1: none is needed */
void trigger_finish(const struct run *run);

/* spool.c: each does nothing without a spool, except these two. 0, or EXIT_USAGE or NO_CAPTURE after an error
 * message. */
int spool_prepare(struct run *run);
/* The next directory for captures in node-local storage, which exists and has room; *place begins at 0. False: there is
 * none. */
bool spool_local(const struct run *run, size_t *place, char ret[PATH_MAX]);
void spool_begin(struct run *run); /* when the range file exists */
/* Moves what is due; returns the milliseconds until the next call, -1: none is needed. */
int spool_tick(struct run *run);
/* A signal that was forwarded may announce SIGKILL: moves at once, and more often from then on. */
void spool_signal(struct run *run, int signal);
/* At the end: moves everything and removes the spool, or forks a process that does so when the last writer has
 * ended. */
void spool_finish(struct run *run, unsigned living);

/* environment.c */
char **environment_build(struct run *run); /* never freed: it is COMMAND's. NULL after an error message */
char **environment_bare(const struct run *run); /* without the recorder */
void environment_paths(struct run *run);

/* filters.c: how many seccomp filters this process has, if they permit CPU samples by signals, else 0. */
unsigned filters_that_permit_samples(void);

/* A process of the run. */
struct living {
	uint32_t pid;
	uint64_t start; /* field 22 of /proc/PID/stat: with pid, identifies it */
	uint64_t nonce; /* of its last image that is known; 0: none */
	bool has_ended; /* as usage.c has seen */
	struct rank_calls *calls; /* owned by calls.c */
	struct usage_process *usage; /* owned by usage.c */
	struct {		     /* of objects.c */
		uint64_t due_ns;
		unsigned looks;
	} objects;
	struct {		     /* of where_quiet.c; 0: it was not looked at */
		uint64_t due_ns, cpu_ns, hash;
		uint64_t looked_ns; /* CLOCK_MONOTONIC: of the last look */
		double share;	    /* of a CPU that it used before that, while it was quiet */
		uint64_t call; /* that the last look found it in, as calls_oldest; 0: it was quiet */
		bool is_busy;  /* it ran at the last look, or has gone on since: others may wait for it */
		unsigned count, asked; /* looks, and how often the verdict was asked for since the last one */
	} quiet;
};

/* calls.c: calls of MPI and NCCL in progress. */
/* The oldest one, as in the page of its thread, and for how long it has been in progress; 0: there is none. */
uint64_t calls_oldest(const struct run *run, struct living *p, uint64_t *ret_ns);
/* How long calls_oldest has returned the same; UINT64_MAX: it never returned any. */
uint64_t calls_same_ns(const struct living *p);
/* Records the arguments of its calls in progress in the look in progress. */
void calls_record(const struct living *p);
void calls_forget(struct living *p);

/* usage.c: samples what the run's processes use, into the capture. */
int usage_tick(struct run *run); /* samples if it is time; milliseconds until the next call, -1: none is needed */
void usage_sample(struct run *run);
/* COMMAND has just been stopped ('T') or continued ('R'), as the kernel reported. */
void usage_state(struct run *run, char state);
void usage_finish(void);

/* User and system time. */
static inline uint64_t usage_cpu_ns(const struct rusage *r)
{
	return (uint64_t)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(r->ru_utime.tv_usec + r->ru_stime.tv_usec) * 1000u;
}

/* How long the process has used hardly any CPU time, as far as calls of this function have seen; *ret_cpu_ns: its CPU
 * time so far. */
uint64_t usage_quiet_ns(struct living *p, uint64_t *ret_cpu_ns);
/* The share of a CPU that it has used in that time: threads of libraries wake from time to time. */
double usage_quiet_share(const struct living *p);

/* living.c */
/* The processes of the run that are known so far, alive or not; valid until the next call of living.c. */
size_t living_processes(struct run *run, struct living **ret);
/* How many of them are alive. Daemons have a session of their own and are counted only on request. */
unsigned living_count(struct run *run, bool with_daemons);
/* To be called for each process that has ended, before it is forgotten. */
void living_on_end(void (*forget)(struct living *));

/* wait.c */
void wait_command(struct run *run);
/* mpirun sends SIGKILL one second after the first signal: what runs KILLED_MS after it is not being ended by that. */
enum { KILLED_MS = 5000 };
/* Whether a signal has told COMMAND to end within so many milliseconds: it may have gone on after an earlier one. */
static inline bool was_told_within(const struct run *run, uint64_t ms)
{
	return run->told_ns && clock_monotonic_ns() - run->told_ns < ms * 1000000u;
}
/* Waits for the other processes of the run as --wait says; returns how many are still alive. */
unsigned wait_rest(struct run *run);

/* perf.c: CPU samples by perf_event_open(2). perf_prepare returns whether COMMAND is sampled from its start; then
 * perf_start is called when its process exists and before it calls execve(). */
bool perf_prepare(struct run *run);
void perf_start(struct run *run);
/* Does what is due; returns the milliseconds until the next call, -1: none is needed. */
int perf_tick(struct run *run);
void perf_finish(struct run *run, bool leaves_processes);

/* energy.c: samples the power and energy of GPUs and CPUs, and counters of the machine. */
void energy_begin(struct run *run); /* before COMMAND */
void energy_discard(void);	    /* in place of energy_finish, if COMMAND could not be started */
int energy_tick(struct run *run);   /* milliseconds until the next call, -1: none is needed */
void energy_finish(struct run *run, bool leaves_processes);

/* where.c: answers `pillion where` if it asks; returns the milliseconds until the next call. */
int where_tick(struct run *run);
/* Records that a signal came that may end COMMAND, and if `looks` what the threads do, before it is forwarded. SIGCHLD:
 * `pillion where` may ask. */
void where_signal(struct run *run, int signal, bool looks);
/* Whether a signal that may end COMMAND came so recently. */
bool where_was_signaled(uint64_t within_ns);

/* where.c: looks into one process. If nothing has changed since the last such look, a short record says so. `is_busy`:
 * its threads run, and are sampled. Returns the number of bytes written. */
size_t where_look_quiet(struct run *run, struct living *p, bool is_busy);

/* where_quiet.c: looks into processes in which hardly anything moves, or no call ends. */
int where_quiet_tick(struct run *run); /* milliseconds until the next call, -1: none is needed */
/* Has the verdict made if a rank waits for it before it calls MPI_Abort. */
void where_quiet_abort(struct run *run);
/* Whether the processes that were looked into are in the same calls, or have hardly used any CPU time since, but for a
 * signal that has come. */
bool where_quiet_was_still(struct run *run);

/* verdict.c: why the job hangs or dies. */
/* Asks for the text, because a look into a quiet process was written. */
void verdict_prepare(struct run *run);
/* Whether the text has this number of a process. */
bool verdict_names(uint32_t pid);
/* A process that was looked into has moved: the text may not be true any more. */
void verdict_moved(const struct run *run);
/* --hang: prints the text, once. False: there is none. */
bool verdict_say_live(void);
/* Whether a launcher of the capture has asked for the text, or holds it. */
bool verdict_is_claimed(const struct run *run);
/* A signal that may end COMMAND has come, and nothing has moved since the text was asked for: prints it, if it is
 * there. */
bool verdict_signal(const struct run *run);
/* The same signal, after the look that it caused: prints the text as soon as it is made. */
void verdict_after_signal(struct run *run, int signal);
/* Whether a launcher of the capture has printed it as the job ended. */
bool verdict_is_printed(const struct run *run);
/* Makes the text now and prints it, if nothing was printed. */
void verdict_make(struct run *run);
int verdict_tick(struct run *run); /* milliseconds until the next call, -1: none is needed */
/* COMMAND has ended. */
void verdict_end(struct run *run);

/* forwarder.c: mpirun, which forwards what its ranks write, but Open MPI's not while it ends them. */
/* Finds it, before it may be gone. */
void forwarder_find(const struct run *run);
/* From now on what the launcher says goes to the stderr of mpirun itself. */
void forwarder_pass(const struct run *run);
/* Whether it is a daemon of another host's mpirun; known after forwarder_find(). */
bool forwarder_is_daemon(void);
/* Whether there is one: it ends all ranks if one fails, waits until they have ended, or kills what has not. */
bool forwarder_ends_ranks(const struct run *run);
/* Whether a signal says that it is going to send SIGTERM to the ranks. */
bool forwarder_announces_end(const struct run *run, const siginfo_t *info);
bool forwarder_has_announced_end(void); /* whether one of all signals did */

/* path.c: how the log names the capture. */
/* From the working directory if it is below that; as a shell takes it. */
const char *path_shown(const struct run *run);
/* The verb that opens it: without events there is no page to view. */
const char *path_verb(const struct run *run);
/* Prints both, once. */
void path_say(const struct run *run);

/* objects.c: keeps symbols of files that may be gone at the end. */
int objects_tick(struct run *run); /* milliseconds until the next call */

/* perf_process.c: the build id in the notes at `at`. Returns its length, 0: there is none. */
size_t perf_build_id(const uint8_t *at, const uint8_t *end, uint8_t ret[20]);

/* witness.c: a process that receives the signals of our process group. */
void witness_begin(const struct run *run);
void witness_end(const struct run *run);
/* Whether a signal that this launcher received was sent to the whole group, and so to COMMAND. Waits shortly. */
bool witness_has(const struct run *run, const siginfo_t *info);

/* oom.c: whether the kernel has killed processes of our cgroup since oom_begin; states it if it is more than before. */
void oom_begin(void);
void oom_note(struct run *run);
uint64_t oom_kills(void); /* since oom_begin */

/* summary.c */
/* --export. What cannot be written is said; the capture stays. */
void summary_export(struct run *run);
void summary_print(struct run *run);
/* A signal was received, while COMMAND is running. */
void summary_signal(const struct run *run, int signal);
/* In a batch job or a job step prints the summary so far if COMMAND has not ended after SIGTERM; returns the
 * milliseconds until the next call, -1: none is needed. */
int summary_tick(const struct run *run);
/* Starts pillion-report, which dumps the capture as `name`; 0: it could not be started. slow_step: only if there is
 * one, as its option of that name says; NULL: in any case. */
pid_t summary_dump(const struct run *run, const char *name, const char *slow_step);
/* --pack. If packing fails, says so and leaves the directory. */
void summary_pack(struct run *run, unsigned living);
