/* SPDX-License-Identifier: Apache-2.0 */
#include "correlate.h"

#include <stdlib.h>
#include <string.h>

size_t correlate_stretch = 1u << 20;

/* One of CUPTI's calls in this stretch. */
struct entry {
	uint64_t id;	 /* epoch and correlation id */
	uint64_t middle; /* ticks */
	uint32_t tid;
	uint32_t next; /* where to look for the next one that is not taken: itself if it is not */
	uint32_t half; /* ticks from the middle to either end, at most 2^32 - 1 */
	bool is_driver, is_placed;
};

struct state {
	const struct report_context *report;
	const struct image *image;
	void *context;
	void (*visit)(void *, const struct correlated *);
	struct correlate_counts *counts;
	uint64_t low, high; /* ids of this stretch: low <= id < high */
	uint64_t first, last, total;
	bool is_single; /* the one stretch there is */
	struct entry *entries; /* by thread and time, once sorted */
	size_t entry_count, entry_capacity;
	struct device_record *records; /* by id and start */
	bool *is_used;
	size_t record_count, record_capacity;
	uint8_t **met; /* by thread of the trace: a bit for each host call that has had its work */
};

static uint64_t id_of(uint16_t epoch, uint32_t correlation)
{
	return (uint64_t)epoch << 32 | correlation;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_ids(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return a->id != b->id ? compare(a->id, b->id) : a->is_driver - b->is_driver;
}

static int compare_times(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->tid != b->tid)
		return compare(a->tid, b->tid);
	return a->middle != b->middle ? compare(a->middle, b->middle) : compare(a->id, b->id);
}

static int compare_records(const void *left, const void *right)
{
	const struct device_record *a = left, *b = right;
	uint64_t first = id_of(a->epoch, a->correlation), second = id_of(b->epoch, b->correlation);

	return first != second ? compare(first, second) : compare(a->start_ns, b->start_ns);
}

/* Mostly there is nothing to do. */
static void sort(void *items, size_t count, size_t size, int (*compare_items)(const void *, const void *))
{
	const char *item = items;

	for (size_t i = 1; i < count; i++, item += size)
		if (compare_items(item, item + size) > 0) {
			qsort(items, count, size, compare_items);
			return;
		}
}

/* ---- a stretch ---- */

static void measure_id(struct state *s, uint64_t id)
{
	if (!s->total++ || id < s->first)
		s->first = id;
	if (id > s->last)
		s->last = id;
}

static void measure_call(struct scan *scan, const struct device_call *c)
{
	measure_id(scan->more, id_of(c->epoch, c->correlation));
}

static void measure_record(struct scan *scan, const struct device_record *r)
{
	measure_id(scan->more, id_of(r->epoch, r->correlation));
}

static void keep_call(struct scan *scan, const struct device_call *c)
{
	struct state *s = scan->more;
	uint64_t id = id_of(c->epoch, c->correlation), middle = axis_ticks(scan->axis, c->start_ns + c->duration_ns / 2), half;

	if (id < s->low || id - s->low >= s->high - s->low)
		return;
	half = middle - axis_ticks(scan->axis, c->start_ns);
	s->entries = mem_grow(s->entries, s->entry_count, &s->entry_capacity, sizeof(*s->entries));
	s->entries[s->entry_count++] = (struct entry){.id = id,
						      .middle = middle,
						      .half = half < UINT32_MAX ? (uint32_t)half : UINT32_MAX,
						      .tid = c->tid,
						      .is_driver = c->is_driver,
						      .is_placed = c->is_placed};
}

static void keep_record(struct scan *scan, const struct device_record *r)
{
	struct state *s = scan->more;
	uint64_t id = id_of(r->epoch, r->correlation);

	if (id < s->low || id - s->low >= s->high - s->low)
		return;
	s->records = mem_grow(s->records, s->record_count, &s->record_capacity, sizeof(*s->records));
	s->records[s->record_count++] = *r;
}

/* Of a call that runtime and driver recorded, the runtime's is kept: the host call may lie closely around it. */
static void drop_twins(struct state *s)
{
	size_t kept = 0;

	sort(s->entries, s->entry_count, sizeof(*s->entries), compare_ids);
	for (size_t i = 0; i < s->entry_count; i++)
		if (!kept || s->entries[i].id != s->entries[kept - 1].id)
			s->entries[kept++] = s->entries[i];
	s->entry_count = kept;
	sort(s->entries, kept, sizeof(*s->entries), compare_times);
	for (size_t i = 0; i < kept; i++)
		s->entries[i].next = (uint32_t)i;
}

