/* SPDX-License-Identifier: Apache-2.0 */
/* What CPUs a thread may use: its affinity mask and the CPU quota of its cgroup. */
#pragma once

#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

/* Sets cpus and mask; cpus to 0 if they cannot be read. */
void cpus_affinity(uint32_t tid, struct tf_usage_cpus *ret);

/* Sets quota_ns and throttled_ns to those of the cgroup, or of the ancestor with the smallest quota. `groups` is the
 * text of a file /proc/PID/cgroup, `root` the directory below which cgroups are mounted. A quota of version 1 applies
 * if there is a controller "cpu", otherwise that of version 2. */
void cpus_quota(const char *root, const char *groups, struct tf_usage_cpus *ret);
