/* SPDX-License-Identifier: Apache-2.0 */
/* Samples power, energy and counters of the machine into HOST.RUN.energy (runtime/shared/format/trace_energy.h).
 * energy.c starts and ends the sampler, a process of its own; energy_sampler.c is what runs in it; energy_rapl.c reads
 * CPU packages, runtime/shared/outside/energy_nvml.c GPUs, counter.h the rest. */
#pragma once

#include "runtime/launch/counters/counter.h"
#include "runtime/launch/run.h"
#include "runtime/shared/outside/energy_nvml.h"

/* ---- energy_sampler.c ---- */

bool energy_wants_gpus(const struct run *run);
/* Samples until `stop` is closed; closes `ready` when it has read the counters of the machine once. Does not return. */
void energy_sampler_run(struct run *run, int stop, int ready);

/* ---- energy_rapl.c ---- */

/* Adds the domains in `root` (/sys/class/powercap) whose counters can be read. *ret_denied: how many cannot. */
size_t energy_rapl_find(const char *root, struct energy_meter *list, size_t room, size_t *ret_denied);
void energy_rapl_read(const struct energy_meter *source, struct tf_energy_sample *ret);
