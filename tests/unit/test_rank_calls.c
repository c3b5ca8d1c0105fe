/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks of MPI wait for each other, by their messages, their collectives and the arguments of the calls they are
 * in; and what is said of ranks of which only the names of these calls are known. */
#include <string.h>

#include "mpi_fixture.h"
#include "report/causes/where/place.h"
#include "report/causes/where/rank_calls.h"

enum { RANKS = 4, HANDLES = 0x7000, HANDLE = 0x98000001 };

TestSuite(rank_calls, .fini = teardown);

/* A call that has ended; a request: 0: none. The last one of a rank, in which it still is, has `words`. */
struct step {
	const char *function;
	int64_t peer, tag;
	uint32_t request, started;
	uint64_t words[11];
	uint32_t handles[4]; /* in memory, at HANDLES */
};

static struct rank_call calls[RANKS];
static struct where_item items[RANKS];
static struct look_process processes[RANKS];
static struct look_thread threads[RANKS];
static struct tf_where_arguments arguments[RANKS];
static struct look_memory memories[RANKS];
static char names[RANKS][4];

static void write_step(const struct step *s, uint16_t function, uint32_t id)
{
	struct tf_operation op = {.count = 1, .fields = {TF_FIELD_COMMUNICATOR}, .values = {WORLD}};
	const uint64_t args[] = {tf_arg_operation(id, s->request), tf_arg(TF_ARG_VALUE, 0, s->started)};

	add_field(&op, TF_FIELD_PEER, s->peer);
	add_field(&op, TF_FIELD_TAG, s->tag);
	writer_blob(&host, TF_BLOB_OPERATION, id, &op, sizeof(op) - (TF_OPERATION_FIELDS - op.count) * 8);
	writer_call(&host, function, BEGIN + id * 100 * US, 50 * US, args, s->started ? 2 : 1);
}

static void write_rank(uint32_t rank, const struct step *steps, const char *path)
{
	uint16_t f[8];
	size_t last = 0;

	writer_done(&w);
	writer_init(&w, rank + 1, 10 + rank, 1, BEGIN);
	writer_variables(&w, names[rank], (size_t)snprintf(names[rank], sizeof(names[rank]), "%u", rank) + 1);
	writer_function(&w, TF_GROUP_MPI, "MPI_Init");
	for (last = 0; steps[last].function; last++)
		f[last] = writer_function(&w, TF_GROUP_MPI, steps[last].function);
	writer_thread(&w, &host, 10 + rank, "main", 2 * TF_PAGE);
	writer_call(&host, 0, BEGIN + 10, 5, NULL, 0);
	for (uint32_t i = 0; i + 1 < last; i++)
		write_step(&steps[i], f[i], i + 1);
	arguments[rank] = (struct tf_where_arguments){
		.tid = 10 + rank, .call = (uint64_t)(f[last - 1] + 1) << TF_CURRENT_SHIFT | (BEGIN + MS)};
	memcpy(arguments[rank].words, steps[last - 1].words, sizeof(steps->words));
	writer_page(&host)->current = arguments[rank].call;
	memories[rank] = (struct look_memory){HANDLES, sizeof(steps->handles),
					      (const uint8_t *)steps[last - 1].handles};
	items[rank].wait.collective = (char *)steps[last - 1].function;
	writer_save(&w, path);
}

/* Returns the number of sets. */
static uint32_t find(const struct step (*steps)[8], uint32_t count)
{
	char path[] = "/tmp/pillion-calls.XXXXXX";

	cr_assert_not_null(mkdtemp(path));
	rmdir(path);
	capture_create(path);
	for (uint32_t i = 0; i < count; i++)
		write_rank(i, steps[i], path);
	open_capture(&model, path);
	capture_remove(path);
	cr_assert_eq(model.image_count, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t rank = model.images[i].pid - 10;

		threads[rank].head.tid = processes[rank].head.pid = 10 + rank;
		processes[rank].arguments = &arguments[rank];
		processes[rank].memories = &memories[rank];
		processes[rank].argument_count = processes[rank].memory_count = processes[rank].thread_count = 1;
		processes[rank].threads = &threads[rank];
		items[rank].process = &processes[rank];
		items[rank].thread = &threads[rank];
		items[rank].image = &model.images[i];
		calls[rank] = (struct rank_call){.item = &items[rank], .image = &model.images[i], .name = names[rank]};
	}
	return rank_calls_find(calls, count);
}

