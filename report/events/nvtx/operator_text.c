/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/nvtx/operator_text.h"

#include <stdlib.h>
#include <string.h>

/* The value that follows `key`: a number, or a list, which begins with a bracket. */
static struct operator_field field_find(const char *text, const char *key, bool is_list)
{
	const char *at = strstr(text, key), *end;

	if (!at)
		return (struct operator_field){0};
	at += strlen(key);
	if (!is_list)
		return (struct operator_field){at, strspn(at, "-0123456789")};
	end = strstr(at, ", input_op_ids = ");
	return (struct operator_field){at, *at != '[' ? 0 : end ? (size_t)(end - at) : strlen(at)};
}

static void end_at(struct operator_text *ret, const char *text, const struct operator_field *f, const char *key)
{
	size_t length;

	if (!f->length)
		return;
	length = (size_t)(f->text - text) - strlen(key);
	if (length < ret->name.length)
		ret->name.length = length;
}

bool operator_text_parse(const char *text, struct operator_text *ret)
{
	static const char seq[] = ", seq = ", op_id[] = ", op_id = ", sizes[] = ", sizes = ";
	size_t length = strlen(text);

	*ret = (struct operator_text){
		.name = {text, length},
		.seq = field_find(text, seq, false),
		.op_id = field_find(text, op_id, false),
		.sizes = field_find(text, sizes, true),
		.inputs = field_find(text, ", input_op_ids = ", true),
	};
	end_at(ret, text, &ret->seq, seq);
	end_at(ret, text, &ret->op_id, op_id);
	end_at(ret, text, &ret->sizes, sizes);
	return ret->name.length < length;
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
	if (strncmp(end, ",0)", 3) != 0)
		a->made_by = 0;
	return true;
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
	static const char step[] = "Optimizer.", loader[] = "enumerate(DataLoader)";
	static const char engine[] = "autograd::engine::", node[] = "torch::autograd::";
	struct operator_text t;

	operator_text_parse(text, &t);
	if (operator_is_backward(&t.name) || !strncmp(text, engine, strlen(engine)) ||
	    !strncmp(text, node, strlen(node)))
		return OPERATOR_BACKWARD;
	if (outer == OPERATOR_UPDATE && t.seq.length && *t.seq.text != '-')
		return OPERATOR_FORWARD;
	if (!strncmp(text, step, strlen(step)))
		return OPERATOR_UPDATE;
	return strncmp(text, loader, strlen(loader)) ? OPERATOR_NO_PHASE : OPERATOR_DATA;
}
