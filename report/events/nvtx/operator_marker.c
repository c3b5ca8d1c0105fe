/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/nvtx/operator_marker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 8, NUMBERS = 8 };

struct marker_argument {
	struct operator_field name, type, dtype;
	uint64_t numbers[NUMBERS]; /* a tensor's sizes, or the value */
	size_t count;
	bool is_other; /* the value is not of numbers that are 0 or more */
};

struct arguments {
	struct marker_argument items[ARGUMENTS];
	size_t count;
};

/* ---- Python's literals ---- */

static bool is_quote(char c)
{
	return c == '\'' || c == '"';
}

/* `at` is at the quote. Returns what follows the text. */
static const char *take_quoted(const char *at, struct operator_field *ret)
{
	char quote = *at++;

	ret->text = at;
	while (*at && *at != quote)
		at += 1 + (*at == '\\' && at[1]);
	ret->length = (size_t)(at - ret->text);
	return at + (*at != 0);
}

/* "(2, 3)", "[2, 3]", "2" or a word. */
static const char *take_numbers(const char *at, struct marker_argument *a)
{
	size_t length = *at == '(' ? strcspn(at, ")") : *at == '[' ? strcspn(at, "]") : strcspn(at, ",}");
	const char *end = at + length;

	a->count = 0;
	while (at < end) {
		if (*at < '0' || *at > '9') {
			a->is_other = a->is_other || !strchr("([, ", *at);
			at++;
			continue;
		}
		if (a->count < NUMBERS)
			a->numbers[a->count++] = strtoull(at, NULL, 10);
		at += strspn(at, "0123456789");
	}
	return at + (*at == ')' || *at == ']');
}

static bool field_is(const struct operator_field *f, const char *word)
{
	return f->length == strlen(word) && !strncmp(f->text, word, f->length);
}

/* {'name': 'x', 'type': 'tensor', 'shape': (2, 3), 'dtype': 'float16'}: `at` is at the brace. */
static const char *take_argument(const char *at, struct marker_argument *ret)
{
	struct operator_field key, value;

	*ret = (struct marker_argument){0};
	for (at++; *at && *at != '}';) {
		if (!is_quote(*at)) {
			at++;
			continue;
		}
		at = take_quoted(at, &key);
		at += strspn(at, ": ");
		if (!is_quote(*at)) {
			at = take_numbers(at, ret);
			continue;
		}
		at = take_quoted(at, &value);
		if (field_is(&key, "name"))
			ret->name = value;
		else if (field_is(&key, "type"))
			ret->type = value;
		else if (field_is(&key, "dtype"))
			ret->dtype = value;
		else
			ret->is_other = true;
	}
	return at + (*at != 0);
}

static void take_arguments(const char *at, struct arguments *ret)
{
	ret->count = 0;
	for (at += strspn(at, "[ "); *at == '{' && ret->count < ARGUMENTS; at += strspn(at, ", "))
		at = take_argument(at, &ret->items[ret->count++]);
}

static bool take_key(const char *text, const char *key, struct operator_field *ret)
{
	const char *at = strstr(text, key);

	if (!at || !is_quote(at[strlen(key)]))
		return false;
	take_quoted(at + strlen(key), ret);
	return true;
}

bool operator_marker_parse(const char *text, struct operator_marker *ret)
{
	static const char args[] = "'args': ";
	const char *at = *text == '{' ? strstr(text, args) : NULL;

	*ret = (struct operator_marker){0};
	if (!at || !take_key(text, "'mod': ", &ret->mod) || !take_key(text, "'op': ", &ret->op))
		return false;
	ret->args = at + sizeof(args) - 1;
	return true;
}

bool operator_marker_is_module(const char *text)
{
	return *text == '{' && strstr(text, "'strRepr': ");
}

/* ---- the trace ---- */

