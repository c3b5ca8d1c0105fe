/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of MPI that wait for each other: what is matched, and the rules about it. */
#include "report/answers/summary/summary_parts.h"
#include "report/causes/mpi/mpi_wait.h"
#include "report/causes/saving.h"
#include "report/tables/report.h"
#include "mpi_fixture.h"

TestSuite(rule_mpi, .init = setup, .fini = teardown);

static struct mpi_wait waits[64];
static size_t wait_count;

static void take_wait(void *none, const struct mpi_wait *wait)
{
	(void)none;
	cr_assert_lt(wait_count, 64);
	waits[wait_count++] = *wait;
}

static struct mpi_wait_counts match(const struct made made[][CALLS], uint32_t count)
{
	struct mpi_wait_counts counts;

	job(made, count, true);
	wait_count = 0;
	mpi_waits(&model, NULL, take_wait, NULL, NULL, &counts);
	return counts;
}

/* Whether the rank waited so many us for the other one in a wait of that kind. */
static bool waited(enum mpi_wait_kind kind, uint32_t rank, uint32_t late, uint64_t us)
{
	for (size_t i = 0; i < wait_count; i++)
		if (waits[i].kind == kind && waits[i].waiting.rank == rank && waits[i].late.rank == late &&
		    waits[i].ns == us * US)
			return true;
	return false;
}

Test(rule_mpi, the_last_rank_at_a_collective_is_waited_for)
{
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_Barrier", 100, 401), COLLECTIVE("MPI_Allreduce", 500, 611)},
		{COLLECTIVE("MPI_Barrier", 150, 402), COLLECTIVE("MPI_Allreduce", 610, 611)},
		{COLLECTIVE("MPI_Barrier", 400, 403), COLLECTIVE("MPI_Allreduce", 510, 612)},
	};
	struct mpi_wait_counts counts = match(made, 3);

	cr_expect_eq(counts.jobs, 1);
	cr_expect_eq(counts.ranks, 3);
	cr_expect_eq(counts.collectives, 2);
	cr_expect_eq(wait_count, 4);
	cr_expect(waited(MPI_LATE_IN_COLLECTIVE, 0, 2, 300));
	cr_expect(waited(MPI_LATE_IN_COLLECTIVE, 1, 2, 250));
	cr_expect(waited(MPI_LATE_IN_COLLECTIVE, 0, 1, 110));
	cr_expect(waited(MPI_LATE_IN_COLLECTIVE, 2, 1, 100));
}

Test(rule_mpi, only_the_root_of_a_reduction_waits_and_only_for_the_root_of_a_broadcast)
{
	static const struct made made[][CALLS] = {
		{ROOTED("MPI_Reduce", 100, 201, 0), ROOTED("MPI_Bcast", 300, 320, 1)},
		{ROOTED("MPI_Reduce", 200, 205, 0), ROOTED("MPI_Bcast", 310, 315, 1)},
		{ROOTED("MPI_Reduce", 120, 125, 0), ROOTED("MPI_Bcast", 330, 340, 1)},
	};

	match(made, 3);
	cr_expect_eq(wait_count, 2);
	cr_expect(waited(MPI_LATE_IN_COLLECTIVE, 0, 1, 100));
	cr_expect(waited(MPI_LATE_IN_COLLECTIVE, 0, 1, 10));
}

Test(rule_mpi, late_senders_and_receivers_by_rank_and_tag)
{
	static const struct made made[][CALLS] = {
		{MESSAGE("MPI_Send", 100, 101, 1, 7), MESSAGE("MPI_Send", 300, 401, 1, 8)},
		/* in the other order of tags */
		{MESSAGE("MPI_Recv", 50, 102, 0, 7), MESSAGE("MPI_Recv", 400, 402, 0, 8)},
	};
	struct mpi_wait_counts counts = match(made, 2);

	cr_expect_eq(counts.messages, 2);
	cr_expect_eq(wait_count, 2);
	cr_expect(waited(MPI_LATE_SENDER, 1, 0, 50));
	cr_expect(waited(MPI_LATE_RECEIVER, 0, 1, 100));
}

