/* SPDX-License-Identifier: Apache-2.0 */
/* Steps by the calls of a thread: the function, the kernel that it launches, and the line if each call has one. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/events/cuda/kernel.h"
#include "report/events/traffic.h"
#include "report/names/attribution.h"
#include "report/time/blocked.h"
#include "report/time/steps/period.h"
#include "report/time/steps/steps.h"

/* What a call is in a step. */
enum call_part { PART_OTHER, PART_RECEIVE, PART_SEND, PART_COLLECTIVE, PART_LAUNCH, PART_OPTIMIZER };

/* Stacks are taken of calls that last long enough, so most functions have them in some calls only. Then the stack does
 * not tell calls apart. */
static const double STACKS = 0.98;

/* The start of a program, and imports of an interpreter, look for files again and again. */
static const float OPENING = 0.15f;

struct stack_count {
	uint64_t calls, stacks;
};

struct gathered_calls {
	const struct report_context *context;
	const struct image *image;
	const struct clock_map *clock;
	struct descriptor_search descriptors;
	struct attribution attribution;
	struct map lines; /* stack -> hash of its line */
	struct stack_count *functions; /* by function */
	struct map known;	       /* (function and part, stack or kernel) -> what */
	struct looped_call *items;
	size_t count, capacity;
	uint8_t *parts; /* by what */
	float *importance;
	size_t whats, parts_capacity, importance_capacity;
};

/* The line that calls; 0: it is not known. One line has several stacks: an interpreter makes its own code faster. */
static uint64_t line_of(struct gathered_calls *g, uint32_t stack)
{
	bool is_new;
	uint64_t *number = map_put(&g->lines, stack, 0, &is_new);

	if (is_new)
		*number = code_line_number(attribution_line(&g->attribution, g->image, stack));
	return *number;
}

static void count_stacks(struct gathered_calls *g, const struct trace_thread *thread)
{
	struct cursor cursor;
	struct event e;

	cursor_init(&cursor, g->image->trace, thread);
	cursor_skip_to(&cursor, g->image->trace->header.ring_ticks);
	while (cursor_next(&cursor, &e))
		if (e.kind == TF_CALL && e.id < g->image->trace->functions->count) {
			g->functions[e.id].calls++;
			g->functions[e.id].stacks += event_stack(&e) != 0;
		}
}

static bool is_optimizer(const char *kernel)
{
	static const char *const words[] = {"adam", "sgd", "optimizer", "multi_tensor_apply"};

	return array_find(word, words, sizeof(words) / sizeof(*words), strcasestr(kernel, *word)) != NULL;
}

static enum call_part part_of_launch(const struct gathered_calls *g, uint32_t id, uint64_t *ret_kernel)
{
	const struct blob *blob = trace_definition(g->image->trace, TF_BLOB_LAUNCH, id);
	struct tf_launch launch = {0};
	SCOPED(buffer) name = {0};
	enum call_part part = PART_LAUNCH;

	if (blob)
		trace_blob(g->image->trace, blob, &launch, sizeof(launch));
	*ret_kernel = launch.kernel ?: launch.function;
	if (kernel_of_launch(g->context, g->image, id, &launch, &name) && is_optimizer(buffer_string(&name)))
		part = PART_OPTIMIZER;
	return part;
}

static bool is_collective(const char *name)
{
	static const char *const words[] = {"reduce", "gather", "bcast", "broadcast", "alltoall", "barrier", "scan"};

	return array_find(word, words, sizeof(words) / sizeof(*words), strcasestr(name, *word)) != NULL;
}

static bool is_of_socket(struct gathered_calls *g, const struct event *e)
{
	const struct descriptor *d = descriptors_find_call(&g->descriptors, e);

	return d && d->kind == TF_DESCRIPTOR_SOCKET;
}

static enum call_part part_of(struct gathered_calls *g, const struct event *e, const struct function *f,
			      uint64_t *ret_kernel)
{
	uint64_t launch = e->args_count ? event_arg(e, TF_ARG_LAUNCH) : 0;

	if (launch)
		return part_of_launch(g, (uint32_t)tf_arg_value(launch), ret_kernel);
	if (f->group == TF_GROUP_MPI || f->group == TF_GROUP_NCCL)
		return is_collective(f->name) ? PART_COLLECTIVE : PART_OTHER;
	if (f->group != TF_GROUP_OSRT)
		return PART_OTHER;
	if (f->kind.does & FUNCTION_ACCEPTS)
		return PART_RECEIVE;
	if (f->kind.waits != BLOCKED_SOCKET && !is_of_socket(g, e))
		return PART_OTHER;
	switch (f->kind.role) {
	case ROLE_READ:
		return PART_RECEIVE;
	case ROLE_WRITE:
		return PART_SEND;
	default:
		return PART_OTHER;
	}
}

