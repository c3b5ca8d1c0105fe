/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derive/causes/saving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void edit_init(struct edit *e, const struct causality *s)
{
	size_t count = editables_count(&s->editables);

	*e = (struct edit){.factors = mem_alloc((count + 1) * sizeof(*e->factors))};
	for (size_t i = 0; i < count; i++)
		e->factors[i] = 1;
}

void edit_done(struct edit *e)
{
	free(e->factors);
	free(e->actor_factors);
	free(e->no_waits);
	free(e->overlaps);
	free(e->starts_after);
	free(e->inputs);
	free(e->input_actors);
	*e = (struct edit){0};
}

void edit_scale(struct edit *e, uint32_t what, double factor)
{
	e->factors[what] = (float)factor;
}

void edit_no_wait(struct edit *e, const struct causality *s, uint32_t what)
{
	if (!e->no_waits)
		e->no_waits = mem_alloc(editables_count(&s->editables) + 1);
	e->no_waits[what] = 1;
	e->factors[what] = 0;
}

void edit_scale_actor(struct edit *e, const struct causality *s, uint32_t actor, double factor)
{
	if (!e->actor_factors) {
		e->actor_factors = mem_alloc((s->actor_count + 1) * sizeof(*e->actor_factors));
		for (size_t i = 0; i < s->actor_count; i++)
			e->actor_factors[i] = 1;
	}
	e->actor_factors[actor] = factor;
}

double saving_only(const struct causality *s, struct edit *e)
{
	editable_factors(&s->editables, e->factors);
	return (double)s->run_ns - replay_run(&s->graph, e, NULL);
}

/* Two standard deviations of the share that samples have, as a part of it; 0: nothing follows from samples. */
static double sampling_error(const struct causality *s, const struct edit *e)
{
	uint64_t samples = 0, all = 0;

	for (size_t i = 0; i < s->editables.count; i++) {
		all += s->editables.items[i].samples;
		if (e->factors[i] != 1)
			samples += s->editables.items[i].samples;
	}
	return samples ? 2 * sqrt((1 - (double)samples / (double)all) / (double)samples) : 0;
}

/* What is removed, by more or less than the samples say. */
static void vary(const struct causality *s, const struct edit *e, double by, struct edit *ret)
{
	*ret = *e;
	ret->factors = mem_alloc((editables_count(&s->editables) + 1) * sizeof(*ret->factors));
	for (size_t i = 0; i < s->editables.count; i++) {
		double factor = 1 - (1 - (double)e->factors[i]) * (s->editables.items[i].samples ? 1 + by : 1);

		ret->factors[i] = (float)(factor > 0 ? factor : 0);
	}
	editable_factors(&s->editables, ret->factors);
}

static uint64_t positive(double ns)
{
	return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

void saving_find(const struct causality *s, struct edit *e, struct saving *ret)
{
	double error = sampling_error(s, e), before = (double)s->run_ns, after;
	struct edit low, high;

	editable_factors(&s->editables, e->factors);
	after = replay_run(&s->graph, e, NULL);
	*ret = (struct saving){.before_ns = s->run_ns, .after_ns = positive(after),
			       .saved_ns = positive(before - after)};
	vary(s, e, error < 1 ? -error : -1, &low);
	ret->low_ns = positive(before - replay_run(&s->graph, &low, NULL));
	vary(s, e, error, &high);
	high.unseen = UNSEEN_SHRINK;
	ret->high_ns = positive(before - replay_run(&s->graph, &high, NULL));
	free(low.factors);
	free(high.factors);
}