/* Messages are sent long before they are received, but for the last one. */
Test(rule_mpi, many_messages_are_received_in_the_order_in_which_they_were_sent)
{
	enum { LAG = 20 };
	static struct made made[2][MOST_CALLS];
	struct mpi_wait_counts counts;

	for (uint64_t i = 0; i < MOST_CALLS - 1; i++) {
		made[0][i] = (struct made)MESSAGE("MPI_Send", 20 + 3 * i, 21 + 3 * i, 1, 7);
		made[1][i] = (struct made)MESSAGE("MPI_Recv", 22 + 3 * (i + LAG), 23 + 3 * (i + LAG), 0, 7);
	}
	made[0][MOST_CALLS - 1] = (struct made)MESSAGE("MPI_Send", 800, 801, 1, 7);
	made[1][MOST_CALLS - 1] = (struct made)MESSAGE("MPI_Recv", 700, 802, 0, 7);
	job_of(made[0], MOST_CALLS, 2, true);
	wait_count = 0;
	mpi_waits(&model, NULL, take_wait, NULL, NULL, &counts);
	cr_expect_eq(counts.messages, MOST_CALLS);
	cr_expect_eq(wait_count, 1);
	cr_expect(waited(MPI_LATE_SENDER, 1, 0, 100));
}

Test(rule_mpi, a_send_that_returned_does_not_wait)
{
	static const struct made made[][CALLS] = {
		{MESSAGE("MPI_Send", 100, 101, 1, 7), MESSAGE("MPI_Bsend", 110, 111, 1, 7)},
		{MESSAGE("MPI_Recv", 200, 202, 0, 7), MESSAGE("MPI_Recv", 210, 212, 0, 7)},
	};

	cr_expect_eq(match(made, 2).messages, 2);
	cr_expect_eq(wait_count, 0);
}

Test(rule_mpi, the_wait_for_a_request_is_for_the_last_sender)
{
	static const struct made made[][CALLS] = {
		{MESSAGE("MPI_Irecv", 10, 11, 1, 7), MESSAGE("MPI_Irecv", 12, 13, 2, 7),
		 REQUESTS("MPI_Waitall", 100, 305), REQUESTS("MPI_Waitall", 400, 405)},
		{MESSAGE("MPI_Isend", 200, 201, 0, 7), MESSAGE("MPI_Barrier", 900, 901, NO_PEER, 0)},
		/* a rendezvous: it ends after the wait */
		{MESSAGE("MPI_Send", 300, 310, 0, 7)},
	};

	cr_expect_eq(match(made, 3).messages, 2);
	cr_expect_eq(wait_count, 1);
	cr_expect(waited(MPI_LATE_SENDER, 0, 2, 200));
}

Test(rule_mpi, each_wait_for_requests_is_for_its_own_sender)
{
	static const struct made made[][CALLS] = {
		{MESSAGE("MPI_Irecv", 10, 11, 1, 7), REQUESTS("MPI_Waitall", 100, 205),
		 MESSAGE("MPI_Irecv", 210, 211, 1, 8), REQUESTS("MPI_Waitall", 350, 405)},
		{MESSAGE("MPI_Send", 200, 201, 0, 7), MESSAGE("MPI_Send", 400, 401, 0, 8)},
	};

	cr_expect_eq(match(made, 2).messages, 2);
	cr_expect_eq(wait_count, 2);
	cr_expect(waited(MPI_LATE_SENDER, 0, 1, 100));
	cr_expect(waited(MPI_LATE_SENDER, 0, 1, 50));
}

