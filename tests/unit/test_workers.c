/* SPDX-License-Identifier: Apache-2.0 */
/* The edit workers=N: children of one program that run one after the other, or all at once. */
#include <errno.h>
#include <string.h>

#include "captured.h"
#include "report/causes/price.h"

CAPTURED_SUITE(workers);

#define MS 1000000ull
#define BEGIN (1000 * MS)

enum { CHILDREN = 4, LENGTH = 100, PARENT = 600 };

static struct report_context context = {.model = &model};

static uint64_t begin_of(uint32_t child, bool is_pool)
{
	return BEGIN + (is_pool ? 10 : 10 + child * (LENGTH + 10)) * MS;
}

static void write_child(uint32_t child, bool is_pool, const char *program)
{
	struct writer w;
	struct writer_thread t;

	writer_init(&w, 2 + child, PARENT + 1 + child, PARENT, begin_of(child, is_pool));
	w.header.via = TF_VIA_FORK;
	w.header.parent_nonce = 1;
	writer_command(&w, program, program, strlen(program) + 1);
	writer_thread(&w, &t, PARENT + 1 + child, "work", TF_PAGE);
	writer_end(&w, TF_END_EXIT, 0, begin_of(child, is_pool) + LENGTH * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

/* The parent waits for each child until 1 ms after its end, and ends 10 ms after the last one. */
static void write_parent(uint32_t children, bool is_pool)
{
	struct writer w;
	struct writer_thread t;
	uint16_t waits;
	uint64_t before = BEGIN + 9 * MS, end = BEGIN;

	writer_init(&w, 1, PARENT, 1, BEGIN);
	writer_command(&w, "/bin/parent", "/bin/parent", 12);
	waits = writer_function(&w, TF_GROUP_OSRT, "waitpid");
	writer_thread(&w, &t, PARENT, "main", 2 * TF_PAGE);
	for (uint32_t i = 0; i < children; i++) {
		const struct tf_child child = {PARENT + 1 + i, 0};
		uint64_t from = is_pool ? before + MS : begin_of(i, false) + MS;

		end = begin_of(i, is_pool) + (LENGTH + 1 + (is_pool ? i : 0)) * MS;
		writer_call(&t, waits, end, end > from ? end - from : 0,
			    (uint64_t[]){tf_arg(TF_ARG_VALUE, 0, PARENT + 1 + i)}, 1);
		writer_blob(&t, TF_BLOB_CHILD, i + 1, &child, sizeof(child));
		before = end;
	}
	writer_end(&w, TF_END_EXIT, 0, end + 10 * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

static struct causality *causes_of(uint32_t children, bool is_pool)
{
	struct causality *causes;

	write_parent(children, is_pool);
	for (uint32_t i = 0; i < children; i++)
		write_child(i, is_pool, "/bin/worker");
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	causes = causes_find(&context);
	cr_assert_not_null(causes);
	return causes;
}

static void expect_saving(struct causality *causes, const char *edit, double ms)
{
	struct saving s;
	struct err err;

	cr_assert_eq(price_find(causes, edit, &s, &err), 0, "%s", err.text);
	cr_expect_float_eq((double)s.saved_ns / MS, ms, 3, "%s saves %f ms", edit, (double)s.saved_ns / MS);
}

static void done(struct causality *causes)
{
	causes_free(causes);
	symbols_free(context.symbols);
}

Test(workers, one_after_the_other_run_beside_each_other)
{
	struct causality *causes = causes_of(CHILDREN, false);

	/* They begin 10 ms after each other, or when the N-th before has ended; the last one ended at 440 ms. */
	expect_saving(causes, "workers=1", 440 - (10 + 4 * LENGTH));
	expect_saving(causes, "workers=2", 440 - (20 + 2 * LENGTH));
	expect_saving(causes, "workers=4", 440 - (40 + LENGTH));
	expect_saving(causes, "workers=8", 440 - (40 + LENGTH));
	done(causes);
}

Test(workers, a_pool_divides_its_work)
{
	struct causality *causes = causes_of(CHILDREN, true);

	expect_saving(causes, "workers=4", 0);
	expect_saving(causes, "workers=8", LENGTH / 2);
	done(causes);
}

Test(workers, one_child_is_no_group)
{
	struct causality *causes = causes_of(1, false);
	struct saving s;
	struct err err;

	cr_expect_eq(price_find(causes, "workers=2", &s, &err), -ENODATA);
	cr_expect_str_eq(err.text, "workers=2: no process started several others of one program");
	done(causes);
}
