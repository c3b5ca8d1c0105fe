/* SPDX-License-Identifier: Apache-2.0 */
/* Which one ended the wait of a thread: the process that another thread had waited for, or that thread. */
#include "captured.h"
#include "report/causes/causes.h"

CAPTURED_SUITE(told);

#define US 1000ull
#define MS 1000000ull
#define BEGIN (1000 * MS)

enum { PARENT = 10, HELPER, CHILD, CHILD_ENDS_MS = 200 };

static struct report_context context = {.model = &model};

static void write_child(void)
{
	struct writer w;
	struct writer_thread t;

	writer_init(&w, 2, CHILD, PARENT, BEGIN + 10 * MS);
	w.header.via = TF_VIA_FORK;
	w.header.parent_nonce = 1;
	writer_command(&w, "/bin/child", "/bin/child", 11);
	writer_thread(&w, &t, CHILD, "child", TF_PAGE);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + CHILD_ENDS_MS * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

/* The main thread waits for a lock, and another one reads, perhaps what the child writes until it ends. */
static void write_parent(uint64_t read_ends_us, uint64_t thread_ends_us, uint64_t wait_ends_us)
{
	const uint64_t lock[] = {tf_arg(TF_ARG_LOCK, 0, 0x1000)};
	struct writer w;
	struct writer_thread main, helper;
	uint16_t waits, reads;

	writer_init(&w, 1, PARENT, 1, BEGIN);
	writer_command(&w, "/bin/parent", "/bin/parent", 12);
	waits = writer_function(&w, TF_GROUP_OSRT, "sem_wait");
	reads = writer_function(&w, TF_GROUP_OSRT, "read");
	writer_thread(&w, &main, PARENT, "main", 2 * TF_PAGE);
	writer_thread(&w, &helper, HELPER, "helper", 2 * TF_PAGE);
	writer_page(&helper)->start_ticks = BEGIN + 5 * MS;
	writer_page(&helper)->end_ticks = BEGIN + thread_ends_us * US;
	writer_call(&helper, reads, BEGIN + read_ends_us * US, 100 * MS, NULL, 0);
	writer_call(&main, waits, BEGIN + wait_ends_us * US, wait_ends_us * US - 10 * MS, lock, 1);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 300 * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

/* The process or thread that ended the wait of the main thread. */
static uint32_t ended_by(uint64_t read_ends_us, uint64_t thread_ends_us, uint64_t wait_ends_us)
{
	struct causality *s;
	uint32_t tid = 0;

	write_child();
	write_parent(read_ends_us, thread_ends_us, wait_ends_us);
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	s = causes_find(&context);
	cr_assert_not_null(s);
	for (size_t i = 0; i < s->graph.node_count; i++)
		if (s->graph.nodes[i].kind == NODE_WAIT && s->graph.nodes[i].end_ns == wait_ends_us * US &&
		    s->actors[s->graph.nodes[i].actor].thread->tid == PARENT)
			tid = s->actors[s->graph.nodes[s->graph.nodes[i].source].actor].thread->tid;
	causes_free(s);
	symbols_free(context.symbols);
	return tid;
}

Test(told, a_thread_that_gets_a_cpu_long_after_the_process_has_ended_has_ended_the_wait)
{
	cr_expect_eq(ended_by(200100, 218900, 219000), HELPER);
}

Test(told, so_has_a_thread_that_ends_some_time_before_the_wait)
{
	cr_expect_eq(ended_by(200100, 200300, 204000), HELPER);
}

Test(told, a_thread_that_has_ended_before_the_process_has_not)
{
	cr_expect_eq(ended_by(120000, 121000, 204000), CHILD);
}
