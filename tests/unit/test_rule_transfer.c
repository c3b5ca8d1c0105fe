/* SPDX-License-Identifier: Apache-2.0 */
/* The rule process_transfer. */
#include "report/causes/function.h"
#include "rule_fixture.h"

TestSuite(rule_transfer, .init = setup, .fini = teardown);

/* A process that sends `pieces` of 100 kB by multiprocessing and, with samples, serializes for 10 ms before each. */
static void write_pieces(uint64_t pieces, bool has_samples, const char *inner)
{
	const uint32_t pickling[] = {1, 3}, sending[] = {2, 3};

	writer_python_code(&host, 1, 40, inner, "dumps");
	writer_python_code(&host, 2, 384, "/usr/lib/python3.11/multiprocessing/connection.py", "Connection._send");
	writer_python_code(&host, 3, 30, "/home/u/score.py", "main");
	writer_python_stack(&host, 1, pickling, 2);
	writer_python_stack(&host, 2, sending, 2);
	for (uint64_t i = 0; i < pieces; i++) {
		const uint64_t args[] = {tf_arg(TF_ARG_FD, 0, 100000ull << 16 | 5), tf_arg(TF_ARG_STACK, 0, 2)};

		if (has_samples)
			writer_sample(&host, BEGIN + i * 20 * MS + 10 * MS, 10000, 1);
		writer_call(&host, f_write, BEGIN + i * 20 * MS + 18 * MS, 8 * MS, args, 2);
	}
}

static void send_pieces_until(uint64_t end, uint64_t pieces, bool has_samples, const char *inner)
{
	write_pieces(pieces, has_samples, inner);
	open_model(end);
}

static void send_pieces(uint64_t pieces, bool has_samples, const char *inner)
{
	send_pieces_until(400 * MS, pieces, has_samples, inner);
}

#define PICKLER "/usr/lib/python3.11/multiprocessing/reduction.py"

Test(rule_transfer, a_process_that_sends_much)
{
	struct finding f;

	send_pieces(20, true, PICKLER);
	assert_verdict("process_transfer", VERDICT_FOUND);
	assert_words("process_transfer", "process 10 serializes 2 MB and sends them to other processes in 20 pieces, ");
	rule_run(&rules, rule_find("process_transfer"), &f);
	cr_expect_str_eq(line_text(f.line), "main (/home/u/score.py:30)");
	cr_expect_geq(f.cost_ns, 200 * MS, "to serialize");
	cr_expect_leq(f.cost_ns, 210 * MS, "a write that takes long waits for its reader");
	cr_expect_str_eq(buffer_string(&f.edit), "frames~multiprocessing/reduction.py:dumps=0",
			 "the repair, whoever serializes");
	finding_done(&f);
}

/* The time of samples below the functions of an edit "frames~NAME=0". */
static double sampled_below(const struct buffer *edit)
{
	struct causality *causes = rules_causes(&rules);
	const struct editables *all = &causes->editables;
	SCOPED_MEMORY char *name = mem_copy_text(edit->data + strlen("frames~"), edit->size - strlen("frames~=0"));
	struct function_part part;
	SCOPED_MEMORY float *shares = function_shares_named(causes, name, true, &part);
	double ns = 0;

	cr_assert_not_null(shares);
	for (size_t i = 0; i < all->stack_count; i++)
		if (all->items[all->stacks[i].what].kind == EDITABLE_CPU)
			ns += (double)shares[all->stacks[i].what] * (double)all->stacks[i].ns;
	return ns;
}

/* 200 ms in a reduction.py of the user's, after that in the library's. */
Test(rule_transfer, a_file_of_the_user_with_the_name_of_one_of_the_library)
{
	const uint32_t own[] = {4, 5};
	struct finding f;

	writer_python_code(&host, 4, 3, "/home/u/reduction.py", "dumps");
	writer_python_code(&host, 5, 31, "/home/u/score.py", "end");
	writer_python_stack(&host, 3, own, 2);
	write_pieces(20, true, PICKLER);
	for (uint64_t i = 0; i < 20; i++)
		writer_sample(&host, BEGIN + 410 * MS + i * 10 * MS, 10000, 3);
	open_model(620 * MS);
	rule_run(&rules, rule_find("process_transfer"), &f);
	cr_expect_float_eq(sampled_below(&f.edit), 200e6, 1e6);
	finding_done(&f);
}

