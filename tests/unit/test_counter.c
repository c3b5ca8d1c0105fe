/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled counters of machines, and the report counter_sum of them. */
#include <math.h>

#include "captured.h"
#include "report/events/energy/counter.h"
#include "report/tables/report.h"

CAPTURED_SUITE(counter);

#define MS 1000000ull
#define UNKNOWN UINT64_MAX

static struct {
	uint8_t bytes[1 << 14];
	size_t size;
} file;

static void add(const void *bytes, size_t size)
{
	cr_assert_leq(file.size + size, sizeof(file.bytes));
	memcpy(file.bytes + file.size, bytes, size);
	file.size += size;
}

static void begin(uint64_t run)
{
	struct tf_energy_head head = {
		.magic = TF_ENERGY_MAGIC, .run = run, .clock = TF_CLOCK_MONOTONIC, .boot = WRITER_BOOT};

	file.size = 0;
	add(&head, sizeof(head));
}

static void define(uint16_t source, const char *name, const char *unit, double scale, bool is_total)
{
	struct {
		struct tf_energy_record record;
		struct tf_energy_counter counter;
		char texts[48];
	} c = {{TF_ENERGY_COUNTER, source, sizeof(c) - sizeof(c.record)}, {scale, is_total, 0}, ""};

	strcpy(c.texts, name);
	strcpy(c.texts + strlen(name) + 1, unit);
	strcpy(c.texts + strlen(name) + strlen(unit) + 2, "net");
	add(&c, sizeof(c));
}

static void sample(uint16_t source, uint64_t ms, uint64_t a, uint64_t b)
{
	struct {
		struct tf_energy_record record;
		uint64_t ticks, values[2];
	} v = {{TF_ENERGY_VALUES, source, sizeof(v) - sizeof(v.record)}, ms * MS, {a, b}};

	add(&v, sizeof(v));
}

static void save(const char *name)
{
	capture_file(directory, name, file.bytes, file.size);
}

static void write_process(void)
{
	struct writer w;

	writer_init(&w, 1, 100, 1, 900 * MS);
	writer_end(&w, TF_END_EXIT, 0, 3000 * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

/* Bytes grow by 100 in 100 ms, then by 300, then by 0; a queue of 2, 4, 4, 6. */
static void write_example(void)
{
	write_process();
	begin(0x77);
	define(7, "lo received", "bytes/s", 1, true);
	define(7, "Run queue", "threads", 1, false);
	sample(7, 1000, 5000, 2);
	sample(7, 1100, 5100, 4);
	sample(7, 1200, 5400, 4);
	sample(7, 1300, 5400, 6);
	save("node1.77.energy");
}

static const struct counter_series *series_of(size_t expected)
{
	size_t count;
	const struct counter_series *series;

	open_capture(&model, directory);
	series = counters_of(&model, &count);
	cr_assert_eq(count, expected, "%zu", count);
	return series;
}

static double value(const struct counter_series *s, size_t i)
{
	double ret;

	return counter_value(s, i, &ret) ? ret : -1;
}

Test(counter, a_total_becomes_a_rate_until_the_next_point)
{
	const struct counter_series *s;

	write_example();
	s = series_of(2);
	cr_expect_str_eq(s[0].name, "lo received");
	cr_expect_float_eq(value(&s[0], 0), 1000, 1e-6);
	cr_expect_float_eq(value(&s[0], 1), 3000, 1e-6);
	cr_expect_float_eq(value(&s[0], 2), 0, 1e-6);
	cr_expect_eq(value(&s[0], 3), -1, "nothing is known after the last point");
	cr_expect_eq(value(&s[1], 3), 6);
}

Test(counter, launchers_of_one_machine_continue_one_sequence)
{
	const struct counter_series *s;

	write_process();
	begin(0x77);
	define(7, "lo received", "bytes/s", 1, true);
	define(7, "Run queue", "threads", 1, false);
	sample(7, 1000, 100, 1);
	save("node1.77.energy");
	begin(0x78);
	define(3, "Run queue", "threads", 1, false);
	define(3, "lo received", "bytes/s", 1, true);
	sample(3, 1500, 9, 600);
	save("node1.78.energy");
	s = series_of(2);
	cr_expect_float_eq(value(&s[0], 0), 1000, 1e-6);
	cr_expect_eq(value(&s[1], 1), 9);
}

Test(counter, a_total_that_shrinks_or_was_not_read_is_not_known)
{
	const struct counter_series *s;

	write_process();
	begin(0x77);
	define(7, "eth0 received", "bytes/s", 1, true);
	define(7, "Run queue", "threads", 1, false);
	sample(7, 1000, 500, 1);
	sample(7, 1100, 20, UNKNOWN);
	sample(7, 1200, 30, 3);
	save("node1.77.energy");
	s = series_of(2);
	cr_expect_eq(value(&s[0], 0), -1);
	cr_expect_float_eq(value(&s[0], 1), 100, 1e-6);
	cr_expect_eq(s[1].count, 2);
}

Test(counter, a_record_that_was_cut_ends_the_file)
{
	write_process();
	begin(0x77);
	sample(9, 900, 1, 1);
	define(7, "lo received", "bytes/s", 1, true);
	sample(7, 1000, 500, 1);
	sample(7, 1100, 600, 1);
	sample(7, 1200, 900, 1);
	file.size -= 8;
	save("node1.77.energy");
	cr_expect_eq(series_of(1)->count, 2);
}

/* A cell of counter_sum as a number. */
static double cell(enum by by, size_t row, enum column_id column, size_t rows)
{
	struct report_context context = {.model = &model, .by = by};
	struct table table = {0};
	double ret;

	report_counter_sum(&context, &table);
	cr_assert_null(table.lacks, "%s", table.lacks);
	cr_assert_eq(table_rows(&table), rows, "%zu", table_rows(&table));
	ret = table_cell(&table, row, column)->real;
	table_done(&table);
	return ret;
}

Test(counter, means_are_weighted_by_time_and_rates_add_up)
{
	write_example();
	series_of(2);
	cr_expect_float_eq(cell(BY_NOTHING, 0, COL_TOTAL, 2), 400, 1e-6);
	cr_expect_float_eq(cell(BY_NOTHING, 0, COL_AVG, 2), 400 / 0.3, 1e-3);
	cr_expect_float_eq(cell(BY_NOTHING, 0, COL_MAX, 2), 3000, 1e-6);
	cr_expect_float_eq(cell(BY_NOTHING, 1, COL_MIN, 2), 2, 1e-6);
	cr_expect_float_eq(cell(BY_NOTHING, 1, COL_AVG, 2), 10 / 3.0, 1e-3);
	cr_expect_float_eq(cell(BY_NOTHING, 1, COL_MAX, 2), 6, 1e-6);
}

Test(counter, a_range_has_its_part)
{
	const struct tf_range spans[] = {{1050 * MS, 1150 * MS}, {1200 * MS, 1250 * MS}};
	struct tf_range_page page = {.magic = TF_RANGE_MAGIC, .run = 0x77, .begun = 2, .mode = TF_RANGE_PROFILER_API};

	write_example();
	capture_range(directory, &page, spans);
	series_of(2);
	cr_expect_float_eq(cell(BY_RANGE, 0, COL_TOTAL, 4), 50 + 150, 1e-6);
	cr_expect_float_eq(cell(BY_RANGE, 1, COL_TOTAL, 4), 0, 1e-6);
	cr_expect_float_eq(cell(BY_RANGE, 2, COL_MAX, 4), 4, 1e-6);
}
