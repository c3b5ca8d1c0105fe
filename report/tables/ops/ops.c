/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tables/ops/ops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/ops/ops_work.h"

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
	SCOPED(buffer) text = {0};
	bool found = false;

	NVTX_NODES_AROUND (o->ranges, i, range) {
		found = ops_parse(o, i, &text, &t) && is_node(&t);
		if (found)
			*ret_seq = operator_seq(&t);
		if (found)
			break;
	}
	return found;
}

static void index_operators(struct ops *o)
{
	struct operator_text t;
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < o->range_count; i++) {
		uint64_t *place, seq, node;

		if (!ops_parse(o, i, &text, &t) || !t.seq.length)
			continue;
		seq = operator_seq(&t);
		if (operator_class_of(&t.name) == OPERATOR_CONVOLUTION_BACKWARD && t.sizes.length)
			*map_put(&o->results, seq, 0, NULL) = i + 1;
		if (node_around(o, i, &node)) {
			if (node != OPERATOR_NO_SEQ && node != seq)
				*map_put(&o->aliases, seq, 0, NULL) = node + 1;
			continue;
		}
		place = map_put(&o->forward, seq, 0, NULL);
		if (!*place || o->ranges[*place - 1].start <= o->ranges[i].start)
			*place = i + 1;
	}
}

/* ---- kernels ---- */

void ops_add(struct ops *o, const struct op *op)
{
	list_add(o, *op);
}

/* Where the ranges of the forward pass are that caused the kernel; of a forward kernel its own. */
static size_t forward_of(const struct ops *o, const struct op *op)
{
	const uint64_t *forward = op->cause != OPERATOR_NO_SEQ ? map_find(&o->forward, op->cause, 0) : NULL;

	return forward ? *forward - 1 : op->range;
}

/* What the ranges around the launch tell. */
static void op_place(const struct ops *o, struct op *op)
{
	struct operator_marker m;
	struct operator_text t;
	SCOPED(buffer) text = {0};

	op->operator = op->marker = NVTX_NO_PARENT;
	op->seq = OPERATOR_NO_SEQ;
	NVTX_NODES_AROUND (o->ranges, i, op->range) {
		if (!ops_parse(o, i, &text, &t))
			continue;
		if (op->operator == NVTX_NO_PARENT)
			op->operator = i;
		if (op->seq == OPERATOR_NO_SEQ)
			op->seq = operator_seq(&t);
	}
	op->cause = OPERATOR_NO_SEQ;
	op->is_backward = node_around(o, op->range, &op->cause);
	if (op->cause != OPERATOR_NO_SEQ)
		op->cause = operator_first_seq(&o->forward, &o->aliases, op->cause);
	NVTX_NODES_AROUND (o->ranges, i, forward_of(o, op))
		if (ops_parse_marker(o, i, &text, &m))
			op->marker = i;
}

COMPARATOR(ops_by_start, struct op, order_of(a->start_ns, b->start_ns) ?: order_of(a->name, b->name))

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
	SCOPED(buffer) text = {0}, cell = {0};
	uint64_t last = op->seq;

	if (op->seq != OPERATOR_NO_SEQ)
		buffer_print(&cell, "%" PRIu64, op->seq);
	text_cell(table, &cell, "-");
	NVTX_NODES_AROUND (o->ranges, i, op->range) {
		uint64_t seq = ops_parse(o, i, &text, &t) ? operator_seq(&t) : OPERATOR_NO_SEQ;

		if (seq == OPERATOR_NO_SEQ || seq == last)
			continue;
		buffer_print(&cell, "%s%" PRIu64, cell.size ? "," : "", seq);
		last = seq;
	}
	text_cell(table, &cell, "-");
}

/* PyProf's users write "layer:encoder". */
static const char layer_mark[] = "layer:";

/* The name of a range of the program, of NVTX or record_function(), whose text is an operator's. PyProf's ranges are
 * about a function of PyTorch. */
