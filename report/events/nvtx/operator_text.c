/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/nvtx/operator_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Their order is that of a text. What is before the first of NAME_ENDS fields is the name. */
enum field_kind { FIELD_NUMBER, FIELD_NAME, FIELD_LIST };
enum { NAME_ENDS = 4 };
static const struct field_row {
	const char *key;
	enum field_kind kind;
	size_t offset; /* in struct operator_text */
} field_rows[] = {
	{", seq = ", FIELD_NUMBER, offsetof(struct operator_text, seq)},
	{", op_id = ", FIELD_NUMBER, offsetof(struct operator_text, op_id)},
	{", group = ", FIELD_NAME, offsetof(struct operator_text, group)},
	{", sizes = ", FIELD_LIST, offsetof(struct operator_text, sizes)},
	{", input_op_ids = ", FIELD_LIST, offsetof(struct operator_text, inputs)},
	{", arguments = ", FIELD_LIST, offsetof(struct operator_text, arguments)},
};

/* The value that follows `at`: a number, a name, or a list, which begins with a bracket. */
static struct operator_field field_at(const char *at, enum field_kind kind)
{
	const char *end;

	if (kind != FIELD_LIST)
		return (struct operator_field){at, kind == FIELD_NAME ? strcspn(at, ",") : strspn(at, "-0123456789")};
	end = strstr(at, ", input_op_ids = ") ?: strstr(at, ", arguments = ");
	return (struct operator_field){at, *at != '[' ? 0 : end ? (size_t)(end - at) : strlen(at)};
}

bool operator_text_parse(const char *text, struct operator_text *ret)
{
	size_t length = strlen(text);
	bool has_group = text_begins_with(text, "c10d::") || operator_is_collective(text);

	*ret = (struct operator_text){.name = {text, length}};
	for (size_t i = 0; i < sizeof(field_rows) / sizeof(*field_rows); i++) {
		const struct field_row *row = &field_rows[i];
		const char *at = row->kind != FIELD_NAME || has_group ? strstr(text, row->key) : NULL;
		struct operator_field *f = (struct operator_field *)((char *)ret + row->offset);

		if (!at)
			continue;
		*f = field_at(at + strlen(row->key), row->kind);
		if (f->length && i < NAME_ENDS && (size_t)(at - text) < ret->name.length)
			ret->name.length = (size_t)(at - text);
	}
	return ret->name.length < length;
}

uint64_t operator_seq(const struct operator_text *t)
{
	return t->seq.length ? strtoull(t->seq.text, NULL, 10) : OPERATOR_NO_SEQ;
}

/* The rest of a list from the character before the next `c` on; without text: there is none. */
static struct operator_field list_next(const struct operator_field *list, size_t skip, char c)
{
	const char *at = list->length > skip ? memchr(list->text + skip, c, list->length - skip) : NULL;

	return at ? (struct operator_field){at - 1, (size_t)(list->text + list->length - at) + 1}
		  : (struct operator_field){0};
}

bool operator_argument_next(struct operator_argument *a)
{
	bool is_first = !a->sizes.text;
	char *end;

	a->sizes = list_next(is_first ? &a->of->sizes : &a->sizes, is_first ? 1 : 2, '[');
	a->ids = list_next(is_first ? &a->of->inputs : &a->ids, is_first ? 1 : 2, '(');
	if (!a->sizes.text || !a->ids.text)
		return false;
	a->made_by = strtoull(a->ids.text + 2, &end, 10);
	if (!text_begins_with(end, ",0)"))
		a->made_by = 0;
	return true;
}

struct operator_field operator_list_at(const struct operator_field *list, size_t n)
{
	const char *first, *end;
	size_t depth = 0;

	if (!list->length)
		return (struct operator_field){0};
	first = list->text + 1;
	end = list->text + list->length;
	for (const char *at = first; at < end; at++) {
		bool is_last = !depth && (at + 1 == end || *at == ',');

		if (is_last && !n--) /* a text that was cut may end within ", " */
			return (struct operator_field){first, at > first ? (size_t)(at - first) : 0};
		if (is_last)
			first = at + 2;
		depth += (*at == '[') - (*at == ']');
	}
	return (struct operator_field){0};
}

bool operator_is_one_of(const struct operator_field *name, const char *names)
{
	for (size_t length; *names; names += length + (names[length] != 0)) {
		length = strcspn(names, " ");
		if (length == name->length && !strncmp(names, name->text, length))
			return true;
	}
	return false;
}

