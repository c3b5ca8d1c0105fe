/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/tables/report.h"
#include "report/time/clocks/align.h"
#include "captured.h"

enum { WORLD = 0x44000000, BARRIERS = 300 };
#define MS 1000000ull
#define REALTIME 1700000000000000000ull

CAPTURED_SUITE(align);

/* A rank on a host whose CLOCK_REALTIME is ahead by `offset` ns at the start and drifts by `ppm`. */
struct rank {
	uint32_t number;
	const char *host;
	int64_t offset;
	double ppm;
	bool has_no_init;
	uint32_t barriers; /* 0: BARRIERS */
	const char *variable; /* NULL: RANK=number */
	uint32_t left_out; /* the barrier that is missing, counted from 1; 0: none */
};

/* Converts true time, in ns since the start, to the rank's clock. */
static const char *method_of(const char *host)
{
	return align_method(&model, (size_t)(captured_host(host) - model.machines));
}

static uint64_t on_clock(const struct rank *r, uint64_t at)
{
	return 1000 * MS + at + (uint64_t)((double)at * r->ppm / 1e6);
}

/* A barrier every 100 ms: rank n enters n * 20 us late in one and as early in the next; all leave within 5 us. */
static void write_rank(const struct rank *r)
{
	char variables[32];
	struct tf_operation op = {.count = 1, .fields = {TF_FIELD_COMMUNICATOR}, .values = {WORLD}};
	struct writer w;
	struct writer_thread t;
	uint16_t init, barrier;
	uint64_t arg = tf_arg(TF_ARG_OPERATION, 0, 1);

	writer_init(&w, 10 + r->number, 100 + r->number, 1, 1000 * MS);
	snprintf(w.header.host, sizeof(w.header.host), "%s", r->host);
	snprintf(w.header.boot, sizeof(w.header.boot), "boot-of-%s", r->host);
	w.header.first = (struct tf_clock_pair){1000 * MS, 1000 * MS, REALTIME + (uint64_t)r->offset, 100};
	snprintf(variables, sizeof(variables), "RANK=%u", r->number);
	writer_variables(&w, r->variable ? r->variable : variables, strlen(r->variable ? r->variable : variables) + 1);
	init = writer_function(&w, TF_GROUP_MPI, "MPI_Init");
	barrier = writer_function(&w, TF_GROUP_MPI, "MPI_Barrier");
	writer_thread(&w, &t, 100 + r->number, "main", 2 * TF_PAGE);
	writer_blob(&t, TF_BLOB_OPERATION, 1, &op, sizeof(op) - sizeof(op.values) + sizeof(op.values[0]));
	if (!r->has_no_init)
		writer_call(&t, init, on_clock(r, 50 * MS), 10 * MS, NULL, 0);
	for (uint32_t i = 1; i <= (r->barriers ? r->barriers : BARRIERS); i++) {
		uint64_t last = 100 * MS * i, late = (i & 1 ? r->number : 7 - r->number) * 20000ull;
		uint64_t enter = on_clock(r, last - 200000 + late), leave = on_clock(r, last + r->number * 1000);

		if (i != r->left_out)
			writer_call(&t, barrier, leave, leave - enter, &arg, 1);
	}
	writer_save(&w, directory);
	writer_done(&w);
}

/* Returns the error of the host's aligned clock at true time `at`. */
static double error_at(const struct rank *r, uint64_t at)
{
	return (double)(int64_t)(clock_map_ns(&captured_host(r->host)->clock, on_clock(r, at)) - REALTIME - at);
}

static void assert_within(const struct rank *r, double ns)
{
	for (uint64_t s = 0; s <= 30; s += 5)
		cr_assert_lt(fabs(error_at(r, s * 1000 * MS)), ns, "%s at %d s: off by %f ns", r->host, (int)s,
			     error_at(r, s * 1000 * MS));
}

static void write_ranks(const struct rank *ranks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		write_rank(&ranks[i]);
	open_capture(&model, directory);
	align_hosts(&model);
}

Test(align, finds_an_offset_and_states_its_error)
{
	static const struct rank ranks[] = {{0, "a"}, {1, "b", 5000 * (int64_t)MS}};

	write_ranks(ranks, 2);
	assert_within(&ranks[0], 1);
	assert_within(&ranks[1], 2000);
	cr_assert_gt(captured_host("b")->clock.error_ns, 1000);
	cr_assert_lt(captured_host("b")->clock.error_ns, 400000);
	cr_assert_not_null(strstr(method_of("b"), "300 MPI collectives"));
}