/* wanted: of each rank "rank 1" if it is stuck, "-" if not. */
static void expect(const struct step (*steps)[8], uint32_t count, uint32_t sets, const char *const *wanted)
{
	cr_expect_eq(find(steps, count), sets);
	for (uint32_t i = 0; i < count; i++) {
		cr_expect_eq(calls[i].is_stuck, strcmp(wanted[i], "-") != 0, "rank %u", i);
		cr_expect_str_eq(calls[i].is_stuck ? calls[i].waits_for : "-", wanted[i], "rank %u", i);
	}
}
#define EXPECT(steps, sets, ...)                                                                     \
	expect(steps, sizeof(steps) / sizeof(*(steps)), sets, (const char *const[]){__VA_ARGS__})

/* Arguments of MPI_Send and MPI_Recv: the peer, the tag and the communicator are the fourth to the sixth. */
#define IN_MESSAGE(name, peer, tag) {.function = name, .words = {0, 0, 0, (uint32_t)(peer), (uint32_t)(tag), WORLD}}
#define IN_BARRIER {.function = "MPI_Barrier", .words = {WORLD}}
#define DONE(name, of, with) {.function = name, .peer = of, .tag = with}

Test(rank_calls, two_that_receive_from_each_other)
{
	static const struct step steps[][8] = {{IN_MESSAGE("MPI_Recv", 1, 5)}, {IN_MESSAGE("MPI_Recv", 0, 5)}};

	EXPECT(steps, 1, "rank 1", "rank 0");
	cr_expect(calls[0].set == 1 && calls[1].set == 1);
	cr_expect(calls[0].is_known && calls[0].is_needed && !calls[0].is_collective);
}

Test(rank_calls, a_message_that_was_sent_comes)
{
	static const struct step steps[][8] = {{IN_MESSAGE("MPI_Recv", 1, 5)}, {DONE("MPI_Send", 0, 5), IN_BARRIER}};

	EXPECT(steps, 0, "-", "-");
}

Test(rank_calls, a_message_of_another_tag_does_not)
{
	static const struct step steps[][8] = {{IN_MESSAGE("MPI_Recv", 1, 4)}, {DONE("MPI_Send", 0, 5), IN_BARRIER}};

	EXPECT(steps, 1, "rank 1", "rank 0");
	cr_expect(calls[1].is_collective);
}

Test(rank_calls, any_tag_takes_it)
{
	static const struct step steps[][8] = {{IN_MESSAGE("MPI_Recv", 1, -1)}, {DONE("MPI_Send", 0, 5), IN_BARRIER}};

	EXPECT(steps, 0, "-", "-");
}

Test(rank_calls, a_message_is_received_once)
{
	static const struct step steps[][8] = {{DONE("MPI_Recv", 1, 5), IN_MESSAGE("MPI_Recv", 1, 5)},
					       {DONE("MPI_Send", 0, 5), IN_BARRIER}};

	EXPECT(steps, 1, "rank 1", "rank 0");
}

Test(rank_calls, a_probe_leaves_the_message)
{
	static const struct step steps[][8] = {
		{DONE("MPI_Recv", 1, 5), {.function = "MPI_Probe", .words = {1, 5, WORLD}}},
		{DONE("MPI_Send", 0, 5), IN_BARRIER}};
	static const struct step sent[][8] = {{{.function = "MPI_Probe", .words = {1, 5, WORLD}}},
					      {DONE("MPI_Send", 0, 5), IN_BARRIER}};

	EXPECT(steps, 1, "rank 1", "rank 0");
	model_done(&model);
	EXPECT(sent, 0, "-", "-");
}