static void load(struct state *s)
{
	struct scan scan = {.context = s->report, .image = s->image, .is_unfiltered = true, .more = s};

	s->entry_count = s->record_count = 0;
	device_scan_calls(&scan, keep_call, NULL);
	device_scan_image(&scan, keep_record, NULL);
	drop_twins(s);
	sort(s->records, s->record_count, sizeof(*s->records), compare_records);
	s->is_used = mem_alloc(s->record_count + 1);
}

/* ---- telling ---- */

/* The first record whose id is at least this one. */
static size_t find_records(const struct state *s, uint64_t id)
{
	size_t low = 0, high = s->record_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (id_of(s->records[middle].epoch, s->records[middle].correlation) < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t same_id(const struct state *s, size_t from)
{
	size_t n = 1;

	while (from + n < s->record_count && s->records[from + n].correlation == s->records[from].correlation &&
	       s->records[from + n].epoch == s->records[from].epoch)
		n++;
	return n;
}

/* By the call where there is one, so that it and its work are shown together. */
static bool is_shown(const struct state *s, const struct event *e, size_t from, size_t count)
{
	const struct axis *axis = &s->report->model->machines[s->image->machine].axis;
	const struct trace *t = s->image->trace;

	if (!t->is_filtered)
		return true;
	if (e)
		return trace_shows_span(t, event_start(e), e->ticks);
	for (size_t i = from; i < from + count; i++)
		if (trace_shows_span(t, axis_ticks(axis, s->records[i].start_ns),
				     axis_ticks(axis, s->records[i].start_ns + s->records[i].duration_ns)))
			return true;
	return false;
}

static void tell(struct state *s, const struct trace_thread *thread, const struct event *e, size_t from, size_t count)
{
	struct correlated c = {.image = s->image, .thread = thread, .records = count ? s->records + from : NULL, .record_count = count};

	if (e)
		c.event = *e;
	if (count)
		c.correlation = s->records[from].correlation;
	if (s->visit && is_shown(s, e, from, count))
		s->visit(s->context, &c);
}

/* Host functions are launched like kernels, but no device does them. */
static bool asks_for_work(const struct trace *t, const struct event *e)
{
	const struct function *f = trace_function(t, e->id);
	bool has = false;

	for (uint32_t i = 0; i < e->args_count; i++) {
		unsigned int kind = tf_arg_kind(e->args[i]);

		if (kind == TF_ARG_RESULT)
			return false;
		has |= kind == TF_ARG_COPY || (kind == TF_ARG_LAUNCH && !strstr(f->name, "HostFunc"));
	}
	return has;
}

static void match_id(struct state *s, size_t thread, uint64_t number, const struct event *e, uint64_t id)
{
	size_t from = find_records(s, id), count;

	if (from == s->record_count || id_of(s->records[from].epoch, s->records[from].correlation) != id)
		return; /* an allocation, or work that is in a later stretch of the file, or lost */
	count = same_id(s, from);
	s->counts->matched += count;
	s->met[thread][number / 8] |= (uint8_t)(1 << number % 8);
	for (size_t i = 0; i < count; i++)
		s->is_used[from + i] = true;
	tell(s, &s->image->trace->threads[thread], e, from, count);
}

static void match(struct state *s, size_t thread, uint64_t number, const struct event *e, struct entry *entry)
{
	entry->next++;
	match_id(s, thread, number, e, entry->id);
}

/* ---- host calls ---- */

static bool is_cuda(const struct trace *t, const struct event *e)
{
	const struct function *f = e->kind == TF_CALL ? trace_function(t, e->id) : NULL;

	return f && (f->group == TF_GROUP_CUDA || f->group == TF_GROUP_CUDA_DRIVER);
}

static bool may_ask(const struct trace_thread *thread)
{
	return thread->args & (1u << TF_ARG_LAUNCH | 1u << TF_ARG_COPY | 1u << TF_ARG_MEMORY);
}

/* The entries of a thread: [*ret_from, returned). */
static size_t entries_of(const struct state *s, uint32_t tid, size_t *ret_from)
{
	size_t low = 0, high = s->entry_count, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->entries[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_from = low;
	for (end = low, high = s->entry_count; end < high;) {
		size_t middle = end + (high - end) / 2;

		if (s->entries[middle].tid <= tid)
			end = middle + 1;
		else
			high = middle;
	}
	return end;
}

/* The first entry of [from, end) whose middle is at `ticks` or later. */
static size_t seek(const struct entry *entries, size_t from, size_t end, uint64_t ticks)
{
	while (from < end) {
		size_t middle = from + (end - from) / 2;

		if (entries[middle].middle < ticks)
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}

/* The first from here on that is not taken; the way there is shorter the next time. */
static size_t next_free(struct state *s, size_t at)
{
	while (at < s->entry_count && s->entries[at].next != at) {
		uint32_t next = s->entries[at].next;

		if (next < s->entry_count)
			s->entries[at].next = s->entries[next].next;
		at = next;
	}
	return at;
}

/* Calls come in the order of their ends, so of two that hold an entry the inner one takes it. */
static void match_by_time(struct state *s, size_t k, size_t from, size_t end)
{
	const struct trace *t = s->image->trace;
	struct cursor cursor;
	struct event e;
	uint64_t number = 0;

	cursor_init(&cursor, t, &t->threads[k]);
	cursor.is_unfiltered = true;
	while (cursor_next(&cursor, &e)) {
		if (!is_cuda(t, &e))
			continue;
		for (size_t i = next_free(s, seek(s->entries, from, end, event_start(&e)));
		     i < end && s->entries[i].middle <= e.ticks; i = next_free(s, i))
			match(s, k, number, &e, &s->entries[i]);
		number++;
	}
}

/* Only what has work is counted on both sides: allocations have no records, and may be below a threshold. */
static bool has_work(const struct state *s, const struct entry *entry)
{
	size_t at = find_records(s, entry->id);

	return at < s->record_count && id_of(s->records[at].epoch, s->records[at].correlation) == entry->id;
}

static bool is_met(const struct state *s, size_t k, uint64_t number)
{
	return s->met[k][number / 8] & 1 << number % 8;
}

/* An entry with work that no host call has, and that was under way then. */
static bool is_left(const struct state *s, const struct entry *e, uint64_t ticks)
{
	uint64_t distance = e->middle > ticks ? e->middle - ticks : ticks - e->middle;

	return e->next == (size_t)(e - s->entries) && distance <= e->half && has_work(s, e);
}

/* A runtime that is a part of the program asks the driver from within its own call. The host call is the one for the driver;
 * CUPTI's is the runtime's, whose middle may lie beside it. */
static void match_from_within(struct state *s, size_t k, size_t from, size_t end)
{
	const struct trace *t = s->image->trace;
	struct cursor cursor;
	struct event e;
	uint64_t number = 0;
	size_t left = 0;

	for (size_t i = from; i < end; i++)
		left += is_left(s, &s->entries[i], s->entries[i].middle);
	cursor_init(&cursor, t, &t->threads[k]);
	cursor.is_unfiltered = true;
	while (left && cursor_next(&cursor, &e)) {
		uint64_t middle = e.ticks - (e.ticks - event_start(&e)) / 2;
		size_t at = seek(s->entries, from, end, middle);

		if (!is_cuda(t, &e))
			continue;
		if (at == end || !is_left(s, &s->entries[at], middle))
			at--; /* the one before, if there is one */
		if (at >= from && at < end && asks_for_work(t, &e) && !is_met(s, k, number) && is_left(s, &s->entries[at], middle)) {
			match(s, k, number, &e, &s->entries[at]);
			left--;
		}
		number++;
	}
}

static uint64_t host_calls(const struct trace *t, size_t k, bool all)
{
	struct cursor cursor;
	struct event e;
	uint64_t n = 0;

	cursor_init(&cursor, t, &t->threads[k]);
	cursor.is_unfiltered = true;
	while (cursor_next(&cursor, &e))
		n += is_cuda(t, &e) && (all || asks_for_work(t, &e));
	return n;
}

/* The recorder has asked the device itself, and has written down for what. */
static void match_by_number(struct state *s, size_t k)
{
	const struct trace *t = s->image->trace;
	struct cursor cursor;
	struct event e;
	uint64_t number = 0;

	cursor_init(&cursor, t, &t->threads[k]);
	cursor.is_unfiltered = true;
	while (cursor_next(&cursor, &e)) {
		uint64_t slot = e.kind == TF_CALL ? event_arg(&e, TF_ARG_WORK) : 0;
		uint64_t id = tf_arg_value(slot);

		if (!is_cuda(t, &e))
			continue;
		if (slot && id >= s->low && id - s->low < s->high - s->low)
			match_id(s, k, number, &e, id);
		number++;
	}
}

static void match_by_order(struct state *s, size_t k, size_t from, size_t end)
{
	const struct trace *t = s->image->trace;
	struct cursor cursor;
	struct event e;
	uint64_t number = 0;

	cursor_init(&cursor, t, &t->threads[k]);
	cursor.is_unfiltered = true;
	while (cursor_next(&cursor, &e)) {
		if (!is_cuda(t, &e))
			continue;
		if (asks_for_work(t, &e)) {
			while (from < end && !has_work(s, &s->entries[from]))
				from++;
			if (from == end)
				return;
			match(s, k, number, &e, &s->entries[from++]);
			s->counts->by_order++;
		}
		number++;
	}
}

/* How many of a thread's entries lie in a host call: a look ahead, nothing is matched. */
static size_t fitting(const struct state *s, size_t k, size_t from, size_t end)
{
	const struct trace *t = s->image->trace;
	struct cursor cursor;
	struct event e;
	size_t at = from, n = 0;
	uint64_t behind = 0; /* no entry counts twice */

	cursor_init(&cursor, t, &t->threads[k]);
	cursor.is_unfiltered = true;
	while (cursor_next(&cursor, &e)) {
		if (!is_cuda(t, &e))
			continue;
		at = seek(s->entries, at, end, event_start(&e) > behind ? event_start(&e) : behind + 1);
		for (; at < end && s->entries[at].middle <= e.ticks; at++)
			n++;
		behind = e.ticks > behind ? e.ticks : behind;
	}
	return n;
}

static bool goes_by_order(const struct state *s, size_t k, size_t from, size_t end)
{
	uint64_t working = 0;

	if (!s->is_single || !s->entries[from].is_placed || fitting(s, k, from, end) > (end - from) / 2)
		return false;
	for (size_t i = from; i < end; i++)
		working += has_work(s, &s->entries[i]);
	return working && working == host_calls(s->image->trace, k, false);
}

static void match_stretch(struct state *s)
{
	const struct trace *t = s->image->trace;

	for (size_t k = 0; k < t->thread_count; k++) {
		size_t from, end = entries_of(s, t->threads[k].tid, &from);

		if (s->met[k] && t->threads[k].args & 1u << TF_ARG_WORK)
			match_by_number(s, k);
		if (from == end || !s->met[k])
			continue;
		if (goes_by_order(s, k, from, end)) {
			match_by_order(s, k, from, end);
			continue;
		}
		match_by_time(s, k, from, end);
		match_from_within(s, k, from, end);
	}
	for (size_t i = 0; i < s->entry_count; i++)
		s->counts->foreign += s->entries[i].next == i;
	for (size_t i = 0, n; i < s->record_count; i += n) {
		n = same_id(s, i);
		if (s->is_used[i])
			continue;
		s->counts->without_call += n;
		tell(s, NULL, NULL, i, n);
	}
}

/* ---- an image ---- */

static void tell_idle(struct state *s, size_t k)
{
	const struct trace *t = s->image->trace;
	struct cursor cursor;
	struct event e;
	uint64_t number = 0;

	cursor_init(&cursor, t, &t->threads[k]);
	cursor.is_unfiltered = true;
	while (cursor_next(&cursor, &e)) {
		if (!is_cuda(t, &e))
			continue;
		if (asks_for_work(t, &e)) {
			s->counts->calls++;
			if (!is_met(s, k, number)) {
				s->counts->idle++;
				tell(s, &t->threads[k], &e, 0, 0);
			}
		}
		number++;
	}
}

static void match_all(struct state *s)
{
	uint64_t stretches = s->total / (2 * correlate_stretch) + 1;
	uint64_t step = (s->last - s->first) / stretches + 1;

	s->is_single = stretches == 1;
	for (uint64_t i = 0; s->total && i < stretches; i++) {
		s->low = s->first + i * step;
		s->high = s->low + step;
		load(s);
		match_stretch(s);
		free(s->is_used);
	}
}

void correlate_image(const struct report_context *c, const struct image *image, void *context,
		     void (*visit)(void *, const struct correlated *), struct correlate_counts *ret_counts)
{
	const struct trace *t = image->trace;
	struct correlate_counts own = {0};
	struct state s = {.report = c, .image = image, .context = context, .visit = visit, .counts = ret_counts ? ret_counts : &own};
	struct scan scan = {.context = c, .image = image, .is_unfiltered = true, .more = &s};

	if (!t)
		return;
	device_scan_calls(&scan, measure_call, &s.counts->broken);
	device_scan_image(&scan, measure_record, &s.counts->broken);
	s.met = mem_alloc((t->thread_count + 1) * sizeof(*s.met));
	for (size_t k = 0; k < t->thread_count; k++)
		if (may_ask(&t->threads[k]))
			s.met[k] = mem_alloc(host_calls(t, k, true) / 8 + 1);
	match_all(&s);
	for (size_t k = 0; k < t->thread_count; k++)
		if (s.met[k])
			tell_idle(&s, k);
	for (size_t k = 0; k < t->thread_count; k++)
		free(s.met[k]);
	free(s.met);
	free(s.entries);
	free(s.records);
}