static void add_call(struct gathered_calls *g, const struct event *e)
{
	const struct function *f = trace_function(g->image->trace, e->id);
	struct looped_call call = {clock_map_ns(g->clock, event_start(e)), clock_map_ns(g->clock, e->ticks), 0};
	uint64_t where = 0;
	enum call_part part;
	uint64_t *what;
	bool is_new;

	if (!f)
		return;
	part = part_of(g, e, f, &where);
	if (part != PART_LAUNCH && part != PART_OPTIMIZER &&
	    (double)g->functions[e->id].stacks >= STACKS * (double)g->functions[e->id].calls)
		where = line_of(g, event_stack(e));
	what = map_put(&g->known, (uint64_t)part << 32 | e->id, where, &is_new);
	if (is_new) {
		g->parts = mem_grow(g->parts, g->whats, &g->parts_capacity, sizeof(*g->parts));
		g->importance = mem_grow(g->importance, g->whats, &g->importance_capacity, sizeof(*g->importance));
		g->importance[g->whats] = f->kind.waits == BLOCKED_FILE ? OPENING : 1;
		g->parts[g->whats] = part;
		*what = g->whats++;
	}
	call.what = (uint32_t)*what;
	/* calls inside of this one */
	while (g->count && g->items[g->count - 1].start_ns >= call.start_ns)
		g->count--;
	list_add(g, call);
}

/* What the steps are made of. */
static enum step_source source_of(const struct gathered_calls *g, const struct period *p)
{
	uint64_t counts[PART_OPTIMIZER + 1] = {0}, least = p->count - p->count / 10;

	for (uint32_t i = p->firsts[0]; i < p->after; i++)
		counts[g->parts[g->items[i].what]]++;
	if (counts[PART_OPTIMIZER] >= least)
		return STEPS_BY_OPTIMIZER;
	if (counts[PART_COLLECTIVE] >= least)
		return STEPS_BY_COLLECTIVES;
	if (counts[PART_LAUNCH] >= least)
		return STEPS_BY_LAUNCHES;
	if (counts[PART_RECEIVE] >= least && counts[PART_SEND] >= least)
		return STEPS_BY_REQUESTS;
	return STEPS_BY_CALLS;
}

/* A request begins when it was received: the thread waited for it before. It ends when the answer was sent. */
static void add_requests(struct step_series *s, const struct gathered_calls *g, const struct period *p)
{
	uint32_t received = UINT32_MAX, sent = UINT32_MAX;

	for (uint32_t i = p->firsts[0]; i <= p->after; i++) {
		enum call_part part = i < p->after ? g->parts[g->items[i].what] : PART_RECEIVE;

		if (part == PART_RECEIVE && received != UINT32_MAX && sent != UINT32_MAX) {
			step_add(s, g->items[received].end_ns, g->items[sent].end_ns);
			received = sent = UINT32_MAX;
		}
		if (part == PART_RECEIVE && received == UINT32_MAX)
			received = i;
		else if (part == PART_SEND && received != UINT32_MAX)
			sent = i;
	}
}

static void add_turns(struct step_series *s, const struct gathered_calls *g, const struct period *p)
{
	for (size_t i = 0; i < p->count; i++)
		step_add(s, g->items[p->firsts[i]].start_ns,
			 i + 1 < p->count ? g->items[p->firsts[i + 1]].start_ns : g->items[p->after - 1].end_ns);
}

bool steps_of_calls(const struct report_context *c, const struct image *image, const struct trace_thread *thread,
		    struct step_series *ret)
{
	struct gathered_calls g = {.context = c, .image = image, .clock = &c->model->machines[image->machine].clock};
	uint64_t since = steps_since_ticks(image);
	SCOPED(period) period = {0};
	struct cursor cursor;
	struct event e;

	since = thread->first_ticks > since ? thread->first_ticks : since;
	if (!(thread->kinds & 1u << TF_CALL) || thread_is_tool(thread))
		return false;
	g.attribution.symbols = c->symbols;
	g.functions = mem_alloc((image->trace->functions->count + 1) * sizeof(*g.functions));
	g.descriptors = descriptor_search(image->trace);
	count_stacks(&g, thread);
	cursor_init(&cursor, image->trace, thread);
	cursor_skip_to(&cursor, image->trace->header.ring_ticks);
	while (cursor_next(&cursor, &e))
		if (e.kind == TF_CALL)
			add_call(&g, &e);
	*ret = (struct step_series){.image = image, .thread = thread};
	/* Other threads than the main one often make one call again and again because they wait for work. */
	if (g.count && g.count < UINT32_MAX &&
	    period_find(g.items, g.count, (uint32_t)g.whats, g.importance,
			clock_map_duration(g.clock, thread->last_ticks - since), &period) &&
	    (!period.is_of_one || thread->tid == image->pid)) {
		ret->source = source_of(&g, &period);
		ret->coverage = period.coverage;
		if (ret->source == STEPS_BY_REQUESTS)
			add_requests(ret, &g, &period);
		else
			add_turns(ret, &g, &period);
	}
	map_done(&g.known);
	map_done(&g.lines);
	attribution_done(&g.attribution);
	free(g.functions);
	free(g.parts);
	free(g.importance);
	free(g.items);
	return ret->count;
}