Test(rank_calls, two_that_send_to_each_other)
{
	static const struct step steps[][8] = {{IN_MESSAGE("MPI_Ssend", 1, 5)}, {IN_MESSAGE("MPI_Send", 0, 5)}};

	EXPECT(steps, 1, "rank 1", "rank 0");
}

Test(rank_calls, a_send_is_received)
{
	static const struct step steps[][8] = {{IN_MESSAGE("MPI_Ssend", 1, 5)}, {IN_MESSAGE("MPI_Recv", 0, 5)}};

	EXPECT(steps, 0, "-", "-");
}

Test(rank_calls, both_halves_of_a_sendrecv)
{
	/* It sends with the fourth and fifth argument, and receives with the ninth and tenth. */
#define SENDRECV(to, from) {.function = "MPI_Sendrecv", .words = {0, 0, 0, to, 7, 0, 0, 0, from, 7, WORLD}}
	static const struct step ring[][8] = {{SENDRECV(1, 2)}, {SENDRECV(2, 0)}, {SENDRECV(0, 1)}},
				 broken[][8] = {{SENDRECV(1, 1)}, {SENDRECV(2, 2)}, {SENDRECV(0, 0)}};

	EXPECT(ring, 0, "-", "-", "-");
	model_done(&model);
	EXPECT(broken, 1, "rank 1", "rank 2", "rank 0");
}

Test(rank_calls, collectives_that_differ)
{
	static const struct step steps[][8] = {
		{IN_BARRIER}, {{.function = "MPI_Allreduce", .words = {0, 0, 0, 0, 0, WORLD}}}};
	static const struct step same[][8] = {{IN_BARRIER}, {IN_BARRIER}};
	static const struct step behind[][8] = {{DONE("MPI_Barrier", 0, 0), IN_BARRIER}, {IN_BARRIER}};

	EXPECT(steps, 1, "rank 1", "rank 0");
	cr_expect(calls[0].is_collective && calls[1].is_collective);
	model_done(&model);
	EXPECT(same, 0, "-", "-");
	model_done(&model);
	EXPECT(behind, 0, "-", "-");
}

Test(rank_calls, roots_that_differ)
{
#define IN_BCAST(root) {.function = "MPI_Bcast", .words = {0, 0, 0, root, WORLD}}
	static const struct step steps[][8] = {{IN_BCAST(0)}, {IN_BCAST(1)}};
	static const struct step same[][8] = {{IN_BCAST(1)}, {IN_BCAST(1)}};

	EXPECT(steps, 1, "rank 1", "rank 0");
	model_done(&model);
	EXPECT(same, 0, "-", "-");
}

Test(rank_calls, one_that_has_finalized_comes_to_nothing)
{
	static const struct step steps[][8] = {{IN_BARRIER}, {IN_BARRIER}, {{.function = "MPI_Finalize"}}};

	EXPECT(steps, 1, "rank 2", "rank 2", "");
	cr_expect(!calls[0].set && !calls[1].set && calls[2].set);
	cr_expect(calls[2].is_needed && calls[2].is_known && !calls[0].is_needed);
}

