/* SPDX-License-Identifier: Apache-2.0 */
/* Divides blocked time among calls. */
#include "report/time/blocked.h"

#include <stdlib.h>
#include <string.h>

/* Calls that may still turn out to be inside of a later, longer one. The oldest are given up first. */
enum { OPEN_CALLS = 4096 };

/* ---- the calls ---- */

struct open_call {
	uint64_t start, end;
	size_t place; /* in calls */
};

struct gathering {
	struct blocked *blocked; /* totals in ticks */
	const struct image *image;
	const struct trace *trace;
	struct map places; /* (function and kind, stack) -> place + 1 */
	struct open_call *open; /* OPEN_CALLS */
	size_t open_count;
};

enum blocked_kind blocked_kind_of(struct descriptor_search *descriptors, const struct event *e,
				  enum blocked_kind kind)
{
	const struct descriptor *d = descriptors_find_call(descriptors, e);

	if (!d)
		return kind;
	if (d->kind == TF_DESCRIPTOR_SOCKET)
		return kind == BLOCKED_READ || kind == BLOCKED_WRITE ? BLOCKED_SOCKET : kind;
	/* a terminal is read as a pipe is: somebody types at its other end */
	return d->is_pipe || d->is_terminal ? BLOCKED_PIPE : kind;
}

static size_t gather_place(struct gathering *g, const struct function *f, uint32_t function, uint32_t stack,
			   enum blocked_kind kind)
{
	uint64_t *place = map_put(&g->places, (uint64_t)kind << 32 | function, stack, NULL);
	struct blocked *b = g->blocked;

	if (*place)
		return *place - 1;
	mem_append(b->calls, b->count, b->capacity,
		   (struct blocked_call){.function = f, .kind = kind, .stack = stack});
	*place = b->count;
	return b->count - 1;
}

static void longest_add(struct blocked_span *longest, uint64_t start, uint64_t end)
{
	size_t at = BLOCKED_LONGEST;

	while (at && end - start > longest[at - 1].end - longest[at - 1].start)
		at--;
	if (at == BLOCKED_LONGEST)
		return;
	memmove(longest + at + 1, longest + at, (BLOCKED_LONGEST - 1 - at) * sizeof(*longest));
	longest[at] = (struct blocked_span){start, end};
}

static void gather_call(struct gathering *g, size_t place, uint64_t start, uint64_t end)
{
	end = start + image_range_part(g->image, start, end);
	while (g->open_count && g->open[g->open_count - 1].start >= start) {
		const struct open_call *inner = &g->open[--g->open_count];

		g->blocked->calls[inner->place].total_ns -= inner->end - inner->start;
		g->blocked->calls[inner->place].count--;
	}
	if (g->open_count == OPEN_CALLS) {
		g->open_count /= 2;
		memmove(g->open, g->open + OPEN_CALLS / 2, g->open_count * sizeof(*g->open));
	}
	g->open[g->open_count++] = (struct open_call){start, end, place};
	g->blocked->calls[place].total_ns += end - start;
	g->blocked->calls[place].count++;
	longest_add(g->blocked->calls[place].longest, start, end);
}

void blocked_gather(const struct report_context *c, const struct image *image, const struct trace_thread *thread,
		    uint64_t end, struct blocked *ret)
{
	struct descriptor_search descriptors = descriptor_search(image->trace);
	struct gathering *g = &(struct gathering){.blocked = ret, .image = image, .trace = image->trace};
	const struct clock_map *clock = &c->model->machines[image->machine].clock;
	const struct function *f;
	struct cursor cursor;
	struct event e;
	uint32_t function;
	uint64_t start;
	size_t kept = 0;

	*ret = (struct blocked){0};
	g->open = mem_resize(NULL, OPEN_CALLS * sizeof(*g->open));
	cursor_init(&cursor, image->trace, thread);
	while (thread->kinds & 1u << TF_CALL && cursor_next(&cursor, &e))
		if (e.kind == TF_CALL && (f = trace_function(g->trace, e.id)))
			gather_call(g, gather_place(g, f, e.id, event_stack(&e),
						    blocked_kind_of(&descriptors, &e, f->kind.waits)),
				    event_start(&e), e.ticks);
	if (thread_current(thread, &function, &start) && start < end && (f = trace_function(g->trace, function)))
		gather_call(g, gather_place(g, f, function, 0, f->kind.waits), start, end);
	for (size_t i = 0; i < ret->count; i++) {
		ret->calls[i].total_ns = clock_map_duration(clock, ret->calls[i].total_ns);
		if (ret->calls[i].count)
			ret->calls[kept++] = ret->calls[i];
	}
	ret->count = kept;
	map_done(&g->places);
	free(g->open);
}

/* ---- division ---- */

static bool only_waits(enum blocked_kind kind)
{
	return kind <= BLOCKED_FLUSH;
}

COMPARATOR(compare_blocked, struct blocked_call,
	   order_of(b->blocked_ns, a->blocked_ns) ?: order_of(b->total_ns, a->total_ns))

uint64_t blocked_divide(struct blocked *b, uint64_t blocked_ns)
{
	for (int waits = 1; waits >= 0; waits--) {
		uint64_t total = array_sum(call, b->calls, b->count,
					   only_waits(call->kind) == waits ? call->total_ns : 0);
		uint64_t given = total < blocked_ns ? total : blocked_ns;
		for (size_t i = 0; total && i < b->count; i++)
			if (only_waits(b->calls[i].kind) == waits)
				b->calls[i].blocked_ns = (uint64_t)((unsigned __int128)b->calls[i].total_ns * given /
								    total);
		blocked_ns -= given;
	}
	array_sort(b->calls, b->count, compare_blocked);
	return blocked_ns;
}

uint64_t blocked_waits(const struct blocked *b, uint64_t *ret_count)
{
	uint64_t sum = 0;

	*ret_count = 0;
	for (size_t i = 0; i < b->count; i++) {
		sum += only_waits(b->calls[i].kind) ? b->calls[i].total_ns : 0;
		*ret_count += b->calls[i].count;
	}
	return sum;
}

void blocked_done(struct blocked *b)
{
	free(b->calls);
	*b = (struct blocked){0};
}
