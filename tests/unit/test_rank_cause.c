/* SPDX-License-Identifier: Apache-2.0 */
/* Why ranks of MPI wait for each other. */
#include <math.h>

#include "report/answers/summary/summary_parts.h"
#include "report/causes/ranks/pop.h"
#include "report/causes/ranks/rank_cause.h"
#include "mpi_fixture.h"

TestSuite(rank_cause, .init = setup, .fini = teardown);

static struct rank_causes causes;

static const struct rank_cause *find(const struct made made[][CALLS], uint32_t count)
{
	job(made, count, true);
	rank_causes_find(&context, NULL, &causes);
	cr_assert_gt(causes.count, 0);
	return &causes.items[0];
}

static void expect(const struct rank_cause *c, const char *ranks, const char *name, const char *line)
{
	cr_expect_str_eq(c->ranks, ranks);
	cr_expect_str_eq(c->name, name);
	cr_expect_str_eq(line_text(c->line), line);
	cr_expect_geq(c->cause_ns * 100, c->wait_ns * RANK_CAUSE_PERCENT);
	rank_causes_done(&causes);
}

Test(rank_cause, the_call_of_the_late_rank_is_named_and_not_the_line_at_which_the_others_wait)
{
	static const struct made made[][CALLS] = {
		{OS_CALL("read", 20, 120, 50), COLLECTIVE("MPI_Allreduce", 130, 601)},
		{OS_CALL("read", 20, 118, 50), COLLECTIVE("MPI_Allreduce", 128, 601)},
		{OS_CALL("read", 20, 120, 50), OS_CALL("fsync", 130, 590, 51), COLLECTIVE("MPI_Allreduce", 600, 602)},
	};
	const struct rank_cause *c = find(made, 3);

	cr_expect_str_eq(c->wait_name, "MPI_Allreduce");
	cr_expect_str_eq(line_text(c->wait_line), "main (/home/u/job.py:12)");
	cr_expect_eq(c->wait_ns, (470 + 472) * US);
	cr_expect_eq(c->waits, BLOCKED_FLUSH);
	expect(c, "rank 2", "fsync", "main (/home/u/job.py:51)");
}

Test(rank_cause, a_rank_that_waited_itself_is_not_to_blame)
{
	/* rank 0 reads, rank 1 waits for its message, rank 2 for rank 1 */
	static const struct made made[][CALLS] = {
		{OS_CALL("read", 20, 500, 60), MESSAGE("MPI_Send", 510, 512, 1, 7),
		 COLLECTIVE("MPI_Barrier", 515, 532)},
		{MESSAGE("MPI_Recv", 20, 513, 0, 7), MESSAGE("MPI_Send", 520, 522, 2, 7),
		 COLLECTIVE("MPI_Barrier", 525, 532)},
		{MESSAGE("MPI_Recv", 21, 523, 1, 7), COLLECTIVE("MPI_Barrier", 530, 532)},
	};
	const struct rank_cause *c = find(made, 3);

	cr_expect_str_eq(c->wait_name, "MPI_Recv");
	cr_expect_eq(c->count, 2);
	expect(c, "rank 0", "read", "main (/home/u/job.py:60)");
}

Test(rank_cause, only_the_ranks_that_waited_count)
{
	/* rank 1 waits for a message; the barriers of all cost little */
	static const struct made made[][CALLS] = {
		{OS_CALL("usleep", 20, 500, 60), MESSAGE("MPI_Send", 510, 512, 1, 7),
		 COLLECTIVE("MPI_Barrier", 560, 602)},
		{MESSAGE("MPI_Recv", 20, 513, 0, 7), COLLECTIVE("MPI_Barrier", 560, 602)},
		{COLLECTIVE("MPI_Barrier", 570, 602)},
		{COLLECTIVE("MPI_Barrier", 600, 602)},
	};
	const struct rank_cause *c = find(made, 4);

	cr_expect_str_eq(c->wait_name, "MPI_Recv");
	cr_expect_eq(c->waiting, 1);
	expect(c, "rank 0", "usleep", "main (/home/u/job.py:60)");
}

