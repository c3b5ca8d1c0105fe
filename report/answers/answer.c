/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/answer.h"

#include <stdlib.h>
#include <string.h>

#include "report/causes/where/place.h"

/* Above this number of events the rules and prices are left to `pillion analyze`, so that the end of a run does not
 * make its user wait: 0.9 s of CPU time and 22 MB of memory for 79 MB of calls of one thread, 1.6 s and 315 MB if four
 * threads wait all the time. */
#define ANALYZE_BYTES (512ull << 20)

void answer_begin(const struct report_context *c, size_t most, struct answer *ret)
{
	*ret = (struct answer){.context = *c, .has_events = true,
			       .found = mem_alloc(most * sizeof(*ret->found) + 1)};
	ret->rules.context = &ret->context;
}

struct finding *answer_run(struct answer *a, const struct rule *rule)
{
	struct finding *f = &a->found[a->found_count++];

	rule_run(&a->rules, rule, f);
	return f;
}

/* With one reading of the events. */
static void find_callers(struct answer *a)
{
	SCOPED_MEMORY struct caller_query *queries =
		mem_alloc((a->found_count + a->first.count + 1) * sizeof(*queries));
	size_t n = 0;

	for (size_t i = 0; i < a->found_count; i++)
		queries[n++] = (struct caller_query){a->found[i].line, &a->found[i].called_from};
	for (size_t i = 0; i < a->first.count; i++)
		if (!a->first.items[i].frames_at) /* which have their callers */
			queries[n++] = (struct caller_query){a->first.items[i].line,
							     &a->first.items[i].called_from};
	callers_find(&a->context, queries, n);
}

void answer_finish(struct answer *a, bool has_first)
{
	const struct job_time *time = rules_time(&a->rules);

	a->partition = &time->partition;
	a->roles = &time->roles;
	a->costs = costs_new(rules_causes(&a->rules));
	for (size_t i = 0; i < a->found_count; i++)
		fix_first_saving(a->costs, &a->found[i], fix_first_least(a->roles->wall_ns));
	if (has_first)
		fix_first_find(&a->context, a->costs, time, a->found, a->found_count, &a->first);
	if (!a->is_large)
		find_callers(a);
}

static void set_detail(struct answer *a, enum detail most)
{
	a->has_events = !a->context.model->has_profile;
	a->is_large = a->context.model->written_bytes > ANALYZE_BYTES;
	a->rules.detail = most == DETAIL_ALL && (a->is_large || !a->has_events) ? DETAIL_TOTALS : most;
}

void answer_briefly(const struct report_context *c, struct answer *ret)
{
	struct report_context totals = *c;

	totals.totals_only = true;
	totals.by = BY_NOTHING;
	answer_begin(&totals, rule_count, ret);
	set_detail(ret, DETAIL_ALL);
	for (size_t i = 0; i < rule_count && ret->rules.detail == DETAIL_ALL; i++)
		if (!(rule_list[i].flags & (RULE_NSYS | RULE_ENDED))) /* the summary begins with these */
			answer_run(ret, &rule_list[i]);
	answer_finish(ret, ret->has_events);
}

void answer_end(const struct report_context *c, struct answer *ret)
{
	answer_begin(c, 0, ret);
	set_detail(ret, DETAIL_DEATH);
	answer_finish(ret, false);
}

void answer_whole(const struct report_context *c, struct answer *ret)
{
	answer_begin(c, rule_count, ret);
	for (size_t i = 0; i < rule_count; i++)
		answer_run(ret, &rule_list[i]);
	answer_finish(ret, true);
}

void answer_done(struct answer *a)
{
	array_free(item, a->found, a->found_count, finding_done(item));
	fix_first_done(&a->first);
	costs_free(a->costs);
	rules_done(&a->rules);
}

PLACE_COMPARATOR(compare_costs, struct finding,
		 order_of(b->verdict == VERDICT_FOUND, a->verdict == VERDICT_FOUND) ?:
		 order_of(b->cost_ns, a->cost_ns))

size_t *answer_order(const struct answer *a)
{
	return places_in_order(a->found_count, compare_costs, a->found);
}

void answer_calls(const struct answer *a, struct aggregate *ret)
{
	*ret = (struct aggregate){.totals_only = true};
	for (size_t i = 0; i < a->partition->count; i++) {
		const struct blocked *b = &a->partition->threads[i].blocked;

		for (size_t k = 0; a->roles->role_of[i] && k < b->count; k++)
			if (b->calls[k].function->group == TF_GROUP_OSRT)
				aggregate_add_total(ret,
						    aggregate_row(ret, b->calls[k].function->name,
								  strlen(b->calls[k].function->name) + 1),
						    b->calls[k].count, b->calls[k].total_ns);
	}
	aggregate_sort(ret);
}

static bool is_of_role(const void *more, const struct image *image, uint32_t tid)
{
	return map_find(more, (uintptr_t)image, tid) != NULL;
}

void answer_lines(const struct answer *a, size_t wanted, struct lines *ret)
{
	SCOPED(map) threads = {0};
	struct lines_filter filter = {is_of_role, &threads};

	for (size_t i = 0; i < a->partition->count; i++)
		if (a->roles->role_of[i])
			map_put(&threads, (uintptr_t)a->partition->threads[i].image, a->partition->threads[i].tid,
				NULL);
	lines_top(&a->context, wanted, threads.count ? &filter : NULL, ret);
	where_add_lines(&a->context, threads.count ? &filter : NULL, ret);
}