/* at::ScalarType */
static const struct operator_type types[] = {
	{"unsigned char", "uint8", 1}, {"signed char", "int8", 1, NUMBER_INT8}, {"short int", "int16", 2},
	{"int", "int32 int", 4}, {"long int", "int64 long", 8}, {"c10::Half", "float16 half", 2, NUMBER_FP16},
	{"float", "float32 float", 4, NUMBER_FP32}, {"double", "float64 double", 8, NUMBER_FP64},
	{"c10::complex<c10::Half>", NULL, 4}, {"c10::complex<float>", NULL, 8}, {"c10::complex<double>", NULL, 16},
	{"bool", NULL, 1}, {"c10::qint8", NULL, 1, NUMBER_INT8}, {"c10::quint8", NULL, 1}, {"c10::qint32", NULL, 4},
	{"c10::BFloat16", "bfloat16", 2, NUMBER_BF16}, [23] = {"c10::Float8_e5m2", "float8_e5m2", 1, NUMBER_FP8},
	{"c10::Float8_e4m3fn", "float8_e4m3fn", 1, NUMBER_FP8}, {"c10::Float8_e5m2fnuz", NULL, 1, NUMBER_FP8},
	{"c10::Float8_e4m3fnuz", NULL, 1, NUMBER_FP8}, {"short unsigned int", NULL, 2}, {"unsigned int", NULL, 4},
	{"long unsigned int", NULL, 8}};

const struct operator_type *operator_type_named(const struct operator_field *name)
{
	return array_find(type, types, sizeof(types) / sizeof(*types),
			  type->names && operator_is_one_of(name, type->names));
}

const struct operator_type *operator_type_of(const struct operator_field *argument)
{
	bool is_tensor = argument->length > 1 && *argument->text == 't';
	size_t number = is_tensor ? strtoull(argument->text + 1, NULL, 10) : SIZE_MAX;

	return number < sizeof(types) / sizeof(*types) && types[number].name ? &types[number] : NULL;
}

/* As PyTorch's profiler prints it: "1." and "0.10000000000000001". */
static void add_fraction(const char *bits, struct buffer *ret)
{
	int64_t number = strtoll(bits, NULL, 10);
	double value;

	memcpy(&value, &number, sizeof(value));
	buffer_print(ret, "%.17g%s", value, value == trunc(value) && fabs(value) < 1e17 ? "." : "");
}

const char *operator_argument_text(const struct operator_field *argument, struct buffer *ret)
{
	const struct operator_type *type = operator_type_of(argument);
	const char *at = argument->text, *end = at + argument->length;

	if (type || at == end || *at == 't')
		return type ? type->name : "";
	if (argument->length > 1 && at[1] == 't')
		return "TensorList";
	for (; at < end; at++)
		if (*at == 'f') {
			add_fraction(at + 1, ret);
			at += strspn(at + 1, "-0123456789");
		} else {
			buffer_add(ret, at, 1);
		}
	return *argument->text == '[' ? "ScalarList" : "Scalar";
}

void operator_arguments_text(const struct operator_field *arguments, struct buffer *ret)
{
	struct operator_field f;

	for (size_t i = 0; (f = operator_list_at(arguments, i)).text; i++) {
		size_t before;
		const char *type;

		buffer_text(ret, i ? ", " : "[");
		before = ret->size;
		type = operator_argument_text(&f, ret);
		if (ret->size == before)
			buffer_text(ret, type);
	}
	buffer_text(ret, arguments->length ? "]" : "");
}

bool operator_is_collective(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	return length && text[length] == ':' && text[length + 1] >= 'a' && text[length + 1] <= 'z';
}

bool operator_is_backward(const struct operator_field *name)
{
	static const char word[] = "Backward";
	size_t length = name->length;

	while (length && name->text[length - 1] >= '0' && name->text[length - 1] <= '9')
		length--;
	return length >= sizeof(word) - 1 && !strncmp(name->text + length - sizeof(word) + 1, word, sizeof(word) - 1);
}

bool operator_is_checkpoint(const struct operator_field *name)
{
	static const char node[] = "CheckpointFunctionBackward";

	return memmem(name->text, name->length, node, sizeof(node) - 1);
}

uint64_t operator_first_seq(const struct map *known, const struct map *aliases, uint64_t seq)
{
	/* a trace may have any numbers, a circle of them, too */
	for (int depth = 0; depth < 16 && !map_find(known, seq, 0); depth++) {
		const uint64_t *alias = map_find(aliases, seq, 0);

		if (!alias)
			break;
		seq = *alias - 1;
	}
	return seq;
}

const char *const operator_phases[OPERATOR_PHASES] = {
	[OPERATOR_NO_PHASE] = "none",	[OPERATOR_FORWARD] = "forward",	 [OPERATOR_BACKWARD] = "backward",
	[OPERATOR_UPDATE] = "optimizer", [OPERATOR_DATA] = "data loading",
};

/* Nodes of autograd that are no derivative of an operator, such as AccumulateGrad, are in its namespaces in C++.
 * An optimizer computes without gradients, so an operator with a sequence number of autograd inside of its step is of
 * the closure that evaluates the model. */
enum operator_phase operator_phase(const char *text, enum operator_phase outer)
{
	struct operator_text t;

	operator_text_parse(text, &t);
	if (operator_is_backward(&t.name) || text_begins_with(text, "autograd::engine::") ||
	    text_begins_with(text, "torch::autograd::"))
		return OPERATOR_BACKWARD;
	if (outer == OPERATOR_UPDATE && t.seq.length && *t.seq.text != '-')
		return OPERATOR_FORWARD;
	if (text_begins_with(text, "Optimizer."))
		return OPERATOR_UPDATE;
	return text_begins_with(text, "enumerate(DataLoader)") ? OPERATOR_DATA : OPERATOR_NO_PHASE;
}
