/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/nvtx/operator_work.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/nvtx/operator_call.h"

enum form {
	PRODUCT,
	LINEAR,
	CONVOLUTION, /* of either kind: the sizes tell */
	CONVOLUTION_PLAIN,
	CONVOLUTION_TRANSPOSED,
	CONVOLUTION_BACKWARD,
	HEADS_FIRST,
	LENGTH_FIRST,
	RECURRENT
};
static const enum operator_class classes[] = {
	[PRODUCT] = OPERATOR_GEMM, [LINEAR] = OPERATOR_GEMM, [CONVOLUTION] = OPERATOR_CONVOLUTION,
	[CONVOLUTION_PLAIN] = OPERATOR_CONVOLUTION, [CONVOLUTION_TRANSPOSED] = OPERATOR_CONVOLUTION,
	[CONVOLUTION_BACKWARD] = OPERATOR_CONVOLUTION_BACKWARD, [HEADS_FIRST] = OPERATOR_ATTENTION,
	[LENGTH_FIRST] = OPERATOR_ATTENTION, [RECURRENT] = OPERATOR_RECURRENT,
};

/* ---- matrix products ---- */

/* The product of the sizes before the last two, where one of the two may be 1 or absent. 0: they do not fit. */
static uint64_t batches(const struct shape *a, const struct shape *b)
{
	size_t more = a->rank > b->rank ? a->rank : b->rank;
	uint64_t product = 1;

	for (size_t i = 2; i < more; i++) {
		uint64_t of_a = i < a->rank ? a->sizes[a->rank - 1 - i] : 1;
		uint64_t of_b = i < b->rank ? b->sizes[b->rank - 1 - i] : 1;

		if (of_a != of_b && of_a != 1 && of_b != 1)
			return 0;
		product = mul_sat(product, of_a > of_b ? of_a : of_b);
	}
	return product;
}

/* PyProf names m and n as the column-major libraries do, the other way round. */
bool operator_product_work(uint64_t batch, uint64_t m, uint64_t n, uint64_t k, struct operator_work *ret)
{
	char batched[32] = "";

	if (!batch || !m || !n || !k)
		return false;
	if (batch > 1)
		snprintf(batched, sizeof(batched), "B=%" PRIu64 ",", batch);
	snprintf(ret->params, sizeof(ret->params), "%sM=%" PRIu64 ",N=%" PRIu64 ",K=%" PRIu64, batched, n, m, k);
	ret->class = OPERATOR_GEMM;
	ret->flops = mul_sat(2, mul_sat(batch, mul_sat(m, mul_sat(n, k))));
	ret->elements = mul_sat(batch, add_sat(mul_sat(m, n), add_sat(mul_sat(m, k), mul_sat(n, k))));
	return true;
}

static bool product_work(const struct shape *a, const struct shape *b, struct operator_work *ret)
{
	uint64_t m = a->rank > 1 ? a->sizes[a->rank - 2] : 1, n = b->rank > 1 ? b->sizes[b->rank - 1] : 1;
	uint64_t k = a->rank ? a->sizes[a->rank - 1] : 0;

	if (!a->rank || !b->rank || k != b->sizes[b->rank > 1 ? b->rank - 2 : 0])
		return false;
	return operator_product_work(batches(a, b), m, n, k, ret);
}

/* The weight is transposed, and everything before the last size of the input is one batch. */
static bool linear_work(const struct shape *input, const struct shape *weight, struct operator_work *ret)
{
	uint64_t k = input->rank ? input->sizes[input->rank - 1] : 0;

	if (!k || weight->rank < 1 || weight->rank > 2 || weight->sizes[weight->rank - 1] != k)
		return false;
	return operator_product_work(1, elements_of(input) / k, weight->rank > 1 ? weight->sizes[0] : 1, k, ret);
}

/* ---- convolutions ---- */

static uint64_t positions(const struct shape *s)
{
	uint64_t product = 1;

	for (size_t i = 2; i < s->rank; i++)
		product = mul_sat(product, s->sizes[i]);
	return product;
}