Test(rank_calls, requests_are_those_that_calls_made)
{
#define WAIT(name, ...) {.function = name, .words = {__VA_ARGS__}, .handles = {HANDLE, HANDLE + 1}}
	const uint32_t first = tf_request(HANDLE), second = tf_request(HANDLE + 1);
	const struct step one[][8] = {
		{{"MPI_Irecv", 1, 5, first}, WAIT("MPI_Wait", HANDLES)}, {IN_BARRIER}};
	const struct step two[][8] = {
		{{"MPI_Irecv", 1, 5, first}, {"MPI_Irecv", 2, 5, second}, WAIT("MPI_Waitall", 2, HANDLES)},
		{IN_BARRIER}, {DONE("MPI_Send", 0, 5), IN_BARRIER}};
	const struct step any[][8] = {
		{{"MPI_Irecv", 1, 5, first}, {"MPI_Irecv", 2, 5, second}, WAIT("MPI_Waitany", 2, HANDLES)},
		{IN_BARRIER}, {DONE("MPI_Send", 0, 5), IN_BARRIER}};
	const struct step none[][8] = {
		{{"MPI_Irecv", 1, 5, first}, {"MPI_Irecv", 2, 5, second}, WAIT("MPI_Waitany", 2, HANDLES)},
		{IN_BARRIER}, {IN_BARRIER}};
	const struct step unknown[][8] = {
		{{"MPI_Irecv", 1, 5, second}, WAIT("MPI_Wait", HANDLES)}, {IN_BARRIER}};

	EXPECT(one, 1, "rank 1", "rank 0");
	model_done(&model);
	EXPECT(two, 1, "rank 1", "rank 0", "rank 0");
	model_done(&model);
	EXPECT(any, 0, "-", "-", "-");
	model_done(&model);
	EXPECT(none, 1, "rank 1, 2", "rank 0", "rank 0");
	model_done(&model);
	EXPECT(unknown, 0, "-", "-");
	cr_expect_not(calls[0].is_known);
}

Test(rank_calls, persistent_requests_count_when_they_are_started)
{
	const uint32_t request = tf_request(HANDLE);
	const struct step started[][8] = {
		{{"MPI_Recv_init", 1, 5, request}, {"MPI_Start", 0, 0, 0, request}, WAIT("MPI_Wait", HANDLES)},
		{IN_BARRIER}};
	const struct step sent[][8] = {
		{{"MPI_Recv_init", 1, 5, request}, {"MPI_Start", 0, 0, 0, request}, WAIT("MPI_Wait", HANDLES)},
		{DONE("MPI_Send", 0, 5), IN_BARRIER}};
	const struct step other[][8] = {
		{{"MPI_Recv_init", 1, 5, request}, {"MPI_Start", 0, 0, 0, request + 1}, WAIT("MPI_Wait", HANDLES)},
		{IN_BARRIER}};

	EXPECT(started, 1, "rank 1", "rank 0");
	model_done(&model);
	EXPECT(sent, 0, "-", "-");
	model_done(&model);
	EXPECT(other, 0, "-", "-");
}

Test(rank_calls, of_many_wakers_four_are_named)
{
	static const struct step steps[][8] = {{IN_BARRIER}, {IN_MESSAGE("MPI_Recv", 0, 1)},
					       {IN_MESSAGE("MPI_Recv", 0, 1)}, {IN_MESSAGE("MPI_Recv", 0, 1)}};

	EXPECT(steps, 1, "rank 1, 2, 3", "rank 0", "rank 0", "rank 0");
	cr_expect_eq(calls[3].set, 1);
	calls[3].name = "x";
	cr_expect_eq(rank_calls_find(calls, 4), 0, "a name without a number is no rank");
	calls[3].name = "3@7.1";
	cr_expect_eq(rank_calls_find(calls, 4), 0, "they are of two steps");
	cr_expect_eq(rank_calls_find(calls, 0), 0);
}

Test(rank_calls, other_arguments_than_those_of_the_call_prove_nothing)
{
	static const struct step steps[][8] = {{IN_MESSAGE("MPI_Recv", 1, 5)}, {IN_MESSAGE("MPI_Recv", 0, 5)}};

	EXPECT(steps, 1, "rank 1", "rank 0");
	arguments[0].call++;
	cr_expect_eq(rank_calls_find(calls, 2), 0);
	cr_expect_not(calls[0].is_stuck || calls[1].is_stuck);
}

