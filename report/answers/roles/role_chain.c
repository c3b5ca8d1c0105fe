/* SPDX-License-Identifier: Apache-2.0 */
/* Follows waits for other threads of a process to what these did meanwhile. Where a wait ends, the thread that ended it
 * had just begun or ended a call, or had ended itself; it is followed backwards in time, and so is the one that ended
 * its own last wait, until the first wait began. What took most of the time on this way is the end of the chain.
 *
 * This is known from the times of calls only. Where more than one thread may have ended a wait, the chain is not
 * followed further, and an end is shown only if it explains most of the time of the waits that were followed: the
 * longest of each line. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/roles/role.h"

/* WAIT_PERCENT: of a role's lifetime that waits at one line take at least, to be followed. SHORT_SHARE: calls that are
 * shorter than this part of the longest wait are not read. LAG_SHARE: a thread that is waiting again after this part of
 * the wait cannot have ended it. */
enum { WAIT_PERCENT = 2, SHORT_SHARE = 10000, LAG_SHARE = 50, STEPS = 100000 };
#define LEAST_LAG_NS 1000000ull
#define MOST_LAG_NS 50000000ull
#define SURE_NS 200000ull /* a thread that began or ended a call so near to the end of the wait has ended it */

struct held_call {
	uint64_t start, end;
	const struct function *function;
	uint32_t stack;
	bool waits; /* for another thread, perhaps */
};

/* A thread, and its calls that are not inside of others, in order. */
struct line_of_time {
	size_t thread; /* of the partition */
	uint64_t start, end;
	struct held_call *calls;
	size_t count, capacity;
};

struct window {
	uint64_t start, end;
	size_t line; /* of the thread that waits */
	size_t role, call;
};

/* What a chain passed through: a call of a role's threads, or their computing. */
struct passed {
	size_t role, call; /* of the first wait */
	size_t thread;
	const char *function; /* NULL: it computed */
	struct symbol_frame frame;
	bool has_frame;
	uint64_t ns;
};

struct chains {
	const struct report_context *context;
	const struct partition *partition;
	struct roles *roles;
	const struct clock_map *clock;
	struct window *windows; /* of one image */
	size_t window_count, window_capacity;
	struct line_of_time *lines; /* of one image */
	size_t line_count;
	uint64_t first, last, shortest; /* ticks: of the windows; a call that is shorter is not read */
	size_t held;
	struct passed *passed;
	size_t passed_count, passed_capacity;
	struct map known; /* (hash of role, call and thread's role; place) -> passed + 1 */
	struct map followed; /* (role, call) -> ns */
};

static bool is_wait(enum blocked_kind kind)
{
	return kind == BLOCKED_THREAD || kind == BLOCKED_LOCK || kind == BLOCKED_POLL;
}

/* ---- the waits to be followed ---- */

static void add_windows(struct chains *k, size_t line, const struct blocked_call *b, size_t role, size_t call)
{
	for (size_t i = 0; i < BLOCKED_LONGEST && b->longest[i].end; i++) {
		mem_append(k->windows, k->window_count, k->window_capacity,
			   (struct window){b->longest[i].start, b->longest[i].end, line, role, call});
	}
}

static void find_windows(struct chains *k)
{
	for (size_t i = 0; i < k->line_count; i++) {
		const struct thread_time *t = &k->partition->threads[k->lines[i].thread];
		size_t role = k->roles->role_of[k->lines[i].thread];

		for (size_t n = 0; role && n < t->blocked.count; n++) {
			const struct blocked_call *b = &t->blocked.calls[n];
			const uint64_t *call;

			if (!is_wait(b->kind) || b->blocked_ns * 100 < t->lifetime_ns * WAIT_PERCENT)
				continue;
			call = role_find_call(k->roles, role - 1, t->image, b);
			if (call)
				add_windows(k, i, b, role - 1, *call - 1);
		}
	}
	k->first = UINT64_MAX;
	k->last = k->shortest = 0;
	for (size_t i = 0; i < k->window_count; i++) {
		const struct window *w = &k->windows[i];

		k->first = w->start < k->first ? w->start : k->first;
		k->last = w->end > k->last ? w->end : k->last;
		if (w->end - w->start > k->shortest * SHORT_SHARE)
			k->shortest = (w->end - w->start) / SHORT_SHARE;
	}
}

/* ---- the calls of the image's threads ---- */

static void hold_call(struct chains *k, struct line_of_time *l, const struct trace *trace,
		      uint32_t function, uint32_t stack, uint64_t start, uint64_t end)
{
	const struct function *f = trace_function(trace, function);

	while (l->count && l->calls[l->count - 1].start >= start) {
		l->count--;
		k->held--;
	}
	if (!f || end - start < k->shortest || end < k->first || start > k->last)
		return;
	mem_append(l->calls, l->count, l->capacity, (struct held_call){start, end, f, stack, is_wait(f->kind.waits)});
	k->held++;
}

