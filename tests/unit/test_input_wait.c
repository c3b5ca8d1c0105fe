/* SPDX-License-Identifier: Apache-2.0 */
/* Which waits are for a program's input or its clients, by what its descriptors are. */
#include "captured.h"
#include "report/answers/input_wait.h"
#include "runtime/shared/format/trace_flags.h"

CAPTURED_SUITE(input_wait);

#define MS 1000000ull
#define LISTENS "tcp 0.0.0.0:8000 (listening)"
#define SERVER "tcp 10.0.0.1:443"
enum { PARENT = 100, CHILD = 101 };

/* Whether each process has listened, by a call that is recorded or one that is too short. */
static enum { LISTENED_NEVER, LISTENED, LISTENED_BRIEFLY } listened;

/* Of the parent: its main thread, then another one, wait in poll(). */
static struct waits { bool main, main_for_nothing, other; } waits;

static void write_wait(struct writer_thread *t, uint16_t poll, bool is_for_nothing)
{
	uint64_t arg = tf_arg(TF_ARG_TIMEOUT, is_for_nothing ? TF_POLLED_NOTHING : TF_POLLED, 50000ull << 16);

	writer_call(t, poll, 1800 * MS, 50 * MS, &arg, 1);
}

/* The processes have descriptors with these texts, from 3 on, each. NULL: no more; `input`: the parent reads
 * descriptor 0, which is that; NULL: it reads none. */
static void write_job(const char *const parent[3], const char *const child[3], const char *input)
{
	for (uint32_t pid = PARENT; pid <= CHILD; pid++) {
		const char *const *texts = pid == PARENT ? parent : child;
		uint64_t arg = tf_arg(TF_ARG_FD, 0, 0);
		struct writer_thread t, other;
		struct writer w;
		uint16_t read, listen, poll;

		writer_init(&w, pid, pid, pid - 1, 1000 * MS);
		w.header.via = pid == PARENT ? TF_VIA_START : TF_VIA_FORK;
		w.header.parent_nonce = pid == PARENT ? 0 : PARENT;
		read = writer_function(&w, TF_GROUP_OSRT, "read");
		listen = writer_function(&w, TF_GROUP_OSRT, "listen");
		poll = writer_function(&w, TF_GROUP_OSRT, "poll");
		writer_thread(&w, &t, pid, "main", 4 * TF_PAGE);
		for (uint16_t i = 0; i < 3 && texts[i]; i++)
			writer_descriptor(&t, i + 1, i + 3, 1000 * MS,
					  strchr(texts[i], '[') ? TF_DESCRIPTOR_OTHER : TF_DESCRIPTOR_SOCKET, texts[i]);
		if (listened == LISTENED_BRIEFLY)
			writer_counter(&t, listen, listen, (struct tf_counter){.calls = 1, .ticks = 500});
		if (input && pid == PARENT) {
			writer_descriptor(&t, 9, 0, 1000 * MS, *input == '/' ? TF_DESCRIPTOR_FILE : TF_DESCRIPTOR_OTHER,
					  input);
			writer_call(&t, read, 1050 * MS, 2 * MS, &arg, 1);
		}
		if (listened == LISTENED)
			writer_call(&t, listen, 1100 * MS, MS, &arg, 1);
		if (waits.main || waits.main_for_nothing)
			write_wait(&t, poll, waits.main_for_nothing);
		if (waits.other) {
			writer_thread(&w, &other, pid + 10, "other", 4 * TF_PAGE);
			write_wait(&other, poll, false);
		}
		writer_end(&w, TF_END_EXIT, 0, 2000 * MS);
		writer_save(&w, directory);
		writer_done(&w);
	}
	open_capture(&model, directory);
	cr_assert_eq(model.process_count, 2);
}

static enum input input_of(uint32_t pid, struct role_call call)
{
	const struct report_context context = {.model = &model};
	struct role role = {.process = &model.processes[model.processes[0].pid != pid]};

	call.function = call.function ? call.function : "poll";
	return input_of_wait(&context, &role, &call);
}

static const struct role_call poll_call = {.kind = BLOCKED_POLL}, timed = {.kind = BLOCKED_POLL, .is_timed = true};
#define DESCRIPTORS(...) ((const char *const[3]){__VA_ARGS__})
#define NONE ((const char *const[3]){NULL})

Test(input_wait, the_call_alone_tells)
{
	write_job(DESCRIPTORS(SERVER), NONE, NULL);
	cr_expect_eq(input_of(PARENT, (struct role_call){.kind = BLOCKED_SOCKET, .function = "accept4"}),
		     INPUT_CLIENTS);
	cr_expect_eq(input_of(PARENT, (struct role_call){.kind = BLOCKED_PIPE, .function = "read"}), INPUT_DATA);
	cr_expect_eq(input_of(PARENT, (struct role_call){.kind = BLOCKED_PIPE, .function = "read", .end = {.ns = 1}}),
		     INPUT_NONE, "a recorded thread has ended it");
	cr_expect_eq(input_of(PARENT, (struct role_call){.kind = BLOCKED_LOCK, .function = "flock"}), INPUT_NONE);
}

