/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/filter.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the filter of a model, and from it that of each trace ---- */

static void free_filter(void *state)
{
	filter_done(state);
}

static const struct attachment_kind model_filter = {sizeof(struct filter), free_filter};

struct trace_filter {
	bool is_set;
	struct tick_spans shown;
};

static void free_trace_filter(void *state)
{
	free(((struct trace_filter *)state)->shown.items);
}

static const struct attachment_kind trace_filter = {sizeof(struct trace_filter), free_trace_filter};

const struct tick_spans *filter_of(const struct trace *t)
{
	const struct trace_filter *f = attachment_find(&t->attachments, &trace_filter);

	return f && f->is_set ? &f->shown : NULL;
}

bool filter_shows(const struct trace *t, uint64_t from, uint64_t to)
{
	const struct tick_spans *shown = filter_of(t);

	return !shown || tick_spans_overlap(shown, from, to);
}

bool filter_is_set(const struct model *m)
{
	const struct filter *f = attachment_find(&m->attachments, &model_filter);

	return f && f->is_set;
}

void filter_cursor_init(struct cursor *c, const struct trace *t, const struct trace_thread *thread)
{
	cursor_init(c, t, thread);
	c->shown = filter_of(t);
}

void filter_done(struct filter *f)
{
	free(f->intervals);
	*f = (struct filter){0};
}

static struct filter filter_duplicate(const struct filter *f)
{
	struct filter copy = *f;

	copy.intervals = mem_alloc(f->count * sizeof(*f->intervals));
	if (f->count)
		memcpy(copy.intervals, f->intervals, f->count * sizeof(*f->intervals));
	return copy;
}

struct filter filter_copy(const struct model *m)
{
	const struct filter *f = attachment_find(&m->attachments, &model_filter);

	return filter_duplicate(f ? f : &(struct filter){0});
}

/* Appends what of the interval is not in a cancelled range, which lasts until the next one begins. */
static void add_spans(struct tick_spans *shown, size_t *capacity, uint64_t from, uint64_t to, const struct ranges *r)
{
	for (size_t i = 0; r && i < r->count && from <= to; i++) {
		uint64_t begin = r->items[i].begin_ticks;
		uint64_t end = i + 1 < r->count ? r->items[i + 1].begin_ticks : UINT64_MAX;

		if (!r->is_cancelled[i] || end <= from || begin > to)
			continue;
		if (begin > from) {
			shown->items = mem_grow(shown->items, shown->count, capacity, sizeof(*shown->items));
			shown->items[shown->count].from = from;
			shown->items[shown->count++].to = begin - 1;
		}
		if (end == UINT64_MAX)
			return;
		from = end;
	}
	if (from > to)
		return;
	shown->items = mem_grow(shown->items, shown->count, capacity, sizeof(*shown->items));
	shown->items[shown->count].from = from;
	shown->items[shown->count++].to = to;
}

static void set_trace_filter(const struct model *m, const struct image *image, const struct filter *f)
{
	struct trace_filter *to = attachment_get(&image->trace->attachments, &trace_filter);
	const struct clock_map *clock = &m->machines[image->machine].clock;
	const struct ranges *r = image->ranges;
	size_t capacity = 0;

	to->is_set = f->is_set || (r && r->has_cancelled);
	free(to->shown.items);
	to->shown = (struct tick_spans){0};
	array_each(const struct time_interval, n, f->intervals, f->count) {
		add_spans(&to->shown, &capacity, n->from_ns ? clock_map_tick_at(clock, n->from_ns) : 0,
			  n->to_ns == UINT64_MAX ? UINT64_MAX : clock_map_tick_at(clock, n->to_ns), r);
	}
	if (!f->is_set && to->is_set)
		add_spans(&to->shown, &capacity, 0, UINT64_MAX, r);
}

void filter_cancelled(struct model *m)
{
	SCOPED(filter) all = filter_copy(m);

	if (array_find(ranges, m->ranges, m->ranges_count, ranges->has_cancelled))
		filter_restore(m, &all);
}

void filter_restore(struct model *m, const struct filter *f)
{
	struct filter *own = attachment_get(&m->attachments, &model_filter), copy = filter_duplicate(f);

	filter_done(own);
	*own = copy;
	for (size_t i = 0; i < m->image_count; i++)
		if (m->images[i].trace)
			set_trace_filter(m, &m->images[i], own);
}

void filter_narrow(struct model *m, const struct time_interval *intervals, size_t count)
{
	static struct time_interval always = {0, UINT64_MAX};
	const struct filter *old = attachment_find(&m->attachments, &model_filter);
	const struct filter all = {.intervals = &always, .count = 1};
	SCOPED(filter) both = {.is_set = true};

	if (!old || !old->is_set)
		old = &all;
	both.intervals = mem_alloc((count + old->count) * sizeof(*both.intervals));
	for (size_t i = 0, k = 0; i < count && k < old->count;) {
		struct time_interval n = intervals[i], o = old->intervals[k];
		struct time_interval common = {n.from_ns > o.from_ns ? n.from_ns : o.from_ns,
					       n.to_ns < o.to_ns ? n.to_ns : o.to_ns};

		if (common.from_ns <= common.to_ns)
			both.intervals[both.count++] = common;
		if (n.to_ns < o.to_ns)
			i++;
		else
			k++;
	}
	filter_restore(m, &both);
}

/* ---- --filter-time ---- */

const char *filter_duration(const char *at, double *ret_ns)
{
	static const struct unit {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1}};
	char *end;

	if (!isdigit((unsigned char)*at) && *at != '.')
		return NULL;
	*ret_ns = strtod(at, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t length = strlen(units[i].name);

		if (!strncmp(end, units[i].name, length) && !isalnum((unsigned char)end[length])) {
			*ret_ns *= units[i].ns;
			return end + length;
		}
	}
	return NULL;
}

int filter_time(struct model *m, const char *spec, struct err *err)
{
	const char *slash = strchr(spec, '/'), *end;
	double from = 0, to = INFINITY;
	struct time_interval interval;

	if (!slash || !strcmp(spec, "/"))
		return err_set(err, -EINVAL, "--filter-time=%.100s: must be START/END, as in 2s/2500ms", spec);
	end = slash == spec ? slash : filter_duration(spec, &from);
	if (end != slash || (slash[1] && ((end = filter_duration(slash + 1, &to)) == NULL || *end)))
		return err_set(err, -EINVAL, "--filter-time=%.100s: a time is a number with ns, us, ms or s", spec);
	if (to < from)
		return err_set(err, -EINVAL, "--filter-time=%.100s: ends before it starts", spec);
	interval.from_ns = from > 0 ? m->origin_ns + (uint64_t)(from < 9e18 ? from : 9e18) : 0;
	interval.to_ns = to < 9e18 ? m->origin_ns + (uint64_t)to : UINT64_MAX;
	filter_narrow(m, &interval, 1);
	return 0;
}
