/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/nvtx/filter_nvtx.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/nvtx/nvtx.h"

enum { SEEN = 8 };

struct range_search {
	const struct model *model;
	const struct image *image;
	struct buffer range, domain; /* domain NULL: the default one; "*": any */
	bool has_index;		     /* false: all ranges */
	long index;		     /* negative: from the end, -1 is the last one */
	const char *option;	     /* for messages */
	struct nvtx_instance *found;
	size_t count, capacity;
	struct texts seen; /* the first few names that did not match */
};

/* Copies up to an unescaped stop character or the end. */
static const char *copy_part(const char *at, const char *stops, struct buffer *ret)
{
	for (; *at && !strchr(stops, *at); at++) {
		if (*at == '\\' && (at[1] == '@' || at[1] == '/' || at[1] == '\\'))
			at++;
		buffer_add(ret, at, 1);
	}
	buffer_add(ret, "", 1);
	return at;
}

static int parse_range_spec(struct range_search *s, const char *spec, struct err *err)
{
	const char *at = copy_part(spec, "@/", &s->range);
	char *end;

	if (*at == '@')
		at = copy_part(at + 1, "/", &s->domain);
	if (*at == '/') {
		errno = 0;
		s->has_index = isdigit((unsigned char)at[at[1] == '-' ? 2 : 1]);
		s->index = s->has_index ? strtol(at + 1, &end, 10) : 0;
		if (!s->has_index || *end || errno)
			return err_set(err, -EINVAL,
				       "%s=%.200s: an index from 0, or -1 for the last range, must follow '/'; write "
				       "'\\/' for a plain '/'",
				       s->option, spec);
	}
	if (!*s->range.data)
		return err_set(err, -EINVAL, "%s=%.200s: must be RANGE[@DOMAIN][/INDEX]", s->option, spec);
	return 0;
}

static bool is_domain(const struct range_search *s, const struct trace *t, uint32_t domain)
{
	SCOPED(buffer) text = {0};

	if (!s->domain.data || !*s->domain.data)
		return !domain;
	if (!strcmp(s->domain.data, "*"))
		return true;
	return domain && trace_definition_text(t, TF_BLOB_DOMAIN, domain, &text) &&
	       !strcmp(buffer_string(&text), s->domain.data);
}

static void remember_name(struct range_search *s, const struct nvtx_range *r, const char *text)
{
	struct buffer name = {0};

	if (s->seen.count >= SEEN)
		return;
	buffer_text(&name, text);
	if (r->domain) {
		buffer_text(&name, "@");
		trace_definition_text(s->image->trace, TF_BLOB_DOMAIN, r->domain, &name);
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

/* A range of PyTorch's record_function has its number in its text where operators are recorded. */
static void search_visit_range(void *context, const struct nvtx_range *r)
{
	struct range_search *s = context;
	const struct trace *t = s->image->trace;
	const struct clock_map *clock = &s->model->machines[s->image->machine].clock;
	SCOPED(buffer) text = {0}, name = {0};

	nvtx_name(t, 0, r->text, &text);
	if (r->domain)
		buffer_text(&name, buffer_string(&text));
	else
		nvtx_sum_name(t, 0, r->text, &name);
	if ((!strcmp(buffer_string(&text), s->range.data) || !strcmp(buffer_string(&name), s->range.data)) &&
	    is_domain(s, t, r->domain)) {
		mem_append(s->found, s->count, s->capacity,
			   (struct nvtx_instance){s->image, r->thread, clock_map_ns(clock, r->start),
						  clock_map_ns(clock, r->end)});
	} else {
		remember_name(s, r, buffer_string(&name));
	}
}

COMPARATOR(instances_by_start, struct nvtx_instance, order_of(a->from_ns, b->from_ns))

/* The intervals of instances, without overlaps. Returns how many. */
static size_t join_overlapping(const struct nvtx_instance *found, size_t count, struct time_interval *ret)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		if (used && found[i].from_ns <= ret[used - 1].to_ns) {
			ret[used - 1].to_ns = larger_of(ret[used - 1].to_ns, found[i].to_ns);
			continue;
		}
		ret[used++] = (struct time_interval){found[i].from_ns, found[i].to_ns};
	}
	return used;
}

static int report_no_match(const struct range_search *s, const char *spec, struct err *err)
{
	SCOPED(buffer) list = {0};
	int code;

	for (size_t i = 0; i < s->seen.count; i++)
		buffer_print(&list, "%s%s", i ? ", " : "", s->seen.items[i]);
	if (s->count)
		code = err_set(err, -ENODATA, "%s=%.100s: there are only %zu such ranges, numbered from 0",
			       s->option, spec, s->count);
	else if (s->seen.count)
		code = err_set(err, -ENODATA, "%s=%.100s: no such range; the capture has: %.300s", s->option, spec,
			       list.data);
	else
		code = err_set(err, -ENODATA, "%s=%.100s: no such range, and no other range", s->option, spec);
	return code;
}

int nvtx_instances(const struct model *m, const char *option, const char *spec, struct nvtx_instance **ret,
		   size_t *ret_count, struct err *err)
{
	struct range_search s = {.model = m, .option = option};
	int code = parse_range_spec(&s, spec, err);

	for (size_t i = 0; !code && i < m->image_count; i++) {
		s.image = &m->images[i];
		nvtx_ranges(s.image, NULL, &s, search_visit_range);
	}
	array_sort(s.found, s.count, instances_by_start);
	if (s.index < 0)
		s.index += (long)s.count;
	if (!code && (!s.count || s.index < 0 || s.index >= (long)s.count)) {
		code = report_no_match(&s, spec, err);
	} else if (!code && s.has_index) {
		s.found[0] = s.found[s.index];
		s.count = 1;
	}
	buffer_done(&s.range);
	buffer_done(&s.domain);
	texts_done(&s.seen);
	*ret = s.found;
	*ret_count = s.count;
	return code;
}

int filter_nvtx(struct model *m, const char *spec, struct err *err)
{
	SCOPED_MEMORY struct nvtx_instance *found = NULL;
	struct time_interval *intervals;
	size_t count;
	int code = nvtx_instances(m, "--filter-nvtx", spec, &found, &count, err);

	if (!code) {
		intervals = mem_alloc(count * sizeof(*intervals));
		filter_narrow(m, intervals, join_overlapping(found, count, intervals));
		free(intervals);
	}
	return code;
}
