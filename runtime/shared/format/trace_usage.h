/* SPDX-License-Identifier: Apache-2.0 */
/* What threads and processes use: in a trace, as they have read it themselves, and in HOST.RUN.usage, as the launcher
 * sampled it about once per second. Included by trace_format.h.
 *
 * HOST.RUN.usage is a struct tf_usage_head, then samples, by one write per round. A thread or process has a sample in
 * the first round that finds it, and in later ones if its values have changed. COMMAND has one between rounds, too,
 * when it was stopped or continued. */
#pragma once

#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

/* ---- TF_BLOB_USAGE ---- */

#define TF_USAGE_UNKNOWN (~0ull)

/* What a thread or the process has used since its creation, hence over all its images: written at the end of a thread
 * for itself, and at the end of an image for the process, the thread that ends it and the other living threads. */
struct tf_usage {
	uint64_t ticks; /* when it was read */
	uint64_t cpu_ns; /* user and system time */
	/* Of a thread: the time that it was runnable without a CPU. Of the process: the CPU time, from fork until the
	 * kernel had ended them, of the children that it waited for, and of theirs. Or TF_USAGE_UNKNOWN. */
	uint64_t delay_ns;
	uint32_t tid;	   /* 0: this is of the process */
	uint32_t peak_kb;  /* of the process: the peak of its resident memory, in KiB */
	uint32_t voluntary, involuntary; /* context switches; 0 for a thread that another one describes */
	/* The following are of the process, from 1.8 on; the blob of a thread ends before them. */
	/* What the kernel has counted of read(2), write(2) and similar calls in this image, without children and
	 * without what the recorder did: see tf_usage_bytes(). */
	uint8_t read_bytes[6], written_bytes[6];
	uint32_t minor_faults; /* at most 2^32 - 1, as are major_faults */
	/* Of the only thread of the process: tid and delay_ns. Its other values are those of the process, and it has no
	 * blob of its own. thread_tid 0: threads have blobs of their own. */
	uint64_t thread_delay_ns;
	uint32_t thread_tid;
	/* Most blobs of images without a trace file end here: then no major fault has occurred, block_ms is not known,
	 * and is_of_living is 0. */
	uint32_t major_faults;
	uint32_t block_ms; /* that its living threads have waited for block devices; all ones: not known */
	uint32_t is_of_living; /* 1: the bytes are without those of threads that had ended before */
};

enum { TF_USAGE_THREAD_BYTES = 40 }; /* of the blob of a thread, and of one before 1.8 */
enum { TF_USAGE_SHORT_BYTES = 68 };  /* of one that ends before major_faults */
_Static_assert(__builtin_offsetof(struct tf_usage, read_bytes) == TF_USAGE_THREAD_BYTES, "1.8 added what follows");
_Static_assert(__builtin_offsetof(struct tf_usage, major_faults) == TF_USAGE_SHORT_BYTES, "without padding");

/* A number of bytes in struct tf_usage, the least significant byte first. Or TF_USAGE_UNKNOWN. */
static inline uint64_t tf_usage_bytes(const uint8_t bytes[6])
{
	uint64_t value = 0;

	for (int i = 5; i >= 0; i--)
		value = value << 8 | bytes[i];
	return value == TF_USAGE_UNKNOWN >> 16 ? TF_USAGE_UNKNOWN : value;
}

static inline void tf_usage_set_bytes(uint8_t bytes[6], uint64_t value)
{
	for (int i = 0; i < 6; i++, value >>= 8)
		bytes[i] = (uint8_t)value;
}

/* ---- HOST.RUN.usage ---- */

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
