/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch's operators and steps as Kineto writes them, and arrows from forward operators to their backward operators.
 * Autograd's annotations have a sequence number, "aten::mul, seq = 7", that is equal on both sides. Numbers are per
 * thread: one that two threads use in forward operators is ambiguous and ignored. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/events/nvtx/operator_text.h"
#include "report/export/export_chrome.h"

/* ---- operators ---- */

static bool field_has(const struct operator_field *f, const char *text)
{
	return f->text && memmem(f->text, f->length, text, strlen(text));
}

/* Operators have a namespace, a sequence number, tensors, or are one of the few that record themselves without any of
 * these. Other annotations of PyTorch, such as "Optimizer.step#SGD.step" and those of record_function, have none. */
static bool is_operator(const struct operator_text *o, bool has_fields)
{
	static const char detach[] = "detach";

	if (field_has(&o->name, "#"))
		return false;
	if (!has_fields)
		return text_begins_with(o->name.text, "aten::") || text_begins_with(o->name.text, "autograd::");
	return field_has(&o->name, "::") || o->seq.length || (o->sizes.text && o->sizes.length > 2) ||
	       (o->name.length >= strlen(detach) && !memcmp(o->name.text, detach, strlen(detach)));
}

/* Whether the text is JSON that consists of lists and integers. */
static bool is_list(const struct operator_field *f)
{
	const char *begin = f->text, *end = begin + f->length;
	char last = '\0'; /* a bracket, a comma, or '0' for any integer */
	size_t depth = 0;

	for (const char *at = begin; at < end; at++) {
		size_t sign = *at == '-', digits = strspn(at + sign, "0123456789");
		bool is_number = digits == 1 || (digits && at[sign] != '0');
		const char *within = last == ',' ? " [0" : last == '[' ? " [0]" : " ,]";
		const char *may_follow = !last ? "[" : depth ? within : " ";
		char token = is_number ? '0' : *at;

		if (!strchr(may_follow, token))
			return false;
		at += is_number ? sign + digits - 1 : 0;
		depth += (size_t)(token == '[') - (size_t)(token == ']');
		last = token == ' ' ? last : token;
	}
	return last && !depth;
}

bool chrome_pytorch_name(struct chrome *w, const struct nvtx_range *r, const char *phase)
{
	struct operator_text o;
	SCOPED(buffer) name = {0};
	bool has_fields, is_one;

	buffer_clear(&w->operator);
	if (!r->domain)
		trace_definition_text(w->timeline.image->trace, TF_BLOB_STRING, r->text, &w->operator);
	has_fields = operator_text_parse(buffer_string(&w->operator), &o);
	is_one = is_operator(&o, has_fields);
	if (!is_one && !has_fields)
		return false;
	buffer_add(&name, o.name.text, o.name.length);
	chrome_begin(w);
	sink_text(w->out, phase);
	sink_text(w->out, is_one ? "\"cat\":\"cpu_op\",\"name\":" : "\"cat\":\"user_annotation\",\"name\":");
	sink_json(w->out, buffer_string(&name));
	return true;
}

static void add_argument_members(struct chrome *w, const struct operator_field *arguments)
{
	SCOPED(buffer) types = {0}, values = {0}, one = {0};
	struct operator_field f;

	if (!operator_list_at(arguments, 0).text)
		return;
	for (size_t i = 0; (f = operator_list_at(arguments, i)).text; i++) {
		buffer_clear(&one);
		buffer_text(&types, i ? "," : ",\"Input type\":[");
		json_add(&types, operator_argument_text(&f, &one));
		buffer_text(&values, i ? "," : "],\"Concrete Inputs\":[");
		json_add(&values, buffer_string(&one));
	}
	buffer_text(&values, "]");
	sink_add(w->out, types.data, types.size);
	sink_add(w->out, values.data, values.size);
}

