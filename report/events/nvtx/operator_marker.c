/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/nvtx/operator_marker.h"

#include <stdio.h>
#include <string.h>

#include "report/events/nvtx/operator_call.h"

enum { MOST = 8 };

struct marker_argument {
	struct operator_field name, type, dtype;
	struct shape numbers; /* a tensor's sizes, or the value; of rank 0: not of numbers that are 0 or more */
};

struct arguments {
	struct marker_argument items[MOST];
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

	if (strspn(at, "([, 0123456789") >= length)
		numbers_parse(at, at + length, &a->numbers);
	at += length;
	return at + (*at == ')' || *at == ']');
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
		if (operator_is_one_of(&key, "name"))
			ret->name = value;
		else if (operator_is_one_of(&key, "type"))
			ret->type = value;
		else if (operator_is_one_of(&key, "dtype"))
			ret->dtype = value;
	}
	return at + (*at != 0);
}

static void take_arguments(const char *at, struct arguments *ret)
{
	ret->count = 0;
	for (at += strspn(at, "[ "); *at == '{' && ret->count < MOST; at += strspn(at, ", "))
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

	return array_find(part, parts, sizeof(parts) / sizeof(*parts),
			  memmem(line->text, line->length, *part, strlen(*part))) != NULL;
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

static void add_type(const struct marker_argument *a, struct operator_work *ret)
{
	const struct operator_type *type = operator_type_named(&a->dtype);
	size_t length = strlen(ret->params);

	if (!type)
		return;
	ret->element = type->size;
	ret->type = type->number;
	snprintf(ret->params + length, sizeof(ret->params) - length, ",%.*s", (int)strcspn(type->names, " "),
		 type->number ? number_names[type->number] : type->names);
}

/* The gates of a cell: how many products of the width of the state. */
static uint64_t gates_of(const struct operator_field *mod)
{
	return operator_is_one_of(mod, "LSTMCell")  ? 4
	       : operator_is_one_of(mod, "GRUCell") ? 3
						    : operator_is_one_of(mod, "RNNCell");
}

bool operator_marker_is_cell(const struct operator_marker *m)
{
	return operator_is_one_of(&m->op, "forward") && gates_of(&m->mod);
}

static bool cell_work(const struct operator_marker *m, const struct arguments *a, size_t nth,
		      struct operator_work *ret)
{
	const struct shape *state = &a->items[1].numbers, *factor = nth ? state : &a->items[0].numbers;

	if (nth > 1 || a->count < 2 || a->items[0].numbers.rank != 2 || state->rank != 2)
		return false;
	return operator_product_work(1, factor->sizes[0], gates_of(&m->mod) * state->sizes[1], factor->sizes[1], ret);
}

/* The arguments of a convolution, with what they are if they are not given. */
struct named_argument {
	const char *name;
	struct shape otherwise;
};
#define ONE {{1}, 1}
#define ZERO {{0}, 1}
static const struct named_argument convolution[] = {
	{"input"}, {"weight"}, {"bias"}, {"stride", ONE}, {"padding", ZERO}, {"dilation", ONE}, {"groups", ONE},
	{NULL}};
static const struct named_argument transposed[] = {
	{"input"}, {"weight"}, {"bias"}, {"stride", ONE}, {"padding", ZERO}, {"output_padding", ZERO},
	{"groups", ONE}, {"dilation", ONE}, {NULL}};

/* The argument with this name, or without a name at this position; NULL: there is none. */
static const struct marker_argument *argument_of(const struct arguments *a, const char *name, size_t position)
{
	return array_find(item, a->items, a->count, operator_is_one_of(&item->name, name))
	       ?: position < a->count && !a->items[position].name.length ? &a->items[position] : NULL;
}

static void add_sizes(struct operator_call *c, const struct shape *s)
{
	c->sizes.items[c->sizes.count++] = *s;
}

/* The call as PyTorch itself would have recorded it: sizes of tensors, and values of other arguments. */
static bool marker_work_like(const char *name, const struct arguments *a, struct operator_work *ret)
{
	const struct named_argument *names = !text_begins_with(name, "aten::conv") ? NULL
					     : strstr(name, "transpose")	   ? transposed
										   : convolution;
	struct operator_call c = {.name = {name, strlen(name)}};

	if (!strcmp(name, "aten::embedding") && a->count > 1) /* aten has the table first */
		add_sizes(&c, &a->items[1].numbers);
	for (size_t i = 0; names ? names[i].name != NULL : i < a->count; i++) {
		const struct marker_argument *of = names ? argument_of(a, names[i].name, i) : &a->items[i];
		bool is_tensor = of && operator_is_one_of(&of->type, "tensor");

		add_sizes(&c, is_tensor ? &of->numbers : &(struct shape){0});
		if (!is_tensor)
			c.arguments[i].numbers = of ? of->numbers : names[i].otherwise;
	}
	return c.sizes.count && operator_call_work(&c, ret);
}

/* Python's operators: "__iadd__" and "__radd__" are add. */
static void add_dunder_name(const struct operator_field *op, struct buffer *ret)
{
	/* Python's names; the operator's, NULL: the same */
	static const char *const rows[][2] = {{"add sub mul div pow abs neg lt gt le ge eq ne matmul", NULL},
					      {"truediv", "div"}, {"floordiv", "floor_divide"}, {"mod", "remainder"},
					      {"and", "bitwise_and"}, {"or", "bitwise_or"}, {"xor", "bitwise_xor"},
					      {"invert", "bitwise_not"}, {"lshift", "bitwise_left_shift"},
					      {"rshift", "bitwise_right_shift"}};

	for (size_t from = 2; from <= 3; from++) { /* with a letter before the name, or without */
		struct operator_field name = {op->text + from, op->length - from - 2};

		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
			if (operator_is_one_of(&name, rows[i][0])) {
				buffer_add(ret, rows[i][1] ?: name.text, rows[i][1] ? strlen(rows[i][1]) : name.length);
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
	else if (operator_is_one_of(&m->op, "scaled_dot_product_attention"))
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
		add_type(&a.items[operator_is_one_of(&m->op, "embedding") && a.count > 1], ret);
	return is_known;
}