Test(rule_mpi, who_waits_for_a_nonblocking_collective_waits_for_the_last_rank)
{
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_Iallreduce", 100, 101), REQUESTS("MPI_Wait", 110, 505),
		 ROOTED("MPI_Ibcast", 600, 601, 1), REQUESTS("MPI_Wait", 610, 805)},
		{COLLECTIVE("MPI_Iallreduce", 500, 501), REQUESTS("MPI_Wait", 502, 506),
		 ROOTED("MPI_Ibcast", 800, 801, 1), REQUESTS("MPI_Wait", 802, 803)},
		/* tests in a row are a wait; it has no end before it asks for what comes next */
		{COLLECTIVE("MPI_Iallreduce", 100, 101), REQUESTS("MPI_Test", 150, 151), REQUESTS("MPI_Test", 300, 301),
		 REQUESTS("MPI_Test", 510, 511), ROOTED("MPI_Ibcast", 900, 901, 1), REQUESTS("MPI_Wait", 902, 903)},
	};

	cr_expect_eq(match(made, 3).collectives, 2);
	cr_expect_eq(wait_count, 3);
	cr_expect(waited(MPI_LATE_IN_COLLECTIVE, 0, 1, 390));
	cr_expect(waited(MPI_LATE_IN_COLLECTIVE, 2, 1, 350));
	cr_expect(waited(MPI_LATE_IN_COLLECTIVE, 0, 1, 190));
}

Test(rule_mpi, tests_between_which_a_rank_works_are_no_wait)
{
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_Iallreduce", 100, 101), REQUESTS("MPI_Test", 110, 111),
		 REQUESTS("MPI_Test", 5000, 5001)},
		{COLLECTIVE("MPI_Iallreduce", 4000, 4001), REQUESTS("MPI_Wait", 4002, 4003)},
	};

	match(made, 2);
	cr_expect_eq(wait_count, 0);
}

Test(rule_mpi, what_cannot_be_told_is_not_matched)
{
	static const struct made made[][CALLS] = {
		/* from any source; then no receive of this rank is known */
		{MESSAGE("MPI_Recv", 10, 101, -2, 7), MESSAGE("MPI_Recv", 110, 201, 1, 7)},
		{MESSAGE("MPI_Send", 100, 101, 0, 7), MESSAGE("MPI_Send", 200, 201, 0, 7),
		 {"MPI_Barrier", 300, 401, NO_PEER, 0, 12, OTHER_COMMUNICATOR}},
	};
	struct mpi_wait_counts counts = match(made, 2);

	cr_expect_eq(counts.messages, 0);
	cr_expect_eq(counts.collectives, 0);
	cr_expect_eq(wait_count, 0);
}

#define BOTH(name, from, to, peer, tag, source, source_tag)                                                            \
	{name, from, to, peer, tag, 20, 0, 0, 0, true, source, source_tag}

Test(rule_mpi, a_call_that_sends_and_receives_waits_for_its_sender)
{
	static const struct made made[][CALLS] = {
		/* a ring; the last rank is late */
		{BOTH("MPI_Sendrecv", 100, 401, 1, 7, 2, 8), MESSAGE("MPI_Recv", 500, 621, 1, 9)},
		{BOTH("MPI_Sendrecv", 110, 130, 2, 7, 0, 7), MESSAGE("MPI_Send", 620, 621, 0, 9)},
		{BOTH("MPI_Sendrecv", 400, 410, 0, 8, 1, 7)},
	};

	cr_expect_eq(match(made, 3).messages, 4);
	cr_expect_eq(wait_count, 2);
	cr_expect(waited(MPI_LATE_SENDER, 0, 2, 300));
	cr_expect(waited(MPI_LATE_SENDER, 0, 1, 120));
}