Test(input_wait, a_server_waits_for_its_clients)
{
	write_job(DESCRIPTORS(LISTENS, SERVER), NONE, NULL);
	cr_expect_eq(input_of(PARENT, poll_call), INPUT_CLIENTS);
	cr_expect_eq(input_of(PARENT, (struct role_call){.kind = BLOCKED_SOCKET, .function = "recv"}), INPUT_CLIENTS);
	cr_expect_eq(input_of(CHILD, timed), INPUT_CLIENTS, "a forked process has the sockets of its parent");
	cr_expect_eq(input_of(CHILD, poll_call), INPUT_DATA, "one that it has to itself is asked for its own");
}

Test(input_wait, what_is_its_own_client_waits_for_itself)
{
	write_job(DESCRIPTORS(LISTENS, "tcp 127.0.0.1:8000"), DESCRIPTORS("tcp 127.0.0.1:8001"), NULL);
	cr_expect_eq(input_of(PARENT, poll_call), INPUT_NONE);
	cr_expect_eq(input_of(CHILD, poll_call), INPUT_NONE, "a client waits for an answer");
}

Test(input_wait, a_server_elsewhere_at_the_same_port_is_another_one)
{
	write_job(DESCRIPTORS(LISTENS, "tcp 10.0.0.1:8000"), NONE, NULL);
	cr_expect_eq(input_of(PARENT, poll_call), INPUT_CLIENTS);
}

Test(input_wait, a_client_waits_for_its_server)
{
	write_job(DESCRIPTORS(SERVER), NONE, NULL);
	cr_expect_eq(input_of(PARENT, poll_call), INPUT_NONE);
	cr_expect_eq(input_of(PARENT, (struct role_call){.kind = BLOCKED_SOCKET, .function = "recv"}), INPUT_NONE);
}

Test(input_wait, a_timer_ends_a_wait)
{
	write_job(DESCRIPTORS("anon_inode:[timerfd]"), DESCRIPTORS("anon_inode:[timerfd]", "pipe:[7]"), NULL);
	cr_expect_eq(input_of(PARENT, poll_call), INPUT_NONE);
	cr_expect_eq(input_of(CHILD, poll_call), INPUT_DATA);
	cr_expect_eq(input_of(PARENT, timed), INPUT_NONE);
}

Test(input_wait, a_wait_with_a_time_limit_is_for_input_of_what_reads_some)
{
	write_job(NONE, NONE, "/dev/pts/1");
	cr_expect_eq(input_of(PARENT, timed), INPUT_DATA);
	cr_expect_eq(input_of(CHILD, timed), INPUT_NONE);
}

Test(input_wait, a_file_is_no_input_to_wait_for)
{
	write_job(NONE, NONE, "/home/u/data");
	cr_expect_eq(input_of(PARENT, timed), INPUT_NONE);
}

Test(input_wait, a_pipe_is_input)
{
	write_job(NONE, NONE, "pipe:[3]");
	cr_expect_eq(input_of(PARENT, timed), INPUT_DATA);
}

Test(input_wait, a_server_to_which_nobody_has_connected_waits_for_its_clients)
{
	listened = LISTENED;
	write_job(NONE, NONE, NULL);
	cr_expect_eq(input_of(PARENT, timed), INPUT_CLIENTS);
}

Test(input_wait, what_listens_and_has_a_server_may_wait_for_that)
{
	listened = LISTENED;
	write_job(DESCRIPTORS(SERVER), NONE, NULL);
	cr_expect_eq(input_of(PARENT, timed), INPUT_NONE);
}

Test(input_wait, a_short_listen_is_counted)
{
	listened = LISTENED_BRIEFLY;
	write_job(NONE, NONE, NULL);
	cr_expect_eq(input_of(PARENT, timed), INPUT_CLIENTS);
}

Test(input_wait, a_server_that_polls_waits_for_its_clients)
{
	listened = LISTENED;
	waits.main = true;
	write_job(NONE, NONE, NULL);
	cr_expect_eq(input_of(PARENT, timed), INPUT_CLIENTS);
}

Test(input_wait, a_wait_for_no_descriptor_is_for_no_client)
{
	listened = LISTENED;
	waits.main_for_nothing = waits.other = true;
	write_job(NONE, NONE, NULL);
	cr_expect_eq(input_of(PARENT, timed), INPUT_NONE);
}

Test(input_wait, what_polls_beside_a_server_may_wait_for_anything)
{
	listened = LISTENED;
	waits.main = waits.other = true;
	write_job(NONE, NONE, NULL);
	cr_expect_eq(input_of(PARENT, timed), INPUT_NONE);
}

Test(input_wait, a_server_may_listen_after_its_first_input)
{
	listened = LISTENED;
	waits.main = true;
	write_job(NONE, NONE, "/dev/pts/1");
	cr_expect_eq(input_of(PARENT, timed), INPUT_CLIENTS);
}