/* A weight has the channels of the result first and those of a group's input next; that of a transposed convolution
 * the other way round. Where both are possible, a transposed one is that whose result is larger than its input. */
static bool is_transposed(const struct shape *input, const struct shape *weight, const struct shape *result)
{
	bool may_be = weight->sizes[0] == input->sizes[1] && !(result->sizes[1] % weight->sizes[1]);
	bool may_not_be = weight->sizes[0] == result->sizes[1] && !(input->sizes[1] % weight->sizes[1]);

	return may_be && (!may_not_be || positions(result) > positions(input));
}

/* ",H=8,W=8": the sizes of an image under the last of these names. Three dimensions have no names in PyProf. */
static void params_image(const struct shape *s, const char *names, char *text, size_t size)
{
	if (s->rank == 3)
		snprintf(text, size, ",%c=%" PRIu64, names[1], s->sizes[2]);
	else if (s->rank == 4)
		snprintf(text, size, ",%c=%" PRIu64 ",%c=%" PRIu64, names[0], s->sizes[2], names[1], s->sizes[3]);
	else
		*text = 0;
}

/* The steps and so on of a convolution; without dimensions: they are not known. */
struct geometry {
	size_t rank;
	uint64_t step[RANK], padding[RANK], dilation[RANK], added[RANK];
};

/* PyProf's names: ph and pw for the padding, U and V for the steps, dh and dw for the dilation. */
static void params_geometry(const struct geometry *g, char *text, size_t size)
{
	*text = 0;
	if (g->rank == 2)
		snprintf(text, size, ",ph=%" PRIu64 ",pw=%" PRIu64 ",U=%" PRIu64 ",V=%" PRIu64 ",dh=%" PRIu64
			 ",dw=%" PRIu64, g->padding[0], g->padding[1], g->step[0], g->step[1], g->dilation[0],
			 g->dilation[1]);
}

static void convolution_params(const struct shape *input, const struct shape *weight, const struct shape *result,
			       uint64_t groups, const struct geometry *g, struct operator_work *ret)
{
	char of_input[48], of_result[48], of_weight[48], of_geometry[128];

	params_image(input, "HW", of_input, sizeof(of_input));
	params_image(result, "PQ", of_result, sizeof(of_result));
	params_image(weight, "RS", of_weight, sizeof(of_weight));
	params_geometry(g, of_geometry, sizeof(of_geometry));
	snprintf(ret->params, sizeof(ret->params), "N=%" PRIu64 ",C=%" PRIu64 "%s,K=%" PRIu64 "%s%s%s,g=%" PRIu64,
		 input->sizes[0], input->sizes[1], of_input, result->sizes[1], of_result, of_weight, of_geometry,
		 groups);
}

/* The arguments that tell the sizes of a convolution's result. 0: it has none. */
struct geometry_places {
	uint8_t step, padding, dilation, added, groups, transposed;
};

/* One number for all dimensions, or one for each of them. */
static bool numbers_at(const struct operator_call *c, size_t place, uint64_t otherwise, size_t rank, uint64_t *ret)
{
	const struct shape one = {{otherwise}, 1}, *s = place ? &c->arguments[place].numbers : &one;

	for (size_t i = 0; i < rank; i++)
		ret[i] = s->sizes[s->rank == 1 ? 0 : i];
	return s->rank == 1 || s->rank == rank;
}

static bool result_of(const struct geometry_places *g, const struct operator_call *c, enum form *form,
		      struct geometry *all, struct shape *ret)
{
	const struct shape *input = &c->sizes.items[0], *weight = input + 1;
	size_t rank = input->rank > 2 && weight->rank == input->rank ? input->rank - 2 : 0;
	uint64_t *step = all->step, *padding = all->padding, *dilation = all->dilation, *added = all->added, groups;

