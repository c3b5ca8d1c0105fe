/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules share: results, availability of data, source lines. */
#include "report/answers/rule.h"

#include <stdlib.h>
#include <string.h>

/* ---- results ---- */

void rule_columns(struct finding *f, const enum column_id *columns, size_t count)
{
	table_has(&f->table, COL_RULE, COL_VERDICT);
	table_columns(&f->table, columns, count);
}

void rule_row(struct finding *f)
{
	f->verdict = VERDICT_FOUND;
	table_cells(&f->table, f->rule->name, "found");
}

void rule_unchecked(struct finding *f, const char *format, ...)
{
	va_list list;
	char text[256];

	if (f->verdict != VERDICT_CLEAN)
		return;
	f->verdict = VERDICT_UNCHECKED;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	buffer_clear(&f->text);
	buffer_text(&f->text, text);
}

static void add_verdict(const struct finding *f, struct buffer *ret)
{
	static const char *const words[] = {"clean", "found", "could not check: "};

	buffer_text(ret, words[f->verdict]);
	if (f->verdict == VERDICT_UNCHECKED)
		buffer_text(ret, f->text.data ? f->text.data : "");
}

void rule_run(struct rules *rules, const struct rule *rule, struct finding *ret)
{
	SCOPED(buffer) verdict = {0};

	*ret = (struct finding){.rule = rule};
	rule->run(rules, ret);
	if (ret->verdict == VERDICT_FOUND)
		return;
	add_verdict(ret, &verdict);
	table_cells(&ret->table, rule->name, verdict.data);
	table_nothings(&ret->table, ret->table.column_count - 2);
}

bool finding_is_end(const struct finding *f)
{
	return f->verdict == VERDICT_FOUND && f->rule->flags & RULE_ENDED;
}

void finding_done(struct finding *f)
{
	table_done(&f->table);
	buffer_done(&f->text);
	buffer_done(&f->called_from);
	buffer_done(&f->edit);
	array_free(item, f->removed.items, f->removed.count, own_function_done(item));
}

int findings_by_cost(size_t left, size_t right, const void *findings)
{
	const struct finding *all = findings;

	return order_of(all[right].saves.saved_ns, all[left].saves.saved_ns) ?: order_of(left, right);
}

const struct gaps *rules_gaps(struct rules *rules)
{
	if (!rules->gaps)
		rules->gaps = gaps_find(rules->context);
	return rules->gaps;
}

struct causality *rules_causes(struct rules *rules)
{
	if (!rules->causes && !rules->has_no_causes && rules->detail == DETAIL_ALL)
		rules->causes = causes_find(rules->context);
	rules->has_no_causes = !rules->causes;
	return rules->causes;
}

const struct job_time *rules_time(struct rules *rules)
{
	struct job_time *t = rules->time;

	if (t)
		return t;
	t = rules->time = mem_alloc(sizeof(*t));
	recorded_partition(rules->context, rules->detail == DETAIL_ALL, &t->partition);
	roles_make(rules->context, &t->partition, rules_causes(rules), rules->detail != DETAIL_DEATH, &t->roles);
	pressures_find(rules->context, &t->partition, &t->pressures);
	return t;
}

/* ---- availability of data ---- */

const struct function *rule_cuda_function(const struct image *image, const struct event *e)
{
	const struct function *f = event_function(image->trace, e);

	return f && f->kind.cuda ? f : NULL;
}

bool rule_has_calls(struct rules *r, struct finding *f)
{
	const struct model *m = r->context->model;

	for (size_t i = 0; i < m->image_count && r->calls == CALLS_UNKNOWN; i++)
		if (trace_bits(m->images[i].trace).groups & (1u << TF_GROUP_CUDA | 1u << TF_GROUP_CUDA_DRIVER))
			r->calls = CALLS_SOME;
	if (r->calls == CALLS_SOME)
		return true;
	r->calls = CALLS_NONE;
	rule_unchecked(f, "no CUDA calls were recorded");
	return false;
}

bool rule_has_devices(struct rules *r, struct finding *f)
{
	if (!rule_has_calls(r, f))
		return false;
	if (device_any(r->context->model))
		return true;
	rule_unchecked(f, "no device records; the ledger states the reason");
	return false;
}

