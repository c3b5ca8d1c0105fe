/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of executable graphs are found by the calls that made them, through updates and clones; and the time of a
 * launch that was recorded as a whole is divided over its nodes. */
#include <criterion/criterion.h>

#include "report/events/cuda/attribute.h"
#include "report/events/cuda/graph.h"
#include "report/events/cuda/graph_estimate.h"
#include "opened.h"
#include "reported.h"

enum { GRAPH = 3, AGAIN = 4, CLONE = 5, EXEC = 7, OF_CLONE = 8 };

static struct writer w;
static struct writer_thread thread, cupti;
static struct model model;
static struct report_context context = {.model = &model};
static uint16_t call, add_kernel, add_set, add_copy, add_graph;

static void setup(void)
{
	writer_init(&w, 1, 10, 1, 1000);
	call = writer_function(&w, TF_GROUP_CUDA, "cudaGraphLaunch");
	add_kernel = writer_function(&w, TF_GROUP_CUDA, "cudaGraphAddKernelNode");
	add_set = writer_function(&w, TF_GROUP_CUDA, "cudaGraphAddMemsetNode");
	add_copy = writer_function(&w, TF_GROUP_CUDA, "cudaGraphAddMemcpyNode");
	add_graph = writer_function(&w, TF_GROUP_CUDA, "cudaGraphAddChildGraphNode");
	writer_thread(&w, &thread, 10, "main", 4 * TF_PAGE);
	writer_thread(&w, &cupti, 11, "cupti", 4 * TF_PAGE);
	writer_device_source(&cupti, TF_DEVICE_TIME_MONOTONIC, 24, "libcupti.so.12");
}

static void teardown(void)
{
	model_done(&model);
	writer_done(&w);
}

TestSuite(graph, .init = setup, .fini = teardown);

static void graph_call(uint64_t end, uint32_t graph, unsigned other, uint32_t value)
{
	uint64_t args[] = {tf_arg(TF_ARG_GRAPH, 0, graph), tf_arg(other, 0, value)};

	writer_call(&thread, call, end, 10, args, 2);
}

/* The graph and node that made the operation of a launch at that time; 0, 0: not known. */
static void assert_made(uint32_t exec, uint32_t node, uint64_t ticks, uint32_t graph)
{
	struct tf_device_operation operation = {
		.kind = TF_DEVICE_KERNEL, .graph = exec, .node = node, .node_graph = exec};
	const struct graph_node *made = graph_node_of(model.images[0].trace, &operation, ticks);

	cr_assert_eq(made ? made->graph : 0, graph);
	cr_assert(!made || made->node == node);
}

Test(graph, a_node_is_that_of_the_graph_by_which_the_executable_one_was_updated_last)
{
	graph_call(2000, GRAPH, TF_ARG_GRAPH_NODE, 1);
	graph_call(2100, GRAPH, TF_ARG_GRAPH_NODE, 2);
	graph_call(2200, GRAPH, TF_ARG_GRAPH_EXEC, EXEC);
	graph_call(2300, AGAIN, TF_ARG_GRAPH_NODE, 1);
	graph_call(2400, AGAIN, TF_ARG_GRAPH_NODE, 0);
	graph_call(3000, AGAIN, TF_ARG_GRAPH_EXEC, EXEC);
	graph_call(3100, CLONE, TF_ARG_GRAPH_INNER, GRAPH);
	graph_call(3200, CLONE, TF_ARG_GRAPH_EXEC, OF_CLONE);
	open_written(&model, &w);
	cr_assert(graph_prepare(&context, &model.images[0]));
	assert_made(EXEC, 1, 2500, GRAPH);
	assert_made(EXEC, 2, 2999, GRAPH);
	assert_made(EXEC, 1, 3000, AGAIN);
	assert_made(EXEC, 0, 3000, AGAIN);
	assert_made(EXEC, 2, 3000, 0); /* the other graph has no such node: nothing is guessed */
	assert_made(OF_CLONE, 2, 4000, GRAPH);
	assert_made(9, 1, 4000, 0);
}

