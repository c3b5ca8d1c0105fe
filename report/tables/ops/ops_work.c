/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tables/ops/ops_work.h"

#include <string.h>

#include "report/names/kernel_kind.h"

/* ---- ranges ---- */

static bool range_text(const struct ops *o, size_t range, struct buffer *text)
{
	const struct nvtx_node *n = &o->ranges[range];

	buffer_clear(text);
	if (n->domain || !n->is_pushpop)
		return false;
	o->range_text(o->source, range, text);
	return true;
}

bool ops_parse(const struct ops *o, size_t range, struct buffer *text, struct operator_text *ret)
{
	return range_text(o, range, text) && *buffer_string(text) != '{' &&
	       (operator_text_parse(buffer_string(text), ret) || strstr(buffer_string(text), "::"));
}

bool ops_parse_marker(const struct ops *o, size_t range, struct buffer *text, struct operator_marker *ret)
{
	return range_text(o, range, text) && operator_marker_parse(buffer_string(text), ret);
}

/* ---- the kernel's rate ---- */

/* A call that multiplies fp32 may let the kernel round to a smaller type, which then is in its name. */
struct ops_rate ops_rate_of(struct ops *o, const struct op *op, const char *kernel, const struct operator_work *work)
{
	const struct device_properties *device = o->device ? o->device(o->source, op->device) : NULL;
	enum number_type by_name = kernel_type(kernel);
	struct ops_rate ret = {.is_known = work};
	unsigned size;

	if (!work)
		return ret;
	size = work->element ? work->element : number_size(work->type ? work->type : by_name);
	ret.flops = work->flops;
	if (size && work->elements < UINT64_MAX / 16)
		ret.bytes = work->elements * size + work->more_bytes;
	ret.on_tensor_cores = kernel_uses_tensor_cores(kernel);
	ret.type = (work->type == NUMBER_UNKNOWN || work->type == NUMBER_FP32) && by_name ? by_name : work->type;
	if (ret.on_tensor_cores && ret.type == NUMBER_FP32)
		ret.type = NUMBER_TF32;
	ret.peak = device ? device_peak(device, ret.type, ret.on_tensor_cores) : 0;
	ret.bandwidth = device ? device->bandwidth : 0;
	return ret;
}

/* ---- work ---- */

static bool work_of_operator(const struct ops *o, size_t range, uint64_t seq, struct operator_work *ret)
{
	const uint64_t *place = seq == OPERATOR_NO_SEQ ? NULL : map_find(&o->results, seq, 0);
	struct operator_text t, result = {0};
	SCOPED(buffer) text = {0}, of_result = {0};
	bool is_known = ops_parse(o, range, &text, &t);

	if (is_known && place)
		ops_parse(o, *place - 1, &of_result, &result);
	return is_known && operator_work(&t, place ? &result.sizes : NULL, ret);
}

static bool work_of_marker(const struct ops *o, const struct op *op, struct operator_work *ret)
{
	struct operator_marker m;
	SCOPED(buffer) text = {0};

	return op->marker != NVTX_NO_PARENT && ops_parse_marker(o, op->marker, &text, &m) &&
	       operator_marker_work(&m, op->nth, ret);
}

/* What the operator that a kernel is launched by tells of itself. */
struct operator_facts {
	bool has_sizes;
	enum operator_class class;
};

static struct operator_facts facts_of(const struct ops *o, const struct op *op)
{
	struct operator_facts ret = {.class = OPERATOR_ELEMENTWISE};
	struct operator_text t;
	SCOPED(buffer) text = {0};

	if (op->operator != NVTX_NO_PARENT && ops_parse(o, op->operator, &text, &t)) {
		ret.has_sizes = t.sizes.length;
		ret.class = operator_class_of(&t.name);
	}
	return ret;
}

/* The gradients of a product or a convolution whose sizes are those of PyProf's range around the forward operator:
 * each takes as many operations. */
static bool work_of_gradient(const struct ops *o, const struct op *op, const struct operator_facts *f,
			     struct operator_work *ret)
{
	if (!work_of_marker(o, op, ret))
		return false;
	if (ret->class == OPERATOR_CONVOLUTION && f->class == OPERATOR_CONVOLUTION_BACKWARD)
		ret->class = OPERATOR_CONVOLUTION_BACKWARD;
	else if (ret->class != OPERATOR_GEMM || f->class != OPERATOR_GEMM)
		return false;
	return true;
}