void rule_missed_devices(const struct rules *r, struct finding *f)
{
	const struct model *m = r->context->model;
	size_t submitting = 0, missing = 0;

	for (size_t i = 0; i < m->image_count; i++) {
		bool is_submitting = trace_bits(m->images[i].trace).args & (1u << TF_ARG_COPY | 1u << TF_ARG_LAUNCH);

		submitting += is_submitting;
		missing += is_submitting && !device_source(m->images[i].trace).is_known;
	}
	if (r->gaps && r->gaps->left_out)
		rule_unchecked(
			f,
			"%llu device operations are on devices beyond the first %d of a process and were not checked",
			(unsigned long long)r->gaps->left_out, GAP_DEVICES);
	if (missing)
		rule_unchecked(f, "%zu of %zu processes that submitted device operations have no device records",
			       missing, submitting);
}

bool rule_has_copies(const struct rules *r, uint8_t memory)
{
	const struct model *m = r->context->model;

	for (size_t i = 0; i < m->image_count; i++)
		blobs_each(b, m->images[i].trace, TF_BLOB_DEVICE_OPERATION) {
			struct tf_device_operation w;

			if (device_operation(m->images[i].trace, b->id, &w) &&
			    w.kind == TF_DEVICE_COPY && (w.source == memory || w.target == memory))
				return true;
		}
	return false;
}

bool rule_has_work(struct rules *r, struct finding *f)
{
	if (!rule_has_devices(r, f))
		return false;
	if (rules_gaps(r)->device_count)
		return true;
	rule_missed_devices(r, f);
	rule_unchecked(f, "no device was used");
	return false;
}

void rule_needs_python(const struct rules *r, struct finding *f)
{
	const struct model *m = r->context->model;

	for (size_t i = 0; i < m->image_count; i++)
		blobs_each(b, m->images[i].trace, TF_BLOB_PYTHON_STACK)
			return;
	rule_unchecked(f, "no Python stacks were recorded");
}

static void find_steady(struct scan *s, const struct event *e)
{
	struct steady *t = s->more;

	if (!e->args_count || !event_arg(e, TF_ARG_LAUNCH) || !rule_cuda_function(s->image, e))
		return;
	if (!t->first || event_start(e) < t->first)
		t->first = event_start(e);
	t->last = larger_of(t->last, e->ticks);
}

struct steady rule_steady(struct rules *r, const struct image *image)
{
	const struct model *m = r->context->model;

	if (!r->steady) {
		r->steady = mem_alloc((m->image_count + 1) * sizeof(*r->steady));
		for (size_t i = 0; i < m->image_count; i++)
			scan_image(&(struct scan){.context = r->context,
						  .image = &m->images[i],
						  .args = 1u << TF_ARG_LAUNCH,
						  .more = &r->steady[i]},
				   find_steady);
	}
	return r->steady[image - m->images];
}

/* ---- spans of time ---- */

COMPARATOR(compare_spans, struct rule_span, order_of(a->start, b->start) ?: order_of(a->end, b->end))

uint64_t rule_union(struct rule_span *spans, size_t count)
{
	uint64_t sum = 0, until = 0;

	array_sort(spans, count, compare_spans);
	for (size_t i = 0; i < count; i++) {
		uint64_t from = spans[i].start > until ? spans[i].start : until;

		if (spans[i].end > from)
			sum += spans[i].end - from;
		until = spans[i].end > until ? spans[i].end : until;
	}
	return sum;
}

/* ---- source lines ---- */

const struct code_line *rule_line(struct rules *r, const struct image *image, uint32_t stack)
{
	r->attribution.symbols = r->context->symbols;
	return attribution_line(&r->attribution, image, stack);
}

bool rule_polls(struct rules *r, const struct image *image, uint32_t stack)
{
	uint64_t *known = map_put(&r->polls, stack, (uint64_t)(image - r->context->model->images), NULL);

	if (!*known)
		*known = 1 + attribution_polls(r->context->symbols, image, stack);
	return *known > 1;
}

void rule_line_cell(struct finding *f, const struct code_line *line)
{
	code_line_cell(line, NULL, &f->table);
}

void rule_time(struct buffer *b, uint64_t ns)
{
	static const char *const units[] = {"us", "ms", "s"};
	double value = (double)ns / 1e3;
	size_t unit = 0;

	for (; value >= 999.5 && unit < 2; unit++)
		value /= 1e3;
	buffer_print(b, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
}
