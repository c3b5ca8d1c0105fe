/* SPDX-License-Identifier: Apache-2.0 */
/* Steps by ranges of NVTX: those that are called so, else of the frequent ones those that take most of the time. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/events/nvtx/nvtx.h"
#include "report/events/nvtx/operator_text.h"
#include "report/time/steps/steps.h"

/* The ranges of one thread with one name, but for numbers in it. */
struct range_group {
	struct step_series series;
	enum range_role role;
	uint64_t total_ns;
};

struct range_groups {
	const struct image *image;
	const struct clock_map *clock;
	struct map known; /* thread, hash of the name -> position + 1 */
	struct range_group *items;
	size_t count, capacity;
};

enum range_role step_role(const char *name)
{
	static const char *const words[] = TF_STEP_WORDS;

	if (!strncmp(name, TF_STEP_PYTORCH, strlen(TF_STEP_PYTORCH)))
		return NAMED_PYTORCH;
	if (!strncmp(name, TF_STEP_OPTIMIZER, strlen(TF_STEP_OPTIMIZER)))
		return NAMED_OPTIMIZER;
	if (text_begins_with(name, "Optimizer.") || text_begins_with(name, "enumerate(DataLoader)"))
		return NAMED_NONE;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strncasecmp(name, words[i], strlen(words[i])))
			return NAMED_STEP;
	return NAMED_OTHERWISE;
}

/* "step 17" and "ProfilerStep#17" are instances of one step. False: it is an operator of PyTorch. PyTorch's emit_nvtx
 * writes the steps of its profiler and of optimizers as operators, too: "Optimizer.step#SGD.step, op_id = 12". */
bool step_name(const struct trace *t, uint32_t string, struct buffer *ret)
{
	struct operator_text operator;
	size_t kept = 0;

	if (!trace_definition_text(t, TF_BLOB_STRING, string, ret) || !ret->size)
		return false;
	if (operator_text_parse(ret->data, &operator)) {
		enum range_role role = step_role(ret->data);

		if (role != NAMED_OPTIMIZER && role != NAMED_PYTORCH)
			return false;
		ret->size = operator.name.length;
	}
	for (size_t i = 0; i < ret->size; i++)
		if (!isdigit((unsigned char)ret->data[i]))
			ret->data[kept++] = ret->data[i];
	ret->data[ret->size = kept] = '\0';
	return true;
}

static void add_range(void *context, const struct nvtx_range *r)
{
	struct range_groups *all = context;
	SCOPED(buffer) name = {0};
	struct range_group *group;
	uint64_t start_ns = clock_map_ns(all->clock, r->start), end_ns = clock_map_ns(all->clock, r->end), *known;

	if (r->is_unfinished || end_ns <= start_ns || !step_name(all->image->trace, r->text, &name))
		return;
	known = map_put(&all->known, (uint64_t)r->thread->number << 32 | r->domain,
			hash_bytes(name.data, name.size), NULL);
	if (!*known) {
		list_add(all, (struct range_group){
	     .series = {.image = all->image, .thread = r->thread}, .role = step_role(name.data)});
		*known = all->count;
	}
	group = &all->items[*known - 1];
	step_add(&group->series, start_ns, end_ns);
	group->total_ns += end_ns - start_ns;
}

COMPARATOR(compare_starts, struct run_step, order_of(a->start_ns, b->start_ns) ?: order_of(a->end_ns, b->end_ns))

/* Fewer ranges are no loop; those that have another name than a step's must cover a part of the process. */
bool steps_are_loop(enum range_role role, uint64_t count, double coverage)
{
	static const double others_cover = 0.3;

	if (role == NAMED_OTHERWISE)
		return count >= 5 && coverage >= others_cover;
	return role != NAMED_NONE && count >= 2;
}

enum step_source step_source(enum range_role role)
{
	return role == NAMED_PYTORCH	 ? STEPS_BY_PYTORCH
	       : role == NAMED_OPTIMIZER ? STEPS_BY_OPTIMIZER
					 : STEPS_BY_RANGES;
}

double steps_lifetime_ns(const struct report_context *c, const struct image *image)
{
	const struct clock_map *clock = &c->model->machines[image->machine].clock;
	uint64_t from_ns = clock_map_ns(clock, steps_since_ticks(image)),
		 to_ns = clock_map_ns(clock, image_last_ticks(image));

	return to_ns > from_ns ? (double)(to_ns - from_ns) : 1;
}

/* Ranges that overlap are nested or of a pipeline: then they are no steps. */
static bool is_loop(struct range_group *g, double lifetime_ns)
{
	struct step_series *s = &g->series;

	if (!steps_are_loop(g->role, s->count, (double)g->total_ns / lifetime_ns))
		return false;
	qsort(s->items, s->count, sizeof(*s->items), compare_starts);
	for (size_t i = 1; i < s->count; i++)
		if (s->items[i].start_ns < s->items[i - 1].end_ns)
			return false;
	return true;
}

/* A step ends with the call of its optimizer, and the next one begins then. */
static void end_steps(struct step_series *s)
{
	for (size_t i = 1; i < s->count; i++)
		s->items[i - 1].start_ns = s->items[i - 1].end_ns;
	for (size_t i = 1; i < s->count; i++)
		s->items[i - 1].end_ns = s->items[i].end_ns;
	s->count--;
}

bool steps_of_ranges(const struct report_context *c, const struct image *image, struct step_series *ret)
{
	struct range_groups all = {.image = image, .clock = &c->model->machines[image->machine].clock};
	struct range_group *best = NULL;
	double lifetime_ns = steps_lifetime_ns(c, image);

	nvtx_ranges(image, NULL, &all, add_range);
	list_each(struct range_group, g, &all) {
		if (is_loop(g, lifetime_ns) && (!best || g->role > best->role ||
						(g->role == best->role && g->total_ns > best->total_ns)))
			best = g;
	}
	if (best) {
		*ret = best->series;
		best->series.items = NULL;
		ret->coverage = (double)best->total_ns / lifetime_ns;
		ret->source = step_source(best->role);
		if (best->role == NAMED_OPTIMIZER)
			end_steps(ret);
	}
	array_free(item, all.items, all.count, free(item->series.items));
	map_done(&all.known);
	return best;
}
