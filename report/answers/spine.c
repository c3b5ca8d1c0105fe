/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/spine.h"

#include <stdlib.h>
#include <string.h>

#include "report/causes/function.h"

struct spine_finder {
	const struct own_stacks *own;
	const struct spine_time *times;
	size_t count;
	bool with_model; /* what a model takes counts for places, too */
	uint64_t least_ns, sample_ns;
	uint64_t *inclusive, *own_ns, *drop; /* by function */
	uint64_t *through;	       /* by function: of the place's time */
	double *distance;	       /* by function: from the place, times that */
	size_t *seen;		       /* by function: the last time that has it + 1 */
	bool *is_recursive, *is_printed;
};

static const struct own_frame *frames_of(const struct spine_finder *f, size_t time, uint32_t *ret_count)
{
	uint32_t stack = f->times[time].stack;

	*ret_count = f->own->stacks[stack].count;
	return own_frames(f->own, stack);
}

static bool is_counted(const struct spine_finder *f, size_t time)
{
	const struct own_stack *stack = &f->own->stacks[f->times[time].stack];

	return f->with_model || !(stack->is_model || stack->is_algebra);
}

/* Each function once a stack. */
static void add_inclusive(struct spine_finder *f, size_t time)
{
	uint32_t count;
	const struct own_frame *frames = frames_of(f, time, &count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t function = frames[i].function;

		if (f->seen[function] != time + 1)
			f->inclusive[function] += f->times[time].ns;
		else if (i && frames[i - 1].function != function)
			f->is_recursive[function] = true;
		f->seen[function] = time + 1;
	}
	if (count)
		f->own_ns[frames[0].function] += f->times[time].ns;
}

/* A call from one function to another one, once a stack. */
static void add_calls(const struct spine_finder *f, size_t time, struct map *calls, struct map *last)
{
	uint32_t count;
	const struct own_frame *frames = frames_of(f, time, &count);

	for (uint32_t i = 0; i + 1 < count; i++) {
		uint32_t callee = frames[i].function, caller = frames[i + 1].function;
		uint64_t *known = callee == caller ? NULL : map_put(last, caller, callee, NULL);

		if (!known || *known == time + 1)
			continue;
		*known = time + 1;
		*map_put(calls, caller, callee, NULL) += f->times[time].ns;
	}
}

static void find_drops(struct spine_finder *f)
{
	SCOPED(map) calls = {0}, last = {0};

	for (size_t i = 0; i < f->count; i++) {
		if (!is_counted(f, i))
			continue;
		add_inclusive(f, i);
		add_calls(f, i, &calls, &last);
	}
	for (size_t i = 0; i < f->own->function_count; i++)
		/* The top level is around all that the program does: a place only for what it does itself. */
		f->drop[i] = own_is_top(f->own, (uint32_t)i) ? f->own_ns[i] : f->inclusive[i];
	array_each(const struct map_slot, call, calls.slots, calls.size) {
		uint64_t left = call->used ? f->inclusive[call->a] - call->value : 0;

		if (call->used && left < f->drop[call->a])
			f->drop[call->a] = left;
	}
}

/* Adds the callers of the outermost frame of the place that a stack has; how far they are, is by the innermost. */
static void add_callers(struct spine_finder *f, size_t time, uint32_t place)
{
	uint32_t count, at = 0;
	const struct own_frame *frames = frames_of(f, time, &count);
	double distance = 0;

	while (at < count && frames[at].function != place)
		at++;
	for (uint32_t i = at + 1; i < count; i++) {
		uint32_t function = frames[i].function;

		if (function == place || f->seen[function] == time + 1 || own_is_top(f->own, function))
			continue;
		f->seen[function] = time + 1;
		f->through[function] += f->times[time].ns;
		f->distance[function] += ++distance * (double)f->times[time].ns;
	}
}

static void find_through(struct spine_finder *f, uint32_t place)
{
	size_t functions = f->own->function_count;

	memset(f->through, 0, functions * sizeof(*f->through));
	memset(f->distance, 0, functions * sizeof(*f->distance));
	memset(f->seen, 0, functions * sizeof(*f->seen));
	for (size_t i = 0; i < f->count; i++)
		if (is_counted(f, i))
			add_callers(f, i, place);
}

static bool carries(const struct spine_finder *f, uint32_t function, uint32_t place)
{
	return f->through[function] && f->through[function] * 100 >= f->inclusive[place] * SPINE_PERCENT;
}

/* The nearest of those that carry the place's time and are farther than `least`; of equally near ones, that with more
 * time. */
static size_t next_caller(const struct spine_finder *f, uint32_t place, double least, size_t before)
{
	size_t best = SIZE_MAX;
	double nearest = 0;

	for (size_t i = 0; i < f->own->function_count; i++) {
		double distance = f->through[i] ? f->distance[i] / (double)f->through[i] : 0;

		if (!carries(f, (uint32_t)i, place) || distance < least || (distance == least && i <= before))
			continue;
		if (best == SIZE_MAX || distance < nearest) {
			best = i;
			nearest = distance;
		}
	}
	return best;
}

