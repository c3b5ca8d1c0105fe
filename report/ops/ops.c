/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/ops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/ops/ops_work.h"

/* ---- ranges ---- */

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
static bool is_within_backward(const struct ops *o, size_t range)
{
	struct operator_text t;
	struct buffer text = {0};
	bool found = false;

	RANGES_AROUND (o, i, range)
		found = found || (ops_parse(o, i, &text, &t) && is_backward(&t.name));
	buffer_done(&text);
	return found;
}

static void index_operators(struct ops *o)
{
	struct operator_text t;
	struct buffer text = {0};

	for (size_t i = 0; i < o->range_count; i++) {
		uint64_t *place;

		if (!ops_parse(o, i, &text, &t) || !t.seq.length)
			continue;
		if (operator_is_convolution_backward(&t.name) && t.sizes.length)
			*map_put(&o->results, ops_seq(&t), 0, NULL) = i + 1;
		if (is_within_backward(o, i))
			continue;
		place = map_put(&o->forward, ops_seq(&t), 0, NULL);
		if (!*place || o->ranges[*place - 1].start <= o->ranges[i].start)
			*place = i + 1;
	}
	buffer_done(&text);
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
	const uint64_t *forward = op->is_backward && op->seq != OPS_NO_SEQ ? map_find(&o->forward, op->seq, 0) : NULL;

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
		op->is_backward = op->is_backward || is_backward(&t.name);
	}
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

/* The lines that PyProf has noted, else the line of the program; of a backward kernel those of the forward operator. */
static void trace_cell(struct ops *o, const struct op *op, struct table *table)
{
	const uint64_t *forward = op->is_backward && op->seq != OPS_NO_SEQ ? map_find(&o->lines, op->seq, 0) : NULL;
	uint32_t line = forward ? (uint32_t)*forward : op->line;
	struct buffer text = {0}, cell = {0};

	if (!op->is_backward && op->seq != OPS_NO_SEQ && op->line)
		*map_put(&o->lines, op->seq, 0, NULL) = op->line;
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
		op_row(o, &o->items[i], table);
	map_done(&o->forward);
	map_done(&o->results);
	map_done(&o->lines);
	o->forward = o->results = o->lines = (struct map){0};
	o->count = 0;
}

void ops_done(struct ops *o)
{
	free(o->items);
	*o = (struct ops){0};
}