/* A launch of two nodes that take `first` and `second` ns, or (second 0) a whole that takes `first`. */
static void launch(uint32_t n, uint64_t first, uint64_t second)
{
	uint64_t start = 10000 + n * 1000;
	struct writer_device_record records[] = {{second ? 1 : 3, n, start + 100, first, 0},
						 {2, n, start + 100 + first, second, 0}};

	writer_call(&thread, call, start + 50, 40, &(uint64_t){tf_arg(TF_ARG_LAUNCH, 0, 1)}, 1);
	writer_device_calls(&cupti, TF_DEVICE_TIME_MONOTONIC,
			    &(struct writer_device_call){10, n, start + 20, 20, false},
			    1);
	writer_device(&cupti, TF_DEVICE_TIME_MONOTONIC, records, second ? 2 : 1);
}

Test(graph, a_node_that_varies_takes_the_time_by_which_a_launch_is_longer)
{
	const struct tf_device_operation operations[] = {
		{.kind = TF_DEVICE_KERNEL, .graph = EXEC, .node = 0, .node_graph = EXEC},
		{.kind = TF_DEVICE_KERNEL, .graph = EXEC, .node = 1, .node_graph = EXEC},
		{.kind = TF_DEVICE_GRAPH, .graph = EXEC}};
	const struct graph_shares *s;

	for (uint32_t i = 0; i < 3; i++)
		writer_blob(&cupti, TF_BLOB_DEVICE_OPERATION, i + 1, &operations[i], sizeof(operations[i]));
	for (uint32_t n = 1; n <= 40; n++)
		launch(n, 100, n % 2 ? 100 : 500);
	launch(41, 600, 0);
	launch(42, 200, 0);
	open_written(&model, &w);
	cr_assert(graph_estimate_prepare(&context, &model.images[0]));
	s = graph_estimate(model.images[0].trace, EXEC);
	cr_assert(s && s->by_nodes == 40 && s->as_whole == 2 && s->node_count == 2);
	for (size_t i = 0; i < 2; i++) {
		bool varies = s->nodes[i].operation == 2;

		cr_assert_float_eq((double)graph_estimate_ns(s, i, 600), varies ? 500 : 100, 2);
		cr_assert_float_eq((double)graph_estimate_ns(s, i, 200), 100, 2);
		cr_assert_leq(graph_estimate_error(s, i), 4);
	}
	cr_assert_null(graph_estimate(model.images[0].trace, OF_CLONE));
}

Test(graph, a_launch_longer_than_all_by_nodes_has_an_error)
{
	const struct tf_device_operation operations[] = {
		{.kind = TF_DEVICE_KERNEL, .graph = EXEC, .node = 0, .node_graph = EXEC},
		{.kind = TF_DEVICE_KERNEL, .graph = EXEC, .node = 1, .node_graph = EXEC},
		{.kind = TF_DEVICE_GRAPH, .graph = EXEC}};
	const struct graph_shares *s;

	for (uint32_t i = 0; i < 3; i++)
		writer_blob(&cupti, TF_BLOB_DEVICE_OPERATION, i + 1, &operations[i], sizeof(operations[i]));
	launch(1, 10200, 0);
	for (uint32_t n = 2; n <= 40; n++)
		launch(n, 100, 100);
	open_written(&model, &w);
	cr_assert(graph_estimate_prepare(&context, &model.images[0]) && graph_estimate_any(&context));
	s = graph_estimate(model.images[0].trace, EXEC);
	cr_assert(s && s->node_count == 2);
	cr_expect_float_eq(s->outside_ns, 10000, 1);
	for (size_t i = 0; i < 2; i++)
		cr_expect_geq(graph_estimate_error(s, i), 4999); /* either may have taken all of it */
}

/* Executable graph 7 of graph 3, whose first node was made at job.py:9. It is launched four times by its nodes, of 100
 * and 300 ns, and once as a whole, of 800 ns: twice as long. Three quarters of the 400 ns by which that is longer than
 * the others are the longer node's, or none. */