Test(rank_cause, of_a_collective_all_but_the_last_wait)
{
	static const struct made made[][CALLS] = {
		{OS_CALL("usleep", 20, 580, 60), COLLECTIVE("MPI_Barrier", 600, 602)},
		{COLLECTIVE("MPI_Barrier", 20, 602)},
		{COLLECTIVE("MPI_Barrier", 30, 602)},
		{OS_CALL("read", 20, 575, 60), COLLECTIVE("MPI_Barrier", 578, 602)}, /* waits 4 % of the longest */
	};
	const struct rank_cause *c = find(made, 4);

	cr_expect_eq(c->waiting, 2);
	rank_causes_done(&causes);
}

Test(rank_cause, through_a_communicator_of_some_ranks)
{
	enum { HALF = 77, OTHER_HALF = 78 };
	static const struct made made[][CALLS] = {
		{OS_CALL("usleep", 20, 500, 70), {"MPI_Barrier", 510, 511, NO_PEER, 0, 12, HALF, 2, 0},
		 COLLECTIVE("MPI_Allreduce", 515, 522)},
		{{"MPI_Barrier", 30, 511, NO_PEER, 0, 12, HALF, 2, 1}, COLLECTIVE("MPI_Allreduce", 520, 522)},
		{{"MPI_Barrier", 30, 41, NO_PEER, 0, 12, OTHER_HALF, 2, 0}, COLLECTIVE("MPI_Allreduce", 50, 522)},
		{{"MPI_Barrier", 40, 41, NO_PEER, 0, 12, OTHER_HALF, 2, 1}, COLLECTIVE("MPI_Allreduce", 51, 522)},
	};
	const struct rank_cause *c = find(made, 4);

	cr_expect_str_eq(c->wait_name, "MPI_Allreduce");
	expect(c, "rank 0", "usleep", "main (/home/u/job.py:70)");
}

#define STEP(from, to, arrived)                                                                                        \
	OS_CALL("usleep", from, (to) - 10, 80), COLLECTIVE("MPI_Barrier", to, arrived)

Test(rank_cause, several_ranks)
{
	static const struct made made[][CALLS] = {
		{STEP(20, 70, 401), STEP(410, 460, 801)},
		{STEP(20, 70, 401), STEP(410, 460, 801)},
		{STEP(20, 390, 401), STEP(410, 800, 801)},
		{STEP(20, 400, 401), STEP(410, 799, 801)},
	};
	const struct rank_cause *c = find(made, 4);

	cr_expect_eq(c->set, RANKS_SOME);
	expect(c, "ranks 2 and 3", "usleep", "main (/home/u/job.py:80)");
}

Test(rank_cause, a_late_rank_that_then_waits_for_another_late_one)
{
	/* ranks 0 and 2 sleep; rank 0 is the root of a gather, and comes to the barrier last */
	static const struct made made[][CALLS] = {
		{OS_CALL("usleep", 20, 380, 80), ROOTED("MPI_Gather", 385, 395, 0), COLLECTIVE("MPI_Barrier", 400, 401),
		 OS_CALL("usleep", 410, 770, 80), ROOTED("MPI_Gather", 775, 795, 0),
		 COLLECTIVE("MPI_Barrier", 800, 801)},
		{ROOTED("MPI_Gather", 20, 21, 0), COLLECTIVE("MPI_Barrier", 30, 401),
		 ROOTED("MPI_Gather", 410, 411, 0), COLLECTIVE("MPI_Barrier", 420, 801)},
		{OS_CALL("usleep", 20, 388, 80), ROOTED("MPI_Gather", 390, 391, 0), COLLECTIVE("MPI_Barrier", 392, 401),
		 OS_CALL("usleep", 410, 788, 80), ROOTED("MPI_Gather", 790, 791, 0),
		 COLLECTIVE("MPI_Barrier", 792, 801)},
	};

	expect(find(made, 3), "ranks 0 and 2", "usleep", "main (/home/u/job.py:80)");
}

