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

static void add_list(struct buffer *ret, const char *begin, const uint64_t *sizes, size_t count)
{
	buffer_text(ret, begin);
	for (size_t i = 0; i < count; i++)
		buffer_print(ret, "%s%" PRIu64, i ? ", " : "", sizes[i]);
	buffer_text(ret, "]");
}

static void add_sizes(struct buffer *ret, const uint64_t *sizes, size_t count)
{
	add_list(ret, ret->size ? ", [" : "[[", sizes, count);
}

/* The argument with this name, or without a name at this position. */
static const struct marker_argument *argument_of(const struct arguments *a, const char *name, size_t position)
{
	for (size_t i = 0; i < a->count; i++)
		if (field_is(&a->items[i].name, name))
			return &a->items[i];
	return position < a->count && !a->items[position].name.length ? &a->items[position] : NULL;
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
	SCOPED(buffer) sizes = {0};
	struct operator_text t = {.name = {"aten::linear", sizeof("aten::linear") - 1}};
	uint64_t weight[2];

	if (nth > 1 || a->count < 2 || input->count != 2 || state->count != 2)
		return false;
	weight[0] = gates_of(&m->mod) * state->numbers[1];
	weight[1] = nth ? state->numbers[1] : input->numbers[1];
	add_sizes(&sizes, nth ? state->numbers : input->numbers, 2);
	add_sizes(&sizes, weight, 2);
	t.sizes = (struct operator_field){buffer_string(&sizes), sizes.size};
	return operator_work(&t, NULL, ret);
}

/* The arguments of a convolution, with what they are if they are not given. */
enum { NAMES = 8 };
static const char *const convolution[NAMES][2] = {
	{"input"}, {"weight"}, {"bias"}, {"stride", "1"}, {"padding", "0"}, {"dilation", "1"}, {"groups", "1"}};
static const char *const transposed[NAMES][2] = {
	{"input"}, {"weight"}, {"bias"}, {"stride", "1"}, {"padding", "0"}, {"output_padding", "0"}, {"groups", "1"},
	{"dilation", "1"}};
static const char *const unnamed[NAMES][2];

static const char *const (*names_of(const char *name))[2]
{
	bool is_convolution = text_begins_with(name, "aten::conv");

	return !is_convolution ? unnamed : strstr(name, "transpose") ? transposed : convolution;
}

static void add_number(const struct marker_argument *a, const char *otherwise, struct buffer *ret)
{
	if (a && !a->is_other && a->count == 1)
		buffer_print(ret, "%" PRIu64, a->numbers[0]);
	else if (a && !a->is_other && a->count)
		add_list(ret, "[", a->numbers, a->count);
	else if (otherwise)
		buffer_text(ret, a ? "?" : otherwise);
}

/* The operator's text as PyTorch itself would have recorded it: sizes of tensors, and values of other arguments. */
static bool marker_work_like(const char *name, const struct arguments *a, struct operator_work *ret)
{
	const char *const (*names)[2] = names_of(name);
	SCOPED(buffer) sizes = {0}, numbers = {0};
	struct operator_text t = {.name = {name, strlen(name)}};

	if (!strcmp(name, "aten::embedding") && a->count > 1) /* aten has the table first */
		add_sizes(&sizes, a->items[1].numbers, a->items[1].count);
	buffer_text(&numbers, "[");
	for (size_t i = 0; i < (names == unnamed ? a->count : NAMES) && (names == unnamed || names[i][0]); i++) {
		const struct marker_argument *of = names == unnamed ? &a->items[i] : argument_of(a, names[i][0], i);
		bool is_tensor = of && field_is(&of->type, "tensor");

		add_sizes(&sizes, is_tensor ? of->numbers : NULL, is_tensor ? of->count : 0);
		add_number(is_tensor ? NULL : of, names[i][1], &numbers);
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
					    "eq",  "ne",  "matmul"};

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

/* Most functions have the name of their operator, and its arguments. */
static bool marker_work_by_name(const struct operator_marker *m, const struct arguments *a, struct operator_work *ret)
{
	bool is_dunder = m->op.length > 6 && text_begins_with(m->op.text, "__");
	SCOPED(buffer) name = {0};

	buffer_text(&name, "aten::");
	if (is_dunder)
		add_dunder_name(&m->op, &name);
	else if (field_is(&m->op, "scaled_dot_product_attention"))
		buffer_text(&name, "_scaled_dot_product_flash_attention");
	else
		buffer_add(&name, m->op.text, m->op.length);
	return marker_work_like(buffer_string(&name), a, ret);
}

bool operator_marker_work(const struct operator_marker *m, size_t nth, struct operator_work *ret)
{
	struct arguments a;
	bool is_known = false;

	*ret = (struct operator_work){0};
	take_arguments(m->args, &a);
	if (operator_marker_is_cell(m))
		is_known = cell_work(m, &a, nth, ret);
	is_known = is_known || marker_work_by_name(m, &a, ret);
	if (is_known)
		add_type(&a.items[field_is(&m->op, "embedding") && a.count > 1], ret);
	return is_known;
}