Test(graph, time_by_node_with_the_line_that_made_it)
{
	const struct tf_device_operation operations[] = {
		{.kind = TF_DEVICE_KERNEL, .kernel = 1, .graph = EXEC, .node = 0, .node_graph = EXEC},
		{.kind = TF_DEVICE_COPY, .copy = 1, .graph = EXEC, .node = 1, .node_graph = EXEC},
		{.kind = TF_DEVICE_GRAPH, .graph = EXEC}};
	uint64_t made[] = {tf_arg(TF_ARG_GRAPH, 0, GRAPH), tf_arg(TF_ARG_GRAPH_NODE, 0, 0),
			   tf_arg(TF_ARG_STACK, 0, 1)};

	writer_python_code(&thread, 1, 9, "/home/u/job.py", "capture");
	writer_python_stack(&thread, 1, (const uint32_t[]){1}, 1);
	writer_text(&cupti, TF_BLOB_KERNEL, 1, "_Z4stepPf");
	for (uint32_t i = 0; i < 3; i++)
		writer_blob(&cupti, TF_BLOB_DEVICE_OPERATION, i + 1, &operations[i], sizeof(operations[i]));
	writer_call(&thread, call, 2000, 10, made, 3);
	graph_call(2200, GRAPH, TF_ARG_GRAPH_EXEC, EXEC);
	for (uint32_t n = 1; n <= 4; n++)
		launch(n, 100, 300);
	launch(5, 800, 0);
	open_written(&model, &w);
	context.symbols = symbols_new(&model, false);
	EXPECT_REPORT(&context, "cuda_graph_node_sum",
		      "PID,Graph,Node,Launches,By Nodes,Executions,Total Time (ns),Estimated (ns),Error (ns),Name,Line,"
		      "Made By\n"
		      "10,7,1,5,4,4,1800,600,300,[CUDA memcpy HtoD],,\n"
		      "10,7,0,5,4,4,600,200,300,step(float*),capture (/home/u/job.py:9),cudaGraphLaunch\n");
	symbols_free(context.symbols);
	context.symbols = NULL;
}

Test(graph, without_nodes_the_report_says_how_to_record_them)
{
	launch(1, 800, 0);
	open_written(&model, &w);
	EXPECT_REPORT(&context, "cuda_graph_node_sum",
		      "no CUDA graph was recorded by its nodes: record with --cuda-graph-trace=node\n");
}

/* ---- graphs inside of graphs ---- */

enum { FIRST = 20, SECOND = 21, COPY_OF_FIRST = 22, IN_EXEC = 30, ALSO_IN_EXEC = 31 };

/* A call that made a node, with one more argument. */
static void node_call(uint16_t function, uint64_t end, uint32_t graph, uint32_t node, uint64_t arg)
{
	uint64_t args[] = {tf_arg(TF_ARG_GRAPH, 0, graph), tf_arg(TF_ARG_GRAPH_NODE, 0, node), arg};

	writer_call(&thread, function, end, 10, args, arg ? 3 : 2);
}

/* One record of each operation of a launch, in this order. */
static void record_operations(const struct tf_device_operation *operations, uint32_t count)
{
	writer_call(&thread, call, 5050, 40, &(uint64_t){tf_arg(TF_ARG_LAUNCH, 0, 9)}, 1);
	writer_device_calls(&cupti, TF_DEVICE_TIME_MONOTONIC,
			    &(struct writer_device_call){10, 1, 5020, 20, false}, 1);
	for (uint32_t i = 0; i < count; i++) {
		writer_blob(&cupti, TF_BLOB_DEVICE_OPERATION, i + 1, &operations[i],
			    tf_device_operation_size(&operations[i]));
		writer_device(&cupti, TF_DEVICE_TIME_MONOTONIC,
			      &(struct writer_device_record){i + 1, 1, 6000 + i * 100, 50, 0}, 1);
	}
}

/* The graph and the node of an operation as GRAPH.NODE. */
static void expect_node(const struct tf_device_operation *operation, uint32_t graph, uint32_t node)
{
	const struct graph_node *made = graph_node_of(model.images[0].trace, operation, 6000);

	cr_expect_eq(made ? made->graph : 0, graph, "%u instead of %u", made ? made->graph : 0, graph);
	cr_expect_eq(made ? made->node : 0, node, "%u instead of %u", made ? made->node : 0, node);
}

