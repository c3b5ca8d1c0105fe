/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "report/time/clocks/align.h"
#include "captured.h"

enum { MEETINGS = 200, TEAMS = 4, CUPTI = 900 };
#define US 1000ull
#define MS 1000000ull
#define REALTIME 1700000000000000000ull

CAPTURED_SUITE(align_nccl);

/* An image on a host whose CLOCK_REALTIME is ahead by `offset` ns at the start and drifts by `ppm`. */
struct rank {
	uint32_t number;
	const char *host;
	int64_t offset;
	unsigned int teams; /* bit mask of its communicators */
	double ppm;
	uint64_t ids;	   /* number of its first communicator; 0: 500 */
	uint32_t left_out; /* the collective that is missing, counted from 1 */
	uint32_t odd;	   /* the collective that has another kind */
	uint32_t captured; /* each collective whose number is a multiple has no kernel, as in a graph; 0: none */
	uint64_t clock_error;
	uint64_t lost, dropped;
	uint32_t meetings;    /* 0: MEETINGS */
	/* all ranks enter an MPI_Barrier this long before each collective; 0: no barriers */
	uint32_t barriers_us;
	bool has_no_init, is_split, has_groups, has_gap, has_two_threads;
};

/* The state needed to write the capture of one rank. */
struct writing {
	const struct rank *rank;
	struct writer w;
	struct writer_thread host, other, cupti;
	uint16_t init, split, reduce, gather, start, end, launch, mpi_init, barrier;
	uint32_t correlation;
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

static void operation(struct writing *s, uint32_t id, const struct tf_operation *op)
{
	writer_blob(&s->host, TF_BLOB_OPERATION, id, op,
		    sizeof(*op) - sizeof(op->values) + op->count * sizeof(op->values[0]));
}

/* Operation ids as preload/library/library_nccl.c writes them: 1 + team creates the communicator, 11 + team is for its
 * collectives. */
static void define(struct writing *s)
{
	const struct rank *r = s->rank;
	const struct tf_device_operation work = {.kind = TF_DEVICE_KERNEL, .kernel = 1},
			     other = {.kind = TF_DEVICE_KERNEL, .kernel = 2};
	const struct tf_operation world = {.count = 1, .fields = {TF_FIELD_COMMUNICATOR}, .values = {0x44000000}};

	for (int64_t k = 0; k < TEAMS; k++) {
		int64_t id = (int64_t)(r->ids ? r->ids : 500) + k;

		operation(s, (uint32_t)(1 + k),
			  &(struct tf_operation){.count = 4,
						 .fields = {TF_FIELD_RANKS, TF_FIELD_RANK, TF_FIELD_COMMUNICATOR_ID,
							    TF_FIELD_COMMUNICATOR},
						 .values = {4, r->number, r->is_split ? 499 : id, 0x7000 + k}});
		operation(s, (uint32_t)(11 + k),
			  &(struct tf_operation){.count = r->is_split ? 3 : 5,
						 .fields = {TF_FIELD_COUNT, TF_FIELD_COMMUNICATOR,
							    TF_FIELD_COMMUNICATOR_ID, TF_FIELD_RANKS, TF_FIELD_RANK},
						 .values = {1024, 0x7000 + k, id, 4, r->number}});
	}
	operation(s, 21, &world);
	writer_device_source(&s->cupti, TF_DEVICE_TIME_MONOTONIC, 130001, "libcupti.so.13");
	writer_text(&s->cupti, TF_BLOB_KERNEL, 1,
		    "_Z40ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE");
	writer_text(&s->cupti, TF_BLOB_KERNEL, 2, "_Z3addPf");
	writer_blob(&s->cupti, TF_BLOB_DEVICE_OPERATION, 1, &work, sizeof(work));
	writer_blob(&s->cupti, TF_BLOB_DEVICE_OPERATION, 2, &other, sizeof(other));
	if (r->clock_error)
		writer_blob(&s->cupti, TF_BLOB_DEVICE_CLOCK, 0, &(struct tf_device_clock){1, 1, r->clock_error},
			    sizeof(struct tf_device_clock));
	if (r->dropped)
		writer_blob(&s->cupti, TF_BLOB_DEVICE_LOST, 0, &(struct tf_device_lost){.dropped = r->dropped},
			    sizeof(struct tf_device_lost));
	if (r->has_gap)
		writer_blob(&s->cupti, TF_BLOB_DEVICE_GAP, 0, &(struct tf_device_gap){.ticks = on_clock(r, 90 * MS)},
			    sizeof(struct tf_device_gap));
}

static void call(const struct writing *s, struct writer_thread *t, uint16_t function, uint64_t from, uint64_t to,
		 uint64_t arg)
{
	uint64_t start = on_clock(s->rank, from), end = on_clock(s->rank, to);

	writer_call(t, function, end, end - start, &arg, arg ? 1 : 0);
}

/* Writes the launch of a collective's kernel, made within 6 us of `at`. */
static void launch(struct writing *s, struct writer_thread *t, uint64_t at, uint64_t enter, uint64_t leave)
{
	uint64_t start = on_clock(s->rank, enter), from = on_clock(s->rank, at + 1 * US);
	uint32_t work = leave - enter < 1 * US ? 2 : 1;

	call(s, t, s->launch, at + 1 * US, at + 5 * US, tf_arg(TF_ARG_LAUNCH, 1, 7));
	writer_device_calls(&s->cupti, TF_DEVICE_TIME_MONOTONIC,
			    &(struct writer_device_call){t->tid, ++s->correlation, from + 1 * US, 2 * US, true}, 1);
	writer_device(&s->cupti, TF_DEVICE_TIME_MONOTONIC,
		      &(struct writer_device_record){work, s->correlation, start, on_clock(s->rank, leave) - start, 0},
		      1);
}

/* One collective of a team: rank n enters n * 20 us late in one and as early in the next; all leave within 5 us. */
static void collective(struct writing *s, uint32_t team, uint32_t i)
{
	const struct rank *r = s->rank;
	struct writer_thread *t = r->has_two_threads && i % 2 ? &s->other : &s->host;
	uint64_t last = 100 * MS * i + 10 * MS * team, late = (i & 1 ? r->number : 7 - r->number) * 20 * US;
	uint64_t at = last - 250 * US + late, enter = at + 50 * US, leave = last + r->number * 1 * US;
	uint16_t function = i == r->odd ? s->gather : s->reduce;
	uint64_t arg = tf_arg(TF_ARG_OPERATION, 0, 11 + team);

	launch(s, t, at - 100 * US, enter - 100 * US, enter - 100 * US + 500);
	if (r->has_groups) {
		call(s, t, s->start, at - 9 * US, at - 8 * US, 0);
		call(s, t, s->start, at - 7 * US, at - 6 * US, 0);
		call(s, t, function, at - 5 * US, at - 4 * US, arg);
		call(s, t, s->end, at - 3 * US, at - 2 * US, 0);
	}
	if (!r->captured || i % r->captured)
		launch(s, t, at, enter, leave);
	/* A kernel that is not NCCL's. */
	launch(s, t, at + 6 * US, leave + r->number * 50 * US, leave + r->number * 50 * US + 500);
	if (r->has_groups)
		call(s, t, s->end, at, at + 12 * US, 0);
	else
		call(s, t, function, at, at + 12 * US, arg);
	if (r->barriers_us)
		call(s, &s->host, s->barrier, last + 1 * MS - r->barriers_us * US, last + 1 * MS + r->number * 100,
		     tf_arg(TF_ARG_OPERATION, 0, 21));
}

static void write_rank(const struct rank *r, uint32_t i)
{
	struct writing s = {.rank = r};
	char variables[32];

	writer_init(&s.w, 10 + i, 100 + i, 1, 1000 * MS);
	snprintf(s.w.header.host, sizeof(s.w.header.host), "%s", r->host);
	snprintf(s.w.header.boot, sizeof(s.w.header.boot), "boot-of-%s", r->host);
	s.w.header.first = (struct tf_clock_pair){1000 * MS, 1000 * MS, REALTIME + (uint64_t)r->offset, 100};
	snprintf(variables, sizeof(variables), "RANK=%u", r->number);
	writer_variables(&s.w, variables, strlen(variables) + 1);
	s.init = writer_function(&s.w, TF_GROUP_NCCL, "ncclCommInitRank");
	s.split = writer_function(&s.w, TF_GROUP_NCCL, "ncclCommSplit");
	s.reduce = writer_function(&s.w, TF_GROUP_NCCL, "ncclAllReduce");
	s.gather = writer_function(&s.w, TF_GROUP_NCCL, "ncclAllGather");
	s.start = writer_function(&s.w, TF_GROUP_NCCL, "ncclGroupStart");
	s.end = writer_function(&s.w, TF_GROUP_NCCL, "ncclGroupEnd");
	s.launch = writer_function(&s.w, TF_GROUP_CUDA_DRIVER, "cuLaunchKernelEx");
	s.mpi_init = writer_function(&s.w, TF_GROUP_MPI, "MPI_Init");
	s.barrier = writer_function(&s.w, TF_GROUP_MPI, "MPI_Barrier");
	writer_thread(&s.w, &s.host, 100 + i, "main", 16 * TF_PAGE);
	writer_thread(&s.w, &s.other, 200 + i, "autograd", 16 * TF_PAGE);
	writer_thread(&s.w, &s.cupti, CUPTI + i, "cupti", 16 * TF_PAGE);
	define(&s);
	if (r->barriers_us)
		call(&s, &s.host, s.mpi_init, 10 * MS, 20 * MS, 0);
	for (uint32_t k = 0; k < TEAMS; k++)
		if (r->teams & 1u << k && !r->has_no_init)
			call(&s, &s.host, r->is_split ? s.split : s.init, (50 + k) * MS, (51 + k) * MS - 1,
			     tf_arg(TF_ARG_OPERATION, 0, 1 + k));
	for (uint32_t n = 1; n <= (r->meetings ? r->meetings : MEETINGS); n++)
		for (uint32_t k = 0; k < TEAMS; k++)
			if (r->teams & 1u << k && n != r->left_out)
				collective(&s, k, n);
	writer_page(&s.host)->lost = r->lost;
	writer_save(&s.w, directory);
	writer_done(&s.w);
}

static void write_ranks(const struct rank *ranks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		write_rank(&ranks[i], (uint32_t)i);
	open_capture(&model, directory);
	align_hosts(&model);
}
#define WRITE(...)                                              \
	const struct rank ranks[] = {__VA_ARGS__};              \
	write_ranks(ranks, sizeof(ranks) / sizeof(*ranks))

/* Returns the error of the host's aligned clock at true time `at`. */
static double error_at(const struct rank *r, uint64_t at)
{
	return (double)(int64_t)(clock_map_ns(&captured_host(r->host)->clock, on_clock(r, at)) - REALTIME - at);
}

/* Asserts that the clock's error is below `ns` and never above the error that the model states. */
static void assert_placed(const struct rank *r, double ns, const char *said)
{
	const struct machine *m = captured_host(r->host);

	cr_assert_not_null(method_of(m->host), "%s is not placed", r->host);
	cr_assert_not_null(strstr(method_of(m->host), said), "%s: %s", r->host, method_of(m->host));
	for (uint64_t s = 0; s <= 20; s += 5) {
		double off = fabs(error_at(r, s * 1000 * MS));

		cr_assert_lt(off, ns, "%s at %d s: off by %f ns", r->host, (int)s, off);
		cr_assert_leq(off, (double)m->clock.error_ns + 1, "%s: off by %f ns, stated are %d", r->host, off,
			      (int)m->clock.error_ns);
	}
	cr_assert_lt(m->clock.error_ns, 500 * US);
}

static void assert_by_time_of_day(const struct rank *r, const char *said)
{
	const struct machine *m = captured_host(r->host);

	cr_assert_eq(m->clock.offset.ahead_ns, 0);
	cr_assert_float_eq(error_at(r, 0), (double)r->offset, 1);
	if (said)
		cr_assert(method_of(m->host) && strstr(method_of(m->host), said), "%s", method_of(m->host));
	else
		cr_assert_null(method_of(m->host), "%s", method_of(m->host));
}

#define AHEAD (5000 * (int64_t)MS)

Test(align_nccl, kernels_of_two_hosts_find_an_offset_and_its_error)
{
	WRITE({0, "a", 0, 1}, {1, "b", AHEAD, 1});
	assert_placed(&ranks[1], 2 * US, "200 NCCL collectives: 5000");
	cr_assert_gt(captured_host("b")->clock.error_ns, 1 * US);
	cr_assert_str_eq(method_of("a"), "its CLOCK_REALTIME, the reference of other machines");
}

Test(align_nccl, finds_a_drift_of_each_of_three_hosts_with_several_ranks)
{
	WRITE({0, "a", 0, 1}, {1, "b", -AHEAD, 1, 50}, {2, "c", 12345678, 1, -80}, {3, "c", 12345678, 1, -80});
	assert_placed(&ranks[1], 4 * US, "NCCL");
	assert_placed(&ranks[2], 4 * US, "NCCL");
	assert_placed(&ranks[3], 4 * US, "NCCL");
}

Test(align_nccl, processes_are_in_the_order_of_the_common_time)
{
	WRITE({0, "a", AHEAD, 1}, {1, "b", 0, 1});
	cr_assert_eq(model.process_count, 2);
	cr_assert_leq(model.processes[0].start_ns, model.processes[1].start_ns);
	cr_assert_lt(model.processes[1].start_ns - model.processes[0].start_ns, 10 * US);
	cr_assert_eq(model.origin_ns, model.processes[0].start_ns);
}

Test(align_nccl, calls_in_a_group_are_launched_by_its_end)
{
	WRITE({0, "a", 0, 3, .has_groups = true}, {1, "b", AHEAD, 3, .has_groups = true});
	assert_placed(&ranks[1], 2 * US, "400 NCCL collectives");
}

Test(align_nccl, calls_of_two_threads_count_in_their_order)
{
	WRITE({0, "a", 0, 1, .has_two_threads = true}, {1, "b", AHEAD, 1});
	assert_placed(&ranks[1], 2 * US, "200 NCCL");
}

Test(align_nccl, what_a_graph_captured_has_no_kernel_and_still_counts)
{
	WRITE({0, "a", 0, 1}, {1, "b", AHEAD, 1, .captured = 4});
	assert_placed(&ranks[1], 2 * US, "150 NCCL");
}

Test(align_nccl, several_communicators_add_up)
{
	WRITE({0, "a", 0, 5}, {1, "b", AHEAD, 7});
	assert_placed(&ranks[1], 2 * US, "400 NCCL");
}

Test(align_nccl, a_communicator_for_each_pair_places_through_another_host)
{
	WRITE({0, "a", 0, 1}, {1, "b", AHEAD, 3, 20}, {2, "c", 2 * AHEAD, 6}, {3, "d", 3 * AHEAD, 4, -30});
	assert_placed(&ranks[1], 2 * US, "ahead of a, drifting");
	assert_placed(&ranks[2], 4 * US, ", through b");
	assert_placed(&ranks[3], 6 * US, ", through c");
	/* The bounds of each host alone give an error of about 100 us. */
	cr_assert_gt(captured_host("c")->clock.error_ns, captured_host("b")->clock.error_ns + 50 * US);
	cr_assert_gt(captured_host("d")->clock.error_ns, captured_host("c")->clock.error_ns + 50 * US);
}

Test(align_nccl, those_who_met_no_other_stay_and_stand_beside_each_other)
{
	WRITE({0, "a", 0, 1}, {1, "b", AHEAD, 1}, {2, "c", 0, 2}, {3, "d", AHEAD, 2}, {4, "e", AHEAD, 4});
	assert_placed(&ranks[1], 2 * US, "ahead of a");
	assert_placed(&ranks[3], 2 * US, "ahead of c");
	assert_by_time_of_day(&ranks[4], NULL);
}

Test(align_nccl, one_made_of_another_is_known_by_its_own_number)
{
	WRITE({0, "a", 0, 1, .is_split = true}, {1, "b", AHEAD, 1, .is_split = true});
	assert_placed(&ranks[1], 2 * US, "200 NCCL");
}

Test(align_nccl, the_error_of_the_devices_clock_is_added)
{
	WRITE({0, "a", 0, 1, .clock_error = 30 * US}, {1, "b", AHEAD, 1, .clock_error = 70 * US}, {2, "c", AHEAD, 1});
	assert_placed(&ranks[1], 2 * US, "NCCL");
	assert_placed(&ranks[2], 3 * US, "NCCL");
	/* The bounds alone give an error of about 80 us for b and 100 us for c. */
	cr_assert_gt(captured_host("b")->clock.error_ns, 160 * US);
	cr_assert_gt(captured_host("c")->clock.error_ns, 110 * US);
	cr_assert_lt(captured_host("c")->clock.error_ns, 150 * US);
}

Test(align_nccl, the_source_with_the_smaller_error_counts)
{
	WRITE({0, "a", 0, 1, .barriers_us = 5}, {1, "b", AHEAD, 1, .barriers_us = 5});
	assert_placed(&ranks[1], 1 * US, "200 MPI");
}

Test(align_nccl, also_where_that_is_nccl)
{
	WRITE({0, "a", 0, 1, .barriers_us = 500}, {1, "b", AHEAD, 1, .barriers_us = 500});
	assert_placed(&ranks[1], 2 * US, "200 NCCL");
}

Test(align_nccl, without_its_begin_a_rank_may_have_missed_some)
{
	WRITE({0, "a", 0, 1}, {1, "b", AHEAD, 1, .has_no_init = true});
	assert_by_time_of_day(&ranks[1], NULL);
}

Test(align_nccl, with_lost_events_a_rank_is_left_out)
{
	WRITE({0, "a", 0, 1}, {1, "b", AHEAD, 1, .lost = 1}, {2, "c", AHEAD, 1});
	assert_by_time_of_day(&ranks[1], NULL);
	assert_placed(&ranks[2], 3 * US, "NCCL");
}

Test(align_nccl, with_dropped_device_records_a_rank_is_left_out)
{
	WRITE({0, "a", 0, 1}, {1, "b", AHEAD, 1, .dropped = 1});
	assert_by_time_of_day(&ranks[1], NULL);
}

Test(align_nccl, with_a_time_without_a_source_a_rank_is_left_out)
{
	WRITE({0, "a", 0, 1}, {1, "b", AHEAD, 1, .has_gap = true});
	assert_by_time_of_day(&ranks[1], NULL);
}

Test(align_nccl, of_many_every_so_many_th_is_used)
{
	WRITE({0, "a", 0, 1, .meetings = 9000}, {1, "b", AHEAD, 1, 20, .meetings = 9001});
	assert_placed(&ranks[1], 2 * US, "3000 NCCL");
}

Test(align_nccl, what_comes_after_a_capture_range_may_not_be_all)
{
	const struct tf_range_page page = {
		.magic = TF_RANGE_MAGIC, .run = 0x77, .begun = 2, .mode = TF_RANGE_PROFILER_API};
	const struct tf_range spans[] = {{1000 * MS, 11050 * MS}, {12050 * MS, 0}};

	capture_range(directory, &page, spans);
	WRITE({0, "a", 0, 1}, {1, "b", AHEAD, 1, .left_out = 110});
	assert_placed(&ranks[1], 2 * US, "100 NCCL");
}

Test(align_nccl, contradictions_are_said_and_change_nothing)
{
	/* From the 100th on, each collective is matched with the one before it: an error of 100 ms. */
	WRITE({0, "a", 0, 1}, {1, "b", AHEAD, 1, .left_out = 100});
	assert_by_time_of_day(&ranks[1], "its CLOCK_REALTIME: NCCL collectives contradict each other by ");
}

Test(align_nccl, those_that_do_not_match_are_said)
{
	WRITE({0, "a", 0, 1}, {1, "b", AHEAD, 1, .odd = 50});
	assert_by_time_of_day(&ranks[1], "its CLOCK_REALTIME: NCCL collectives do not match");
}

Test(align_nccl, a_number_that_two_jobs_share_joins_nobody)
{
	WRITE({0, "a", 0, 1}, {0, "b", AHEAD, 1});
	assert_by_time_of_day(&ranks[1], "its CLOCK_REALTIME: NCCL collectives belong to several jobs");
}

Test(align_nccl, two_jobs_with_numbers_of_their_own_stay_apart)
{
	WRITE({0, "a", 0, 1}, {0, "b", AHEAD, 1, .ids = 900});
	assert_by_time_of_day(&ranks[1], NULL);
}