/* False: there are too many. */
static bool hold_calls(struct chains *k, struct line_of_time *l)
{
	const struct thread_time *t = &k->partition->threads[l->thread];
	struct cursor cursor;
	struct event e;
	uint32_t function;
	uint64_t start;

	if (!t->thread)
		return true;
	cursor_init(&cursor, t->image->trace, t->thread);
	while (t->thread->kinds & 1u << TF_CALL && k->held < scan_records_held(k->context) && cursor_next(&cursor, &e))
		if (e.kind == TF_CALL)
			hold_call(k, l, t->image->trace, e.id,
				  event_stack(&e),
				  event_start(&e), e.ticks);
	if (thread_current(t->thread, &function, &start) && start < t->end_ticks)
		hold_call(k, l, t->image->trace, function, 0, start, t->end_ticks);
	return k->held < scan_records_held(k->context);
}

/* ---- who ended a wait ---- */

enum ended_by { BY_NOBODY, BY_ONE, BY_SEVERAL };

/* A thread at a time. */
struct spot {
	size_t line;
	uint64_t ticks;
};

static uint64_t ticks_of(const struct chains *k, uint64_t ns)
{
	uint64_t second = clock_map_duration(k->clock, UINT64_C(1) << 30); /* ns that so many ticks last */

	return second ? (uint64_t)((double)ns * (double)(UINT64_C(1) << 30) / (double)second) : ns;
}

static uint64_t nearer(uint64_t a, uint64_t b, uint64_t known)
{
	uint64_t distance = a > b ? a - b : b - a;

	return distance < known ? distance : known;
}

/* Whether the thread may have ended a wait at that tick: it was not in a call of its own for longer than `lag`. Sets
 * when it did, and how near to that tick it began or ended a call. */
static bool may_have_ended(const struct line_of_time *l, uint64_t ticks, uint64_t lag, uint64_t *ret_at,
			   uint64_t *ret_distance)
{
	size_t behind = first_place(i, 0, l->count, l->calls[i].start < ticks);
	const struct held_call *before = behind ? &l->calls[behind - 1] : NULL;

	if (l->start > ticks || l->end + lag < ticks)
		return false;
	*ret_at = ticks < l->end ? ticks : l->end;
	*ret_distance = nearer(l->end, ticks, UINT64_MAX);
	if (before && before->end > ticks) {
		*ret_at = before->start;
		*ret_distance = ticks - before->start;
		return *ret_distance <= lag;
	}
	if (before)
		*ret_distance = nearer(before->end, ticks, *ret_distance);
	if (behind < l->count)
		*ret_distance = nearer(l->calls[behind].start, ticks, *ret_distance);
	return true;
}

static enum ended_by find_ender(const struct chains *k, const struct spot *wait, uint64_t lag, struct spot *ret)
{
	uint64_t best = UINT64_MAX, sure = ticks_of(k, SURE_NS);
	size_t others = 0; /* that may have ended it at any time */
	struct spot other = {0};

	for (size_t i = 0; i < k->line_count; i++) {
		uint64_t at, distance;

		if (i == wait->line || !may_have_ended(&k->lines[i], wait->ticks, lag, &at, &distance))
			continue;
		if (distance > lag) {
			others++;
			other = (struct spot){i, at};
		} else if (distance < best) {
			best = distance;
			*ret = (struct spot){i, at};
		}
	}
	if (best <= sure || (best < UINT64_MAX && !others))
		return BY_ONE;
	if (best == UINT64_MAX && others == 1)
		*ret = other;
	return best == UINT64_MAX && others < 2 ? (others ? BY_ONE : BY_NOBODY) : BY_SEVERAL;
}

/* ---- the way back ---- */

