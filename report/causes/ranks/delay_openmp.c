/* SPDX-License-Identifier: Apache-2.0 */
/* The parallel regions of OpenMP in which a rank's threads waited for each other, as far as OpenMP was recorded: at the
 * end of the region, and at barriers in it. What all threads waited, divided by their number, is what equal work would
 * have saved, whichever thread was late. This part of the region's time is lost; the rest is as in a rank whose threads
 * have equal work. By samples of the main thread alone, a region would compute more if that thread is the late one. */
#include <stdlib.h>
#include <string.h>

#include "report/causes/ranks/rank_build.h"

static uint64_t team_time(const struct image *image, const struct report_context *c, uint64_t ticks)
{
	return clock_map_ns(&c->model->machines[image->machine].clock, ticks);
}

/* A region is written at its end, after those inside of it, which are a part of its threads' work. */
static void add_team(struct rank_teams *t, const struct image *image, const struct event *e)
{
	struct rank_team team = {.from_ns = team_time(image, t->context, event_start(e)),
				 .to_ns = team_time(image, t->context, e->ticks)};
	uint64_t threads = e->args_count ? tf_arg_value(event_arg(e, TF_ARG_TEAM)) : 0,
		 wait = e->args_count ? tf_arg_value(event_arg(e, TF_ARG_VALUE)) : 0;

	while (t->count && t->items[t->count - 1].from_ns >= team.from_ns)
		t->count--;
	if (threads < 2 || team.to_ns <= team.from_ns)
		return;
	team.threads = threads;
	team.lost[RANK_LOST_AT_END] = (struct rank_lost){
		.part = (double)clock_map_duration(&t->context->model->machines[image->machine].clock, wait) /
		      (double)threads,
		.function = e->id,
		.stack = event_stack(e)};
	list_add(t, team);
}

void rank_teams_take(struct rank_teams *t, const struct image *image, const struct event *e, bool is_main)
{
	const struct function *f;

	if ((e->kind != TF_CONSTRUCT && e->kind != TF_CALL) || e->id >= image->trace->functions->count)
		return;
	f = trace_function(image->trace, e->id);
	if (is_main && e->kind == TF_CONSTRUCT && f->kind.parallel & PARALLEL_REGION)
		add_team(t, image, e);
	if (e->kind != TF_CALL || !(f->kind.parallel & PARALLEL_BARRIER))
		return;
	mem_append(t->waits, t->wait_count, t->wait_capacity,
		   (struct rank_team_wait){team_time(image, t->context, event_start(e)),
					   team_time(image, t->context, e->ticks), e->id,
					   event_stack(e)});
}

const struct rank_team *rank_team_at(const struct rank_teams *t, uint64_t ns)
{
	size_t i = first_place(k, 0, t->count, t->items[k].to_ns <= ns);

	return i < t->count ? &t->items[i] : NULL;
}

/* The waits at barriers have the line of the last one. */
void rank_teams_settle(struct rank_teams *t)
{
	array_each(const struct rank_team_wait, w, t->waits, t->wait_count) {
		struct rank_team *team = (struct rank_team *)rank_team_at(t, w->from_ns);
		struct rank_lost *lost;

		if (!team || team->from_ns > w->from_ns || w->to_ns <= w->from_ns)
			continue;
		lost = &team->lost[RANK_LOST_AT_BARRIER];
		lost->part += (double)(w->to_ns - w->from_ns) / (double)team->threads;
		lost->function = w->function;
		lost->stack = w->stack ? w->stack : lost->stack;
	}
	for (size_t i = 0; i < t->count; i++)
		for (int k = 0; k < RANK_LOST; k++)
			t->items[i].lost[k].part /= (double)(t->items[i].to_ns - t->items[i].from_ns);
}

double rank_team_lost(const struct rank_team *team)
{
	double part = 0;

	for (int k = 0; k < RANK_LOST; k++)
		part += team->lost[k].part;
	return part < 1 ? part : 1;
}

void rank_teams_done(struct rank_teams *t)
{
	free(t->items);
	free(t->waits);
}