	if (!rank || !g->step || !numbers_at(c, g->step, 1, rank, step) ||
	    !numbers_at(c, g->padding, 0, rank, padding) || !numbers_at(c, g->added, 0, rank, added) ||
	    !numbers_at(c, g->dilation, 1, rank, dilation) || !numbers_at(c, g->groups, 1, 1, &groups))
		return false;
	all->rank = rank;
	if (*form == CONVOLUTION)
		*form = (g->transposed ? c->arguments[g->transposed].numbers.sizes[0] : g->added)
				? CONVOLUTION_TRANSPOSED
				: CONVOLUTION_PLAIN;
	*ret = *input;
	ret->sizes[1] = *form == CONVOLUTION_TRANSPOSED ? mul_sat(weight->sizes[1], groups) : weight->sizes[0];
	for (size_t i = 0; i < rank; i++) {
		uint64_t *size = &ret->sizes[2 + i], kernel = weight->sizes[2 + i], reach, room;

		if (!*size || !kernel || !step[i])
			return false;
		reach = add_sat(mul_sat(dilation[i], kernel - 1), 1);
		room = *form == CONVOLUTION_TRANSPOSED ? add_sat(mul_sat(*size - 1, step[i]), add_sat(reach, added[i]))
						       : add_sat(*size, mul_sat(2, padding[i]));
		if (*form == CONVOLUTION_TRANSPOSED)
			*size = room > mul_sat(2, padding[i]) ? room - 2 * padding[i] : 0;
		else
			*size = room < reach ? 0 : (room - reach) / step[i] + 1;
	}
	return true;
}

static bool convolution_work(const struct shape *input, const struct shape *weight, const struct shape *result,
			     enum form form, const struct geometry *g, struct operator_work *ret)
{
	bool may_be_either = form == CONVOLUTION || form == CONVOLUTION_BACKWARD;
	const struct shape *many;

	if (input->rank < 3 || weight->rank != input->rank || result->rank != input->rank || !elements_of(weight) ||
	    !elements_of(result) || result->sizes[0] != input->sizes[0])
		return false;
	many = form == CONVOLUTION_TRANSPOSED || (may_be_either && is_transposed(input, weight, result)) ? input
													   : result;
	if (many->sizes[1] != weight->sizes[0])
		return false;
	convolution_params(input, weight, result,
			   (many == result ? input : result)->sizes[1] / weight->sizes[1], g, ret);
	ret->flops = mul_sat(2, mul_sat(elements_of(many), elements_of(weight) / weight->sizes[0]));
	ret->elements = add_sat(elements_of(input), add_sat(elements_of(weight), elements_of(result)));
	return true;
}

/* ---- attention ---- */

/* Query, key and value have the sizes batch, heads, length, width, or batch, length, heads, width. The products are
 * those of forward 1 and 1, of backward 3 of the key's width and 2 of the value's. */
static bool attention_work(const struct shape *query, bool heads_first, bool is_backward, struct operator_work *ret)
{
	const struct shape *key = query + 1, *value = query + 2;
	size_t heads = heads_first ? 1 : 2, length = heads_first ? 2 : 1;
	uint64_t pairs, widths;

	if (query->rank != 4 || key->rank != 4 || value->rank != 4)
		return false;
	pairs = mul_sat(mul_sat(query->sizes[0], query->sizes[heads]),
			mul_sat(query->sizes[length], key->sizes[length]));
	widths = is_backward ? add_sat(mul_sat(3, query->sizes[3]), mul_sat(2, value->sizes[3]))
			     : add_sat(query->sizes[3], value->sizes[3]);
	snprintf(ret->params, sizeof(ret->params),
		 "B=%" PRIu64 ",H=%" PRIu64 ",Q=%" PRIu64 ",K=%" PRIu64 ",D=%" PRIu64, query->sizes[0],
		 query->sizes[heads], query->sizes[length], key->sizes[length], query->sizes[3]);
	ret->flops = mul_sat(2, mul_sat(pairs, widths));
	ret->elements = add_sat(mul_sat(2, elements_of(query)), add_sat(elements_of(key), elements_of(value)));
	return true;
}