/* GRAPH contains two others. The first one of them has two kernels that differ in their grids, a set and a copy, the
 * second one has two kernels of one grid. */
static void add_inner_graphs(void)
{
	for (uint32_t i = 1; i <= 3; i++) {
		const struct tf_launch one = {.kernel = i == 3 ? 0 : 1, .grid = {i, 1, 1}, .block = {32, 1, 1}};

		writer_blob(&thread, TF_BLOB_LAUNCH, i, &one, sizeof(one));
	}
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t args[] = {tf_arg(TF_ARG_GRAPH, 0, GRAPH), tf_arg(TF_ARG_GRAPH_NODE, 0, i),
				   tf_arg(TF_ARG_GRAPH_INNER, 0, FIRST + i),
				   tf_arg(TF_ARG_GRAPH_INNER, 1, COPY_OF_FIRST + i)};

		node_call(add_kernel, 2000 + i, FIRST, i, tf_arg(TF_ARG_LAUNCH, 0, 1 + i));
		node_call(add_kernel, 2010 + i, SECOND, i, tf_arg(TF_ARG_LAUNCH, 0, 3));
		writer_call(&thread, add_graph, 2100 + i, 10, args, 4);
	}
	node_call(add_set, 2200, FIRST, 2, 0);
	node_call(add_copy, 2300, FIRST, 3, tf_arg(TF_ARG_COPY, 1, 64));
	graph_call(3000, GRAPH, TF_ARG_GRAPH_EXEC, EXEC);
}

Test(graph, nodes_of_inner_graphs_are_matched_by_what_they_do)
{
	const struct tf_device_operation operations[] = {
		{.kind = TF_DEVICE_KERNEL, .kernel = 1, .graph = EXEC, .node = 5, .node_graph = IN_EXEC,
		 .grid = {2, 1, 1}, .block = {32, 1, 1}},
		{.kind = TF_DEVICE_COPY, .graph = EXEC, .node = 6, .node_graph = IN_EXEC},
		{.kind = TF_DEVICE_KERNEL, .kernel = 1, .graph = EXEC, .node = 7, .node_graph = IN_EXEC,
		 .grid = {1, 1, 1}, .block = {32, 1, 1}},
		{.kind = TF_DEVICE_SET, .graph = EXEC, .node = 8, .node_graph = IN_EXEC},
		{.kind = TF_DEVICE_KERNEL, .kernel = 4, .graph = EXEC, .node = 9, .node_graph = ALSO_IN_EXEC,
		 .grid = {3, 1, 1}, .block = {32, 1, 1}},
		{.kind = TF_DEVICE_KERNEL, .kernel = 4, .graph = EXEC, .node = 4, .node_graph = ALSO_IN_EXEC,
		 .grid = {3, 1, 1}, .block = {32, 1, 1}},
		{.kind = TF_DEVICE_KERNEL, .graph = EXEC, .node = 1, .node_graph = EXEC},
		{.kind = TF_DEVICE_KERNEL, .graph = EXEC, .node = 90, .node_graph = 91, .source_graph = FIRST,
		 .source_node = 1},
		{.kind = TF_DEVICE_KERNEL, .graph = EXEC, .node = 92, .node_graph = 91, .source_graph = COPY_OF_FIRST,
		 .source_node = 0},
	};

	add_inner_graphs();
	record_operations(operations, 6);
	open_written(&model, &w);
	cr_assert(graph_prepare(&context, &model.images[0]));
	expect_node(&operations[0], FIRST, 1);
	expect_node(&operations[1], FIRST, 3);
	expect_node(&operations[2], FIRST, 0);
	expect_node(&operations[3], FIRST, 2);
	expect_node(&operations[4], SECOND, 0); /* in the order of their execution */
	expect_node(&operations[5], SECOND, 1);
	expect_node(&operations[6], GRAPH, 1);
	expect_node(&operations[7], FIRST, 1); /* CUPTI tells the source */
	expect_node(&operations[8], FIRST, 0);
}

