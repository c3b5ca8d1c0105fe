/* SPDX-License-Identifier: Apache-2.0 */
/* pytorch_ops: each kernel with the PyTorch operator that launched it, in the columns of PyProf. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/derive/device/attribute.h"
#include "report/derive/nvtx/nvtx_tree.h"
#include "report/derive/nvtx/operator_work.h"
#include "report/derive/stacks/attribution.h"
#include "report/stats/report.h"

/* A kernel. Places are those of the tree's nodes. */
struct op {
	uint64_t start_ns, duration_ns;
	uint32_t operation, stack, tid;
	uint32_t replay; /* correlation id of the launch of the graph whose node it is; 0: of none */
	size_t range;  /* the innermost range around its launch */
	size_t operator; /* the innermost one that is an operator */
	uint64_t seq;  /* the innermost sequence number; NO_SEQ: none */
	bool is_backward;
	bool has_flops; /* the kernel to which its operator's work is attributed */
};

#define NO_SEQ UINT64_MAX

struct ops {
	const struct report_context *context;
	const struct image *image;
	struct attribution attribution;
	struct nvtx_tree tree;
	struct op *items;
	size_t count, capacity;
	size_t range; /* while a call is visited */
	struct map forward; /* seq -> node + 1 of the last forward operator that has it */
	struct map results; /* seq -> node + 1 of the range that computes the gradients of a convolution */
	struct map stacks;  /* seq -> stack of the last forward kernel */
	struct map kernels; /* seq, direction -> how many */
	uint64_t number; /* of rows */
};

/* ---- ranges ---- */

/* The range and those around it, but no more than a program nests that ends its ranges. */
#define RANGES_AROUND(o, i, from)                                                                   \
	for (size_t i = (from), left_ = NVTX_TREE_LEVELS; i != NVTX_NO_PARENT && left_; left_--, \
		    i = (o)->tree.nodes[i].parent)

static bool node_parse(const struct ops *o, size_t node, struct buffer *text, struct operator_text *ret)
{
	const struct nvtx_node *n = &o->tree.nodes[node];

	buffer_clear(text);
	if (n->domain || !n->is_pushpop)
		return false;
	nvtx_name(o->image->trace, 0, n->text, text);
	return operator_text_parse(buffer_string(text), ret) || strstr(buffer_string(text), "::");
}

static uint64_t seq_of(const struct operator_text *t)
{
	return t->seq.length ? strtoull(t->seq.text, NULL, 10) : NO_SEQ;
}

/* "AddmmBackward0": a node of the graph of autograd. */
static bool is_backward(const struct operator_field *name)
{
	static const char word[] = "Backward";
	size_t length = name->length;

	while (length && name->text[length - 1] >= '0' && name->text[length - 1] <= '9')
		length--;
	return length >= sizeof(word) - 1 && !strncmp(name->text + length - sizeof(word) + 1, word, sizeof(word) - 1);
}

/* Whether a range around this one is a node of autograd. */
static bool is_within_backward(const struct ops *o, size_t node)
{
	struct operator_text t;
	struct buffer text = {0};
	bool found = false;

	RANGES_AROUND (o, i, node)
		found = found || (node_parse(o, i, &text, &t) && is_backward(&t.name));
	buffer_done(&text);
	return found;
}

static void index_operators(struct ops *o)
{
	struct operator_text t;
	struct buffer text = {0};

	for (size_t i = 0; i < o->tree.count; i++) {
		uint64_t *place;

		if (!node_parse(o, i, &text, &t) || !t.seq.length)
			continue;
		if (operator_is_convolution_backward(&t.name) && t.sizes.length)
			*map_put(&o->results, seq_of(&t), 0, NULL) = i + 1;
		if (is_within_backward(o, i))
			continue;
		place = map_put(&o->forward, seq_of(&t), 0, NULL);
		if (!*place || o->tree.nodes[*place - 1].start <= o->tree.nodes[i].start)
			*place = i + 1;
	}
	buffer_done(&text);
}

/* ---- kernels ---- */

static void op_visit_range(void *context, size_t node)
{
	struct ops *o = context;

	o->range = node;
}