/* The line of the function with most of the time of stacks that have the place. */
struct hot_line {
	uint32_t line;
	uint64_t ns, all_ns; /* of that line; of all its lines */
};

static struct hot_line hot_line(const struct spine_finder *f, uint32_t function, uint32_t place, bool with_model)
{
	SCOPED(map) lines = {0};
	struct hot_line ret = {0};

	for (size_t i = 0; i < f->count; i++) {
		uint32_t count, line = 0;
		const struct own_frame *frames = frames_of(f, i, &count);
		bool is_below = false;

		for (uint32_t k = 0; k < count && (with_model || is_counted(f, i)); k++) {
			is_below |= frames[k].function == place;
			if (is_below && frames[k].function == function && !line)
				line = frames[k].line;
		}
		if (!line)
			continue;
		*map_put(&lines, line, 0, NULL) += f->times[i].ns;
		ret.all_ns += f->times[i].ns;
	}
	array_each(const struct map_slot, slot, lines.slots, lines.size)
		if (slot->used &&
		    (slot->value > ret.ns || (slot->value == ret.ns && (uint32_t)slot->a < ret.line))) {
			ret.ns = slot->value;
			ret.line = (uint32_t)slot->a;
		}
	return ret;
}

/* The line that is told: where a model takes nearly all of the function's time, that of the model. */
static uint32_t line_of(const struct spine_finder *f, uint32_t function, uint32_t place, bool *ret_is_models)
{
	struct hot_line own = hot_line(f, function, place, false), all = hot_line(f, function, place, true);

	*ret_is_models = (double)own.all_ns < FUNCTION_LEAST * (double)all.all_ns;
	return *ret_is_models ? all.line : own.line;
}

/* What half of the place's own time is in; of a line of the model, half of that line's. */
static uint32_t callee_of(const struct spine_finder *f, uint32_t place)
{
	SCOPED(map) callees = {0};
	uint64_t all_ns = 0;
	uint32_t ret = 0;
	bool is_models;
	uint32_t line = line_of(f, place, place, &is_models);

	for (size_t i = 0; i < f->count; i++) {
		uint32_t count;
		const struct own_frame *frames = frames_of(f, i, &count);

		if (!count || frames[0].function != place || !(is_models ? frames[0].line == line : is_counted(f, i)))
			continue;
		*map_put(&callees, f->own->stacks[f->times[i].stack].callee, 0, NULL) += f->times[i].ns;
		all_ns += f->times[i].ns;
	}
	for (size_t i = 0; i < callees.size; i++)
		if (callees.slots[i].used && callees.slots[i].value * 2 > all_ns)
			ret = (uint32_t)callees.slots[i].a;
	return ret;
}

/* What most of the time of a function's own is in, at its line with most of that; 0: nothing. */
static void add_own_line(const struct spine_finder *f, uint64_t least_ns, struct spine_frame *ret)
{
	SCOPED(map) lines = {0}, callees = {0};
	const struct map_slot *most = NULL;

	for (size_t i = 0; i < f->count; i++) {
		uint32_t count;
		const struct own_frame *frames = frames_of(f, i, &count);

		if (count && frames[0].function == ret->function && frames[0].line != ret->line && is_counted(f, i)) {
			*map_put(&lines, frames[0].line, 0, NULL) += f->times[i].ns;
			*map_put(&callees, frames[0].line, f->own->stacks[f->times[i].stack].callee, NULL) +=
				f->times[i].ns;
		}
	}
	array_each(const struct map_slot, line, lines.slots, lines.size)
		if (line->used && line->value >= least_ns && (!most || line->value > most->value))
			most = line;
	if (!most || !most->value)
		return;
	ret->own_line = (uint32_t)most->a;
	ret->own_line_ns = most->value;
	array_each(const struct map_slot, callee, callees.slots, callees.size)
		if (callee->used && callee->a == most->a && callee->value * 2 > most->value)
			ret->own_callee = (uint32_t)callee->b;
}

/* Linear algebra below a function, if it does not count. */
static uint64_t algebra_below(const struct spine_finder *f, uint32_t function)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < f->count; i++) {
		uint32_t count, at = 0;
		const struct own_frame *frames = frames_of(f, i, &count);

		while (at < count && frames[at].function != function)
			at++;
		ns += at < count && !is_counted(f, i) && f->own->stacks[f->times[i].stack].is_algebra ? f->times[i].ns
												     : 0;
	}
	return ns;
}

static void spine_find(struct spine_finder *f, uint32_t place, struct spine *ret)
{
	size_t functions[SPINE_FRAMES] = {place}, before = SIZE_MAX;
	double distance = 0;
	bool is_models;

	*ret = (struct spine){.count = 1, .drop_ns = f->drop[place], .callee = callee_of(f, place)};
	find_through(f, place);
	while (ret->count < SPINE_FRAMES) {
		size_t next = next_caller(f, place, distance, before);

		if (next == SIZE_MAX || f->is_printed[next])
			break;
		distance = f->distance[next] / (double)f->through[next];
		before = next;
		functions[ret->count++] = next;
	}
	ret->algebra_ns = algebra_below(f, (uint32_t)functions[ret->count - 1]);
	for (size_t i = 0; i < ret->count; i++) {
		uint32_t function = (uint32_t)functions[ret->count - 1 - i];

		ret->frames[i] = (struct spine_frame){function, line_of(f, function, place, &is_models),
						      f->inclusive[function], f->own_ns[function],
						      f->is_recursive[function], 0, 0, 0};
		if (function != place)
			add_own_line(f, (uint64_t)(FUNCTION_LEAST * (double)f->inclusive[place]), &ret->frames[i]);
		f->is_printed[function] = true;
	}
}

