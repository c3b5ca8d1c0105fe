/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/ops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/ops/ops_work.h"

/* ---- ranges ---- */

/* A node of autograd. What checkpointing executes again is the forward pass. */
static bool is_node(const struct operator_text *t)
{
	return operator_is_backward(&t->name) && !operator_is_checkpoint(&t->name);
}

/* The innermost range from this one on that is a node of autograd. False: none is. */
static bool node_around(const struct ops *o, size_t range, uint64_t *ret_seq)
{
	struct operator_text t;
	struct buffer text = {0};
	bool found = false;

	RANGES_AROUND (o, i, range) {
		found = ops_parse(o, i, &text, &t) && is_node(&t);
		if (found)
			*ret_seq = ops_seq(&t);
		if (found)
			break;
	}
	buffer_done(&text);
	return found;
}

static void index_operators(struct ops *o)
{
	struct operator_text t;
	struct buffer text = {0};

	for (size_t i = 0; i < o->range_count; i++) {
		uint64_t *place, seq, node;

		if (!ops_parse(o, i, &text, &t) || !t.seq.length)
			continue;
		seq = ops_seq(&t);
		if (operator_is_convolution_backward(&t.name) && t.sizes.length)
			*map_put(&o->results, seq, 0, NULL) = i + 1;
		if (node_around(o, i, &node)) {
			if (node != OPS_NO_SEQ && node != seq)
				*map_put(&o->aliases, seq, 0, NULL) = node + 1;
			continue;
		}
		place = map_put(&o->forward, seq, 0, NULL);
		if (!*place || o->ranges[*place - 1].start <= o->ranges[i].start)
			*place = i + 1;
	}
	buffer_done(&text);
}

/* The number of the forward operator whose gradient, or the gradient of whose gradient, a node computes. */
static uint64_t first_cause(const struct ops *o, uint64_t seq)
{
	/* a trace may have any numbers, a circle of them, too */
	for (int depth = 0; depth < 16 && !map_find(&o->forward, seq, 0); depth++) {
		const uint64_t *alias = map_find(&o->aliases, seq, 0);

		if (!alias)
			break;
		seq = *alias - 1;
	}
	return seq;
}

/* ---- kernels ---- */

void ops_add(struct ops *o, const struct op *op)
{
	o->items = mem_grow(o->items, o->count, &o->capacity, sizeof(*o->items));
	o->items[o->count++] = *op;
}

/* Where the ranges of the forward pass are that caused the kernel; of a forward kernel its own. */
static size_t forward_of(const struct ops *o, const struct op *op)
{
	const uint64_t *forward = op->cause != OPS_NO_SEQ ? map_find(&o->forward, op->cause, 0) : NULL;

	return forward ? *forward - 1 : op->range;
}

/* What the ranges around the launch tell. */
static void op_place(const struct ops *o, struct op *op)
{
	struct operator_marker m;
	struct operator_text t;
	struct buffer text = {0};

	op->operator = op->marker = NVTX_NO_PARENT;
	op->seq = OPS_NO_SEQ;
	RANGES_AROUND (o, i, op->range) {
		if (!ops_parse(o, i, &text, &t))
			continue;
		if (op->operator == NVTX_NO_PARENT)
			op->operator = i;
		if (op->seq == OPS_NO_SEQ)
			op->seq = ops_seq(&t);
	}
	op->cause = OPS_NO_SEQ;
	op->is_backward = node_around(o, op->range, &op->cause);
	if (op->cause != OPS_NO_SEQ)
		op->cause = first_cause(o, op->cause);
	RANGES_AROUND (o, i, forward_of(o, op))
		if (ops_parse_marker(o, i, &text, &m))
			op->marker = i;
	buffer_done(&text);
}

static int ops_by_start(const void *left, const void *right)
{
	const struct op *a = left, *b = right;

	return order_of(a->start_ns, b->start_ns) ?: order_of(a->name, b->name);
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

	if (op->seq != OPS_NO_SEQ)
		buffer_print(&cell, "%" PRIu64, op->seq);
	text_cell(table, &cell, "-");
	RANGES_AROUND (o, i, op->range) {
		uint64_t seq = ops_parse(o, i, &text, &t) ? ops_seq(&t) : OPS_NO_SEQ;

		if (seq == OPS_NO_SEQ || seq == last)
			continue;
		buffer_print(&cell, "%s%" PRIu64, cell.size ? "," : "", seq);
		last = seq;
	}
	text_cell(table, &cell, "-");
	buffer_done(&text);
	buffer_done(&cell);
}