/* Lines of PyTorch and of PyProf, which are in every trace. */
static bool is_inner(const struct operator_field *line)
{
	static const char *const parts[] = {
		"/torch/nn/modules/", "/torch/nn/functional.py", "/torch/tensor.py", "/torch/_tensor.py",
		"/torch/autograd/",   "/torch/_jit_internal.py", "/torch/_utils.py", "/torch/optim/",
		"/torch/utils/",      "/pyprof/nvtx/",		 "/apex/optimizers/"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (memmem(line->text, line->length, parts[i], strlen(parts[i])))
			return true;
	return false;
}

bool operator_marker_trace(const char *text, struct buffer *ret)
{
	static const char key[] = "'traceMarker': [";
	const char *at = *text == '{' ? strstr(text, key) : NULL;
	struct operator_field line;
	size_t before = ret ? ret->size : 0;

	if (!at || !ret)
		return at;
	for (at += sizeof(key) - 1; is_quote(*at); at += strspn(at, ", ")) {
		at = take_quoted(at, &line);
		if (is_inner(&line))
			continue;
		if (ret->size > before)
			buffer_text(ret, ",");
		buffer_add(ret, line.text, line.length);
	}
	return true;
}

/* ---- work ---- */

static const struct {
	const char *name, *short_name;
	unsigned size;
} types[] = {{"float16", "fp16", 2},   {"half", "fp16", 2},   {"bfloat16", "bf16", 2}, {"float32", "fp32", 4},
	     {"float", "fp32", 4},     {"float64", "fp64", 8}, {"double", "fp64", 8},	{"int8", "int8", 1},
	     {"uint8", "uint8", 1},    {"int16", "int16", 2}, {"int32", "int32", 4},	{"int", "int32", 4},
	     {"int64", "int64", 8},    {"long", "int64", 8},  {"float8_e4m3fn", "fp8", 1}, {"float8_e5m2", "fp8", 1}};

static enum number_type number_type_of(const char *short_name)
{
	for (size_t i = NUMBER_UNKNOWN + 1; i < NUMBER_TYPES; i++)
		if (!strcmp(short_name, number_names[i]))
			return (enum number_type)i;
	return NUMBER_UNKNOWN;
}

static void add_type(const struct marker_argument *a, struct operator_work *ret)
{
	size_t length = strlen(ret->params);

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (field_is(&a->dtype, types[i].name)) {
			ret->element = types[i].size;
			ret->type = number_type_of(types[i].short_name);
			snprintf(ret->params + length, sizeof(ret->params) - length, ",%s", types[i].short_name);
			return;
		}
}

static void add_sizes(struct buffer *ret, const uint64_t *sizes, size_t count)
{
	buffer_text(ret, ret->size ? ", [" : "[[");
	for (size_t i = 0; i < count; i++)
		buffer_print(ret, "%s%" PRIu64, i ? ", " : "", sizes[i]);
	buffer_text(ret, "]");
}

/* The work of an operator that PyTorch itself would have named so. */
static bool work_of(const char *name, const struct buffer *sizes, const struct buffer *result,
		    struct operator_work *ret)
{
	struct operator_text t = {.name = {name, strlen(name)}, .sizes = {buffer_string(sizes), sizes->size}};
	struct operator_field f = {buffer_string(result), result->size};

	return operator_work(&t, result->size ? &f : NULL, ret);
}

/* The argument with this name, or without a name at this position. */
static const struct marker_argument *argument_of(const struct arguments *a, const char *name, size_t position)
{
	for (size_t i = 0; i < a->count; i++)
		if (field_is(&a->items[i].name, name))
			return &a->items[i];
	return position < a->count && !a->items[position].name.length ? &a->items[position] : NULL;
}

/* A number for each of the dimensions of an image. False: the value is not known. */
static bool option_of(const struct arguments *a, const char *name, size_t position, uint64_t otherwise, size_t rank,
		      uint64_t *ret)
{
	const struct marker_argument *found = argument_of(a, name, position);

	if (found && (found->is_other || (found->count != 1 && found->count != rank)))
		return false;
	for (size_t i = 0; i < rank; i++)
		ret[i] = !found ? otherwise : found->numbers[found->count == 1 ? 0 : i];
	return true;
}

struct geometry {
	uint64_t step[3], padding[3], dilation[3], added[3], groups;
};

static bool geometry_of(const struct arguments *a, bool is_transposed, size_t rank, struct geometry *ret)
{
	return option_of(a, "stride", 3, 1, rank, ret->step) && option_of(a, "padding", 4, 0, rank, ret->padding) &&
	       option_of(a, "output_padding", is_transposed ? 5 : SIZE_MAX, 0, rank, ret->added) &&
	       option_of(a, "groups", 6, 1, 1, &ret->groups) &&
	       option_of(a, "dilation", is_transposed ? 7 : 5, 1, rank, ret->dilation);
}

/* PyProf's names: ph and pw for the padding, U and V for the steps, dh and dw for the dilation. */
static void add_geometry(const struct geometry *g, struct operator_work *ret)
{
	char *groups = strstr(ret->params, ",g="), rest[32];

	if (!groups)
		return;
	snprintf(rest, sizeof(rest), "%s", groups);
	snprintf(groups, sizeof(ret->params) - (size_t)(groups - ret->params),
		 ",ph=%" PRIu64 ",pw=%" PRIu64 ",U=%" PRIu64 ",V=%" PRIu64 ",dh=%" PRIu64 ",dw=%" PRIu64 "%s",
		 g->padding[0], g->padding[1], g->step[0], g->step[1], g->dilation[0], g->dilation[1], rest);
}

static bool marker_convolution(const struct arguments *a, bool is_transposed, struct operator_work *ret)
{
	const struct marker_argument *input = &a->items[0], *weight = &a->items[1];
	size_t rank = a->count > 1 && input->count > 2 ? input->count - 2 : 0;
	SCOPED(buffer) sizes = {0}, numbers = {0};
	struct operator_text t = {.name = {"aten::convolution", sizeof("aten::convolution") - 1}};
	struct geometry g;
	bool is_known;

	if (!rank || rank > 3 || weight->count != input->count || !geometry_of(a, is_transposed, rank, &g))
		return false;
	add_sizes(&sizes, input->numbers, input->count);
	add_sizes(&sizes, weight->numbers, weight->count);
	buffer_text(&numbers, "[, , ");
	add_sizes(&numbers, g.step, rank);
	add_sizes(&numbers, g.padding, rank);
	add_sizes(&numbers, g.dilation, rank);
	buffer_text(&numbers, is_transposed ? ", True" : ", False");
	add_sizes(&numbers, g.added, rank);
	add_sizes(&numbers, &g.groups, 1);
	buffer_text(&numbers, "]");
	t.sizes = (struct operator_field){buffer_string(&sizes), sizes.size};
	t.arguments = (struct operator_field){buffer_string(&numbers), numbers.size};
	is_known = operator_work(&t, NULL, ret);
	if (is_known && rank == 2)
		add_geometry(&g, ret);
	return is_known;
}

/* The gates of a cell: how many products of the width of the state. */
static uint64_t gates_of(const struct operator_field *mod)
{
	return field_is(mod, "LSTMCell") ? 4 : field_is(mod, "GRUCell") ? 3 : field_is(mod, "RNNCell") ? 1 : 0;
}

bool operator_marker_is_cell(const struct operator_marker *m)
{
	return field_is(&m->op, "forward") && gates_of(&m->mod);
}

static bool cell_work(const struct operator_marker *m, const struct arguments *a, size_t nth,
		      struct operator_work *ret)
{
	const struct marker_argument *input = &a->items[0], *state = &a->items[1];
	struct buffer sizes = {0}, none = {0};
	uint64_t weight[2];
	bool is_known;

	if (nth > 1 || a->count < 2 || input->count != 2 || state->count != 2)
		return false;
	weight[0] = gates_of(&m->mod) * state->numbers[1];
	weight[1] = nth ? state->numbers[1] : input->numbers[1];
	add_sizes(&sizes, nth ? state->numbers : input->numbers, 2);
	add_sizes(&sizes, weight, 2);
	is_known = work_of("aten::linear", &sizes, &none, ret);
	buffer_done(&sizes);
	return is_known;
}

/* The function of PyTorch by the operator that does its work, whose arguments are the same. */
static const char *const same_arguments[][2] = {
	{"mm", "aten::mm"},		{"bmm", "aten::bmm"},		{"mv", "aten::mv"},
	{"dot", "aten::dot"},		{"matmul", "aten::matmul"},	{"__matmul__", "aten::matmul"},
	{"addmm", "aten::addmm"},	{"addmm_", "aten::addmm"},	{"addmv", "aten::addmv"},
	{"addbmm", "aten::addbmm"},	{"baddbmm", "aten::baddbmm"},	{"linear", "aten::linear"},
	{"scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention"},
};

static bool marker_work_like(const char *name, const struct arguments *a, struct operator_work *ret)
{
	SCOPED(buffer) sizes = {0}, numbers = {0};
	struct operator_text t = {.name = {name, strlen(name)}};

	if (!strcmp(name, "aten::embedding") && a->count > 1) /* aten has the table first */
		add_sizes(&sizes, a->items[1].numbers, a->items[1].count);
	buffer_text(&numbers, "[");
	for (size_t i = 0; i < a->count; i++) {
		bool is_tensor = field_is(&a->items[i].type, "tensor");

		add_sizes(&sizes, a->items[i].numbers, is_tensor ? a->items[i].count : 0);
		if (!is_tensor && a->items[i].count == 1)
			buffer_print(&numbers, "%" PRIu64, a->items[i].numbers[0]);
		buffer_text(&numbers, ", ");
	}
	t.sizes = (struct operator_field){buffer_string(&sizes), sizes.size};
	t.arguments = (struct operator_field){buffer_string(&numbers), numbers.size};
	return sizes.size && operator_work(&t, NULL, ret);
}

/* Python's operators: "__iadd__" and "__radd__" are add. */
static void add_dunder_name(const struct operator_field *op, struct buffer *ret)
{
	static const char *const others[][2] = {{"truediv", "div"}, {"floordiv", "floor_divide"}, {"mod", "remainder"},
						{"and", "bitwise_and"}, {"or", "bitwise_or"}, {"xor", "bitwise_xor"},
						{"invert", "bitwise_not"}, {"lshift", "bitwise_left_shift"},
						{"rshift", "bitwise_right_shift"}};
	static const char *const plain[] = {"add", "sub", "mul", "div", "pow", "abs", "neg", "lt", "gt", "le", "ge",
					    "eq",  "ne"};

	for (size_t from = 2; from <= 3; from++) { /* with a letter before the name, or without */
		struct operator_field name = {op->text + from, op->length - from - 2};

		for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
			if (field_is(&name, plain[i])) {
				buffer_text(ret, plain[i]);
				return;
			}
		for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
			if (field_is(&name, others[i][0])) {
				buffer_text(ret, others[i][1]);
				return;
			}
	}
}

/* Most functions have the name of their operator. */
static bool marker_work_by_name(const struct operator_marker *m, const struct arguments *a, struct operator_work *ret)
{
	bool is_dunder = m->op.length > 6 && !strncmp(m->op.text, "__", 2);
	SCOPED(buffer) name = {0};

	buffer_text(&name, "aten::");
	if (is_dunder)
		add_dunder_name(&m->op, &name);
	else
		buffer_add(&name, m->op.text, m->op.length);
	return marker_work_like(buffer_string(&name), a, ret) && ret->class == OPERATOR_ELEMENTWISE;
}

/* "conv2d" */
static bool is_convolution(const struct operator_field *op, const char *word)
{
	size_t length = strlen(word);

	return op->length == length + 2 && !strncmp(op->text, word, length) && op->text[length + 1] == 'd';
}

bool operator_marker_work(const struct operator_marker *m, size_t nth, struct operator_work *ret)
{
	struct arguments a;
	bool is_known = false;

	*ret = (struct operator_work){0};
	take_arguments(m->args, &a);
	if (operator_marker_is_cell(m))
		is_known = cell_work(m, &a, nth, ret);
	else if (is_convolution(&m->op, "conv_transpose"))
		is_known = marker_convolution(&a, true, ret);
	else if (is_convolution(&m->op, "conv"))
		is_known = marker_convolution(&a, false, ret);
	for (size_t i = 0; i < sizeof(same_arguments) / sizeof(*same_arguments) && !is_known; i++)
		is_known = field_is(&m->op, same_arguments[i][0]) && marker_work_like(same_arguments[i][1], &a, ret);
	is_known = is_known || marker_work_by_name(m, &a, ret);
	if (is_known)
		add_type(&a.items[field_is(&m->op, "embedding") && a.count > 1], ret);
	return is_known;
}