Test(align, finds_a_drift_of_each_of_several_hosts)
{
	static const struct rank ranks[] = {
		{0, "a"}, {1, "b", -3000 * (int64_t)MS, 50}, {2, "c", 12345678, -80}, {3, "c", 12345678, -80}};

	write_ranks(ranks, 4);
	assert_within(&ranks[1], 4000);
	assert_within(&ranks[2], 4000);
	assert_within(&ranks[3], 4000);
	for (size_t i = 1; i < 3; i++) {
		const char *how = align_method(&model, (size_t)(captured_host(ranks[i].host) - model.machines));
		double drift;

		cr_assert_eq(sscanf(strstr(how, "drifting by "), "drifting by %lf us per second", &drift), 1);
		cr_expect_lt(fabs(drift - ranks[i].ppm), 1, "%s: %s", ranks[i].host, how);
	}
	/* Ignoring the drift would give an error of 1.5 ms at the end. */
	for (size_t i = 1; i < 3; i++)
		cr_assert_lt(captured_host(ranks[i].host)->clock.error_ns, 400000);
}

Test(align, orders_events_of_both_hosts_as_they_were)
{
	static const struct rank ranks[] = {{0, "a"}, {1, "b", 77 * (int64_t)MS}};
	struct merge *g;

	write_ranks(ranks, 2);
	g = merge_new(&model, SIZE_MAX);
	/* MPI_Init, then each barrier, of both. */
	for (int i = 0; i <= BARRIERS; i++) {
		struct merge_event first = *merge_next(g), second = *merge_next(g);

		cr_assert_neq(first.image, second.image);
		cr_assert_lt(second.ns - first.ns, 10000);
	}
	cr_assert_null(merge_next(g));
	merge_free(g);
}

Test(align, goes_back_from_the_common_time_to_ticks)
{
	static const struct rank ranks[] = {{0, "a"}, {1, "b", 5000 * (int64_t)MS, 50}};
	const struct clock_map *clock;

	write_ranks(ranks, 2);
	clock = &captured_host("b")->clock;
	for (uint64_t s = 0; s < 30; s += 3) {
		uint64_t ticks = on_clock(&ranks[1], s * 1000 * MS),
			 back = clock_map_tick_at(clock, clock_map_ns(clock, ticks));

		cr_assert_leq(llabs((long long)(back - ticks)), 2);
	}
}

Test(align, leaves_out_what_not_every_rank_has_yet)
{
	static const struct rank ranks[] = {{0, "a"}, {1, "b", 5000 * (int64_t)MS, 0, false, BARRIERS - 1}};

	write_ranks(ranks, 2);
	assert_within(&ranks[1], 2000);
	cr_assert_not_null(strstr(method_of("b"), "299 MPI collectives"));
}

static void assert_by_time_of_day(const struct rank *ranks)
{
	write_ranks(ranks, 2);
	cr_assert_float_eq(error_at(&ranks[1], 0), (double)ranks[1].offset, 1);
	cr_assert_eq(captured_host("b")->clock.offset.ahead_ns, 0);
}

Test(align, without_its_begin_a_rank_may_have_missed_some)
{
	static const struct rank ranks[] = {{0, "a"}, {1, "b", 7 * (int64_t)MS, 0, true}};

	assert_by_time_of_day(ranks);
}

Test(align, what_comes_after_a_capture_range_may_not_be_all)
{
	static const struct rank ranks[] = {{0, "a"}, {1, "b", 5000 * (int64_t)MS, 0, false, 0, NULL, 110}};
	const struct tf_range_page page = {
		.magic = TF_RANGE_MAGIC, .run = 0x77, .begun = 2, .mode = TF_RANGE_PROFILER_API};
	const struct tf_range spans[] = {{1000 * MS, 11050 * MS}, {12050 * MS, 0}};

	capture_range(directory, &page, spans);
	write_ranks(ranks, 2);
	assert_within(&ranks[1], 2000);
	cr_assert_not_null(strstr(method_of("b"), "100 MPI collectives"));
}

