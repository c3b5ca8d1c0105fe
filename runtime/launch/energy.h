/* SPDX-License-Identifier: Apache-2.0 */
/* Samples the power and energy of the machine into HOST.RUN.energy (runtime/shared/format/trace_energy.h). energy.c
 * starts and ends the sampler, a process of its own; energy_sampler.c is what runs in it; energy_nvml.c reads GPUs,
 * energy_rapl.c CPU packages. */
#ifndef PILLION_LAUNCH_ENERGY_H
#define PILLION_LAUNCH_ENERGY_H

#include "runtime/launch/run.h"
#include "runtime/shared/format/trace_energy.h"

enum { ENERGY_SOURCES = 64, ENERGY_NAME_BYTES = 96 };

struct energy_meter {
	enum tf_energy_kind kind;
	struct tf_energy_source fixed;
	char name[ENERGY_NAME_BYTES], id[ENERGY_NAME_BYTES], bus[32];
	void *device; /* of NVML */
	int counter;  /* of RAPL: a descriptor */
	uint16_t number;
	bool is_mine;	 /* no other sampler of the capture reads it */
	bool is_defined; /* in the file */
};

/* ---- energy_sampler.c ---- */

/* Samples until `stop` is closed. Does not return. */
void energy_sampler_run(struct run *run, int stop);

/* ---- energy_nvml.c ---- */

/* Loads NVML and adds the GPUs to `list`, which has room for `room`. Returns how many; *ret_why: what went wrong, "":
 * nothing. */
size_t energy_nvml_find(struct energy_meter *list, size_t room, char *ret_why, size_t size);
void energy_nvml_read(const struct energy_meter *source, struct tf_energy_sample *ret);

/* ---- energy_rapl.c ---- */

/* Adds the domains in `root` (/sys/class/powercap) whose counters can be read. *ret_denied: how many cannot. */
size_t energy_rapl_find(const char *root, struct energy_meter *list, size_t room, size_t *ret_denied);
void energy_rapl_read(const struct energy_meter *source, struct tf_energy_sample *ret);

#endif