/* An inner graph is matched as a whole: one operation without a node there, and it is another one. */
Test(graph, an_inner_graph_is_matched_whole_or_not)
{
	static const struct {
		struct tf_device_operation last;
		uint32_t graph, node;
	} cases[] = {
		{{.kind = TF_DEVICE_KERNEL, .kernel = 1, .grid = {2, 1, 1}, .block = {32, 1, 1}}, FIRST, 1},
		{{.kind = TF_DEVICE_KERNEL, .kernel = 0, .grid = {2, 1, 1}, .block = {32, 1, 1}}, FIRST, 1},
		{{.kind = TF_DEVICE_KERNEL, .kernel = 2, .grid = {2, 1, 1}, .block = {32, 1, 1}}, 0, 0},
		{{.kind = TF_DEVICE_KERNEL, .kernel = 1, .grid = {2, 1, 1}, .block = {31, 1, 1}}, 0, 0},
		{{.kind = TF_DEVICE_KERNEL, .kernel = 1, .grid = {1, 1, 1}, .block = {32, 1, 1}}, 0, 0},
		{{.kind = TF_DEVICE_SET}, FIRST, 2},
		{{.kind = TF_DEVICE_COPY}, FIRST, 3},
	};
	struct tf_device_operation operations[] = {{.kind = TF_DEVICE_KERNEL, .kernel = 1, .grid = {1, 1, 1},
						    .block = {32, 1, 1}, .graph = EXEC, .node = 5,
						    .node_graph = IN_EXEC}, {0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (i) {
			teardown();
			setup();
		}
		operations[1] = cases[i].last;
		operations[1].graph = EXEC;
		operations[1].node_graph = IN_EXEC;
		operations[1].node = 6;
		add_inner_graphs();
		record_operations(operations, 2);
		open_written(&model, &w);
		cr_assert(graph_prepare(&context, &model.images[0]));
		expect_node(&operations[0], cases[i].graph, 0);
		expect_node(&operations[1], cases[i].graph, cases[i].node);
	}
}

/* ---- the time of launches by the calls that made their nodes ---- */

/* The whole one takes twice as long as the others, and so do its nodes. */
/* "when the call ended: count records from the first start, of this duration", for estimates with "~". */
static void write_part(void *text, const struct correlated *k)
{
	if (!k->record_count)
		return;
	buffer_print(text, "%llu: %zu from %llu, %llu%s%s\n", (unsigned long long)k->event.ticks, k->record_count,
		     (unsigned long long)k->records->start_ns, (unsigned long long)k->records->duration_ns,
		     k->is_estimate ? "~" : "", k->launch ? ", launched by another" : "");
}

Test(graph, a_launch_is_divided_over_the_calls_that_made_its_nodes)
{
	const struct tf_device_operation operations[] = {
		{.kind = TF_DEVICE_KERNEL, .graph = EXEC, .node = 0, .node_graph = EXEC},
		{.kind = TF_DEVICE_KERNEL, .graph = EXEC, .node = 1, .node_graph = EXEC},
		{.kind = TF_DEVICE_GRAPH, .graph = EXEC}};
	SCOPED(buffer) text = {0};

	for (uint32_t i = 0; i < 3; i++)
		writer_blob(&cupti, TF_BLOB_DEVICE_OPERATION, i + 1, &operations[i], sizeof(operations[i]));
	graph_call(2000, GRAPH, TF_ARG_GRAPH_NODE, 0);
	graph_call(2100, GRAPH, TF_ARG_GRAPH_NODE, 1);
	graph_call(2200, GRAPH, TF_ARG_GRAPH_EXEC, EXEC);
	for (uint32_t n = 1; n <= 3; n++)
		launch(n, 100, 300);
	launch(4, 800, 0);
	open_written(&model, &w);
	attribute_image(&context, &model.images[0], &text, write_part);
	cr_expect_str_eq(buffer_string(&text),
			 "2000: 1 from 11100, 100, launched by another\n2100: 1 from 11200, 300, launched by another\n"
			 "2000: 1 from 12100, 100, launched by another\n2100: 1 from 12200, 300, launched by another\n"
			 "2000: 1 from 13100, 100, launched by another\n2100: 1 from 13200, 300, launched by another\n"
			 "2000: 1 from 14100, 200~, launched by another\n"
			 "2100: 1 from 14300, 600~, launched by another\n",
			 "%s", buffer_string(&text));
}