/* What the ranges around the launch tell. */
static void op_place(const struct ops *o, struct op *op)
{
	struct operator_text t;
	struct buffer text = {0};

	op->operator = NVTX_NO_PARENT;
	op->seq = NO_SEQ;
	RANGES_AROUND (o, i, op->range) {
		if (!node_parse(o, i, &text, &t))
			continue;
		if (op->operator == NVTX_NO_PARENT)
			op->operator = i;
		if (op->seq == NO_SEQ)
			op->seq = seq_of(&t);
		op->is_backward = op->is_backward || is_backward(&t.name);
	}
	buffer_done(&text);
}

static void op_add_correlated(void *context, const struct correlated *k)
{
	struct ops *o = context;
	struct op op = {.range = NVTX_NO_PARENT};
	struct tf_device_operation w;

	o->range = NVTX_NO_PARENT;
	if (k->thread) {
		attribute_ranges(&o->tree, k, o, op_visit_range);
		op.tid = k->thread->tid;
		op.stack = (uint32_t)tf_arg_value(event_arg(&k->event, TF_ARG_STACK));
		op.replay = k->launch ? k->launch->correlation : 0;
	}
	op.range = o->range;
	op_place(o, &op);
	for (size_t i = 0; i < k->record_count; i++) {
		if (!device_operation(o->image->trace, k->records[i].operation, &w) || w.kind != TF_DEVICE_KERNEL)
			continue;
		op.start_ns = k->records[i].start_ns;
		op.duration_ns = k->records[i].duration_ns;
		op.operation = k->records[i].operation;
		o->items = mem_grow(o->items, o->count, &o->capacity, sizeof(*o->items));
		o->items[o->count++] = op;
	}
}

static int ops_by_start(const void *left, const void *right)
{
	const struct op *a = left, *b = right;

	return order_of(a->start_ns, b->start_ns) ?: order_of(a->operation, b->operation);
}

static void op_kernel_name(const struct ops *o, const struct op *op, struct buffer *ret)
{
	struct tf_device_operation w;

	buffer_clear(ret);
	if (device_operation(o->image->trace, op->operation, &w))
		device_operation_name(o->context, o->image->trace, &w, ret);
}

/* ---- floating-point operations ---- */

/* Which gradient of a convolution the kernel computes: 1 or 2; 0: its name does not tell. */
static unsigned gradient_of(const char *kernel)
{
	return strstr(kernel, "dgrad") ? 1 : strstr(kernel, "wgrad") ? 2 : 0;
}

static bool op_work(const struct ops *o, const struct op *op, struct operator_work *ret)
{
	struct operator_text t, result = {0};
	struct buffer text = {0}, of_result = {0};
	const uint64_t *place = op->seq == NO_SEQ ? NULL : map_find(&o->results, op->seq, 0);
	bool is_known;

	if (op->operator == NVTX_NO_PARENT)
		return false;
	node_parse(o, op->operator, &text, &t);
	if (place)
		node_parse(o, *place - 1, &of_result, &result);
	is_known = operator_work(&t, place ? &result.sizes : NULL, ret);
	buffer_done(&text);
	buffer_done(&of_result);
	return is_known;
}

/* An operator may launch several kernels: its work is that of the longest, and of a convolution's gradients that of the
 * longest kernel for each. Each replay of a graph does the work again. */
static void choose_kernels(struct ops *o)
{
	struct map best = {0}; /* operator, replay and gradient -> place of the kernel + 1 */
	struct buffer name = {0};
	struct operator_work work;

	for (size_t i = 0; i < o->count; i++) {
		struct op *op = &o->items[i];
		unsigned gradient = 0;
		uint64_t *place;

		if (!op_work(o, op, &work))
			continue;
		if (work.class == OPERATOR_CONVOLUTION_BACKWARD) {
			op_kernel_name(o, op, &name);
			gradient = gradient_of(buffer_string(&name));
			if (!gradient)
				continue;
		}
		place = map_put(&best, op->operator, (uint64_t)op->replay << 2 | gradient, NULL);
		if (*place && o->items[*place - 1].duration_ns >= op->duration_ns)
			continue;
		if (*place)
			o->items[*place - 1].has_flops = false;
		op->has_flops = true;
		*place = i + 1;
	}
	map_done(&best);
	buffer_done(&name);
}