Test(rank_cause, a_different_rank_each_time)
{
	static const struct made made[][CALLS] = {
		{STEP(20, 400, 401), STEP(410, 460, 801)},
		{STEP(20, 70, 401), STEP(410, 800, 801)},
	};
	const struct rank_cause *c = find(made, 2);

	cr_expect_eq(c->set, RANKS_IN_TURN);
	expect(c, "the ranks in turn", "usleep", "main (/home/u/job.py:80)");
}

Test(rank_cause, two_halves_are_no_cause)
{
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_Barrier", 20, 601)},
		{OS_CALL("read", 20, 300, 90), OS_CALL("fsync", 310, 600, 91), COLLECTIVE("MPI_Barrier", 600, 601)},
	};
	const struct rank_cause *c = find(made, 2);

	cr_expect_eq(c->kind, RANK_CANNOT_TELL);
	cr_expect_str_eq(c->ranks, "rank 1");
	cr_expect_str_eq(c->parts, "50 % fsync at job.py:91 main, 48 % read at job.py:90 main");
	cr_expect_null(c->line);
	rank_causes_done(&causes);
}

Test(rank_cause, a_rank_that_was_disturbed_once_in_what_all_do_is_not_named)
{
	static const struct made made[][CALLS] = {
		{STEP(20, 170, 201), STEP(210, 370, 401), STEP(410, 570, 601), STEP(610, 770, 971)},
		{STEP(20, 170, 201), STEP(210, 370, 401), STEP(410, 570, 601), STEP(610, 770, 971)},
		{STEP(20, 200, 201), STEP(210, 400, 401), STEP(410, 600, 601), STEP(610, 970, 971)},
	};
	const struct rank_cause *c = find(made, 3);

	cr_expect_eq(c->kind, RANK_CANNOT_TELL);
	rank_causes_done(&causes);
}

Test(rank_cause, what_all_ranks_do_alike_is_no_cause)
{
	/* all read for 300 us; rank 1 sleeps before it */
	static const struct made made[][CALLS] = {
		{OS_CALL("read", 20, 320, 90), COLLECTIVE("MPI_Barrier", 330, 531)},
		{OS_CALL("usleep", 20, 220, 91), OS_CALL("read", 220, 520, 90), COLLECTIVE("MPI_Barrier", 530, 531)},
	};

	expect(find(made, 2), "rank 1", "usleep", "main (/home/u/job.py:91)");
}

/* ---- samples ---- */

/* The last rank computes for so long before it comes, by 20 samples in line 40, and the others wait for it. */
static const struct rank_cause *find_sampled(uint64_t computed_us)
{
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_Barrier", 20, 801)},
		{COLLECTIVE("MPI_Barrier", 20, 801)},
		{COLLECTIVE("MPI_Barrier", 800, 801)},
	};
	const uint64_t sampled[] = {0, 0, computed_us};
	const struct rank_cause *c;

	sampled_us = sampled;
	sampled_at_us = 790;
	c = find(made, 3);
	sampled_us = NULL;
	return c;
}

/* 700 of 780 us; the rest is as much again, that is, of what a line takes longer than its samples say. */
Test(rank_cause, a_rank_computes_by_its_samples)
{
	const struct rank_cause *c = find_sampled(700);

	cr_expect_eq(c->wait_ns, 2 * 780 * US);
	cr_expect_eq(c->cause_ns, 2 * 780 * US);
	cr_expect_eq(c->kind, RANK_COMPUTES);
	expect(c, "rank 2", "", "relax (/home/u/job.py:40)");
}

