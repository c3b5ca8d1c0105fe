/* SPDX-License-Identifier: Apache-2.0 */
/* HOST.RUN.usage: what the threads and processes of a run use, as the launcher sampled it about once per second.
 * Included by trace_format.h.
 *
 * The file is a struct tf_usage_head, then samples, by one write per round. A thread or process has a sample in the
 * first round that finds it, and in later ones if its values have changed. COMMAND has one between rounds, too, when it
 * was stopped or continued. */
#ifndef PILLION_TRACE_USAGE_H
#define PILLION_TRACE_USAGE_H

#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

#define TF_USAGE_MAGIC 0x45474153554c4950ull /* "PILUSAGE" */

struct tf_usage_head {
	uint64_t magic;
	uint64_t run;
	uint32_t clock;		/* enum tf_clock of the samples */
	uint32_t sample_bytes; /* sizeof(struct tf_usage_sample) */
	char boot[40];
};

/* ROUND: a round begins; pid has its number of processes, tid that of threads, cpu_ns the CPU time of the previous
 * round, delay_ns the interval to it. THREAD and PROCESS: the values at `ticks`. GONE: the thread or, if tid is 0, the
 * process was not there any more. CPUS: a struct tf_usage_cpus. */
enum tf_usage_kind {
	TF_USAGE_ROUND = 1,
	TF_USAGE_PROCESS = 2,
	TF_USAGE_THREAD = 3,
	TF_USAGE_GONE = 4,
	TF_USAGE_CPUS = 5,
};

struct tf_usage_sample {
	uint32_t kind; /* enum tf_usage_kind */
	uint32_t pid, tid;
	uint32_t resident_kb; /* of a process: its resident memory in KiB */
	uint64_t ticks;
	uint64_t process_start; /* as in struct tf_header: with pid, identifies the process */
	uint64_t cpu_ns;	/* of a process, dead threads included, with the precision of the kernel's tick */
	uint64_t delay_ns;	/* as in struct tf_usage */
	char state;		/* of the thread, as in /proc/PID/stat; 'T': stopped, 'Z': ended */
	char name[15];		/* truncated; terminated unless it has 15 bytes */
};

/* The CPUs that a process may use, by its affinity mask and the CPU quota of its cgroup; in place of a sample. Written
 * when a process has lived for a second, and again when it has changed. pid 0: of the launcher, when COMMAND started;
 * holds for each process without one. tid other than 0: a thread whose mask differs from that of its process. */
struct tf_usage_cpus {
	uint32_t kind; /* TF_USAGE_CPUS */
	uint32_t pid, tid;
	uint32_t cpus; /* in the mask; 0: not known */
	uint64_t ticks, process_start;
	uint64_t quota_ns;     /* CPU time per second; TF_USAGE_UNKNOWN: no quota */
	uint64_t throttled_ns; /* since the cgroup's creation; TF_USAGE_UNKNOWN */
	uint64_t mask;	       /* a hash of the mask: masks with one hash are equal */
	uint32_t online;       /* CPUs of the machine */
	uint32_t reserved;
};
_Static_assert(sizeof(struct tf_usage_cpus) == sizeof(struct tf_usage_sample), "one stands in place of the other");

#endif