/* The size of an element, if the kernel's name has the type. 0: it does not tell. */
static unsigned element_size(const char *kernel)
{
	static const struct {
		const char *word;
		unsigned size;
	} words[] = {{"bf16", 2}, {"bfloat16", 2}, {"f16", 2}, {"half", 2}, {"hgemm", 2}, {"h16816", 2}, {"s16816", 2},
		     {"884", 2},  {"f64", 8},	   {"dgemm", 8}, {"double", 8}, {"f32", 4}, {"sgemm", 4}, {"float", 4}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(kernel, words[i].word))
			return words[i].size;
	return 0;
}

static bool uses_tensor_cores(const char *kernel)
{
	static const char *const words[] = {"884gemm",	"1688gemm", "16816gemm", "884cudnn", "1688cudnn", "16816cudnn",
					    "tensorop", "hmma",	    "imma",	 "gmma",     "tf32"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(kernel, words[i]))
			return true;
	return false;
}

/* ---- cells ---- */

static void text_cell(struct table *table, struct buffer *text, const char *otherwise)
{
	table_text(table, text->size ? text->data : otherwise);
	buffer_clear(text);
}

/* The sequence number, and those of the operators around it. */
static void seq_cells(const struct ops *o, const struct op *op, struct table *table)
{
	struct operator_text t;
	struct buffer text = {0}, cell = {0};
	uint64_t last = op->seq;

	if (op->seq != NO_SEQ)
		buffer_print(&cell, "%" PRIu64, op->seq);
	text_cell(table, &cell, "-");
	RANGES_AROUND (o, i, op->range) {
		uint64_t seq = node_parse(o, i, &text, &t) ? seq_of(&t) : NO_SEQ;

		if (seq == NO_SEQ || seq == last)
			continue;
		buffer_print(&cell, "%s%" PRIu64, cell.size ? "," : "", seq);
		last = seq;
	}
	text_cell(table, &cell, "-");
	buffer_done(&text);
	buffer_done(&cell);
}

/* The program's own ranges, the outermost first. Of a backward kernel those of the forward operator. */
static void layer_cell(const struct ops *o, const struct op *op, struct table *table)
{
	const uint64_t *forward = op->is_backward && op->seq != NO_SEQ ? map_find(&o->forward, op->seq, 0) : NULL;
	struct operator_text t;
	struct buffer text = {0}, cell = {0};
	size_t chain[NVTX_TREE_LEVELS], depth = 0;

	RANGES_AROUND (o, i, forward ? *forward - 1 : op->range)
		if (!node_parse(o, i, &text, &t))
			chain[depth++] = i;
	while (depth--) {
		if (cell.size)
			buffer_text(&cell, ":");
		nvtx_tree_name(&o->tree, chain[depth], &cell);
	}
	text_cell(table, &cell, "-");
	buffer_done(&text);
	buffer_done(&cell);
}

/* The line of the program; of a backward kernel that of the forward operator. */
static void trace_cell(struct ops *o, const struct op *op, struct table *table)
{
	const uint64_t *forward = op->is_backward && op->seq != NO_SEQ ? map_find(&o->stacks, op->seq, 0) : NULL;
	uint32_t stack = forward ? (uint32_t)*forward : op->stack;
	struct symbol_frame frame;
	bool is_users;

	if (!op->is_backward && op->seq != NO_SEQ && op->stack)
		*map_put(&o->stacks, op->seq, 0, NULL) = op->stack;
	if (!stack || !attribution_stack(&o->attribution, o->image, stack, &frame, &is_users)) {
		table_text(table, "-");
		return;
	}
	symbols_name(o->context->symbols, &frame);
	table_text(table, frame.text);
}

/* "aten::addmm" is the operator addmm of the module aten. */
static void operator_name_cells(const struct ops *o, const struct op *op, struct table *table)
{
	struct operator_text t = {0};
	struct buffer text = {0};
	size_t at = 0;

	if (op->operator != NVTX_NO_PARENT)
		node_parse(o, op->operator, &text, &t);
	for (size_t i = 0; i + 1 < t.name.length; i++)
		if (t.name.text[i] == ':' && t.name.text[i + 1] == ':')
			at = i + 2;
	if (at > 2)
		table_text_part(table, t.name.text, at - 2);
	else
		table_text(table, "na");
	if (t.name.length > at)
		table_text_part(table, t.name.text + at, t.name.length - at);
	else
		table_text(table, "na");
	buffer_done(&text);
}