Test(rank_cause, samples_of_more_than_the_wait_explain_no_more)
{
	const struct rank_cause *c = find_sampled(900);

	cr_expect_eq(c->cause_ns, 2 * 780 * US);
	expect(c, "rank 2", "", "relax (/home/u/job.py:40)");
}

/* Twice 300 of 780 us; both ranks wait. */
Test(rank_cause, what_no_sample_explains_was_without_a_cpu)
{
	const struct rank_cause *c = find_sampled(300);

	cr_expect_eq(c->kind, RANK_CANNOT_TELL);
	cr_expect_str_eq(c->ranks, "rank 2");
	cr_expect_str_eq(c->parts, "77 % computing at job.py:40 relax, 23 % without a CPU or in what is not recorded");
	cr_expect_eq(c->idle_ns, 2 * 180 * US);
	rank_causes_done(&causes);
}

/* ---- without MPI ---- */

#define WAIT(from, to, peer) SOCKET("recv", from, to, peer)
#define SEND(at, peer) SOCKET("send", at, at + 30, peer)

Test(rank_cause, waits_that_one_rank_ends_by_sockets_are_a_meeting)
{
	/* ms: rank 1 reads before each of four; what precedes the first one is start-up */
	static const struct made made[][CALLS] = {
		{WAIT(1000, 50000, 1), WAIT(51000, 80000, 1), WAIT(81000, 110000, 1), WAIT(111000, 140000, 1)},
		{SEND(49900, 0), SEND(49940, 2),
		 OS_CALL("read", 50500, 79000, 96), SEND(79900, 0), SEND(79940, 2),
		 OS_CALL("read", 80500, 109000, 96), SEND(109900, 0), SEND(109940, 2),
		 OS_CALL("read", 110500, 139000, 96), SEND(139900, 0), SEND(139940, 2)},
		{WAIT(1000, 50001, 1), WAIT(51000, 80001, 1), WAIT(81000, 110001, 1), WAIT(111000, 140001, 1)},
	};
	const struct rank_cause *c;

	job(made, 3, false);
	rank_causes_find(&context, NULL, &causes);
	cr_assert_eq(causes.count, 1);
	c = &causes.items[0];
	cr_expect_str_eq(c->wait_name, "recv");
	cr_expect_eq(c->count, 6);
	expect(c, "rank 1", "read", "main (/home/u/job.py:96)");
}

Test(rank_cause, waits_that_no_rank_is_known_to_end_have_no_cause)
{
	static const struct made made[][CALLS] = {
		{WAIT(1000, 50000, 1), WAIT(51000, 80000, 1), WAIT(81000, 110000, 1), WAIT(111000, 140000, 1)},
		{WAIT(1000, 51900, 0), WAIT(78000, 81900, 0), WAIT(108000, 111900, 0), WAIT(138000, 141900, 0)},
	};

	job(made, 2, false);
	rank_causes_find(&context, NULL, &causes);
	cr_expect_eq(causes.count, 0);
	rank_causes_done(&causes);
}

/* ---- teams of OpenMP ---- */

/* The main thread of rank 1 has the work of all four threads, or works for a quarter of the time and waits. */
static void unequal_team(uint64_t main_us)
{
	const struct made made[][CALLS] = {
		{OS_CALL("usleep", 20, 120, 60), REGION(20, 120, 50, 0), COLLECTIVE("MPI_Barrier", 130, 601)},
		/* a region within the region is a part of its threads' work */
		{REGION(30, 140, 55, 430), OS_CALL("usleep", 20, 20 + main_us, 60),
		 OS_CALL("omp_implicit_barrier", 20 + main_us, 520, 50), REGION(20, 520, 50, 1500),
		 COLLECTIVE("MPI_Barrier", 530, 601)},
	};
	const struct rank_cause *c = find(made, 2);

	cr_expect_eq(c->kind, RANK_OPENMP);
	expect(c, "rank 1", "omp_parallel", "main (/home/u/job.py:50)");
}

