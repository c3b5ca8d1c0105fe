/* SPDX-License-Identifier: Apache-2.0 */
/* HOST.RUN.energy: the power and energy of GPUs (NVML) and of CPU packages (RAPL), and counters of the machine, as the
 * launcher's sampler read them. Included by trace_format.h.
 *
 * The file is a struct tf_energy_head, then records: a struct tf_energy_record and `size` bytes of content, a multiple
 * of 8. What is sampled is a source. It is defined before its samples; its number holds for one file.
 *
 * Each source of a machine is sampled by one launcher of the capture at a time; another one goes on when that ends.
 * Counters are the source's own, so samples of several files belong to one sequence. */
#pragma once

#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

#define TF_ENERGY_MAGIC 0x5947524e454c4950ull /* "PILENRGY" */
#define TF_ENERGY_UNKNOWN (~0ull)

struct tf_energy_head {
	uint64_t magic;
	uint64_t run;
	uint32_t clock; /* enum tf_clock */
	uint32_t reserved;
	char boot[40];
};

/* GPU and CPU: struct tf_energy_source and its texts. SAMPLE: struct tf_energy_sample. COUNTER: struct
 * tf_energy_counter and its texts: one more counter of the source, which is a set of them. VALUES: struct
 * tf_energy_values. */
enum tf_energy_kind {
	TF_ENERGY_GPU = 1,
	TF_ENERGY_CPU = 2,
	TF_ENERGY_SAMPLE = 3,
	TF_ENERGY_COUNTER = 4,
	TF_ENERGY_VALUES = 5,
};

struct tf_energy_record {
	uint16_t kind, source;
	uint32_t size;
};

struct tf_energy_source {
	uint64_t counter_range_uj; /* the counter starts again at 0 after this value; 0: it does not */
	uint32_t limit_mw;	   /* the power limit that is enforced; 0: not known */
	uint32_t reserved;
	/* Three texts follow, each terminated by NUL: the name; what identifies the source on its machine (of a GPU
	 * its UUID, "GPU-..."); of a GPU its PCI address. */
};

/* What could not be read has all bits set. */
struct tf_energy_sample {
	uint64_t ticks;
	uint64_t energy_uj;    /* the source's counter */
	uint64_t reasons;      /* why its clocks are lower than they could be: nvmlClocksEventReasons */
	uint64_t memory_bytes; /* in use */
	uint32_t power_mw;
	uint16_t sm_mhz, memory_mhz;
	uint8_t busy_percent, memory_percent; /* of the time: any kernel ran, memory was read or written */
	uint8_t celsius, reserved[5];
};

struct tf_energy_counter {
	double scale;	   /* from a value to the unit */
	uint32_t is_total; /* the value only grows; the unit is one of its growth per second */
	uint32_t reserved;
	/* Three texts follow, each terminated by NUL: the name, the unit, the name of the set. */
};

/* All counters of a set at one time. */
struct tf_energy_values {
	uint64_t ticks;
	uint64_t values[]; /* one for each counter that the source has so far; TF_ENERGY_UNKNOWN: not known */
};

/* Bits of `reasons`. */
enum tf_energy_reason {
	TF_ENERGY_IDLE = 0x1,
	TF_ENERGY_SETTING = 0x2,
	TF_ENERGY_POWER_CAP = 0x4,
	TF_ENERGY_HARDWARE = 0x8,
	TF_ENERGY_SYNC_BOOST = 0x10,
	TF_ENERGY_THERMAL = 0x20,
	TF_ENERGY_HARDWARE_THERMAL = 0x40,
	TF_ENERGY_POWER_BRAKE = 0x80,
	TF_ENERGY_DISPLAY = 0x100,
};