/* Whether a range is the program's own; PyProf's are about a function of PyTorch. */
static bool is_layer(const struct ops *o, size_t range)
{
	struct operator_marker m;
	struct operator_text t;
	struct buffer text = {0};
	bool is_own = !ops_parse(o, range, &text, &t);

	buffer_clear(&text);
	o->range_text(o->source, range, &text);
	is_own = is_own && !operator_marker_parse(buffer_string(&text), &m) &&
		 !operator_marker_is_module(buffer_string(&text)) &&
		 !operator_marker_trace(buffer_string(&text), NULL);
	buffer_done(&text);
	return is_own;
}

/* The program's own ranges, the outermost first. Of a backward kernel those of the forward operator. PyProf's users
 * write "layer:encoder". */
static void layer_cell(const struct ops *o, const struct op *op, struct table *table)
{
	static const char mark[] = "layer:";
	struct buffer text = {0}, cell = {0};
	size_t chain[NVTX_TREE_LEVELS], depth = 0;

	RANGES_AROUND (o, i, forward_of(o, op))
		if (is_layer(o, i))
			chain[depth++] = i;
	while (depth--) {
		buffer_clear(&text);
		o->range_text(o->source, chain[depth], &text);
		buffer_print(&cell, "%s%s", cell.size ? ":" : "",
			     buffer_string(&text) +
				     (strncmp(buffer_string(&text), mark, sizeof(mark) - 1) ? 0 : sizeof(mark) - 1));
	}
	text_cell(table, &cell, "-");
	buffer_done(&text);
	buffer_done(&cell);
}

/* The line that launched the kernel; of a backward kernel that of the forward operator. Kernels come by start. */
static uint32_t line_of(struct ops *o, const struct op *op)
{
	const uint64_t *forward = op->cause != OPS_NO_SEQ ? map_find(&o->lines, op->cause, 0) : NULL;

	if (!op->is_backward && op->seq != OPS_NO_SEQ && op->line)
		*map_put(&o->lines, op->seq, 0, NULL) = op->line;
	return forward ? (uint32_t)*forward : op->line;
}

/* The lines that PyProf has noted, else the program's line. */
static void trace_cell(struct ops *o, const struct op *op, struct table *table)
{
	uint32_t line = line_of(o, op);
	struct buffer text = {0}, cell = {0};

	RANGES_AROUND (o, i, forward_of(o, op)) {
		buffer_clear(&text);
		o->range_text(o->source, i, &text);
		if (operator_marker_trace(buffer_string(&text), &cell))
			break;
	}
	if (!cell.size && line)
		o->line_text(o->source, line, &cell);
	text_cell(table, &cell, "-");
	buffer_done(&text);
	buffer_done(&cell);
}

/* PyProf's names for the forward operator, if it has noted any. Else "aten::addmm" is the operator addmm of the module
 * aten. */