bool ops_work_of(const struct ops *o, const struct op *op, struct operator_work *ret)
{
	struct operator_facts f = facts_of(o, op);

	if (op->call && o->call_work && o->call_work(o->source, op->call, ret))
		return true;
	if (f.has_sizes || op->marker == NVTX_NO_PARENT)
		return op->operator != NVTX_NO_PARENT && work_of_operator(o, op->operator, op->seq, ret);
	return op->is_backward ? work_of_gradient(o, op, &f, ret) : work_of_marker(o, op, ret);
}

/* ---- which kernel has it ---- */

/* What has work once: the call of a library, the operator, or PyProf's range, of which a cell has several products. */
static void part_of(const struct ops *o, const struct op *op, const struct operator_work *work, const char *kernel,
		    uint64_t *ret_what, uint64_t *ret_part)
{
	bool is_of_marker = op->marker != NVTX_NO_PARENT && !op->is_backward && !facts_of(o, op).has_sizes;

	*ret_part = (uint64_t)op->replay << 8;
	if (op->call) {
		*ret_what = 1ull << 62 | op->call;
	} else if (is_of_marker) {
		*ret_what = op->marker;
		*ret_part |= (op->nth + 1) & 0xff;
	} else {
		*ret_what = op->operator;
		*ret_part |= work->class == OPERATOR_CONVOLUTION_BACKWARD ? kernel_gradient(kernel) : 0;
	}
}

/* How many kernels before it have the same sequence number and direction, and how many products the same cell. */
static void number_kernels(struct ops *o)
{
	SCOPED(map) of_seq = {0}, of_marker = {0};
	struct operator_marker m;
	SCOPED(buffer) text = {0};

	list_each(struct op, op, o) {
		if (op->seq != OPERATOR_NO_SEQ)
			op->sub = (*map_put(&of_seq, op->seq, op->is_backward, NULL))++;
		if (op->marker == NVTX_NO_PARENT || op->is_backward || !ops_parse_marker(o, op->marker, &text, &m) ||
		    !operator_marker_is_cell(&m))
			continue;
		buffer_clear(&text);
		o->kernel_name(o->source, op->name, &text);
		op->nth = SIZE_MAX;
		if (kernel_is_product(buffer_string(&text)))
			op->nth = (*map_put(&of_marker, op->marker, op->replay, NULL))++;
	}
}

/* Operators of which a kernel has the work of a library's call: that is the operator's. */
static void find_called(const struct ops *o, struct map *ret)
{
	struct operator_work work;

	list_each(const struct op, op, o) {
		if (!op->call || !o->call_work(o->source, op->call, &work))
			continue;
		if (op->operator != NVTX_NO_PARENT)
			map_put(ret, op->operator, 0, NULL);
		if (!op->is_backward && op->marker != NVTX_NO_PARENT)
			map_put(ret, op->marker, 1, NULL);
	}
}

static bool is_called_elsewhere(const struct op *op, const struct map *called)
{
	return !op->call && (map_find(called, op->operator, 0) ||
			     (!op->is_backward && op->marker != NVTX_NO_PARENT && map_find(called, op->marker, 1)));
}

/* An operator may launch several kernels: its work is that of the longest, and of a convolution's gradients that of the
 * longest kernel for each. Each replay of a graph does the work again. */
void ops_choose_kernels(struct ops *o)
{
	SCOPED(map) best = {0}; /* what and which part of it -> place of the kernel + 1 */
	SCOPED(map) called = {0};
	SCOPED(buffer) name = {0};
	struct operator_work work;

	number_kernels(o);
	find_called(o, &called);
	for (size_t i = 0; i < o->count; i++) {
		struct op *op = &o->items[i];
		uint64_t what, part, *place;

		if (is_called_elsewhere(op, &called) || !ops_work_of(o, op, &work))
			continue;
		buffer_clear(&name);
		o->kernel_name(o->source, op->name, &name);
		part_of(o, op, &work, buffer_string(&name), &what, &part);
		if (work.class == OPERATOR_CONVOLUTION_BACKWARD && !op->call && !(part & 0xff))
			continue;
		place = map_put(&best, what, part, NULL);
		if (*place && o->items[*place - 1].duration_ns >= op->duration_ns)
			continue;
		if (*place)
			o->items[*place - 1].has_flops = false;
		op->has_flops = true;
		*place = i + 1;
	}
}