/* 100 ms in which the process waits for messages. */
Test(rule_transfer, to_wait_for_messages_is_not_to_read_them)
{
	const uint32_t waiting[] = {4, 5, 3};
	struct finding f;

	writer_python_code(&host, 4, 415, "/usr/lib/python3.11/selectors.py", "_PollLikeSelector.select");
	writer_python_code(&host, 5, 947, "/usr/lib/python3.11/multiprocessing/connection.py", "wait");
	writer_python_stack(&host, 3, waiting, 3);
	for (uint64_t i = 0; i < 20; i++)
		writer_sample(&host, BEGIN + i * 20 * MS + 15 * MS, 5000, 3);
	send_pieces(20, true, PICKLER);
	rule_run(&rules, rule_find("process_transfer"), &f);
	cr_expect_leq(f.cost_ns, 210 * MS);
	cr_expect_str_eq(buffer_string(&f.edit), "frames~multiprocessing/reduction.py:dumps=0");
	finding_done(&f);
}

Test(rule_transfer, a_process_that_sends_a_small_part_of_its_time)
{
	send_pieces_until(9000 * MS, 20, true, PICKLER);
	assert_verdict("process_transfer", VERDICT_CLEAN);
}

Test(rule_transfer, a_process_that_sends_much_of_the_time_that_it_had_a_cpu)
{
	writer_usage(&host, &(struct tf_usage){BEGIN + 8999 * MS, 300 * MS, 8000 * MS, 10, 0, 0, 0});
	send_pieces_until(9000 * MS, 20, true, PICKLER);
	assert_verdict("process_transfer", VERDICT_FOUND);
}

Test(rule_transfer, a_process_that_sends_little)
{
	send_pieces(2, true, PICKLER);
	assert_verdict("process_transfer", VERDICT_CLEAN);
}

Test(rule_transfer, code_of_the_user_is_not_serialization)
{
	send_pieces(20, true, "/home/u/score.py");
	assert_verdict("process_transfer", VERDICT_CLEAN);
}

Test(rule_transfer, what_serializing_costs_needs_samples)
{
	send_pieces(20, false, PICKLER);
	assert_verdict("process_transfer", VERDICT_UNCHECKED);
}

enum { SEND = 1, OUTER, USER, BOOTSTRAP, TASK };

/* A process that sends `count` messages of 60 bytes and computes for 200 ms below `outer`, which `callers` call. */
static void exchange(uint64_t count, const char *file, const char *outer, const uint32_t *callers, size_t caller_count)
{
	uint32_t stack[8] = {SEND, OUTER};

	memcpy(stack + 2, callers, caller_count * sizeof(*callers));
	writer_python_code(&host, SEND, 384, "/usr/lib/python3.11/multiprocessing/connection.py", "Connection._send");
	writer_python_code(&host, OUTER, 817, file, outer);
	writer_python_code(&host, USER, 10, "/home/u/count.py", "tally");
	writer_python_code(&host, BOOTSTRAP, 314, "/usr/lib/python3.11/multiprocessing/process.py",
			   "BaseProcess._bootstrap");
	writer_python_code(&host, TASK, 3, "/home/u/count.py", "square");
	writer_python_stack(&host, 1, stack, 2 + caller_count);
	writer_python_stack(&host, 2, (const uint32_t[]){TASK, OUTER, BOOTSTRAP, USER}, 4);
	for (uint64_t i = 0; i < 20; i++)
		writer_sample(&host, BEGIN + i * 11 * MS + 10 * MS, 10000, 1);
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t args[] = {tf_arg(TF_ARG_FD, 0, 60 << 16 | 5), tf_arg(TF_ARG_STACK, 0, 1)};

		writer_call(&host, f_write, BEGIN + 230 * MS + i * MS / 20, 10000, args, 2);
	}
}

static const uint32_t by_user[] = {USER}, by_pool[] = {BOOTSTRAP, USER};
#define MANAGERS "/usr/lib/python3.11/multiprocessing/managers.py"
#define POOL "/usr/lib/python3.11/multiprocessing/pool.py"