Test(align, contradictions_are_said_and_change_nothing)
{
	/* From the 150th on, each barrier is matched with the one before it: an error of 100 ms. */
	static const struct rank ranks[] = {{0, "a"}, {1, "b", 7 * (int64_t)MS, 0, false, 0, NULL, 150}};

	assert_by_time_of_day(ranks);
	cr_assert_not_null(strstr(method_of("b"), "contradict each other"));
}

Test(align, a_rank_that_is_there_twice_is_of_another_job)
{
	static const struct rank ranks[] = {{0, "a"}, {1, "b", 7 * (int64_t)MS, .variable = "RANK=0"}};

	assert_by_time_of_day(ranks);
}

/* ---- the clock of one machine ---- */

#define S 1000000000ull

/* Of pairs of ticks, CLOCK_MONOTONIC, and CLOCK_REALTIME minus 100 s minus that. */
static struct clock_map clock_of(uint64_t hz, size_t count, uint64_t (*const pairs)[3], uint64_t error_ticks)
{
	struct clock_map map = {.source = TF_CLOCK_TSC, .hz = hz};

	for (size_t i = 0; i < count; i++)
		clock_map_add(&map, &(struct tf_clock_pair){pairs[i][0], pairs[i][1],
							    100 * S + pairs[i][1] + pairs[i][2], error_ticks});
	clock_map_build(&map);
	return map;
}

Test(clock_map, has_the_rate_between_two_pairs_and_the_whole_one_after_the_last)
{
	static uint64_t pairs[][3] = {{5 * S, 7 * S + S / 2, 0}, {1 * S, 5 * S, 0}, {2 * S, 6 * S, 0}};
	static const uint64_t times[][2] = {/* ticks, ns */
		{S / 2, 104 * S + S / 2}, {S, 105 * S}, {S + 1, 105 * S + 1}, {2 * S - 1, 106 * S - 1},
		{2 * S, 106 * S}, {2 * S + 2, 106 * S + 1}, {4 * S, 107 * S}, {5 * S - 2, 107 * S + S / 2 - 1},
		{5 * S, 107 * S + S / 2}, {5 * S + 8, 107 * S + S / 2 + 5}, {S, 105 * S}};
	SCOPED(clock_map) map = clock_of(0, 3, pairs, 7);

	cr_expect(map.rate_is_known);
	cr_expect_eq(map.error_ns, 7);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		cr_expect_eq(clock_map_ns(&map, times[i][0]), times[i][1], "%zu", i);
		cr_expect_eq(clock_map_tick_at(&map, times[i][1]), times[i][0], "%zu", i);
		cr_expect_eq(clock_map_ticks(&map, times[i][1] - 100 * S), times[i][0], "%zu", i);
	}
	cr_expect_eq(clock_map_monotonic(&map, 3), 100 * S + 3);
	cr_expect_eq(clock_map_duration(&map, 0), 0);
	cr_expect_eq(clock_map_duration(&map, 1), 1, "0.625 is rounded");
	cr_expect_eq(clock_map_duration(&map, 8), 5);
}

Test(clock_map, keeps_pairs_that_are_a_second_apart_and_the_last_one)
{
	static const struct {
		uint64_t pairs[4][3];
		size_t count, kept;
		uint64_t last; /* ticks */
	} cases[] = {
	    {{{1 * S, 1 * S, 0}}, 1, 1, 1 * S},
	    {{{1 * S, 1 * S, 0}, {1 * S + 1, 1 * S + 1, 0}}, 2, 2, 1 * S + 1},
	    {{{1 * S, 1 * S, 0}, {2 * S, 2 * S, 0}, {3 * S, 3 * S, 0}}, 3, 3, 3 * S},
	    {{{1 * S, 1 * S, 0}, {2 * S - 1, 2 * S - 1, 0}, {3 * S, 3 * S, 0}}, 3, 2, 3 * S},
	    {{{1 * S, 1 * S, 0}, {2 * S, 2 * S, 0}, {3 * S - 1, 3 * S - 1, 0}}, 3, 2, 3 * S - 1},
	    {{{1 * S, 1 * S, 0}, {2 * S, 1 * S, 0}}, 2, 1, 1 * S},
	    {{{1 * S, 1 * S, 0}, {1 * S, 3 * S, 0}}, 2, 1, 1 * S},
	    {{{1 * S, 1 * S, 0}, {2 * S, 2 * S, 0}, {3 * S, 2 * S, 0}}, 3, 2, 2 * S},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		SCOPED(clock_map) map = clock_of(0, cases[i].count, (uint64_t(*)[3])cases[i].pairs, 0);

		cr_assert_eq(map.count, cases[i].kept, "case %zu: %zu", i, map.count);
		cr_expect_eq(map.pairs[map.count - 1].ticks, cases[i].last, "case %zu", i);
		cr_expect_eq(map.rate_is_known, map.count > 1, "case %zu", i);
	}
}