/* In no spine yet and, unless nothing else is left, not below the first place. The top of a file is around that. */
static bool may_be_place(struct spine_finder *f, size_t function, const struct spine *first, bool is_below)
{
	if (f->is_printed[function] || !f->drop[function] || f->drop[function] < f->least_ns)
		return false;
	if (!first)
		return true;
	if (own_is_top(f->own, (uint32_t)function))
		return false;
	if (is_below)
		return true;
	find_through(f, (uint32_t)function);
	return !carries(f, first->frames[first->count - 1].function, (uint32_t)function);
}

/* Whether they differ by less than the standard error of what was sampled: next time the other one is larger. */
static bool is_equal(const struct spine_finder *f, uint64_t a, uint64_t b)
{
	double difference = (double)a - (double)b;

	return difference * difference < (double)f->sample_ns * ((double)a + (double)b);
}

/* The function with the largest drop; of equal ones that whose line is not the model's, else the one with the most time
 * below it. */
static size_t next_place(struct spine_finder *f, const struct spine *first, bool is_below)
{
	size_t most = SIZE_MAX, best;
	bool is_models, is_best_models = false;

	for (size_t i = 0; i < f->own->function_count; i++)
		if ((most == SIZE_MAX || f->drop[i] > f->drop[most]) && may_be_place(f, i, first, is_below))
			most = i;
	best = most;
	if (most != SIZE_MAX)
		line_of(f, (uint32_t)most, (uint32_t)most, &is_best_models);
	for (size_t i = 0; i < f->own->function_count && most != SIZE_MAX; i++) {
		if (!is_equal(f, f->drop[i], f->drop[most]) || own_is_top(f->own, (uint32_t)i) ||
		    !may_be_place(f, i, first, is_below))
			continue;
		line_of(f, (uint32_t)i, (uint32_t)i, &is_models);
		if (is_models == is_best_models ? f->inclusive[i] > f->inclusive[best] : is_best_models) {
			best = i;
			is_best_models = is_models;
		}
	}
	return best;
}

static void finder_init(struct spine_finder *f, const struct own_stacks *own, const struct spine_time *times,
			size_t count)
{
	size_t functions = own->function_count + 1;

	*f = (struct spine_finder){.own = own, .times = times, .count = count,
				   .inclusive = mem_alloc(functions * sizeof(*f->inclusive)),
				   .own_ns = mem_alloc(functions * sizeof(*f->own_ns)),
				   .drop = mem_alloc(functions * sizeof(*f->drop)),
				   .through = mem_alloc(functions * sizeof(*f->through)),
				   .distance = mem_alloc(functions * sizeof(*f->distance)),
				   .seen = mem_alloc(functions * sizeof(*f->seen)),
				   .is_recursive = mem_alloc(functions * sizeof(*f->is_recursive)),
				   .is_printed = mem_alloc(functions * sizeof(*f->is_printed))};
}

static void spine_finder_done(struct spine_finder *f)
{
	free(f->inclusive);
	free(f->own_ns);
	free(f->drop);
	free(f->through);
	free(f->distance);
	free(f->seen);
	free(f->is_recursive);
	free(f->is_printed);
}

size_t spines_find(const struct own_stacks *own, const struct spine_time *times, size_t count, bool with_model,
		   uint64_t least_ns, uint64_t sample_ns, struct spine *ret)
{
	SCOPED(spine_finder) f = {0};
	size_t found = 0;
	bool is_below = false;

	finder_init(&f, own, times, count);
	f.with_model = with_model;
	f.least_ns = least_ns;
	f.sample_ns = sample_ns;
	find_drops(&f);
	while (found < SPINES) {
		size_t place = next_place(&f, found ? ret : NULL, is_below);

		if (place != SIZE_MAX)
			spine_find(&f, (uint32_t)place, &ret[found++]);
		else if (is_below || !found)
			break;
		else
			is_below = true;
	}
	return found;
}

bool spine_of_calls(const struct own_stacks *own, const struct spine_time *times, size_t count, struct spine *ret)
{
	SCOPED(spine_finder) f = {0};
	uint32_t place = 0;
	bool is_any;

	finder_init(&f, own, times, count);
	f.with_model = true;
	for (size_t i = 0; i < count; i++)
		add_inclusive(&f, i);
	for (uint32_t i = 1; i < own->function_count; i++)
		if (f.own_ns[i] > f.own_ns[place])
			place = i;
	is_any = f.own_ns[place] > 0;
	if (is_any)
		spine_find(&f, place, ret);
	return is_any;
}
