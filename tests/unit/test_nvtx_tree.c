/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "report/events/nvtx/nvtx_tree.h"
#include "report/tables/report.h"
#include "trace_writer.h"

#define BEGIN 1000000ull

static struct writer w;
static struct writer_thread thread, other;
static struct model model;
static struct report_context context = {.model = &model};

/* The limit catches quadratic run time. It is on CPU time, so that load on the machine does not matter. */
static void setup(void)
{
	cr_assert_eq(setrlimit(RLIMIT_CPU, &(struct rlimit){60, 60}), 0);
	writer_init(&w, 1, 10, 1, BEGIN);
	writer_thread(&w, &thread, 10, "main", 64 * TF_PAGE);
	writer_thread(&w, &other, 11, "other", 64 * TF_PAGE);
	writer_text(&thread, TF_BLOB_STRING, 1, "range");
}

static void teardown(void)
{
	model_done(&model);
	writer_done(&w);
}

TestSuite(nvtx_tree, .init = setup, .fini = teardown);

static void open_model(uint64_t end)
{
	struct err err;
	size_t size;
	const uint8_t *bytes;

	writer_end(&w, TF_END_EXIT, 0, BEGIN + end);
	bytes = writer_bytes(&w, &size);
	cr_assert_eq(model_open_bytes(&model, bytes, size, &err), 0, "%s", err.text);
}

static void start_end(struct writer_thread *t, uint64_t at, uint64_t id, bool is_start)
{
	writer_event(t, is_start ? TF_RANGE_START : TF_RANGE_END, 0, BEGIN + at, is_start ? 1 : 0);
	writer_slot(t, tf_arg(TF_ARG_VALUE, 0, id));
}

static uint64_t random_state = 3;

static uint64_t below(uint64_t limit)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % limit;
}

/* The same result by a linear search, to compare with. */
static size_t tightest_around(const struct nvtx_tree *t, size_t i)
{
	size_t best = NVTX_NO_PARENT;

	for (size_t k = 0; k < i; k++) {
		const struct nvtx_node *o = &t->nodes[k], *n = &t->nodes[i];

		if (o->thread == n->thread && o->start <= n->start && o->end >= n->end &&
		    (best == NVTX_NO_PARENT || o->end - o->start <= t->nodes[best].end - t->nodes[best].start))
			best = k;
	}
	return best;
}

Test(nvtx_tree, each_lies_in_the_tightest_one_around_it)
{
	struct nvtx_tree t;
	size_t children = 0;

	for (uint64_t at = 0, next = 1; at < 4000; at += below(3)) {
		struct writer_thread *on = below(4) ? &thread : &other;

		if (below(2))
			start_end(on, at, next++, true);
		else if (next > 1)
			start_end(on, at, 1 + below(next - 1), false);
	}
	open_model(5000);
	nvtx_tree_make(&t, &model.images[0], false);
	cr_assert_gt(t.count, 200);
	for (size_t i = 0; i < t.count; i++) {
		size_t parent = tightest_around(&t, i);

		cr_assert_eq(t.nodes[i].parent, parent, "%zu: %zu, not %zu", i, t.nodes[i].parent, parent);
		cr_assert_eq(t.nodes[i].level, parent == NVTX_NO_PARENT ? 0 : t.nodes[parent].level + 1);
		children += t.nodes[i].children + (parent == NVTX_NO_PARENT);
	}
	cr_assert_eq(children, t.count);
	nvtx_tree_done(&t);
}

Test(nvtx_tree, hundreds_of_thousands_may_be_open_at_once)
{
	enum { RANGES = 300000 };
	struct nvtx_tree t;

	for (uint64_t i = 0; i < RANGES; i++)
		start_end(&thread, i, i + 1, true);
	for (uint64_t i = 0; i < RANGES; i++)
		start_end(&thread, RANGES + i, i + 1, false);
	open_model(3 * RANGES);
	nvtx_tree_make(&t, &model.images[0], false);
	cr_assert_eq(t.count, RANGES);
	cr_assert_eq(t.nodes[RANGES - 1].level, 0, "the ranges overlap, none contains another");
	nvtx_tree_done(&t);
}

/* Stack and memory use must not grow with the nesting depth of the ranges in a file. */
Test(nvtx_tree, paths_of_what_lies_too_deep_are_cut)
{
	enum { RANGES = 20000 };
	struct buffer path = {0};
	struct table table = {0};
	struct nvtx_tree t;

	for (uint64_t i = 0; i < RANGES; i++)
		writer_event(&thread, TF_PUSH, 0, BEGIN + i, 1);
	open_model(2 * RANGES);
	nvtx_tree_make(&t, &model.images[0], true);
	cr_assert_eq(t.nodes[RANGES - 1].level, RANGES - 1);
	nvtx_tree_path(&t, NVTX_TREE_LEVELS - 1, 0, &path);
	cr_assert(!strncmp(path.data, ":1:2:3:", 7), "as many parents as are shown");
	buffer_clear(&path);
	nvtx_tree_path(&t, RANGES - 1, 0, &path);
	cr_assert(!strncmp(path.data, ":...:19745:", 11), "%.20s", path.data);
	cr_assert(!strcmp(path.data + path.size - 12, ":19999:20000"), "%s", path.data);
	report_nvtx_pushpop_trace(&context, &table);
	cr_assert_null(table.lacks, "%s", table.lacks);
	cr_assert_eq(table_rows(&table), RANGES);
	table_done(&table);
	buffer_done(&path);
	nvtx_tree_done(&t);
}

struct popped {
	size_t count, unfinished;
	uint64_t ticks;
};

static void count_range(void *counted, const struct nvtx_range *r)
{
	struct popped *p = counted;

	p->count++;
	p->unfinished += r->is_unfinished;
	p->ticks += r->end - r->start;
}

/* A pop of one domain searches for its push below as many pushes of another domain. */
Test(nvtx_tree, pops_under_hundreds_of_thousands_of_another_domain)
{
	enum { RANGES = 300000 };
	struct popped p = {0};

	writer_event(&thread, TF_PUSH, 1, BEGIN, 1);
	for (uint64_t i = 1; i < RANGES; i++)
		writer_event(&thread, TF_PUSH, 2, BEGIN + i, 1);
	for (uint64_t i = 0; i < RANGES; i++)
		writer_event(&thread, TF_POP, i % 2 ? 3 : 1, BEGIN + RANGES + i, 0);
	open_model(3 * RANGES);
	nvtx_ranges(&model.images[0], NULL, &p, count_range);
	cr_assert_eq(p.count, RANGES);
	cr_assert_eq(p.unfinished, RANGES - 1);
}

/* The domains alternate: each pop matches the last push of its own domain. */
Test(nvtx_tree, domains_nest_on_their_own)
{
	enum { ROUNDS = 50000 };
	struct popped p = {0};

	writer_event(&thread, TF_PUSH, 0, BEGIN, 1);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		writer_event(&thread, TF_PUSH, i % 2, BEGIN + 2 * i, 1);
		writer_event(&thread, TF_POP, (i + 1) % 2, BEGIN + 2 * i + 1, 0);
	}
	open_model(4 * ROUNDS);
	nvtx_ranges(&model.images[0], NULL, &p, count_range);
	cr_assert_eq(p.count, ROUNDS + 1);
	cr_assert_eq(p.unfinished, 1);
	/* Each range is popped in the round after its push, 3 ticks later; the last one ends with the process. */
	cr_assert_eq(p.ticks, 3 * (ROUNDS - 1) + 3 + (4 * ROUNDS - 2 * ROUNDS), "%llu", (unsigned long long)p.ticks);
}