/* ---- ranks by the names of their calls ---- */

static struct image images[RANKS];
static struct where_place place = {.items = items, .count = RANKS};
static struct where_ranks found;

/* Each rank has been for 2, 3, 4, 5 s in the call; NULL: it is in none. */
static enum where_stall stall_of(const char *a, const char *b, const char *c, const char *d)
{
	const char *const in[RANKS] = {a, b, c, d};

	where_ranks_done(&found);
	for (uint32_t i = 0; i < RANKS; i++) {
		threads[i].head.tid = processes[i].head.pid = 10 + i;
		snprintf(names[i], sizeof(names[i]), "%u", RANKS - 1 - i);
		images[i].end = TF_END_NONE;
		items[i] = (struct where_item){.process = &processes[i], .thread = &threads[i], .image = &images[i],
					       .rank = names[i], .has_age = true, .age_ns = (2 + i) * 1000 * MS,
					       .wait = {.call = "", .collective = (char *)in[i]}};
	}
	where_ranks_find(&place, &found);
	cr_expect_eq(found.count, RANKS);
	return found.stall;
}

Test(rank_calls, ranks_that_have_not_come_are_late)
{
	cr_expect_eq(stall_of("MPI_Barrier", NULL, "MPI_Barrier", NULL), WHERE_LATE);
	cr_expect_eq(found.in, 2);
	cr_expect_str_eq(found.name, "MPI_Barrier");
	cr_expect_eq(found.least_ns, 2000 * MS);
	cr_assert_eq(found.item_count, 2);
	cr_expect_eq(found.items[0], &items[3], "rank 0");
	cr_expect_eq(found.items[1], &items[1], "rank 2");
	cr_expect_eq(stall_of(NULL, NULL, NULL, NULL), WHERE_NO_STALL);
	cr_expect_eq(found.item_count, 0);
	where_ranks_done(&found);
}

Test(rank_calls, ranks_that_are_all_in_calls)
{
	cr_expect_eq(stall_of("MPI_Barrier", "MPI_Barrier", "MPI_Barrier", "MPI_Barrier"), WHERE_IN_CALLS);
	cr_expect_eq(found.in, 4);
	cr_expect_eq(found.item_count, 4);
	cr_expect_eq(stall_of("MPI_Barrier", "MPI_Barrier", "MPI_Bcast", "MPI_Allreduce"), WHERE_MISMATCH);
	cr_expect_str_eq(found.name, "calls of MPI");
	cr_expect_eq(stall_of("MPI_Recv", "MPI_Recv", "MPI_Recv", "MPI_Recv"), WHERE_NOBODY_SENDS);
	cr_expect_eq(stall_of("MPI_Send", "MPI_Ssend", "MPI_Send", "MPI_Send"), WHERE_NOBODY_RECEIVES);
	cr_expect_eq(stall_of("MPI_Send", "MPI_Recv", "MPI_Send", "MPI_Send"), WHERE_IN_CALLS);
	cr_expect_eq(stall_of("MPI_Recv", "MPI_Recv", "MPI_Recv", "MPI_Barrier"), WHERE_MISMATCH);
	where_ranks_done(&found);
}

Test(rank_calls, ranks_that_have_finalized_are_missing)
{
	cr_expect_eq(stall_of("MPI_Barrier", "MPI_Finalize", "MPI_Barrier", "MPI_Barrier"), WHERE_MISSING);
	cr_expect_eq(found.in, 3);
	cr_expect_str_eq(found.name, "MPI_Barrier");
	cr_assert_eq(found.item_count, 1);
	cr_expect_eq(found.items[0], &items[1]);
	cr_expect_eq(stall_of("MPI_Finalize", "MPI_Finalize", "MPI_Finalize", "MPI_Finalize"), WHERE_IN_CALLS);
	cr_expect_str_eq(found.name, "MPI_Finalize");
	where_ranks_done(&found);
}