Test(rank_cause, the_main_thread_of_a_team_has_more_work_than_the_others)
{
	unequal_team(499);
}

Test(rank_cause, the_main_thread_waits_for_its_team)
{
	unequal_team(125);
}

Test(rank_cause, a_team_whose_threads_all_have_more_work)
{
	static const struct made made[][CALLS] = {
		{OS_CALL("usleep", 20, 120, 60), REGION(20, 120, 50, 0), COLLECTIVE("MPI_Barrier", 130, 601)},
		{OS_CALL("usleep", 20, 520, 60), REGION(20, 520, 50, 40), COLLECTIVE("MPI_Barrier", 530, 601)},
	};
	const struct rank_cause *c = find(made, 2);

	cr_expect_eq(c->kind, RANK_CALLS);
	expect(c, "rank 1", "usleep", "main (/home/u/job.py:60)");
}

/* ---- POP's efficiencies ---- */

Test(rank_cause, efficiencies)
{
	/* rank 1 computes for 900 us, the barrier takes 100 us once it has arrived */
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_Barrier", 400, 1000)},
		{COLLECTIVE("MPI_Barrier", 900, 1000)},
	};
	struct buffer out = {0};
	struct pop p;

	job(made, 2, true);
	cr_assert(pop_find(&context, &p));
	cr_expect_eq(p.ranks, 2);
	cr_expect_lt(fabs(p.parallel - 0.65), 1e-3);
	cr_expect_lt(fabs(p.balance - 650. / 900), 1e-3);
	cr_expect_lt(fabs(p.communication - 0.9), 1e-3);
	cr_expect_lt(fabs(p.serialisation - 1), 1e-3);
	cr_expect_lt(fabs(p.transfer - 0.9), 1e-3);
	summary_efficiency(&context, &out);
	cr_expect_str_eq(buffer_string(&out), "efficiency 65 % of the ranks' time is useful: load balance 72 %, "
					      "serialisation 100 %, transfer 90 %\n");
	buffer_done(&out);
}

Test(rank_cause, efficiencies_of_parts_of_the_run)
{
	/* in the first half rank 1 computes alone, in the second half both do, and communicate half of the time */
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_Barrier", 0, 500), COLLECTIVE("MPI_Barrier", 750, 1000)},
		{COLLECTIVE("MPI_Barrier", 499, 500), COLLECTIVE("MPI_Barrier", 750, 1000)},
	};
	uint64_t borders[3];
	struct pop whole, parts[2];

	job(made, 2, true);
	cr_assert(pop_find(&context, &whole));
	borders[0] = whole.from_ns;
	borders[1] = whole.from_ns + 500 * US;
	borders[2] = UINT64_MAX;
	cr_assert(pop_find_parts(&context, borders, 2, parts));
	cr_expect_lt(fabs(parts[0].parallel - 0.5), 1e-2);
	cr_expect_lt(fabs(parts[0].balance - 0.5), 1e-2);
	cr_expect_lt(fabs(parts[1].parallel - 0.5), 1e-2);
	cr_expect_lt(fabs(parts[1].balance - 1), 1e-2);
	cr_expect_eq(parts[0].run_ns + parts[1].run_ns, whole.run_ns);
}

Test(rank_cause, ranks_that_work_one_after_the_other_are_serialised)
{
	static const struct made made[][CALLS] = {
		{MESSAGE("MPI_Send", 500, 501, 1, 7), COLLECTIVE("MPI_Barrier", 501, 1000)},
		{MESSAGE("MPI_Recv", 1, 502, 0, 7), COLLECTIVE("MPI_Barrier", 999, 1000)},
	};
	struct pop p;

	job(made, 2, true);
	cr_assert(pop_find(&context, &p));
	cr_expect_lt(fabs(p.serialisation - 0.5), 0.01);
	cr_expect_gt(p.balance, 0.99);
	cr_expect_gt(p.transfer, 0.99);
}
