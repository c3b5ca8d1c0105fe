/* SPDX-License-Identifier: Apache-2.0 */
/* Writes files of samples of power and energy. Include it in one file only, as captured.h. */
#ifndef PILLION_TEST_ENERGY_FIXTURE_H
#define PILLION_TEST_ENERGY_FIXTURE_H

#include "captured.h"
#include "report/tables/report.h"

#define US 1000ull
#define MS 1000000ull
#define NOT_KNOWN UINT64_MAX

struct file {
	uint8_t bytes[1 << 16];
	size_t size;
};

static inline void file_add(struct file *f, const void *bytes, size_t size)
{
	cr_assert_leq(f->size + size, sizeof(f->bytes));
	memcpy(f->bytes + f->size, bytes, size);
	f->size += size;
}

static inline void file_begin(struct file *f, uint64_t run)
{
	struct tf_energy_head head = {
		.magic = TF_ENERGY_MAGIC, .run = run, .clock = TF_CLOCK_MONOTONIC, .boot = WRITER_BOOT};

	f->size = 0;
	file_add(f, &head, sizeof(head));
}

static inline void file_source(struct file *f, enum tf_energy_kind kind, uint16_t number, uint64_t range,
			       const char *id)
{
	struct {
		struct tf_energy_record record;
		struct tf_energy_source source;
		char texts[128];
	} s = {{(uint16_t)kind, number, sizeof(s) - sizeof(s.record)}, {range, 700000, 0}, "NVIDIA H200"};

	strcpy(s.texts + 12, id);
	strcpy(s.texts + 12 + strlen(id) + 1, id);
	file_add(f, &s, sizeof(s));
}

static inline void file_sample(struct file *f, uint16_t number, uint64_t ms, uint64_t uj, uint32_t mw,
			       uint64_t reasons)
{
	struct {
		struct tf_energy_record record;
		struct tf_energy_sample sample;
	} s = {{TF_ENERGY_SAMPLE, number, sizeof(s.sample)}, {0}};

	memset(&s.sample, 0xff, sizeof(s.sample));
	s.sample.ticks = ms * MS;
	s.sample.energy_uj = uj;
	s.sample.power_mw = mw;
	s.sample.reasons = reasons;
	file_add(f, &s, sizeof(s));
}

static inline void file_save(const struct file *f, const char *name)
{
	capture_file(directory, name, f->bytes, f->size);
}

static struct report_context context;

static inline void read_capture(void)
{
	open_capture(&model, directory);
	cr_assert_eq(model.problems.count, 0);
	context = (struct report_context){.model = &model};
}

#endif