/* ---- recurrent networks ---- */

/* The input has the sizes length, batch, width, or batch, length, width. Each matrix among the weights, of the input,
 * the state or the projection, is multiplied once at each position, whatever the order of the weights is; they follow
 * the input and end at the state, which has three sizes, or at a buffer with all weights, which has one. */
static bool recurrent_work(const struct shapes *s, struct operator_work *ret)
{
	const struct shape *input = &s->items[0];
	uint64_t positions_of = input->rank == 3 ? mul_sat(input->sizes[0], input->sizes[1]) : 0, weights = 0;

	for (size_t i = 1; i < s->count && s->items[i].rank < 3; i++)
		weights = add_sat(weights, s->items[i].rank == 2 ? elements_of(&s->items[i]) : 0);
	if (!positions_of || !weights)
		return false;
	snprintf(ret->params, sizeof(ret->params), "T=%" PRIu64 ",B=%" PRIu64 ",X=%" PRIu64, input->sizes[0],
		 input->sizes[1], input->sizes[2]);
	ret->flops = mul_sat(2, mul_sat(positions_of, weights));
	ret->elements = add_sat(elements_of(input), weights);
	return true;
}

/* ---- by name ---- */

static const struct known {
	const char *names; /* without "aten::" and a final underscore */
	enum form form;
	uint8_t first; /* the argument that is the first factor, the input or the query */
	bool is_backward;
	struct geometry_places geometry;
} known_operators[] = {
	{"mm bmm mv dot vdot matmul _int_mm _scaled_mm", PRODUCT, 0, false, {0}},
	{"addmm addmv addbmm baddbmm _addmm_activation", PRODUCT, 1, false, {0}},
	{"linear", LINEAR, 0, false, {0}},
	{"conv1d conv2d conv3d", CONVOLUTION, 0, false, {3, 4, 5, 0, 6, 0}},
	{"conv_transpose1d conv_transpose2d conv_transpose3d", CONVOLUTION, 0, false, {3, 4, 7, 5, 6, 0}},
	{"convolution _convolution", CONVOLUTION, 0, false, {3, 4, 5, 7, 8, 6}},
	{"cudnn_convolution", CONVOLUTION_PLAIN, 0, false, {3, 2, 4, 0, 5, 0}},
	{"cudnn_convolution_relu", CONVOLUTION_PLAIN, 0, false, {3, 4, 5, 0, 6, 0}},
	{"cudnn_convolution_transpose", CONVOLUTION_TRANSPOSED, 0, false, {4, 2, 5, 3, 6, 0}},
	{"_slow_conv2d_forward", CONVOLUTION_PLAIN, 0, false, {4, 5, 0, 0, 0, 0}},
	{"slow_conv_dilated2d slow_conv_dilated3d _conv_depthwise2d conv_depthwise3d", CONVOLUTION_PLAIN, 0, false,
	 {4, 5, 6, 0, 0, 0}},
	{"slow_conv_transpose2d slow_conv_transpose3d", CONVOLUTION_TRANSPOSED, 0, false, {4, 5, 7, 6, 0, 0}},
	{"convolution_backward", CONVOLUTION_BACKWARD, 1, true, {0}},
	{"_cudnn_rnn", RECURRENT, 0, false, {0}},
	{"_scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention "
	 "_scaled_dot_product_cudnn_attention", HEADS_FIRST, 0, false, {0}},
	{"_scaled_dot_product_flash_attention_backward _scaled_dot_product_efficient_attention_backward "
	 "_scaled_dot_product_cudnn_attention_backward", HEADS_FIRST, 1, true, {0}},
	{"_flash_attention_forward _efficient_attention_forward", LENGTH_FIRST, 0, false, {0}},
	{"_flash_attention_backward _efficient_attention_backward", LENGTH_FIRST, 1, true, {0}},
};

static const struct known *known_find(const struct operator_field *name)
{
	struct operator_field bare;

	if (!operator_bare_name(name, &bare))
		return NULL;
	return array_find(known, known_operators, sizeof(known_operators) / sizeof(*known_operators),
			  operator_is_one_of(&bare, known->names));
}