Test(rule_mpi, communicators_have_ranks_of_their_own)
{
	enum { HALF = 77, OTHER_HALF = 78 };
	static const struct made made[][CALLS] = {
		/* ranks 1 and 3 have one in the opposite order, ranks 0 and 2 another */
		{{"MPI_Barrier", 100, 110, NO_PEER, 0, 12, OTHER_HALF, 2, 0}},
		{{"MPI_Barrier", 100, 305, NO_PEER, 0, 12, HALF, 2, 1},
		 {"MPI_Recv", 400, 505, 0, 7, 20, HALF, 2, 1},
		 MESSAGE("MPI_Recv", 510, 512, 3, 7)},
		{{"MPI_Barrier", 100, 110, NO_PEER, 0, 12, OTHER_HALF, 2, 1}},
		{{"MPI_Barrier", 300, 305, NO_PEER, 0, 12, HALF, 2, 0},
		 MESSAGE("MPI_Isend", 390, 391, 1, 7),
		 {"MPI_Send", 500, 505, 1, 7, 20, HALF, 2, 0}},
	};
	struct mpi_wait_counts counts = match(made, 4);

	cr_expect_eq(counts.collectives, 2);
	cr_expect_eq(counts.messages, 2);
	cr_expect_eq(wait_count, 2);
	cr_expect(waited(MPI_LATE_IN_COLLECTIVE, 1, 3, 200));
	cr_expect(waited(MPI_LATE_SENDER, 1, 3, 100), "the same tag on another communicator is another message");
}

Test(rule_mpi, a_communicator_of_which_a_rank_is_not_known_is_not_matched)
{
	static const struct made made[][CALLS] = {
		{{"MPI_Barrier", 100, 110, NO_PEER, 0, 12, 77, 3, 0}},
		{{"MPI_Barrier", 105, 110, NO_PEER, 0, 12, 77, 3, 1}},
		{{"MPI_Barrier", 105, 110, NO_PEER, 0, 12, 0}},
	};

	cr_expect_eq(match(made, 3).collectives, 0);
}

Test(rule_mpi, a_matched_probe_is_a_receive_that_is_not_known)
{
	static const struct made made[][CALLS] = {
		{MESSAGE("MPI_Mprobe", 10, 11, 1, 7), MESSAGE("MPI_Recv", 110, 201, 1, 7)},
		{MESSAGE("MPI_Recv", 5, 20, 0, 7), MESSAGE("MPI_Send", 200, 201, 0, 7)},
	};

	cr_expect_eq(match(made, 2).messages, 0, "it is no send, either");
}

Test(rule_mpi, a_message_to_nobody_is_not_one_from_any_source)
{
	static const struct made made[][CALLS] = {
		/* that -1 is MPI_PROC_NULL, as in MPICH, is known since the first send to it */
		{MESSAGE("MPI_Isend", 10, 11, -1, 7), MESSAGE("MPI_Irecv", 20, 21, -1, 7),
		 MESSAGE("MPI_Recv", 110, 201, 1, 7)},
		{MESSAGE("MPI_Send", 200, 201, 0, 7)},
	};

	cr_expect_eq(match(made, 2).messages, 1);
	cr_expect_eq(wait_count, 1);
	cr_expect(waited(MPI_LATE_SENDER, 0, 1, 90));
}

Test(rule_mpi, ranks_that_are_missing_or_began_before_are_not_matched)
{
	static const struct made made[][CALLS] = {{COLLECTIVE("MPI_Barrier", 100, 401)},
						  {COLLECTIVE("MPI_Barrier", 400, 401)}};
	struct mpi_wait_counts counts;

	job(made, 2, false);
	mpi_waits(&model, NULL, take_wait, NULL, NULL, &counts);
	cr_expect_eq(counts.jobs, 0);
	teardown();
	setup();
	counts = match(made, 1);
	cr_expect_eq(counts.jobs, 0);
	cr_expect_eq(wait_count, 0);
}

/* ---- rules ---- */

Test(rule_mpi, the_rank_that_arrives_last_is_named)
{
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_Allreduce", 100, 401), COLLECTIVE("MPI_Allreduce", 500, 801)},
		{COLLECTIVE("MPI_Allreduce", 110, 402), COLLECTIVE("MPI_Allreduce", 510, 802)},
		/* too short for a stack */
		{{"MPI_Allreduce", 400, 403, NO_PEER, 0, 0, 0}, {"MPI_Allreduce", 800, 803, NO_PEER, 0, 0, 0}},
	};
	struct finding f;

	job(made, 3, true);
	assert_words("straggling_rank", "rank 2 arrives last at MPI_Allreduce, the others wait 587 us on average; "
					"cannot tell why: 100 % without a CPU or in what is not recorded");
	rule_run(&rules, rule_find("straggling_rank"), &f);
	cr_expect_null(f.line, "the line at which all ranks wait is not the cause");
	finding_done(&f);
	assert_verdict("late_message", VERDICT_UNCHECKED);
}