Test(clock_map, takes_the_nominal_rate_where_pairs_are_near)
{
	/* hz, duration between the pairs, in which there are twice as many ticks as ns, error of each in ticks; the ns
	 * of 1000000 ticks, and of as many after the first pair */
	static const uint64_t cases[][5] = {
	    {S, 9999999, 0, 1000000, 500000},	  {S, 10000000, 0, 500000, 500000},
	    {S, 9000000, 18000, 1000000, 500000}, {S, 9000000, 18001, 1000000, 1000000},
	    {0, 9000000, 18001, 500000, 500000},  {999, 9000000, 18001, 500000, 500000},
	    {1000, 9000000, 0, 1000000000000, 500000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t pairs[][3] = {{S, 5 * S, 0}, {S + 2 * cases[i][1], 5 * S + cases[i][1], 0}};
		SCOPED(clock_map) map = clock_of(cases[i][0], 2, pairs, cases[i][2]);

		cr_expect(map.rate_is_known);
		cr_expect_eq(clock_map_duration(&map, 1000000), cases[i][3], "case %zu", i);
		cr_expect_eq(clock_map_ns(&map, S + 1000000), 105 * S + cases[i][4], "case %zu", i);
	}
}

Test(clock_map, has_the_median_offset_and_the_largest_error)
{
	static uint64_t later[][3] = {{1 * S, 1 * S, 2}, {2 * S, 2 * S, 0}, {3 * S, 3 * S, 5}},
			earlier[][3] = {{1 * S, 1 * S, 5}, {2 * S, 2 * S, 0}, {3 * S, 3 * S, 4}};
	SCOPED(clock_map) a = clock_of(0, 3, later, 7), b = clock_of(S / 2, 3, earlier, 7), none = {0}, empty = {0};

	cr_expect_eq(a.offset_ns, 100 * S + 2);
	cr_expect_eq(a.error_ns, 3 + 7);
	cr_expect_eq(b.offset_ns, 100 * S + 4);
	cr_expect_eq(b.error_ns, 4 + 2 * 7, "a tick is 2 ns");
	clock_map_add(&none, &(struct tf_clock_pair){0, 1, 1, 0});
	clock_map_add(&none, &(struct tf_clock_pair){1, 1, 0, 0});
	cr_expect_eq(none.count, 0);
	clock_map_build(&empty);
	cr_expect_not(empty.rate_is_known);
	cr_expect_eq(clock_map_ns(&empty, 7), 7);
	cr_expect_eq(clock_map_ticks(&empty, 7), 7);
	cr_expect_eq(clock_map_duration(&empty, 7), 7);
}

Test(clock_map, removes_an_offset_and_its_drift)
{
	static uint64_t pairs[][3] = {{1 * S, 1 * S, 0}, {3 * S, 3 * S, 0}};
	static const struct clock_offset none, drift = {.drift = 0.5, .since_ns = 1000},
					 both = {.ahead_ns = 100, .drift = 0.5, .since_ns = 101 * S};
	SCOPED(clock_map) map = clock_of(0, 2, pairs, 0);

	cr_expect_eq(clock_offset_remove(&none, 3000), 3000);
	cr_expect_eq(clock_offset_remove(&drift, 3000), 2000);
	cr_expect_eq(clock_offset_remove(&drift, 1000), 1000);
	cr_expect_eq(clock_offset_remove(&drift, 800), 900, "before it, the clock is behind");
	clock_map_place(&map, &both, 42);
	cr_expect_eq(map.error_ns, 42);
	cr_expect_eq(clock_map_realtime(&map, 101 * S + 1000), 101 * S + 400);
	cr_expect_eq(clock_map_ns(&map, 1 * S + 1000), 101 * S + 400);
	cr_expect_eq(clock_map_tick_at(&map, 101 * S + 400), 1 * S + 1000);
}
