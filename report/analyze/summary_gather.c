/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analyze/summary_gather.h"

#include <string.h>

/* Above this number of events the rules are left to `pillion analyze`, so that the end of a run does not make its
 * user wait. */
#define ANALYZE_BYTES (64ull << 20)
#define LINES_BYTES (128ull << 20)

void summary_gather(const struct report_context *c, struct summary *s)
{
	*s = (struct summary){.context = *c};
	s->context.totals_only = true;
	s->context.by = BY_NOTHING;
	c = s->rules.context = &s->context;
	s->is_large = c->model->written_bytes > ANALYZE_BYTES;
	s->has_lines = c->model->written_bytes <= LINES_BYTES;
	s->rules.has_no_calls = !s->has_lines;
	s->partition = &rules_time(&s->rules)->partition;
	s->roles = &rules_time(&s->rules)->roles;
	if (!s->is_large)
		s->found_count = rules_worst(&s->rules, s->found, SUMMARY_FINDINGS);
	s->costs = costs_new(c);
	for (size_t i = 0; i < s->found_count; i++)
		fix_first_saving(s->costs, &s->found[i], fix_first_least(s->roles->wall_ns), &s->found[i].saves);
	fix_first_find(c, s->costs, rules_time(&s->rules), s->found, s->found_count, &s->first);
	if (!s->is_large)
		summary_find_callers(c, s->found, s->found_count, &s->first);
}

void summary_free(struct summary *s)
{
	for (size_t i = 0; i < s->found_count; i++)
		finding_done(&s->found[i]);
	fix_first_done(&s->first);
	costs_free(s->costs);
	rules_done(&s->rules);
}

void summary_calls(const struct summary *s, struct aggregate *ret)
{
	*ret = (struct aggregate){.totals_only = true};
	for (size_t i = 0; i < s->partition->count; i++) {
		const struct blocked *b = &s->partition->threads[i].blocked;

		for (size_t k = 0; s->roles->role_of[i] && k < b->count; k++)
			if (b->calls[k].function->group == TF_GROUP_OSRT)
				aggregate_add_total(ret,
						    aggregate_row(ret, b->calls[k].function->name,
								  strlen(b->calls[k].function->name) + 1),
						    b->calls[k].count, b->calls[k].total_ns);
	}
	aggregate_sort(ret);
}