static void operator_name_cells(const struct ops *o, const struct op *op, struct table *table)
{
	struct operator_marker m = {0};
	struct operator_text t = {0};
	struct buffer text = {0};
	size_t at = 0;

	if (op->marker != NVTX_NO_PARENT && ops_parse_marker(o, op->marker, &text, &m)) {
		table_text_part(table, m.mod.text, m.mod.length);
		table_text_part(table, m.op.text, m.op.length);
		buffer_done(&text);
		return;
	}
	if (op->operator != NVTX_NO_PARENT)
		ops_parse(o, op->operator, &text, &t);
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

static const char *direction_of(const struct op *op)
{
	if (op->operator == NVTX_NO_PARENT && op->marker == NVTX_NO_PARENT)
		return "na";
	return op->is_backward ? "bprop" : "fprop";
}

static void op_row(struct ops *o, const struct op *op, struct table *table)
{
	struct operator_work work = {0};
	struct buffer kernel = {0};
	bool is_known = op->has_flops && ops_work_of(o, op, &work);
	unsigned size;

	o->kernel_name(o->source, op->name, &kernel);
	size = work.element ? work.element : ops_element_size(buffer_string(&kernel));
	table_number(table, ++o->number);
	seq_cells(o, op, table);
	table_number_if(table, op->tid, op->tid);
	layer_cell(o, op, table);
	trace_cell(o, op, table);
	table_text(table, direction_of(op));
	table_number(table, op->sub);
	operator_name_cells(o, op, table);
	table_text(table, kernel.size ? kernel.data : "?");
	table_text(table, is_known ? work.params : "na");
	table_number(table, op->duration_ns);
	table_text(table, !is_known ? "-" : ops_uses_tensor_cores(buffer_string(&kernel)) ? "1" : "0");
	table_number(table, op->device);
	table_number(table, op->stream);
	dimensions_cell(op->grid, table);
	dimensions_cell(op->block, table);
	table_number_if(table, is_known, work.flops);
	table_number_if(table, is_known && size && work.elements < UINT64_MAX / 8, work.elements * size);
	buffer_done(&kernel);
}

static void op_visit(struct ops *o, const struct op *op)
{
	struct operator_work work;
	bool is_known = op->has_flops && ops_work_of(o, op, &work);

	o->visit(o->visit_context, op, is_known ? &work : NULL, line_of(o, op));
}

/* ---- the table ---- */

const char *const ops_column_names[OPS_COLUMNS] = {
	[OPS_IDX] = "idx",	 [OPS_SEQ] = "seq",	  [OPS_ALTSEQ] = "altseq", [OPS_TID] = "tid",
	[OPS_LAYER] = "layer",	 [OPS_TRACE] = "trace",	  [OPS_DIR] = "dir",	   [OPS_SUB] = "sub",
	[OPS_MOD] = "mod",	 [OPS_OP] = "op",	  [OPS_KERNEL] = "kernel", [OPS_PARAMS] = "params",
	[OPS_SIL] = "sil",	 [OPS_TC] = "tc",	  [OPS_DEVICE] = "device", [OPS_STREAM] = "stream",
	[OPS_GRID] = "grid",	 [OPS_BLOCK] = "block",	  [OPS_FLOPS] = "flops",   [OPS_BYTES] = "bytes",
};

void ops_columns(struct table *table)
{
	table_has(table, {"Idx", COLUMN_ID}, {"SeqId", COLUMN_TEXT}, {"AltSeqId", COLUMN_TEXT}, {"TId", COLUMN_ID},
		  {"Layer", COLUMN_TEXT}, {"Trace", COLUMN_TEXT}, {"Direction", COLUMN_TEXT}, {"Sub", COLUMN_ID},
		  {"Module", COLUMN_TEXT}, {"Op", COLUMN_TEXT}, {"Kernel", COLUMN_TEXT}, {"Params", COLUMN_TEXT},
		  {"Sil(ns)", COLUMN_COUNT}, {"TC", COLUMN_TEXT}, {"Device", COLUMN_ID}, {"Stream", COLUMN_ID},
		  {"Grid", COLUMN_TEXT}, {"Block", COLUMN_TEXT}, {"FLOPs", COLUMN_COUNT}, {"Bytes", COLUMN_COUNT});
}

void ops_rows(struct ops *o, struct table *table)
{
	index_operators(o);
	for (size_t i = 0; i < o->count; i++)
		op_place(o, &o->items[i]);
	if (o->count)
		qsort(o->items, o->count, sizeof(*o->items), ops_by_start);
	ops_choose_kernels(o);
	for (size_t i = 0; i < o->count; i++)
		if (o->visit)
			op_visit(o, &o->items[i]);
		else
			op_row(o, &o->items[i], table);
	map_done(&o->forward);
	map_done(&o->aliases);
	map_done(&o->results);
	map_done(&o->lines);
	o->forward = o->aliases = o->results = o->lines = (struct map){0};
	o->count = 0;
}

void ops_done(struct ops *o)
{
	free(o->items);
	*o = (struct ops){0};
}
