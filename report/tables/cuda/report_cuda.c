/* SPDX-License-Identifier: Apache-2.0 */
/* Reports on the calls that submit work to the GPU. For an image without device records the sizes of copies are
 * those that the host calls requested. */
#include "report/events/cuda/kernel.h"
#include "report/tables/report.h"

/* cudaMemcpyKind, as nsys names the operations. */
static const char *copy_operation(unsigned int kind)
{
	static const char *const names[] = {"[CUDA memcpy HtoH]", "[CUDA memcpy HtoD]", "[CUDA memcpy DtoH]",
					    "[CUDA memcpy DtoD]", "[CUDA memcpy Default]"};

	if (kind == 63)
		return "[CUDA memset]";
	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "[CUDA memcpy Unknown]";
}

static bool copy_key(struct scan *s, const void *kind, struct buffer *fields)
{
	(void)s;
	buffer_text(fields, copy_operation(*(const unsigned int *)kind));
	return true;
}

/* more: by image, whether its device records have the sizes */
void host_copy_visit(struct scan *s, const struct event *e)
{
	uint64_t arg =
		e->kind == TF_CALL && e->args_count && !event_arg(e, TF_ARG_RESULT) ? event_arg(e, TF_ARG_COPY) : 0;
	unsigned int kind = tf_arg_small(arg);

	if (arg && !((const bool *)s->more)[s->image - s->context->model->images])
		aggregate_add(s->aggregate, scan_row_of(s, event_start(e), kind, copy_key, &kind), tf_arg_value(arg));
}

/* The launch of a graph or of a host function has the name of the call: these have no grid. */
static bool launch_key(struct scan *s, const void *call, struct buffer *key)
{
	const struct trace *t = s->image->trace;
	const struct event *e = call;
	uint32_t id = (uint32_t)tf_arg_value(event_arg(e, TF_ARG_LAUNCH));
	const struct blob *b = trace_definition(t, TF_BLOB_LAUNCH, id);
	const struct function *f = trace_function(t, e->id);
	struct tf_launch launch;

	if (!b || trace_blob(t, b, &launch, sizeof(launch)) < sizeof(launch)) {
		buffer_add(key, "\0\0(launch lost)", 15);
		return true;
	}
	buffer_print(key, "%u %u %u%c", launch.grid[0], launch.grid[1], launch.grid[2], 0);
	buffer_print(key, "%u %u %u%c", launch.block[0], launch.block[1], launch.block[2], 0);
	if (!launch.grid[0] && f)
		buffer_text(key, f->name);
	else if (!kernel_of_launch(s->context, s->image, id, &launch, key))
		buffer_print(key, "kernel at 0x%llx", (unsigned long long)launch.function);
	return true;
}

static void visit_launch(struct scan *s, const struct event *e)
{
	uint64_t arg = e->kind == TF_CALL && e->args_count ? event_arg(e, TF_ARG_LAUNCH) : 0;
	uint32_t id = (uint32_t)tf_arg_value(arg);

	if (arg)
		scan_add_call(s, e, (uint64_t)e->id << 32 | id, launch_key, e);
}

SUM_REPORT(cuda_launch_sum, .shape = {.total = COL_TOTAL_TIME_NS, .count = COL_NUM_LAUNCHES,
				      .names = {COL_GRIDXYZ, COL_BLOCKXYZ, COL_NAME}, .has_percent = true},
	   .args = 1u << TF_ARG_LAUNCH, .visit = visit_launch)
