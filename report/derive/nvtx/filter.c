/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derive/nvtx/filter.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/derive/nvtx/nvtx.h"

struct times {
	uint64_t from_ns, to_ns; /* CLOCK_REALTIME */
};

static uint64_t tick_at(const struct axis *a, uint64_t ns)
{
	return ns == UINT64_MAX ? UINT64_MAX : axis_tick_at(a, ns);
}

/* Puts sorted, disjoint spans on every trace, in its own ticks; over those of another filter: what both let through. */
static void apply(struct model *m, const struct times *times, size_t count)
{
	m->is_filtered = true;
	for (size_t i = 0; i < m->image_count; i++) {
		const struct image *image = &m->images[i];
		const struct axis *axis = &m->machines[image->machine].axis;
		struct tick_span *spans;
		size_t used = 0;

		if (!image->trace)
			continue;
		spans = mem_alloc((count + image->trace->shown_count) * sizeof(*spans));
		for (size_t k = 0; k < count; k++) {
			struct tick_span span = {times[k].from_ns ? tick_at(axis, times[k].from_ns) : 0, tick_at(axis, times[k].to_ns)};

			if (!image->trace->is_filtered) {
				spans[used++] = span;
				continue;
			}
			for (size_t old = 0; old < image->trace->shown_count; old++) {
				const struct tick_span *o = &image->trace->shown[old];
				struct tick_span both = {span.from > o->from ? span.from : o->from, span.to < o->to ? span.to : o->to};

				if (both.from <= both.to)
					spans[used++] = both;
			}
		}
		free(image->trace->shown);
		image->trace->shown = spans;
		image->trace->shown_count = used;
		image->trace->is_filtered = true;
	}
}

/* ---- time ---- */

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
	struct times times;

	if (!slash || !strcmp(spec, "/"))
		return err_set(err, -EINVAL, "--filter-time=%.100s: must be START/END, as in 2s/2500ms", spec);
	end = slash == spec ? slash : filter_duration(spec, &from);
	if (end != slash || (slash[1] && ((end = filter_duration(slash + 1, &to)) == NULL || *end)))
		return err_set(err, -EINVAL, "--filter-time=%.100s: times are numbers with ns, us, ms or s behind them", spec);
	if (to < from)
		return err_set(err, -EINVAL, "--filter-time=%.100s: ends before it starts", spec);
	times.from_ns = from > 0 ? m->origin_ns + (uint64_t)(from < 9e18 ? from : 9e18) : 0;
	times.to_ns = to < 9e18 ? m->origin_ns + (uint64_t)to : UINT64_MAX;
	apply(m, &times, 1);
	return 0;
}

/* ---- NVTX ---- */

enum { SEEN = 8 };

struct search {
	const struct model *model;
	const struct image *image;
	struct buffer range, domain; /* domain NULL: the default one; "*": any */
	long index;		     /* -1: all */
	struct times *found;
	size_t count, capacity;
	struct texts seen; /* the first few texts that did not match */
};

/* Up to an unescaped stop character, or the end. */
static const char *take_part(const char *at, const char *stops, struct buffer *ret)
{
	for (; *at && !strchr(stops, *at); at++) {
		if (*at == '\\' && (at[1] == '@' || at[1] == '/' || at[1] == '\\'))
			at++;
		buffer_add(ret, at, 1);
	}
	buffer_add(ret, "", 1);
	return at;
}

static int parse(struct search *s, const char *spec, struct err *err)
{
	const char *at = take_part(spec, "@/", &s->range);
	char *end;

	if (*at == '@')
		at = take_part(at + 1, "/", &s->domain);
	s->index = -1;
	if (*at == '/') {
		errno = 0;
		s->index = isdigit((unsigned char)at[1]) ? strtol(at + 1, &end, 10) : -1;
		if (s->index < 0 || *end || errno)
			return err_set(err, -EINVAL, "--filter-nvtx=%.200s: behind the '/' stands which one, from 0; '\\/' is a plain '/'", spec);
	}
	if (!*s->range.data)
		return err_set(err, -EINVAL, "--filter-nvtx=%.200s: must be RANGE[@DOMAIN][/INDEX]", spec);
	return 0;
}

