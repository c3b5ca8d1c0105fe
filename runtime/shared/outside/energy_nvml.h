/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs, read by NVML. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/shared/format/trace_energy.h"

enum { ENERGY_SOURCES = 64, ENERGY_NAME_BYTES = 96 };

/* A GPU, or a domain of CPUs (runtime/launch/counters/energy_rapl.c). */
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

/* Loads NVML and adds the GPUs to `list`, which has room for `room`. Returns how many; *ret_why: what went wrong, "":
 * nothing. */
size_t energy_nvml_find(struct energy_meter *list, size_t room, char *ret_why, size_t size);
void energy_nvml_read(const struct energy_meter *source, struct tf_energy_sample *ret);

/* What a process has on one GPU. bytes UINT64_MAX, busy_percent -1: not known. */
struct energy_process {
	uint32_t pid;
	int busy_percent; /* of the GPU's time, over the last fraction of a second */
	uint64_t bytes;
};
/* Returns how many, at most `room`; *ret_bytes: the memory of the GPU, 0: not known. */
size_t energy_nvml_processes(const struct energy_meter *source, struct energy_process *ret, size_t room,
			     uint64_t *ret_bytes);
