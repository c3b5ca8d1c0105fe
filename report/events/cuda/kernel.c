/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/cuda/kernel.h"

#include "report/events/cuda/correlate.h"
#include "report/names/demangle.h"

/* The map of kernel_names maps (side, number) to: */
enum kernel_key {
	BY_RECORD, /* correlation number of a record -> kernel */
	BY_LAUNCH, /* TF_BLOB_LAUNCH -> kernel */
	MADE,	   /* operation << 32 | kernel -> id of the operation with that kernel's name */
	MADE_OF	   /* that id -> operation << 32 | kernel */
};

enum { KNOWS_RECORDS = 1, KNOWS_LAUNCHES = 2 };

/* State kept with a trace: names that only the other source has. */
struct kernel_names {
	unsigned int known; /* KNOWS_... */
	struct map map;	    /* by enum kernel_key and number */
};

static void kernel_names_done(void *state)
{
	map_done(&((struct kernel_names *)state)->map);
}

static const struct attachment_kind kernel_names = {sizeof(struct kernel_names), kernel_names_done};

static struct kernel_names *names_of(struct trace *t)
{
	return attachment_get(&t->attachments, &kernel_names);
}

#define MADE_WORK (1u << 31) /* set in the ids created here; the recorder's ids are consecutive numbers */

static bool is_known(const struct trace *t, uint32_t kernel)
{
	const struct blob *b = kernel ? trace_definition(t, TF_BLOB_KERNEL, kernel) : NULL;

	return b && b->length;
}

bool kernel_name(const struct trace *t, uint32_t kernel, enum kernel_name how, struct buffer *ret)
{
	SCOPED(buffer) mangled = {0};

	if (!is_known(t, kernel))
		return false;
	trace_text(t, trace_definition(t, TF_BLOB_KERNEL, kernel), &mangled);
	if (how == KERNEL_MANGLED)
		buffer_text(ret, mangled.data);
	else if (how == KERNEL_BASE)
		demangle_base(ret, mangled.data);
	else
		demangle(ret, mangled.data);
	return true;
}

static uint64_t number_of(const struct device_record *r)
{
	return (uint64_t)r->epoch << 32 | r->correlation;
}

static bool is_nameless(const struct trace *t, uint32_t operation)
{
	struct tf_device_operation w;

	return device_operation(t, operation, &w) && w.kind == TF_DEVICE_KERNEL && !is_known(t, w.kernel);
}

static bool launch_of(const struct trace *t, const struct event *e, uint32_t *ret_id, struct tf_launch *ret)
{
	uint64_t arg = event_arg(e, TF_ARG_LAUNCH);
	const struct blob *b = arg ? trace_definition(t, TF_BLOB_LAUNCH, *ret_id = (uint32_t)tf_arg_value(arg)) : NULL;

	return b && trace_blob(t, b, ret, sizeof(*ret)) == sizeof(*ret);
}

/* Nodes of a graph do not have the name of the call's kernel. */
static void name_launch(const struct trace *t, struct map *names, uint32_t id, const struct device_record *r)
{
	struct tf_device_operation w;

	if (device_operation(t, r->operation, &w) && w.kind == TF_DEVICE_KERNEL && !w.graph && is_known(t, w.kernel))
		*map_put(names, BY_LAUNCH, id, NULL) = w.kernel;
}

static void kernel_visit_correlated(void *context, const struct correlated *k)
{
	const struct trace *t = k->image->trace;
	struct map *names = context;
	struct tf_launch launch;
	uint32_t id = 0;

	if (!k->thread || !k->record_count || !launch_of(t, &k->event, &id, &launch))
		return;
	for (size_t i = 0; i < k->record_count; i++)
		if (!is_known(t, launch.kernel))
			name_launch(t, names, id, &k->records[i]);
		else if (is_nameless(t, k->records[i].operation))
			*map_put(names, BY_RECORD, number_of(&k->records[i]), NULL) = launch.kernel;
}

/* Reads all calls and records, because a filter may exclude one of the two. */
static void kernel_find_names(const struct report_context *c, const struct image *image, unsigned what)
{
	struct kernel_names *names = names_of(image->trace);

	names->known |= what;
	correlate_unfiltered(c, image, &names->map, kernel_visit_correlated);
}

void kernel_find(const struct report_context *c, const struct image *image)
{
	struct trace *t = image->trace;
	struct kernel_names *names = names_of(t);
	bool has_any = false;

	if (names->known & KNOWS_RECORDS)
		return;
	names->known |= KNOWS_RECORDS;
	blobs_each(b, t, TF_BLOB_DEVICE_OPERATION)
		has_any |= is_nameless(t, b->id);
	if (has_any)
		kernel_find_names(c, image, KNOWS_RECORDS | KNOWS_LAUNCHES);
}

uint32_t kernel_name_operation(struct trace *t, const struct device_record *r)
{
	struct map *names = &names_of(t)->map;
	const uint64_t *kernel = names->count ? map_find(names, BY_RECORD, number_of(r)) : NULL;
	uint64_t pair, *place, id;

	if (!kernel || !is_nameless(t, r->operation))
		return r->operation;
	pair = (uint64_t)r->operation << 32 | *kernel;
	place = map_put(names, MADE, pair, NULL);
	if (*place)
		return (uint32_t)*place;
	id = *place = MADE_WORK | names->count;
	*map_put(names, MADE_OF, id, NULL) = pair;
	return (uint32_t)id;
}

bool kernel_made_from(const struct trace *t, uint32_t operation, uint32_t *ret_operation, uint32_t *ret_kernel)
{
	const struct kernel_names *names = attachment_find(&t->attachments, &kernel_names);
	const uint64_t *pair = names && names->map.count ? map_find(&names->map, MADE_OF, operation) : NULL;

	if (!pair)
		return false;
	*ret_operation = (uint32_t)(*pair >> 32);
	*ret_kernel = (uint32_t)*pair;
	return true;
}

bool kernel_of_launch(const struct report_context *c, const struct image *image, uint32_t id,
		      const struct tf_launch *launch, struct buffer *ret)
{
	struct trace *t = image->trace;
	struct kernel_names *names = names_of(t);
	uint64_t *other;

	if (is_known(t, launch->kernel))
		return kernel_name(t, launch->kernel, c->kernel_name, ret);
	if (!launch->grid[0])
		return false; /* a graph or a host function */
	if (!(names->known & KNOWS_LAUNCHES))
		kernel_find_names(c, image, KNOWS_LAUNCHES);
	other = map_find(&names->map, BY_LAUNCH, id);
	return other && kernel_name(t, (uint32_t)*other, c->kernel_name, ret);
}
