/* SPDX-License-Identifier: Apache-2.0 */
/* Power and energy of GPUs and CPU packages as the launchers sampled them (runtime/shared/format/trace_energy.h). */
#pragma once

#include "report/read/job/model.h"

struct energy_point {
	uint64_t ns; /* the common time, as of events */
	double joules; /* since the first point: by the source's counter, else by its sampled power */
	struct tf_energy_sample sample;
};

struct energy_source {
	size_t machine;
	enum tf_energy_kind kind;
	const char *name, *id, *bus; /* borrowed from the model; never NULL */
	uint64_t counter_range_uj;
	double limit_watts; /* 0: not known */
	uint32_t number; /* of a GPU on its machine, by PCI address, as nvidia-smi numbers them */
	struct energy_point *points; /* by time */
	size_t count, capacity;
	bool is_unknown; /* neither a counter nor its power was read */
};

struct energies {
	struct energy_source *items; /* by machine, GPUs first; GPUs by PCI address */
	size_t count;
};

/* The records of a file, one after the other; *at begins at 0. False: at the end, and at a record that was not
 * completely written. */
bool energy_file_next(const struct energy_file *f, size_t *at, struct tf_energy_record *ret,
		      const uint8_t **ret_content);
/* The next of the texts behind a definition. */
const char *energy_text_next(const uint8_t **at, const uint8_t *end);
/* Launchers on one boot of a machine may have several names for it, as in containers. */
bool energy_is_same_machine(const struct model *m, size_t a, size_t b);

/* Owned by the model. */
const struct energies *energies_of(const struct model *m);

/* The energy of the source from its first to its last point. */
double energy_total(const struct energy_source *s);
uint64_t energy_duration_ns(const struct energy_source *s);

/* The mean power of the interval that ends at point i > 0, in W. */
double energy_watts(const struct energy_source *s, size_t i);

/* A GPU of an image by the driver's number; NULL: it was not sampled, or cannot be told from others. */
const struct energy_source *energy_of_device(const struct model *m, const struct image *image, uint32_t device);

/* Appends "NVIDIA H200 (0)", for a CPU "package-0"; with sources of several machines also the host. */
void energy_source_name(const struct model *m, const struct energy_source *s, struct buffer *ret);

/* Reasons that lower the clocks below what the load asks for, for people. */
struct energy_reason {
	uint64_t bit; /* enum tf_energy_reason */
	const char *name;
	bool is_slowdown; /* false: it was chosen, or nothing is to be done */
};
enum { ENERGY_REASONS = 9 };
extern const struct energy_reason energy_reasons[ENERGY_REASONS];
#define ENERGY_SLOWDOWNS                                                                                       \
	(TF_ENERGY_POWER_CAP | TF_ENERGY_HARDWARE | TF_ENERGY_THERMAL | TF_ENERGY_HARDWARE_THERMAL |           \
	 TF_ENERGY_POWER_BRAKE)

/* In which part of the time any of these reasons held, in ns; a sample holds up to the next one. */
uint64_t energy_reason_ns(const struct energy_source *s, uint64_t bits);