Test(rule_mpi, with_samples_the_line_is_where_the_rank_computes)
{
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_Allreduce", 100, 801)},
		{COLLECTIVE("MPI_Allreduce", 110, 802)},
		{COLLECTIVE("MPI_Allreduce", 800, 803)},
	};
	struct finding f;

	sampled_us = (const uint64_t[]){10, 10, 700};
	sampled_at_us = 790;
	job(made, 3, true);
	sampled_us = NULL;
	assert_words("straggling_rank", "rank 2 arrives last at MPI_Allreduce, the others wait 695 us on average "
					"while it computes");
	rule_run(&rules, rule_find("straggling_rank"), &f);
	cr_expect_str_eq(line_text(f.line), "relax (/home/u/job.py:40)");
	finding_done(&f);
}

Test(rule_mpi, a_late_sender_is_named_with_the_line)
{
	static const struct made made[][CALLS] = {
		{MESSAGE("MPI_Send", 300, 301, 1, 7), MESSAGE("MPI_Send", 600, 601, 1, 7)},
		{{"MPI_Recv", 100, 302, 0, 7, 25, 0}, {"MPI_Recv", 400, 602, 0, 7, 25, 0}},
	};
	struct finding f;

	job(made, 2, true);
	assert_words("late_message", "rank 1 waits in MPI_Recv for rank 0, which sends late at MPI_Send, 400 us");
	rule_run(&rules, rule_find("late_message"), &f);
	cr_expect_str_eq(line_text(f.line), "main (/home/u/job.py:20)");
	cr_expect_eq(f.cost_ns, 400 * US, "%llu", (unsigned long long)f.cost_ns);
	finding_done(&f);
}

Test(rule_mpi, a_late_receiver_is_named)
{
	static const struct made made[][CALLS] = {
		{MESSAGE("MPI_Ssend", 100, 501, 1, 7)},
		{MESSAGE("MPI_Recv", 500, 502, 0, 7)},
	};

	job(made, 2, true);
	assert_words("late_message", "rank 0 waits in MPI_Ssend for rank 1, which receives late at MPI_Recv");
}

Test(rule_mpi, ranks_that_wait_for_each_other_in_turn_are_clean)
{
	static const struct made made[][CALLS] = {
		{MESSAGE("MPI_Send", 300, 301, 1, 7), MESSAGE("MPI_Recv", 302, 501, 1, 7)},
		{MESSAGE("MPI_Recv", 100, 302, 0, 7), MESSAGE("MPI_Send", 500, 501, 0, 7)},
	};

	job(made, 2, true);
	assert_verdict("late_message", VERDICT_CLEAN);
	assert_verdict("straggling_rank", VERDICT_CLEAN);
}

Test(rule_mpi, ranks_that_arrive_together_are_clean)
{
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_Allreduce", 100, 111), MESSAGE("MPI_Send", 200, 201, 1, 7)},
		{COLLECTIVE("MPI_Allreduce", 105, 112), MESSAGE("MPI_Recv", 199, 202, 0, 7)},
	};

	job(made, 2, true);
	assert_verdict("late_message", VERDICT_CLEAN);
	assert_verdict("straggling_rank", VERDICT_CLEAN);
}

Test(rule_mpi, the_summary_has_the_share_of_the_ranks_and_the_costliest_line)
{
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_Allreduce", 100, 500), MESSAGE("MPI_Send", 600, 700, 1, 7)},
		{COLLECTIVE("MPI_Allreduce", 400, 500), MESSAGE("MPI_Recv", 600, 700, 0, 7)},
	};
	struct buffer out = {0};

	job(made, 2, true);
	summary_messages(&rules, BLOCKED_MPI, "MPI", &out);
	cr_expect_str_eq(buffer_string(&out), "MPI        35 % of the ranks' time: 20 % of rank 1 to 50 % of rank 0; "
					      "25 % in MPI_Allreduce, job.py:12 main\n");
	buffer_clear(&out);
	summary_messages(&rules, BLOCKED_NCCL, "NCCL", &out);
	cr_expect_eq(out.size, 0);
	buffer_done(&out);
}

