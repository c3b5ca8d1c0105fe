/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/cuda/stream_name.h"

#include <inttypes.h>

#include "report/events/cuda/correlate.h"

struct stream_names_builder {
	struct stream_names *names;
	struct map handles; /* handle -> position in definitions */
};

static bool is_stream(const struct nvtx_definition *n)
{
	return n->head.kind == TF_NVTX_RESOURCE &&
	       (n->head.type == TF_NVTX_CUDA_STREAM || n->head.type == TF_NVTX_CUDART_STREAM);
}

/* False: the call does not record its stream. */
static bool handle_of(const struct correlated *k, uint64_t *ret)
{
	uint64_t launch = event_arg(&k->event, TF_ARG_LAUNCH), stream = event_arg(&k->event, TF_ARG_STREAM);
	const struct trace *t = k->image->trace;
	const struct blob *b = launch ? trace_definition(t, TF_BLOB_LAUNCH, (uint32_t)tf_arg_value(launch)) : NULL;
	struct tf_launch l;

	if (b && trace_blob(t, b, &l, sizeof(l)) == sizeof(l)) {
		*ret = l.stream & ~0ull >> 16; /* as many as the other kind has */
		return true;
	}
	*ret = tf_arg_value(stream);
	return stream != 0;
}

static void stream_visit_correlated(void *context, const struct correlated *k)
{
	struct stream_names_builder *m = context;
	struct tf_device_operation operation;
	uint64_t handle, *position;

	if (!k->thread || !k->record_count || !handle_of(k, &handle))
		return;
	position = map_find(&m->handles, handle, 0);
	if (position && device_operation(k->image->trace, k->records[0].operation, &operation))
		*map_put(&m->names->streams, operation.context, operation.stream, NULL) = *position;
}

void stream_names_make(struct stream_names *n, const struct report_context *c, const struct image *image,
		       const struct nvtx_definitions *definitions)
{
	struct stream_names_builder m = {.names = n};
	bool has_names = false;

	*n = (struct stream_names){.definitions = definitions};
	for (size_t i = 0; i < definitions->count; i++) {
		if (!is_stream(&definitions->items[i]))
			continue;
		*map_put(&m.handles, definitions->items[i].head.id & ~0ull >> 16, 0, NULL) = i;
		has_names = true;
	}
	if (has_names)
		correlate_image(c, image, &m, stream_visit_correlated, NULL);
	map_done(&m.handles);
}

void stream_names_done(struct stream_names *n)
{
	map_done(&n->streams);
	*n = (struct stream_names){0};
}

const char *stream_name(const struct stream_names *n, const struct tf_device_operation *operation)
{
	const uint64_t *position = map_find(&n->streams, operation->context, operation->stream);

	return position ? n->definitions->items[*position].name : NULL;
}

void stream_label(const struct stream_names *n, const struct tf_device_operation *operation, struct buffer *ret)
{
	const char *name = stream_name(n, operation);

	buffer_print(ret, "stream %" PRIu32, operation->stream);
	if (name)
		buffer_print(ret, " (%s)", name);
}
