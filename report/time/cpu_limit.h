/* SPDX-License-Identifier: Apache-2.0 */
/* The CPUs that threads may use: the launcher's records of affinity masks and of the quotas of cgroups. */
#pragma once

#include "report/read/job/model.h"

struct cpu_limit {
	uint64_t mask;		/* threads of one machine with the same mask share its CPUs */
	uint32_t cpus;		/* in the mask; 0: not known */
	uint32_t online;	/* CPUs of the machine */
	uint64_t quota_ns;	/* CPU time per second; TF_USAGE_UNKNOWN: no quota */
	uint64_t throttled_ns; /* how long the quota held back its cgroup while it was watched */
};

/* A thread as the launcher's records identify it. */
struct cpu_thread {
	size_t machine;
	uint64_t run;
	uint32_t pid, tid;
	uint64_t process_start;
};

struct cpu_limits;
struct cpu_limits *cpu_limits_new(const struct model *m);
void cpu_limits_free(struct cpu_limits *l);

/* Of the thread; else of its process, of its launcher, or of this machine. */
struct cpu_limit cpu_limits_of(const struct cpu_limits *l, const struct cpu_thread *thread);

/* The number of CPUs that can be used at a time, at most that of the mask; 0: not known. */
double cpu_limit_width(const struct cpu_limit *l);