Test(rule_mpi, what_is_between_nonblocking_calls_and_the_wait)
{
	static const struct made made[][CALLS] = {
		/* 80 us outside of MPI, then again 30 us after a test that may have completed the messages */
		{MESSAGE("MPI_Irecv", 10, 20, 1, 7), MESSAGE("MPI_Isend", 30, 40, 1, 7),
		 COLLECTIVE("MPI_Barrier", 50, 60), REQUESTS("MPI_Waitall", 120, 140),
		 REQUESTS("MPI_Waitall", 200, 210), MESSAGE("MPI_Irecv", 300, 310, 1, 7),
		 REQUESTS("MPI_Test", 400, 401), MESSAGE("MPI_Irecv", 500, 510, 1, 7),
		 REQUESTS("MPI_Waitall", 540, 550)},
		{COLLECTIVE("MPI_Barrier", 50, 60)},
	};
	struct table table = {0};

	job(made, 2, true);
	report_mpi_overlap_sum(&context, &table);
	cr_expect_null(table.lacks, "%s", table.lacks);
	cr_assert_eq(table_rows(&table), 1);
	cr_expect_eq(table.cells[0].count, 2, "phases");
	cr_expect_eq(table.cells[1].count, (80 + 30) * US, "%llu", (unsigned long long)table.cells[1].count);
	cr_expect_eq(table.cells[2].count, 3, "waits");
	cr_expect_eq(table.cells[3].count, 40 * US);
	cr_expect_str_eq(table.cells[6].text, "main (/home/u/job.py:30)");
	table_done(&table);
}

/* One rank of MPI that writes elements of 8 bytes, for 1 us each. */
static void writes(const char *name, uint64_t count, int64_t elements)
{
	struct tf_operation op = {
		.count = 2, .fields = {TF_FIELD_COUNT, TF_FIELD_ELEMENT}, .values = {elements, 8}};
	uint64_t args[] = {tf_arg(TF_ARG_STACK, 0, 1), tf_arg(TF_ARG_OPERATION, 0, 1)};
	uint16_t function;

	writer_done(&w);
	writer_init(&w, 1, 10, 1, BEGIN);
	function = writer_function(&w, TF_GROUP_MPI, name);
	writer_thread(&w, &host, 10, "main", 64 * TF_PAGE);
	writer_blob(&host, TF_BLOB_OPERATION, 1, &op, sizeof(op) - (TF_OPERATION_FIELDS - 2) * sizeof(op.values[0]));
	writer_python_code(&host, 1, 12, "/home/u/job.py", "main");
	writer_python_stack(&host, 1, (const uint32_t[]){1}, 1);
	for (uint64_t i = 0; i < count; i++)
		writer_call(&host, function, BEGIN + i * 10 * US + US, US, args, 2);
	open_model(20 * MS);
}

Test(rule_mpi, small_independent_writes)
{
	writes("MPI_File_iwrite_at", 1000, 8191);
	assert_verdict("small_mpi_io", VERDICT_FOUND);
	cr_expect_eq(number("small_mpi_io", "Num Calls", 0), 1000);
	cr_expect_eq(number("small_mpi_io", "Bytes", 0), 65528000);
	cr_expect_eq(number("small_mpi_io", "Avg Size (bytes)", 0), 65528);
	cr_expect_eq(number("small_mpi_io", "Ranks", 0), 1);
	assert_words("small_mpi_io", "1000 writes of MPI with 65528 bytes on average, by 1 rank, ");
}

Test(rule_mpi, large_independent_writes)
{
	writes("MPI_File_write_at", 1000, 8192);
	assert_verdict("small_mpi_io", VERDICT_CLEAN);
}

