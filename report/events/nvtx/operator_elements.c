/* SPDX-License-Identifier: Apache-2.0 */
/* The work of operators that do as much for each element: by the formulas of PyProf (NVIDIA/PyProf,
 * pyprof/prof), which counts a transcendental function as 20 operations, and copies as none. */
#include "report/events/nvtx/operator_call.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- sizes ---- */

uint64_t mul_sat(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t elements_of(const struct shape *s)
{
	uint64_t product = 1;

	for (size_t i = 0; i < s->rank; i++)
		product = mul_sat(product, s->sizes[i]);
	return product;
}

uint64_t add_sat(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

bool operator_bare_name(const struct operator_field *name, struct operator_field *ret)
{
	static const char space[] = "aten::";
	size_t prefix = sizeof(space) - 1;

	if (name->length <= prefix || strncmp(name->text, space, prefix))
		return false;
	*ret = (struct operator_field){name->text + prefix, name->length - prefix};
	ret->length -= ret->length > 1 && ret->text[ret->length - 1] == '_';
	return true;
}

/* ---- the table ---- */

enum elements_form {
	EACH,	  /* of the first argument */
	SECOND,	  /* of the second: the first is the gradient of a sum */
	PAIR,	  /* of the result, to whose sizes both arguments are broadcast */
	COMPARISON, /* likewise, with results of one byte */
	TRIPLE,	  /* likewise of three arguments */
	ROWS,	  /* of a table, the first argument, at the indices of 8 bytes in the second */
	SELECTED, /* likewise of a tensor, along the dimension that the second argument is; the third has the indices */
	MASKED,	  /* of the first argument; the second has a byte for each */
	PLACES,	  /* of the first argument; the result has a number of 8 bytes for each dimension */
	CONVERTED, /* of the first argument, to a type of so many bytes */
	COUNTED,  /* of 8 bytes, as many as the first argument is */
	COPIED,	  /* of the first argument; the second may have another type */
	ALL,	  /* of a list of tensors */
	LISTS	  /* of the first of several lists with the same sizes */
};

enum { ONE = 1 << 1, TWO = 1 << 2, THREE = 1 << 3, FOUR = 1 << 4, FIVE = 1 << 5, EXPENSIVE = 20 };

/* For each element; `once` for all of them. Of PAIR and TRIPLE the arguments and the result are moved; of LISTS, each
 * list beyond the fewest adds `more`. */
struct elements_row {
	const char *names;
	uint8_t form, flops, moves;
	uint8_t lists; /* of LISTS: how many there may be */
	uint8_t more_flops, more_moves;
	uint8_t flops_once, moves_once;
};

#define ROW(names, form, flops, moves) {names, form, flops, moves, 0, 0, 0, 0, 0}
#define ONCE(names, form, flops, moves, flops_once, moves_once)                                                        \
	{names, form, flops, moves, 0, 0, 0, flops_once, moves_once}
#define LIST(names, flops, moves, lists, more_flops, more_moves)                                                       \
	{names, LISTS, flops, moves, lists, more_flops, more_moves, 0, 0}

static const struct elements_row rows[] = {
	/* activations: forward reads one and writes one, backward reads two */
	ROW("relu relu6 celu elu selu gelu silu mish hardshrink hardtanh hardswish hardsigmoid leaky_relu "
	    "log_sigmoid_forward logsigmoid prelu _prelu_kernel rrelu softplus softshrink softsign tanhshrink "
	    "threshold", EACH, 1, 2),
	ROW("threshold_backward elu_backward gelu_backward silu_backward mish_backward hardshrink_backward "
	    "hardtanh_backward hardswish_backward hardsigmoid_backward leaky_relu_backward softplus_backward "
	    "softshrink_backward", EACH, 1, 3),
	/* one argument */
	ROW("abs neg reciprocal bitwise_not ceil clamp clamp_min clamp_max floor frac round sign trunc", EACH, 1, 2),
	ROW("exp expm1 log log10 log1p log2 rsqrt sqrt acos asin atan cos cosh sin sinh tan tanh sigmoid erf "
	    "erfc erfinv", EACH, EXPENSIVE, 2),
	ROW("tanh_backward sigmoid_backward", EACH, EXPENSIVE, 3),
	/* two and three */
	ROW("add sub rsub mul div floor_divide true_divide remainder fmod bitwise_and bitwise_or bitwise_xor "
	    "bitwise_left_shift bitwise_right_shift", PAIR, 1, 0),
	ROW("pow atan2", PAIR, EXPENSIVE, 0),
	ROW("lt gt le ge eq ne", COMPARISON, 1, 0),
	ROW("addcmul addcdiv", TRIPLE, 3, 0),
	/* softmax and norms */
	ROW("_softmax softmax", EACH, 2 * EXPENSIVE, 3),
	ROW("_softmax_backward_data", EACH, 2 * EXPENSIVE, 5),
	ROW("_log_softmax log_softmax", EACH, EXPENSIVE + 1, 3),
	ROW("_log_softmax_backward_data", EACH, EXPENSIVE + 1, 5),
	ROW("batch_norm native_batch_norm cudnn_batch_norm layer_norm native_layer_norm group_norm "
	    "native_group_norm instance_norm", EACH, 8, 4),
	ROW("native_batch_norm_backward cudnn_batch_norm_backward native_layer_norm_backward "
	    "native_group_norm_backward", EACH, 8, 5),
	/* what draws numbers, loses, looks up and reduces */
	ROW("dropout native_dropout native_dropout_backward", EACH, 5, 2),
	ONCE("mse_loss", EACH, 4, 2, 1, 0),
	ONCE("mse_loss_backward", SECOND, 6, 3, 1, 0),
	ROW("embedding", ROWS, 0, 2),
	ROW("embedding_dense_backward", EACH, 0, 3),
	ROW("sum", EACH, 1, 1),
	ONCE("mean", EACH, 1, 1, 1, 1),
	ONCE("norm linalg_vector_norm", EACH, 2, 1, 1, 0),
	ROW("any", EACH, 0, 1),
	/* copies */
	ROW("copy", COPIED, 0, 2),
	ROW("clone contiguous gather to", EACH, 0, 2),
	ROW("cat", ALL, 0, 2),
	ROW("fill zero ones_like zeros_like", EACH, 0, 1),
	ROW("reshape", EACH, 0, 0),
	ROW("index_select", SELECTED, 0, 2),
	ROW("masked_select masked_scatter", MASKED, 0, 2),
	ROW("nonzero", PLACES, 0, 1),
	ROW("randperm", COUNTED, 3, 1),
	ROW("byte char", CONVERTED, 0, 1),
	ROW("short half", CONVERTED, 0, 2),
	ROW("int float", CONVERTED, 0, 4),
	ROW("long double", CONVERTED, 0, 8),
	/* lists of parameters: a scalar or another list */
	LIST("_foreach_add _foreach_sub _foreach_mul _foreach_div", 1, 2, ONE | TWO, 0, 1),
	LIST("_foreach_sqrt", EXPENSIVE, 2, ONE, 0, 0),
	LIST("_foreach_neg _foreach_reciprocal", 1, 2, ONE, 0, 0),
	LIST("_foreach_zero", 0, 1, ONE, 0, 0),
	LIST("_foreach_norm", 2, 1, ONE, 0, 0),
	LIST("_foreach_copy", 0, 2, TWO, 0, 0),
	LIST("_foreach_lerp", 3, 3, TWO | THREE, 0, 1),
	LIST("_foreach_addcmul _foreach_addcdiv", 3, 4, THREE, 0, 0),
	/* parameter, two moments: read and written; the gradient read. A fifth list has the largest moments. */
	LIST("_fused_adam _fused_adamw", 0, 7, FOUR | FIVE, 0, 2),
	/* parameter read and written, the gradient read; a third list has the momentum */
	LIST("_fused_sgd", 2, 3, TWO | THREE, 2, 2),
};

/* ---- counts ---- */

/* The sizes to which both are broadcast. False: they do not fit. */
static bool broadcast(const struct shape *a, const struct shape *b, struct shape *ret)
{
	const struct shape *larger = a->rank >= b->rank ? a : b, *smaller = larger == a ? b : a;
	size_t skipped = larger->rank - smaller->rank;
	struct shape both = *larger;

	for (size_t i = 0; i < both.rank; i++) {
		uint64_t other = i < skipped ? 1 : smaller->sizes[i - skipped];

		if (both.sizes[i] != other && both.sizes[i] != 1 && other != 1)
			return false;
		if (both.sizes[i] == 1)
			both.sizes[i] = other;
	}
	*ret = both;
	return true;
}

/* `tensors` arguments, of which those that are missing are numbers. */
static bool of_result(const struct elements_row *row, const struct shapes *s, size_t tensors,
		      struct operator_work *ret, uint64_t *ret_elements)
{
	static const struct shape number;
	struct shape result = s->items[0];
	uint64_t moved = elements_of(&s->items[0]);

	for (size_t i = 1; i < tensors; i++) {
		const struct shape *next = i < s->count ? &s->items[i] : &number;

		if (!broadcast(&result, next, &result))
			return false;
		moved = add_sat(moved, elements_of(next));
	}
	*ret_elements = result.rank ? elements_of(&result) : 0;
	if (row->form == COMPARISON)
		ret->more_bytes = *ret_elements;
	else
		moved = add_sat(moved, *ret_elements);
	ret->elements = moved;
	return true;
}

static size_t count_tensors(const struct shapes *s)
{
	size_t count = 0;

	while (count < s->count && s->items[count].rank)
		count++;
	return count;
}

static bool is_same(const struct shape *a, const struct shape *b)
{
	return a->rank == b->rank && !memcmp(a->sizes, b->sizes, a->rank * sizeof(*a->sizes));
}

/* Whether the tensors may be so many lists with the same sizes. */
static bool may_be_lists(const struct shapes *s, size_t tensors, size_t lists)
{
	size_t each = tensors / lists;

	if (!each || tensors % lists)
		return false;
	for (size_t i = each; i < tensors; i++)
		if (!is_same(&s->items[i], &s->items[i - each]))
			return false;
	return true;
}

/* How many lists there are; 0: the sizes do not tell. */
static size_t count_lists(const struct elements_row *row, const struct shapes *s, size_t tensors)
{
	size_t found = 0;

	for (size_t lists = 1; lists <= 5; lists++) {
		if (!(row->lists & 1u << lists) || !may_be_lists(s, tensors, lists))
			continue;
		if (found)
			return 0;
		found = lists;
	}
	return found;
}

static bool of_lists(const struct elements_row *row, const struct shapes *s, struct operator_work *ret)
{
	size_t tensors = count_tensors(s), lists = s->count < SHAPES ? count_lists(row, s, tensors) : 0;
	size_t fewest = (size_t)__builtin_ctz(row->lists), more = lists - fewest;
	uint64_t elements = 0;

	if (!lists)
		return false;
	for (size_t i = 0; i < tensors / lists; i++)
		elements = add_sat(elements, elements_of(&s->items[i]));
	ret->flops = mul_sat(elements, row->flops + more * row->more_flops);
	ret->elements = mul_sat(elements, row->moves + more * row->more_moves);
	snprintf(ret->params, sizeof(ret->params), "N=%" PRIu64, elements);
	return elements;
}

/* The rows that are selected along a dimension; 0: it is not known. */
static uint64_t count_selected(const struct operator_call *c)
{
	const struct shape *first = &c->sizes.items[0], *place = &c->arguments[1].numbers;
	int64_t dimension = place->rank ? (int64_t)place->sizes[0] : RANK;
	struct shape result = *first;

	dimension += dimension < 0 ? (int64_t)first->rank : 0;
	if (c->sizes.count < 3 || dimension < 0 || dimension >= (int64_t)first->rank)
		return 0;
	result.sizes[dimension] = elements_of(&c->sizes.items[2]);
	return elements_of(&result);
}

/* Sets ret->elements. 0: the sizes do not tell. */
static uint64_t count_elements(const struct elements_row *row, const struct operator_call *c,
			       struct operator_work *ret)
{
	const struct operator_type *copied = c->arguments[1].type;
	const struct shapes *s = &c->sizes;
	const struct shape *first = &s->items[0], *of = row->form == SECOND && s->count > 1 ? first + 1 : first;
	size_t tensors = row->form == ALL ? count_tensors(s) : 0, moves = row->moves;
	uint64_t n = of->rank ? elements_of(of) : 0;

	switch ((enum elements_form)row->form) {
	case PAIR:
	case COMPARISON:
		return of_result(row, s, 2, ret, &n) ? n : 0;
	case TRIPLE:
		return s->count >= 3 && of_result(row, s, 3, ret, &n) ? n : 0;
	case ROWS:
		if (s->count < 2 || first->rank != 2)
			return 0;
		n = elements_of(first + 1);
		ret->more_bytes = mul_sat(n, 8);
		n = mul_sat(n, first->sizes[1]);
		break;
	case SELECTED:
		n = count_selected(c);
		ret->more_bytes = n ? mul_sat(elements_of(first + 2), 8) : 0;
		break;
	case MASKED:
		ret->more_bytes = s->count > 1 ? elements_of(first + 1) : 0;
		break;
	case PLACES:
		ret->more_bytes = mul_sat(n, 8 * first->rank);
		break;
	case CONVERTED:
		ret->more_bytes = mul_sat(n, moves);
		moves = 1;
		break;
	case COUNTED:
		n = c->arguments[0].numbers.rank ? c->arguments[0].numbers.sizes[0] : 0;
		ret->element = 8;
		break;
	case COPIED:
		if (copied) {
			ret->more_bytes = mul_sat(n, copied->size);
			moves = 1;
		}
		break;
	case ALL:
		n = 0;
		for (size_t i = 0; i < tensors && s->count < SHAPES; i++)
			n = add_sat(n, elements_of(&s->items[i]));
		break;
	default:
		break;
	}
	ret->elements = add_sat(mul_sat(n, moves), row->moves_once);
	return n;
}

bool elements_work(const struct operator_call *c, struct operator_work *ret)
{
	const struct elements_row *row = NULL;
	struct operator_field bare;
	uint64_t n;

	if (!c->sizes.count || !operator_bare_name(&c->name, &bare))
		return false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && !row; i++)
		if (operator_is_one_of(&bare, rows[i].names))
			row = &rows[i];
	if (!row)
		return false;
	ret->class = OPERATOR_ELEMENTWISE;
	if (row->form == LISTS)
		return of_lists(row, &c->sizes, ret);
	n = count_elements(row, c, ret);
	ret->flops = add_sat(mul_sat(n, row->flops), row->flops_once);
	snprintf(ret->params, sizeof(ret->params), "N=%" PRIu64, n);
	return n;
}