void chrome_pytorch_args(struct chrome *w, const struct nvtx_range *r)
{
	struct operator_text o;
	SCOPED(buffer) group = {0};

	operator_text_parse(buffer_string(&w->operator), &o);
	chrome_number(w, ",\"args\":{\"External id\":", o.op_id.length ? strtoull(o.op_id.text, NULL, 10) : 0);
	if (o.seq.length && *o.seq.text != '-')
		chrome_number(w, ",\"Sequence number\":", strtoull(o.seq.text, NULL, 10));
	if (o.sizes.text && is_list(&o.sizes)) {
		sink_text(w->out, ",\"Input Dims\":");
		sink_add(w->out, o.sizes.text, o.sizes.length);
	}
	add_argument_members(w, &o.arguments);
	if (o.group.length) {
		buffer_add(&group, o.group.text, o.group.length);
		sink_text(w->out, ",\"Process Group Name\":");
		sink_json(w->out, buffer_string(&group));
	}
	if (r->is_unfinished)
		sink_text(w->out, ",\"unfinished\":true");
	sink_text(w->out, "}");
}

/* ---- steps ---- */

/* The number of a range that is a step: "step 7", "Step#7", or "step" with a whole number as its payload. */
static bool step_number(struct chrome *w, const struct nvtx_range *r, uint64_t *ret)
{
	static const char word[] = "step";
	struct buffer *text = &w->scratch;
	const char *number;
	char *end;

	buffer_clear(text);
	trace_definition_text(w->timeline.image->trace, TF_BLOB_STRING, r->text, text);
	if (strncasecmp(buffer_string(text), word, strlen(word)) != 0)
		return false;
	number = buffer_string(text) + strlen(word);
	if (!*number && event_arg(&(struct event){.args = r->args, .args_count = r->args_count}, TF_ARG_PAYLOAD)) {
		buffer_clear(text);
		nvtx_payload_plain(r->args, r->args_count, text);
		number = buffer_string(text);
	} else {
		number += strspn(number, " #_:=");
	}
	*ret = strtoull(number, &end, 10);
	return isdigit((unsigned char)*number) && !*end;
}

/* HTA and TensorBoard's plugin know steps by this name alone, which torch.profiler gives them. */
bool chrome_pytorch_step(struct chrome *w, const struct nvtx_range *r)
{
	uint64_t number;

	if (!step_number(w, r, &number))
		return false;
	chrome_begin(w);
	chrome_number(w, "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#", number);
	sink_text(w->out, "\"");
	return true;
}

/* ---- arrows ---- */

struct chrome_pair {
	uint64_t forward_ns, backward_ns; /* of CLOCK_REALTIME; 0: not seen */
	uint32_t forward_tid, backward_tid;
	bool is_ambiguous;
};

static struct chrome_pair *pair_of(struct chrome_autograd *a, uint64_t sequence)
{
	size_t at = map_place(&a->by_sequence, sequence, 0, a->pairs, a->count, a->capacity, (struct chrome_pair){0});

	return &a->pairs[at];
}

void chrome_autograd_range(struct chrome_autograd *a, const char *text, uint32_t tid, uint64_t start_ns)
{
	static const char mark[] = ", seq = ", word[] = "Backward", engine[] = "autograd::engine::";
	const char *number = strstr(text, mark), *backward = number ? strstr(text, word) : NULL;
	struct chrome_pair *p;
	char *end;
	uint64_t sequence;

	if (!number)
		return;
	sequence = strtoull(number + strlen(mark), &end, 10);
	if (end == number + strlen(mark) || sequence > INT64_MAX)
		return;
	p = pair_of(a, sequence);
	if ((backward && backward < number) || strstr(text, engine)) {
		/* The engine's own annotation encloses that of the function. */
		if (!p->backward_ns || start_ns < p->backward_ns) {
			p->backward_ns = start_ns;
			p->backward_tid = tid;
		}
		return;
	}
	/* Composite operators share the number of their parts: it belongs to the innermost one, which begins last. */
	p->is_ambiguous |= p->forward_ns && p->forward_tid != tid;
	if (start_ns >= p->forward_ns) {
		p->forward_ns = start_ns;
		p->forward_tid = tid;
	}
}

void chrome_autograd_flows(struct chrome *w)
{
	array_each(const struct chrome_pair, p, w->autograd.pairs, w->autograd.count) {
		if (p->is_ambiguous || !p->forward_ns || p->backward_ns <= p->forward_ns)
			continue;
		w->next_flow++;
		chrome_flow(w, "fwdbwd", true, w->pid, p->forward_tid, p->forward_ns);
		chrome_flow(w, "fwdbwd", false, w->pid, p->backward_tid, p->backward_ns);
	}
	free(w->autograd.pairs);
	map_done(&w->autograd.by_sequence);
	w->autograd = (struct chrome_autograd){0};
}