static bool layer_name(const struct ops *o, size_t range, struct buffer *text, struct operator_field *ret)
{
	size_t mark = sizeof(layer_mark) - 1;
	struct operator_marker m;
	struct operator_text t;
	bool is_operator = ops_parse(o, range, text, &t);

	buffer_clear(text);
	o->range_text(o->source, range, text);
	*ret = is_operator ? t.name : (struct operator_field){buffer_string(text), text->size};
	ret->text = buffer_string(text);
	if (ret->length > mark && !strncmp(ret->text, layer_mark, mark))
		*ret = (struct operator_field){ret->text + mark, ret->length - mark};
	else if (is_operator)
		return false;
	return !operator_marker_parse(buffer_string(text), &m) && !operator_marker_is_module(buffer_string(text)) &&
	       !operator_marker_trace(buffer_string(text), NULL);
}

/* The line that launched the kernel; of a backward kernel that of the forward operator. Kernels come by start. */
static uint32_t line_of(struct ops *o, const struct op *op)
{
	const uint64_t *forward = op->cause != OPERATOR_NO_SEQ ? map_find(&o->lines, op->cause, 0) : NULL;

	if (!op->is_backward && op->seq != OPERATOR_NO_SEQ && op->line)
		*map_put(&o->lines, op->seq, 0, NULL) = op->line;
	return forward ? (uint32_t)*forward : op->line;
}

/* The program's own ranges, the outermost first; if there is none, the modules. Of a backward kernel those of the
 * forward operator. */
static void layer_cell(struct ops *o, const struct op *op, struct table *table)
{
	SCOPED(buffer) text = {0}, cell = {0};
	struct operator_field name;
	size_t chain[NVTX_TREE_LEVELS], depth = 0;
	uint32_t line = line_of(o, op);

	NVTX_NODES_AROUND (o->ranges, i, forward_of(o, op))
		if (layer_name(o, i, &text, &name))
			chain[depth++] = i;
	while (depth--) {
		layer_name(o, chain[depth], &text, &name);
		buffer_print(&cell, "%s%.*s", cell.size ? ":" : "", (int)name.length, name.text);
	}
	if (!cell.size && line && o->modules_text)
		o->modules_text(o->source, line, &cell);
	text_cell(table, &cell, "-");
}

/* The lines that PyProf has noted, else the program's line. */
static void trace_cell(struct ops *o, const struct op *op, struct table *table)
{
	uint32_t line = line_of(o, op);
	SCOPED(buffer) text = {0}, cell = {0};

	NVTX_NODES_AROUND (o->ranges, i, forward_of(o, op)) {
		buffer_clear(&text);
		o->range_text(o->source, i, &text);
		if (operator_marker_trace(buffer_string(&text), &cell))
			break;
	}
	if (!cell.size && line && o->line_text)
		o->line_text(o->source, line, &cell);
	text_cell(table, &cell, "-");
}

/* PyProf's names for the forward operator, if it has noted any. Else "aten::addmm" is the operator addmm of the module
 * aten. */