Test(rule_mpi, few_small_independent_writes)
{
	writes("MPI_File_write", 999, 1);
	assert_verdict("small_mpi_io", VERDICT_CLEAN);
}

Test(rule_mpi, small_collective_writes)
{
	writes("MPI_File_write_at_all", 1000, 1);
	assert_verdict("small_mpi_io", VERDICT_CLEAN);
}

/* ---- edges ---- */

enum { LATE_LINE = 50 };

/* What the run saves without that line, in us: rank 1 sleeps there from 20 to 490 us. */
static uint64_t saved_without_the_line(const struct made made[][CALLS])
{
	struct causality *s;
	struct saving saving;
	struct edit edit;
	struct err err;

	job(made, 2, true);
	s = causes_find(&context);
	cr_assert_not_null(s);
	edit_init(&edit, s);
	cr_assert_eq(edit_parse(s, "line~job.py:50=0", &edit, &err), 0, "%s", err.text);
	saving_find(s, &edit, &saving);
	edit_done(&edit);
	causes_free(s);
	return (saving.saved_ns + US / 2) / US;
}

Test(rule_mpi, a_call_that_is_not_matched_waits_for_the_rank_that_came_last)
{
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_Win_fence", 100, 501)},
		{OS_CALL("usleep", 20, 490, LATE_LINE), COLLECTIVE("MPI_Win_fence", 495, 502)},
	};

	cr_expect_eq(saved_without_the_line(made), 401);
}

Test(rule_mpi, a_rank_that_came_long_before_has_not_ended_the_wait)
{
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_Win_fence", 300, 801)},
		{OS_CALL("usleep", 20, 490, LATE_LINE), COLLECTIVE("MPI_Win_fence", 495, 502)},
	};

	cr_expect_eq(saved_without_the_line(made), 0);
}

Test(rule_mpi, a_file_is_written_alone)
{
	static const struct made made[][CALLS] = {
		{COLLECTIVE("MPI_File_write_at", 100, 501)},
		{OS_CALL("usleep", 20, 490, LATE_LINE), COLLECTIVE("MPI_File_write_at", 495, 502)},
	};

	cr_expect_eq(saved_without_the_line(made), 0);
}

Test(rule_mpi, a_rank_that_looks_and_sleeps_in_turns_waits_since_it_looked_first)
{
	static const struct made made[][CALLS] = {
		{MESSAGE("MPI_Irecv", 80, 81, 1, 7), REQUESTS("MPI_Test", 100, 101), OS_CALL("usleep", 102, 299, 60),
		 REQUESTS("MPI_Test", 300, 301), OS_CALL("usleep", 302, 499, 60), REQUESTS("MPI_Test", 500, 501)},
		{OS_CALL("usleep", 20, 490, LATE_LINE), MESSAGE("MPI_Send", 495, 496, 0, 7)},
	};

	cr_expect_eq(saved_without_the_line(made), 401);
}

/* Which process no one is depends on the library, by the variables that its launcher sets. */
Test(rule_mpi, the_rank_of_no_process_is_that_of_the_library)
{
	static const struct {
		const char *variables; /* each ends with a NUL */
		int64_t rank;
	} cases[] = {
	    {"OMPI_COMM_WORLD_RANK=0\0", -2}, {"A=1\0OMPI_COMM_WORLD_RANK=3\0B=2\0", -2},
	    {"PMI_RANK=0\0", -1},	     {"A=1\0PMI_RANK=\0", -1},
	    {"PMI_RANKS=0\0", 0},	     {"PMI_RAN=0\0", 0},
	    {"APMI_RANK=0\0", 0},	     {"", 0},
	    {NULL, 0},			     {"PMI_RANK=0\0OMPI_COMM_WORLD_RANK=0\0", -2},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct image image = {.variables = (char *)cases[i].variables};

		cr_expect_eq(mpi_proc_null(&image), cases[i].rank, "case %zu", i);
	}
}