static void dimensions_cell(const uint32_t *of, struct table *table)
{
	struct buffer cell = {0};

	buffer_print(&cell, "%u,%u,%u", of[0], of[1], of[2]);
	text_cell(table, &cell, "");
	buffer_done(&cell);
}

static void op_row(struct ops *o, const struct op *op, struct table *table)
{
	struct tf_device_operation w = {0};
	struct operator_work work = {0};
	struct buffer kernel = {0};
	bool is_known = op_work(o, op, &work) && op->has_flops;
	unsigned size;

	device_operation(o->image->trace, op->operation, &w);
	op_kernel_name(o, op, &kernel);
	size = element_size(buffer_string(&kernel));
	table_number(table, ++o->number);
	seq_cells(o, op, table);
	table_number_if(table, op->tid, op->tid);
	layer_cell(o, op, table);
	trace_cell(o, op, table);
	table_text(table, op->operator == NVTX_NO_PARENT ? "na" : op->is_backward ? "bprop" : "fprop");
	table_number(table, op->seq == NO_SEQ ? 0 : (*map_put(&o->kernels, op->seq, op->is_backward, NULL))++);
	operator_name_cells(o, op, table);
	table_text(table, kernel.size ? kernel.data : "?");
	table_text(table, is_known ? work.params : "na");
	table_number(table, op->duration_ns);
	table_text(table, !is_known ? "-" : uses_tensor_cores(buffer_string(&kernel)) ? "1" : "0");
	table_number(table, w.device);
	table_number(table, w.stream);
	dimensions_cell(w.grid, table);
	dimensions_cell(w.block, table);
	table_number_if(table, is_known, work.flops);
	table_number_if(table, is_known && size && work.elements < UINT64_MAX / 8, work.elements * size);
	buffer_done(&kernel);
}

static void ops_add_image(struct ops *o, const struct image *image, struct table *table)
{
	o->image = image;
	o->count = 0;
	nvtx_tree_make(&o->tree, image, true);
	index_operators(o);
	attribute_image(o->context, image, o, op_add_correlated);
	if (o->count)
		qsort(o->items, o->count, sizeof(*o->items), ops_by_start);
	choose_kernels(o);
	for (size_t i = 0; i < o->count; i++)
		op_row(o, &o->items[i], table);
	map_done(&o->forward);
	map_done(&o->results);
	map_done(&o->stacks);
	map_done(&o->kernels);
	o->forward = o->results = o->stacks = o->kernels = (struct map){0};
	nvtx_tree_done(&o->tree);
}

int report_pytorch_ops(const struct report_context *c, struct table *table, struct err *err)
{
	struct ops o = {.context = c, .attribution = {.symbols = c->symbols}};

	table_has(table, {"Idx", COLUMN_ID}, {"SeqId", COLUMN_TEXT}, {"AltSeqId", COLUMN_TEXT}, {"TId", COLUMN_ID},
		  {"Layer", COLUMN_TEXT}, {"Trace", COLUMN_TEXT}, {"Direction", COLUMN_TEXT}, {"Sub", COLUMN_ID},
		  {"Module", COLUMN_TEXT}, {"Op", COLUMN_TEXT}, {"Kernel", COLUMN_TEXT}, {"Params", COLUMN_TEXT},
		  {"Sil(ns)", COLUMN_COUNT}, {"TC", COLUMN_TEXT}, {"Device", COLUMN_ID}, {"Stream", COLUMN_ID},
		  {"Grid", COLUMN_TEXT}, {"Block", COLUMN_TEXT}, {"FLOPs", COLUMN_COUNT}, {"Bytes", COLUMN_COUNT});
	for (size_t i = 0; i < c->model->image_count; i++)
		if (c->model->images[i].trace)
			ops_add_image(&o, &c->model->images[i], table);
	attribution_done(&o.attribution);
	free(o.items);
	return table_rows(table) ? 0 : device_none(c->model, err);
}