Test(rule_transfer, many_small_messages_of_a_line)
{
	struct finding f;

	exchange(2000, MANAGERS, "BaseProxy._callmethod", by_user, 1);
	open_model(400 * MS);
	rule_run(&rules, rule_find("process_transfer"), &f);
	cr_expect_eq(f.verdict, VERDICT_FOUND);
	cr_expect_str_eq(buffer_string(&f.text), "process 10 sends 2000 small messages to other processes, 200 ms");
	cr_expect_str_eq(line_text(f.line), "tally (/home/u/count.py:10)");
	cr_expect_str_eq(buffer_string(&f.edit), "frames~multiprocessing/managers.py:BaseProxy._callmethod=0",
			 "with the wait for the answer");
	finding_done(&f);
}

/* The line is that of the process that has forked the worker; 100 ms more in the function of the task. */
Test(rule_transfer, many_small_messages_of_a_pool)
{
	struct finding f;

	exchange(2000, POOL, "worker", by_pool, 2);
	for (uint64_t i = 0; i < 10; i++)
		writer_sample(&host, BEGIN + 340 * MS + i * 11 * MS, 10000, 2);
	open_model(500 * MS);
	rule_run(&rules, rule_find("process_transfer"), &f);
	cr_expect_eq(f.verdict, VERDICT_FOUND);
	cr_expect_null(f.line, "no line of the user's sends anything");
	cr_expect_str_eq(buffer_string(&f.edit), "frames~multiprocessing/pool.py:worker=0");
	cr_expect_float_eq(sampled_below(&f.edit), 200e6, 1e6, "the task is not the pool's");
	finding_done(&f);
}

Test(rule_transfer, few_small_messages)
{
	exchange(900, MANAGERS, "BaseProxy._callmethod", by_user, 1);
	open_model(400 * MS);
	assert_verdict("process_transfer", VERDICT_CLEAN);
}

Test(rule_transfer, small_messages_that_take_a_small_part_of_the_time)
{
	exchange(2000, MANAGERS, "BaseProxy._callmethod", by_user, 1);
	open_model(4000 * MS);
	assert_verdict("process_transfer", VERDICT_CLEAN);
}

/* A rank that is sampled for 100 ms in mpi4py: `pickles` times of 10 in pickle, otherwise where it polls. */
static void send_objects(uint64_t pickles)
{
	const uint64_t in_pickle[] = {0x1010, 0x2010, 0x3010}, in_poll[] = {0x4010, 0x2010, 0x3010};
	const uint32_t line[] = {1};

	writer_module(&host, 0x1000, 0x2000, 0, NULL, 0, "/usr/lib/python3.11/lib-dynload/_pickle.cpython-311.so");
	writer_module(&host, 0x2000, 0x3000, 0, NULL, 0, "/home/u/site-packages/mpi4py/MPI.cpython-311.so");
	writer_module(&host, 0x3000, 0x4000, 0, NULL, 0, "/usr/lib/libpython3.11.so");
	writer_module(&host, 0x4000, 0x5000, 0, NULL, 0, "/usr/lib/libmpi.so.40");
	writer_python_code(&host, 1, 16, "/home/u/gather.py", "gather");
	for (uint32_t id = 1; id <= 2; id++) {
		writer_blob(&host, TF_BLOB_STACK, id, id == 1 ? in_pickle : in_poll, sizeof(in_poll));
		writer_python_stack(&host, id, line, 1);
	}
	for (uint64_t i = 0; i < 10; i++)
		writer_sample(&host, BEGIN + (i + 1) * 10 * MS, 10000, i < pickles ? 1 : 2);
	open_model(200 * MS);
}

Test(rule_transfer, objects_that_are_serialized_for_messages)
{
	struct finding f;

	send_objects(4);
	assert_verdict("process_transfer", VERDICT_FOUND);
	rule_run(&rules, rule_find("process_transfer"), &f);
	cr_expect_str_eq(line_text(f.line), "gather (/home/u/gather.py:16)");
	cr_expect_eq(f.cost_ns, 100 * MS, "with the waits");
	finding_done(&f);
}

Test(rule_transfer, messages_without_objects)
{
	send_objects(0);
	assert_verdict("process_transfer", VERDICT_CLEAN);
}
