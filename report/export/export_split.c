/* SPDX-License-Identifier: Apache-2.0 */
/* Splits an export by time into several files. Each file is complete: what overlaps two parts is in both. */
#include "report/export/export_split.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/events/filter.h"

enum { MOST_PARTS = 999, LEAST_NS = 1000, LEAST_TIME_NS = 1000000 };

struct split_export {
	struct export *x;
	struct model *model;
	const struct export_type *type;
	const char *path;
	bool is_forced;
	const struct split *split;
	struct filter filter; /* the user's filter */
	uint64_t length;      /* duration of the capture in ns */
	size_t count;	      /* number of parts written */
};

int split_size(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "KMGT";
	char *end;
	double size = strtod(text, &end);
	const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;

	for (const char *p = units; unit && p <= unit; p++)
		size *= 1024;
	if (end == text || (*end && (!unit || (end[1] && strcmp(end + 1, "B") != 0 && strcmp(end + 1, "iB") != 0))) ||
	    !(size >= 4096 && size < 9e18))
		return -EINVAL;
	*ret_bytes = (uint64_t)size;
	return 0;
}

int split_time(const char *text, uint64_t *ret_ns)
{
	double ns = 0;
	const char *end = filter_duration(text, &ns);

	if (!end || *end || !(ns >= LEAST_TIME_NS && ns < 9e18))
		return -EINVAL;
	*ret_ns = (uint64_t)ns;
	return 0;
}

bool split_is_requested(const struct split *s)
{
	return s->bytes || s->time_ns;
}

/* Narrows the user's filter to one part. The last part is unbounded, so that it includes what was recorded after the
 * last process ended. */
static void select_part(struct split_export *p, uint64_t from_ns, uint64_t to_ns)
{
	struct time_interval part = {from_ns ? p->model->origin_ns + from_ns : 0,
				     to_ns < p->length ? p->model->origin_ns + to_ns : UINT64_MAX};

	filter_restore(p->model, &p->filter);
	filter_narrow(p->model, &part, 1);
}

/* ---- writing ---- */

/* "a/report1.json.gz" becomes "a/report1.002.json.gz". */
static void part_name(const char *path, size_t number, struct buffer *ret)
{
	const char *base = path_name(path);
	const char *dot = *base ? strchr(base + 1, '.') : NULL, *end = dot ? dot : path + strlen(path);

	buffer_add(ret, path, (size_t)(end - path));
	buffer_print(ret, ".%03zu%s", number, end);
}

static int write_one(struct split_export *p, const char *path, struct err *err)
{
	int code = export_write(p->x, p->type, path, p->is_forced, err);

	if (!code)
		texts_add(&p->x->written, "%s", path);
	return code;
}

static int write_part(struct split_export *p, struct err *err)
{
	SCOPED(buffer) name = {0};

	if (p->count == MOST_PARTS)
		return err_set(err, -EFBIG, "more than %d parts: use a larger limit", MOST_PARTS);
	part_name(p->path, ++p->count, &name);
	return write_one(p, name.data, err);
}

/* A reader that takes all parts would include these as well. They may not be ours, so they are not removed. */
static void name_left(struct split_export *p)
{
	SCOPED(buffer) name = {0};

	for (size_t number = p->count + 1; number <= MOST_PARTS; number++) {
		buffer_clear(&name);
		part_name(p->path, number, &name);
		if (access(name.data, F_OK) < 0)
			break;
		texts_add(&p->x->left, "%s", name.data);
	}
}

/* The size of the part if it were written. */
static int split_measure_part(struct split_export *p, uint64_t *ret_bytes, struct err *err)
{
	struct sink sink;
	int code = sink_open(&sink, SINK_NOWHERE, export_is_gzip(p->type, p->path), err);

	if (code)
		return code;
	p->x->out = &sink;
	code = p->type->run(p->x, err);
	sink_close(&sink);
	p->x->out = NULL;
	*ret_bytes = sink.written;
	return code;
}

/* A part that is too large is split again, unless it is as short as a microsecond. */
static int write_span(struct split_export *p, uint64_t from_ns, uint64_t to_ns, struct err *err)
{
	uint64_t size = 0, length = to_ns - from_ns, pieces;
	int code = 0;

	select_part(p, from_ns, to_ns);
	if (p->split->bytes)
		code = split_measure_part(p, &size, err);
	if (code || size <= p->split->bytes || length <= LEAST_NS)
		return code ? code : write_part(p, err);
	pieces = size / p->split->bytes + 1;
	pieces = smaller_of(pieces, length / LEAST_NS + 1);
	for (uint64_t i = 0; i < pieces && !code; i++)
		code = write_span(p, from_ns + length / pieces * i,
				  i + 1 < pieces ? from_ns + length / pieces * (i + 1) : to_ns, err);
	return code;
}

int export_split(struct export *x, struct model *m, const struct export_type *type, const char *path, bool is_forced,
		 const struct split *split, struct err *err)
{
	struct split_export p = {x, m, type, path, is_forced, split, {0}, 0, 0};
	uint64_t step;
	int code = 0;

	if (!split_is_requested(split))
		return write_one(&p, path, err);
	if (!strcmp(path, "-"))
		return err_set(err, -EINVAL, "several files cannot be written to standard output");
	p.length = model_end_ns(m) - m->origin_ns + 1;
	step = split->time_ns ? split->time_ns : p.length;
	if (p.length / step >= MOST_PARTS)
		return err_set(err, -EFBIG, "more than %d parts: use a larger limit", MOST_PARTS);
	p.filter = filter_copy(m);
	for (uint64_t from = 0; from < p.length && !code; from += step)
		code = write_span(&p, from, p.length - from > step ? from + step : p.length, err);
	filter_restore(m, &p.filter);
	filter_done(&p.filter);
	if (!code)
		name_left(&p);
	return code;
}