/* `what` NULL: it computed. The calls of one line, and what threads of one role computed, are one. */
static void pass(struct chains *k, const struct window *w, size_t thread, const struct held_call *what, uint64_t ticks)
{
	const struct image *image = k->partition->threads[thread].image;
	size_t role = k->roles->role_of[thread];
	struct passed p = {.role = w->role, .call = w->call, .thread = thread};
	uint64_t *place, key[4] = {w->role, w->call, role ? role : SIZE_MAX - thread, 0};
	bool is_users;

	p.frame.place = SYMBOL_NO_PLACE;
	if (what && what->stack)
		p.has_frame = attribution_stack(&k->roles->attribution, image, what->stack, &p.frame, &is_users);
	if (what)
		p.function = what->function->name;
	key[3] = what ? what->function->kind.waits : BLOCKED_KINDS;
	place = map_put(&k->known, hash_bytes(key, sizeof(key)), p.frame.place, NULL);
	if (!*place) {
		mem_append(k->passed, k->passed_count, k->passed_capacity, p);
		*place = k->passed_count;
	}
	k->passed[*place - 1].ns += clock_map_duration(k->clock, ticks);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One step back from `at`. False: it is the last one. */
static bool step_back(struct chains *k, const struct window *w, uint64_t lag, struct spot *at)
{
	const struct line_of_time *l = &k->lines[at->line];
	size_t behind = first_place(i, 0, l->count, l->calls[i].start < at->ticks);
	const struct held_call *c = behind ? &l->calls[behind - 1] : NULL;
	uint64_t floor = later(w->start, l->start), end = c ? earlier(later(c->end, floor), at->ticks) : floor;
	struct spot wait = {at->line, end};
	enum ended_by by = BY_NOBODY;

	if (at->ticks > end)
		pass(k, w, l->thread, NULL, at->ticks - end);
	if (!c || end <= floor)
		return false;
	if (c->waits)
		by = find_ender(k, &wait, lag, at);
	if (by == BY_NOBODY) {
		at->ticks = later(c->start, floor);
		pass(k, w, l->thread, c, end - at->ticks);
	}
	return by != BY_SEVERAL && at->ticks > w->start;
}

static void follow(struct chains *k, const struct window *w)
{
	uint64_t lag = later(ticks_of(k, LEAST_LAG_NS), (w->end - w->start) / LAG_SHARE);
	struct spot at = {w->line, w->end};

	lag = earlier(lag, ticks_of(k, MOST_LAG_NS));
	*map_put(&k->followed, w->role, w->call, NULL) += clock_map_duration(k->clock, w->end - w->start);
	if (find_ender(k, &at, lag, &at) != BY_ONE)
		return;
	for (int i = 0; i < STEPS && at.ticks > w->start; i++)
		if (!step_back(k, w, lag, &at))
			return;
}

/* ---- all of it ---- */

/* The threads of the partition from `from` to `to` are those of one image. */
static void follow_image(struct chains *k, size_t from, size_t to)
{
	const struct image *image = k->partition->threads[from].image;
	bool has_all = true;

	k->clock = &k->context->model->machines[image->machine].clock;
	k->lines = mem_alloc((to - from) * sizeof(*k->lines));
	k->line_count = to - from;
	k->window_count = k->held = 0;
	for (size_t i = from; i < to; i++)
		k->lines[i - from] = (struct line_of_time){.thread = i,
							   .start = k->partition->threads[i].start_ticks,
							   .end = k->partition->threads[i].end_ticks};
	find_windows(k);
	for (size_t i = 0; k->window_count && has_all && i < k->line_count; i++)
		has_all = hold_calls(k, &k->lines[i]);
	for (size_t i = 0; has_all && i < k->window_count; i++)
		follow(k, &k->windows[i]);
	for (size_t i = 0; i < k->line_count; i++)
		free(k->lines[i].calls);
	free(k->lines);
}

/* The name of a thread, or "" if it has that of the main thread: it was not given one. */
static const char *own_name(const struct partition *p, size_t thread)
{
	const struct thread_time *t = &p->threads[thread];
	size_t main = thread;

	while (main && p->threads[main - 1].image == t->image)
		main--;
	return main != thread && !strcmp(p->threads[main].name, t->name) ? "" : t->name;
}

static void conclude(struct chains *k)
{
	array_each(const struct passed, p, k->passed, k->passed_count) {
		const uint64_t *all = map_find(&k->followed, p->role, p->call);
		struct role_call *call = &k->roles->items[p->role].calls[p->call];
		const struct thread_time *t = &k->partition->threads[p->thread];

		if (all && p->ns * 2 >= *all && p->ns > call->end.ns)
			call->end = (struct role_end){
				.ns = p->ns,
				.thread = p->thread,
				.name = own_name(k->partition, p->thread),
				.function = p->function,
				.computes = t->cpu_ns + t->delay_ns >= t->unexplained_ns,
				.frame = p->frame,
				.has_frame = p->has_frame,
			};
	}
}

void roles_follow_waits(const struct report_context *c, const struct partition *p, struct roles *roles)
{
	struct chains k = {.context = c, .partition = p, .roles = roles};

	if (c->share)
		return;
	for (size_t from = 0, to; from < p->count; from = to) {
		for (to = from + 1; to < p->count && p->threads[to].image == p->threads[from].image; to++)
			;
		if (to - from > 1 && p->threads[from].image->trace)
			follow_image(&k, from, to);
	}
	conclude(&k);
	free(k.windows);
	free(k.passed);
	map_done(&k.known);
	map_done(&k.followed);
}