static void operator_name_cells(const struct ops *o, const struct op *op, struct table *table)
{
	struct operator_marker m = {0};
	struct operator_text t = {0};
	SCOPED(buffer) text = {0};
	size_t at = 0;

	if (op->marker != NVTX_NO_PARENT && ops_parse_marker(o, op->marker, &text, &m)) {
		table_text_part(table, m.mod.text, m.mod.length);
		table_text_part(table, m.op.text, m.op.length);
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
}

static void dimensions_cell(const uint32_t *of, struct table *table)
{
	SCOPED(buffer) cell = {0};

	buffer_print(&cell, "%u,%u,%u", of[0], of[1], of[2]);
	text_cell(table, &cell, "");
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
	SCOPED(buffer) kernel = {0};
	bool is_known = op->has_flops && ops_work_of(o, op, &work);
	struct ops_rate rate;

	o->kernel_name(o->source, op->name, &kernel);
	rate = ops_rate_of(o, op, buffer_string(&kernel), is_known ? &work : NULL);
	table_number(table, ++o->number);
	seq_cells(o, op, table);
	table_cells(table, cell_if(op->tid, op->tid));
	layer_cell(o, op, table);
	trace_cell(o, op, table);
	table_cells(table, direction_of(op), op->sub);
	operator_name_cells(o, op, table);
	table_cells(table, kernel.size ? kernel.data : "?", is_known ? work.params : "na", op->duration_ns,
		    !is_known || work.class == OPERATOR_ELEMENTWISE ? "-" : rate.on_tensor_cores ? "1" : "0",
		    op->device, op->stream);
	dimensions_cell(op->grid, table);
	dimensions_cell(op->block, table);
	table_cells(table, cell_if(is_known, work.flops), cell_if(rate.bytes, rate.bytes),
		    rate.type ? number_names[rate.type] : "-",
		    cell_if(rate.peak > 0 && op->duration_ns,
			    1e11 * (double)rate.flops / ((double)op->duration_ns * rate.peak)));
}

static void op_visit(struct ops *o, const struct op *op)
{
	struct operator_work work;
	bool is_known = op->has_flops && ops_work_of(o, op, &work);
	SCOPED(buffer) kernel = {0};
	struct ops_rate rate;

	if (is_known)
		o->kernel_name(o->source, op->name, &kernel);
	rate = ops_rate_of(o, op, buffer_string(&kernel), is_known ? &work : NULL);
	o->visit(o->source, op, &rate, line_of(o, op));
}

/* ---- the table ---- */

const struct ops_column_row ops_column_rows[OPS_COLUMNS] = {
	[OPS_IDX] = {"idx", "Idx", COLUMN_ID, 7, "number of the row"},
	[OPS_SEQ] = {"seq", "SeqId", COLUMN_TEXT, 7, "autograd's sequence number"},
	[OPS_ALTSEQ] = {"altseq", "AltSeqId", COLUMN_TEXT, 7, "those of the operators around it"},
	[OPS_TID] = {"tid", "TId", COLUMN_ID, 12, "the thread"},
	[OPS_LAYER] = {"layer", "Layer", COLUMN_TEXT, 10, "ranges of the program, else its modules"},
	[OPS_TRACE] = {"trace", "Trace", COLUMN_TEXT, 25, "the line of the program"},
	[OPS_DIR] = {"dir", "Direction", COLUMN_TEXT, 5, "fprop or bprop"},
	[OPS_SUB] = {"sub", "Sub", COLUMN_ID, 3, "number within seq and dir"},
	[OPS_MOD] = {"mod", "Module", COLUMN_TEXT, 15, "the module of the operator"},
	[OPS_OP] = {"op", "Op", COLUMN_TEXT, 15, "the operator"},
	[OPS_KERNEL] = {"kernel", "Kernel", COLUMN_TEXT, 0, "the kernel"},
	[OPS_PARAMS] = {"params", "Params", COLUMN_TEXT, 0, "sizes"},
	[OPS_SIL] = {"sil", "Sil(ns)", COLUMN_COUNT, 10, "time on the device (ns)"},
	[OPS_TC] = {"tc", "TC", COLUMN_TEXT, 2, "1: tensor cores, by the kernel's name"},
	[OPS_DEVICE] = {"device", "Device", COLUMN_ID, 3, "number of the device"},
	[OPS_STREAM] = {"stream", "Stream", COLUMN_ID, 3, "number of the stream"},
	[OPS_GRID] = {"grid", "Grid", COLUMN_TEXT, 12, "sizes of the grid"},
	[OPS_BLOCK] = {"block", "Block", COLUMN_TEXT, 12, "sizes of a block"},
	[OPS_FLOPS] = {"flops", "FLOPs", COLUMN_COUNT, 12, "floating-point operations; a fused one is two"},
	[OPS_BYTES] = {"bytes", "Bytes", COLUMN_COUNT, 12, "of inputs and results, an estimate"},
	[OPS_TYPE] = {"type", "Type", COLUMN_TEXT, 4, "of the numbers, by the call or the kernel's name"},
	[OPS_PEAK] = {"peak", "Peak(%)", COLUMN_PERCENT, 7, "share of the device's peak of this type"},
};

void ops_columns(struct table *table)
{
	for (size_t i = 0; i < OPS_COLUMNS; i++)
		table_column(table, ops_column_rows[i].title, ops_column_rows[i].type);
}

void ops_rows(struct ops *o, struct table *table)
{
	index_operators(o);
	for (size_t i = 0; i < o->count; i++)
		op_place(o, &o->items[i]);
	array_sort(o->items, o->count, ops_by_start);
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