enum operator_class operator_class_of(const struct operator_field *name)
{
	const struct known *o = known_find(name);

	if (text_begins_with(name->text, "ConvolutionBackward") && operator_is_backward(name))
		return OPERATOR_CONVOLUTION_BACKWARD;
	return o ? classes[o->form] : OPERATOR_ELEMENTWISE;
}

static bool work_of_known(const struct known *o, const struct operator_call *c, struct operator_work *ret)
{
	const struct shapes *s = &c->sizes;
	const struct shape *first = &s->items[o->first];
	enum form form = o->form;
	struct geometry geometry = {0};
	struct shape result;

	switch (form) {
	case PRODUCT:
		return product_work(first, first + 1, ret);
	case LINEAR:
		return linear_work(first, first + 1, ret);
	case CONVOLUTION:
	case CONVOLUTION_PLAIN:
	case CONVOLUTION_TRANSPOSED:
		if (!result_of(&o->geometry, c, &form, &geometry, &result))
			result = c->result;
		return convolution_work(first, first + 1, &result, form, &geometry, ret);
	case CONVOLUTION_BACKWARD:
		return convolution_work(first, first + 1, &s->items[0], form, &geometry, ret);
	case HEADS_FIRST:
	case LENGTH_FIRST:
		return s->count >= o->first + 3u && attention_work(first, form == HEADS_FIRST, o->is_backward, ret);
	case RECURRENT:
		return recurrent_work(s, ret);
	}
	return false;
}

bool operator_call_work(const struct operator_call *c, struct operator_work *ret)
{
	const struct known *o = known_find(&c->name);
	const struct operator_type *type = c->arguments[o ? o->first : 0].type;

	*ret = (struct operator_work){0};
	if (type) {
		ret->element = type->size;
		ret->type = type->number;
	}
	if (!o)
		return elements_work(c, ret);
	ret->class = classes[o->form];
	return c->sizes.count >= o->first + 2u && work_of_known(o, c, ret);
}

/* ---- by text ---- */

const char *numbers_parse(const char *at, const char *end, struct shape *ret)
{
	ret->rank = 0;
	for (; at < end && *at != ']'; at++)
		if (*at >= '0' && *at <= '9') {
			uint64_t number = strtoull(at, NULL, 10);

			if (ret->rank < RANK)
				ret->sizes[ret->rank++] = at[-1] == '-' ? -number : number;
			at += strspn(at, "0123456789") - 1;
		}
	return at;
}

/* "[[3, 4], [], [4, 5]]" */
static void shapes_parse(const struct operator_field *f, struct shape *ret, size_t room, size_t *ret_count)
{
	const char *end;

	*ret_count = 0;
	if (!f->length)
		return;
	end = f->text + f->length;
	for (const char *at = f->text + 1; at < end && *ret_count < room; at++)
		if (*at == '[')
			at = numbers_parse(at + 1, end, &ret[(*ret_count)++]);
}

bool operator_work(const struct operator_text *operator, const struct operator_field *result,
		   struct operator_work *ret)
{
	struct operator_call c;
	size_t results;

	c.name = operator->name;
	c.result.rank = 0;
	shapes_parse(&operator->sizes, c.sizes.items, SHAPES, &c.sizes.count);
	if (result)
		shapes_parse(result, &c.result, 1, &results);
	for (size_t i = 0; i < ARGUMENTS; i++) {
		struct operator_field f = operator_list_at(&operator->arguments, i);
		struct operator_value *v = &c.arguments[i];
		bool is_list = f.length && *f.text == '[';

		*v = (struct operator_value){.type = operator_type_of(&f)};
		if (f.length)
			numbers_parse(f.text + is_list, f.text + f.length, &v->numbers);
		if (f.length && *f.text == 'T')
			v->numbers = (struct shape){{1}, 1};
	}
	return operator_call_work(&c, ret);
}