static bool is_domain(const struct search *s, const struct trace *t, uint32_t domain)
{
	const struct blob *name = domain ? trace_definition(t, TF_BLOB_DOMAIN, domain) : NULL;
	struct buffer text = {0};
	bool same;

	if (!s->domain.data || !*s->domain.data)
		return !domain;
	if (!strcmp(s->domain.data, "*"))
		return true;
	if (name)
		trace_text(t, name, &text);
	buffer_add(&text, "", 1);
	same = domain && !strcmp(text.data, s->domain.data);
	buffer_done(&text);
	return same;
}

static void remember_seen(struct search *s, const struct nvtx_range *r, const char *text)
{
	struct buffer name = {0};

	if (s->seen.count >= SEEN)
		return;
	buffer_text(&name, text);
	if (r->domain) {
		const struct blob *domain = trace_definition(s->image->trace, TF_BLOB_DOMAIN, r->domain);

		buffer_text(&name, "@");
		if (domain)
			trace_text(s->image->trace, domain, &name);
	}
	buffer_add(&name, "", 1);
	for (size_t i = 0; i < s->seen.count; i++)
		if (!strcmp(s->seen.items[i], name.data)) {
			buffer_done(&name);
			return;
		}
	texts_add(&s->seen, "%s", name.data);
	buffer_done(&name);
}

static void visit_range(void *context, const struct nvtx_range *r)
{
	struct search *s = context;
	const struct trace *t = s->image->trace;
	const struct axis *axis = &s->model->machines[s->image->machine].axis;
	const struct blob *words = trace_definition(t, TF_BLOB_STRING, r->text);
	struct buffer text = {0};

	if (words)
		trace_text(t, words, &text);
	buffer_add(&text, "", 1);
	if (!strcmp(text.data, s->range.data) && is_domain(s, t, r->domain)) {
		s->found = mem_grow(s->found, s->count, &s->capacity, sizeof(*s->found));
		s->found[s->count++] = (struct times){axis_ns(axis, r->start), axis_ns(axis, r->end)};
	} else {
		remember_seen(s, r, text.data);
	}
	buffer_done(&text);
}

static int by_start(const void *a, const void *b)
{
	const struct times *x = a, *y = b;

	return order_of(x->from_ns, y->from_ns);
}

static size_t join_overlapping(struct times *times, size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		if (used && times[i].from_ns <= times[used - 1].to_ns) {
			if (times[i].to_ns > times[used - 1].to_ns)
				times[used - 1].to_ns = times[i].to_ns;
			continue;
		}
		times[used++] = times[i];
	}
	return used;
}

static int say_none(const struct search *s, const char *spec, struct err *err)
{
	struct buffer list = {0};
	int code;

	for (size_t i = 0; i < s->seen.count; i++)
		buffer_print(&list, "%s%s", i ? ", " : "", s->seen.items[i]);
	if (s->count)
		code = err_set(err, -ENODATA, "--filter-nvtx=%.100s: there are only %zu of it, from 0", spec, s->count);
	else if (s->seen.count)
		code = err_set(err, -ENODATA, "--filter-nvtx=%.100s: range never seen; seen were: %.300s", spec, list.data);
	else
		code = err_set(err, -ENODATA, "--filter-nvtx=%.100s: range never seen, nor any other", spec);
	buffer_done(&list);
	return code;
}

int filter_nvtx(struct model *m, const char *spec, struct err *err)
{
	struct search s = {.model = m};
	int code = parse(&s, spec, err);

	for (size_t i = 0; !code && i < m->image_count; i++) {
		s.image = &m->images[i];
		nvtx_ranges(s.image, NULL, &s, visit_range);
	}
	if (s.count)
		qsort(s.found, s.count, sizeof(*s.found), by_start);
	if (!code && (!s.count || s.index >= (long)s.count))
		code = say_none(&s, spec, err);
	else if (!code && s.index >= 0)
		apply(m, &s.found[s.index], 1);
	else if (!code)
		apply(m, s.found, join_overlapping(s.found, s.count));
	buffer_done(&s.range);
	buffer_done(&s.domain);
	texts_done(&s.seen);
	free(s.found);
	return code;
}
