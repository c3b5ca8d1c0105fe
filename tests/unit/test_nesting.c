/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/stacks/nesting.h"
#include "report/time/profile.h"
#include "opened.h"

static struct writer w;
static struct writer_thread t;
static struct model model;
static struct report_context context = {.model = &model};
static uint16_t f_sync, f_futex, f_read;

static void setup(void)
{
	writer_init(&w, 1, 10, 1, 1000);
	f_sync = writer_function(&w, TF_GROUP_CUDA, "cudaStreamSynchronize");
	f_futex = writer_function(&w, TF_GROUP_OSRT, "futex");
	f_read = writer_function(&w, TF_GROUP_OSRT, "read");
	writer_thread(&w, &t, 10, "main", 64 * TF_PAGE);
	writer_module(&t, 0x1000, 0x2000, 0, NULL, 0, "/a/program");
	writer_module(&t, 0x3000, 0x4000, 0, NULL, 0, "/a/libcuda.so");
}

static void teardown(void)
{
	symbols_free(context.symbols);
	context.symbols = NULL;
	model_done(&model);
	writer_done(&w);
}

TestSuite(nesting, .init = setup, .fini = teardown);

static void call(uint16_t function, uint64_t start, uint64_t end, uint32_t stack)
{
	uint64_t arg = tf_arg(TF_ARG_STACK, 0, stack);

	writer_call(&t, function, end, end - start, &arg, stack != 0);
}

/* Opens the model and makes the profile of all calls. */
static void make(struct profile *ret)
{
	struct err err;

	open_written(&model, &w);
	context.symbols = symbols_new(&model, false);
	cr_assert_eq(profile_make(&context, METRIC_CALLS, ret, &err), 0);
}

/* The own time and the number of calls of a row, by its frames separated by ';' without process and thread. */
static void check_row(const struct profile *p, const char *wanted, uint64_t ns, uint64_t calls)
{
	for (size_t i = 0; i < p->aggregate.count; i++) {
		struct buffer text = {0};
		size_t count;
		const uint32_t *stack = profile_stack(p, i, &count);
		bool is_it;

		for (size_t k = 2; k < count; k++)
			buffer_print(&text, "%s%s", k > 2 ? ";" : "", p->names[stack[k]].line->function);
		is_it = !strcmp(text.data, wanted);
		buffer_done(&text);
		if (!is_it)
			continue;
		cr_expect_eq(p->aggregate.rows[i].total, ns, "%s: %d", wanted, (int)p->aggregate.rows[i].total);
		cr_expect_eq(p->aggregate.rows[i].count, calls, "%s", wanted);
		return;
	}
	cr_expect_fail("no row %s", wanted);
}

Test(nesting, a_call_inside_another_is_its_child_and_counts_once)
{
	struct profile p;

	call(f_futex, 2100, 2900, 0);
	call(f_sync, 2000, 3000, 0);
	call(f_futex, 3100, 3200, 0);
	make(&p);
	cr_expect_eq(p.total, 1100);
	cr_expect_eq(p.aggregate.count, 3);
	check_row(&p, "cudaStreamSynchronize", 200, 1);
	check_row(&p, "cudaStreamSynchronize;futex", 800, 1);
	check_row(&p, "futex", 100, 1);
	profile_done(&p);
}

Test(nesting, frames_that_both_stacks_have_are_shown_once)
{
	const uint64_t outer[] = {0x1101, 0x1201}, inner[] = {0x3101, 0x1101, 0x1201};
	struct profile p;

	writer_blob(&t, TF_BLOB_STACK, 1, outer, sizeof(outer));
	writer_blob(&t, TF_BLOB_STACK, 2, inner, sizeof(inner));
	call(f_futex, 2100, 2900, 2);
	call(f_read, 2910, 2920, 0);
	call(f_sync, 2000, 3000, 1);
	make(&p);
	check_row(&p, "program+0x1201;program+0x1101;cudaStreamSynchronize", 190, 1);
	check_row(&p, "program+0x1201;program+0x1101;cudaStreamSynchronize;libcuda.so+0x3101;futex", 800, 1);
	check_row(&p, "program+0x1201;program+0x1101;cudaStreamSynchronize;read", 10, 1);
	profile_done(&p);
}

Test(nesting, a_handlers_call_written_before_the_one_it_followed_is_not_inside_it)
{
	struct profile p;

	call(f_futex, 2100, 2200, 0);
	call(f_read, 3010, 3050, 0); /* of the handler */
	call(f_sync, 2000, 3000, 0);
	make(&p);
	check_row(&p, "cudaStreamSynchronize", 900, 1);
	check_row(&p, "cudaStreamSynchronize;futex", 100, 1);
	check_row(&p, "read", 40, 1);
	profile_done(&p);
}

/* Well-nested random calls below [start, end]. Returns how much of it they cover. */
static uint64_t random_calls(uint64_t *seed, uint64_t start, uint64_t end, int depth, uint64_t *ret_calls)
{
	uint64_t at = start, covered = 0;

	while (depth && at + 10 < end) {
		uint64_t length;

		*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
		length = (*seed >> 33) % ((end - at) / 2) + 1;
		at += (*seed >> 40) % 7;
		if (at + length > end)
			break;
		random_calls(seed, at, at + length, depth - 1, ret_calls);
		call(*seed >> 62 ? f_sync : f_futex, at, at + length, 0);
		++*ret_calls;
		covered += length;
		at += length;
	}
	return covered;
}

Test(nesting, own_times_add_up_to_the_time_in_calls)
{
	for (uint64_t i = 1; i <= 20; i++) {
		uint64_t seed = i, calls = 0, counted = 0, covered = random_calls(&seed, 2000, 30000, 5, &calls);
		struct profile p;

		make(&p);
		cr_expect_eq(p.total, covered, "seed %d: %d of %d", (int)i, (int)p.total, (int)covered);
		for (size_t k = 0; k < p.aggregate.count; k++)
			counted += p.aggregate.rows[k].count;
		cr_expect_eq(counted, calls);
		profile_done(&p);
		teardown();
		setup();
	}
	open_written(&model, &w);
}

Test(nesting, a_call_around_very_many_others_has_its_own_time)
{
	enum { CALLS = 40000 };
	struct profile p;

	for (uint64_t i = 0; i < CALLS; i++) {
		call(f_futex, 2000 + 10 * i + 2, 2000 + 10 * i + 5, 0);
		call(f_read, 2000 + 10 * i, 2000 + 10 * i + 6, 0);
	}
	call(f_sync, 2000, 2000 + 10 * CALLS, 0);
	make(&p);
	cr_expect_eq(p.total, 10ull * CALLS);
	check_row(&p, "cudaStreamSynchronize", 4ull * CALLS, 1);
	profile_done(&p);
}
