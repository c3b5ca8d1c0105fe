/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/cuda/correlate.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/bits.h"
#include "report/events/cuda/correlate_calls.h"
#include "report/events/filter.h"

/* A call record of CUPTI in the current stretch. */
struct call_record {
	uint64_t id;	 /* epoch and correlation id */
	uint64_t middle; /* ticks */
	uint32_t tid;
	uint32_t next; /* index at which to look for the next unmatched one: its own if it is unmatched */
	uint32_t half; /* ticks from the middle to either end, at most 2^32 - 1 */
	bool is_driver, is_placed;
};

struct correlation {
	const struct report_context *report;
	const struct image *image;
	void *context;
	void (*visit)(void *, const struct correlated *);
	const struct tick_spans *shown; /* what is visited; NULL: everything */
	struct correlate_counts *counts;
	struct host_calls calls;
	uint64_t low, high; /* ids of the current stretch: low <= id < high */
	struct epoch {
		uint64_t first, last, total; /* ids; all 0: none */
	} *epochs;
	size_t epoch_count, epoch_capacity;
	uint64_t total;
	bool is_measuring; /* the first load: everything is counted, and kept as long as there is little */
	bool is_single; /* there is only one stretch */
	struct call_record *entries; /* by thread and time, once sorted */
	size_t entry_count, entry_capacity;
	struct device_record *records; /* by id and start */
	bool *is_used;
	size_t record_count, record_capacity;
	/* index in records at which those of the next call are, as long as calls and ids are in the same order */
	size_t hint;
	struct bits *met; /* by thread of the trace: the host calls whose records were found */
	struct id_span {
		uint64_t first, last; /* first > last: none */
	} *ids; /* by trace.chunks: ids of the device records and CUPTI's call records in it */
	uint8_t *has_ids; /* likewise: whether any id is in the current stretch */
};

static uint64_t id_of(uint16_t epoch, uint32_t correlation)
{
	return (uint64_t)epoch << 32 | correlation;
}

COMPARATOR(compare_ids, struct call_record, order_of(a->id, b->id) ?: a->is_driver - b->is_driver)

COMPARATOR(compare_times, struct call_record,
	   order_of(a->tid, b->tid) ?: order_of(a->middle, b->middle) ?: order_of(a->id, b->id))

COMPARATOR(compare_records, struct device_record,
	   order_of(id_of(a->epoch, a->correlation), id_of(b->epoch, b->correlation))
	   ?: order_of(a->start_ns, b->start_ns))

/* ---- a stretch ---- */

static void count_epoch_id(struct correlation *s, uint64_t id)
{
	struct epoch *e;

	while (s->epoch_count <= id >> 32)
		mem_append(s->epochs, s->epoch_count, s->epoch_capacity, (struct epoch){0});
	e = &s->epochs[id >> 32];
	e->first = !e->total || id < e->first ? id : e->first;
	e->last = id > e->last ? id : e->last;
	e->total++;
	s->total++;
}

static bool keeps_id(struct correlation *s, size_t chunk, uint64_t id)
{
	struct id_span *span = &s->ids[chunk];

	if (!s->is_measuring)
		return id >= s->low && id - s->low < s->high - s->low;
	span->first = id < span->first ? id : span->first;
	span->last = id > span->last ? id : span->last;
	count_epoch_id(s, id);
	return s->total < 2 * scan_records_held(s->report);
}

static void keep_device_call(struct scan *scan, const struct device_call *c)
{
	struct correlation *s = scan->more;
	uint64_t id = id_of(c->epoch, c->correlation),
		 middle = clock_map_ticks(scan->clock, c->start_ns + c->duration_ns / 2), half;

	if (!keeps_id(s, scan->chunk, id))
		return;
	half = middle - clock_map_ticks(scan->clock, c->start_ns);
	mem_append(s->entries, s->entry_count, s->entry_capacity,
		   (struct call_record){.id = id,
					.middle = middle,
					.half = half < UINT32_MAX ? (uint32_t)half : UINT32_MAX,
					.tid = c->tid,
					.is_driver = c->is_driver,
					.is_placed = c->is_placed});
}

static void keep_device_record(struct scan *scan, const struct device_record *r)
{
	struct correlation *s = scan->more;

	if (!keeps_id(s, scan->chunk, id_of(r->epoch, r->correlation)))
		return;
	mem_append(s->records, s->record_count, s->record_capacity, *r);
}

/* Of a call that both runtime and driver recorded, the runtime's record is kept: the host call may enclose it
 * closely. */
static void drop_twins(struct correlation *s)
{
	size_t kept = 0;

	sort_unless_sorted(s->entries, s->entry_count, sizeof(*s->entries), compare_ids);
	for (size_t i = 0; i < s->entry_count; i++)
		if (!kept || s->entries[i].id != s->entries[kept - 1].id)
			s->entries[kept++] = s->entries[i];
	s->entry_count = kept;
	sort_unless_sorted(s->entries, kept, sizeof(*s->entries), compare_times);
	for (size_t i = 0; i < kept; i++)
		s->entries[i].next = (uint32_t)i;
}

static void load_stretch(struct correlation *s, uint64_t *ret_broken)
{
	struct scan scan = {
		.context = s->report, .image = s->image, .is_unfiltered = true, .chunks = s->has_ids, .more = s};

	for (size_t i = 0; s->has_ids && i < s->image->trace->chunk_count; i++)
		s->has_ids[i] =
			s->ids[i].first < s->high && s->ids[i].last >= s->low && s->ids[i].first <= s->ids[i].last;
	s->entry_count = s->record_count = s->hint = 0;
	device_scan_calls(&scan, keep_device_call, ret_broken);
	device_scan_image(&scan, keep_device_record, ret_broken);
}

/* ---- visiting ---- */

static uint64_t id_at(const struct correlation *s, size_t record)
{
	return id_of(s->records[record].epoch, s->records[record].correlation);
}

/* The first record whose id is not less than this one. */
static size_t find_records(const struct correlation *s, uint64_t id)
{
	if (s->hint < s->record_count && id_at(s, s->hint) == id && (!s->hint || id_at(s, s->hint - 1) != id))
		return s->hint;
	return first_place(i, 0, s->record_count, id_at(s, i) < id);
}

static size_t same_id(const struct correlation *s, size_t from)
{
	size_t n = 1;

	while (from + n < s->record_count && id_at(s, from + n) == id_at(s, from))
		n++;
	return n;
}

/* The filter is applied to the call if there is one, so that it and its device operations are shown together. */
static bool passes_filter(const struct correlation *s, const struct event *e, size_t from, size_t count)
{
	const struct clock_map *clock = &s->report->model->machines[s->image->machine].clock;

	if (!s->shown)
		return true;
	if (e)
		return tick_spans_overlap(s->shown, event_start(e), e->ticks);
	for (size_t i = from; i < from + count; i++)
		if (tick_spans_overlap(s->shown, clock_map_ticks(clock, s->records[i].start_ns),
				       clock_map_ticks(clock, s->records[i].start_ns + s->records[i].duration_ns)))
			return true;
	return false;
}

static void visit_correlated(struct correlation *s, const struct trace_thread *thread, const struct event *e,
			     size_t from, size_t count)
{
	struct correlated c = {.image = s->image, .thread = thread, .record_count = count};

	if (e)
		c.event = *e;
	c.records = count ? s->records + from : NULL;
	if (count)
		c.correlation = c.records->correlation;
	if (s->visit && passes_filter(s, e, from, count))
		s->visit(s->context, &c);
}

/* Allocations have none, and may be below a threshold. */
static bool has_records(const struct correlation *s, uint64_t id)
{
	size_t from = find_records(s, id);

	return from < s->record_count && id_at(s, from) == id;
}

static void match_call(struct correlation *s, size_t thread, const struct calls *call, uint64_t id)
{
	size_t from = find_records(s, id), count;

	if (from == s->record_count || id_at(s, from) != id)
		return; /* an allocation, or its records are in a later part of the file, or lost */
	count = same_id(s, from);
	s->hint = from + count;
	s->counts->matched += count;
	bits_set(&s->met[thread], call->number);
	memset(s->is_used + from, true, count);
	visit_correlated(s, &s->image->trace->threads[thread], &call->event, from, count);
}

static void match_entry(struct correlation *s, size_t thread, const struct calls *call, struct call_record *entry)
{
	entry->next++;
	match_call(s, thread, call, entry->id);
}

/* ---- host calls ---- */

/* The entries of a thread: from *ret_from up to the returned index, exclusive. */
static size_t entries_of(const struct correlation *s, uint32_t tid, size_t *ret_from)
{
	*ret_from = first_place(i, 0, s->entry_count, s->entries[i].tid < tid);
	return first_place(i, *ret_from, s->entry_count, s->entries[i].tid <= tid);
}

/* The first entry of [from, end) whose middle is at `ticks` or later. */
static size_t seek_entry(const struct call_record *entries, size_t from, size_t end, uint64_t ticks)
{
	return first_place(i, from, end, entries[i].middle < ticks);
}

/* The first unmatched entry from this index on; shortens the path for the next search. */
static size_t next_free(struct correlation *s, size_t at)
{
	while (at < s->entry_count && s->entries[at].next != at) {
		uint32_t next = s->entries[at].next;

		if (next < s->entry_count)
			s->entries[at].next = s->entries[next].next;
		at = next;
	}
	return at;
}

/* An entry with device records that the call does not enclose. */
static bool sticks_out(const struct correlation *s, const struct call_record *e, const struct event *call)
{
	return (e->middle < event_start(call) + e->half || e->middle + e->half > call->ticks) && has_records(s, e->id);
}

/* Of two calls that contain an entry, the inner call ends first and gets it. A call that submits no work (it loads a
 * kernel) gets an entry that exceeds the call only if `is_last`: the call that submitted the work may follow. */
static void match_by_time(struct correlation *s, size_t k, size_t from, size_t end, bool is_last)
{
	struct calls c;

	for (calls_begin(&c, &s->calls, k); calls_next(&c);) {
		bool takes_all = is_last || host_call_requests(&s->calls, &c.event);
		size_t i = next_free(s, seek_entry(s->entries, from, end, event_start(&c.event)));

		for (; i < end && s->entries[i].middle <= c.event.ticks; i = next_free(s, i + 1))
			if (takes_all || !sticks_out(s, &s->entries[i], &c.event))
				match_entry(s, k, &c, &s->entries[i]);
	}
}

/* An unmatched entry with device records that was in progress within `half` ticks of that time. */
static bool is_unmatched_near(const struct correlation *s, const struct call_record *e, uint64_t ticks, uint64_t half)
{
	uint64_t distance = e->middle > ticks ? e->middle - ticks : ticks - e->middle;

	return e->next == (size_t)(e - s->entries) && distance <= e->half + half && has_records(s, e->id);
}

/* A statically linked runtime calls the driver from within its own call: the host call is the driver's, CUPTI's record
 * the runtime's, whose middle may lie outside. A very short call may miss the middle because of the error between the
 * clocks. What was unmatched at the same time belongs together. Returns how many with device records are left. */
static size_t match_from_within(struct correlation *s, size_t k, size_t from, size_t end)
{
	struct calls c;
	size_t left = 0;

	for (size_t i = from; i < end; i++)
		left += is_unmatched_near(s, &s->entries[i], s->entries[i].middle, 0);
	for (calls_begin(&c, &s->calls, k); left && calls_next(&c);) {
		uint64_t half = (c.event.ticks - event_start(&c.event)) / 2, middle = c.event.ticks - half;
		size_t at = seek_entry(s->entries, from, end, middle);

		if (at == end || !is_unmatched_near(s, &s->entries[at], middle, half))
			at--; /* the previous one, if there is one */
		if (at >= from && at < end && host_call_requests(&s->calls, &c.event) &&
		    !bits_get(&s->met[k], c.number) && is_unmatched_near(s, &s->entries[at], middle, half)) {
			match_entry(s, k, &c, &s->entries[at]);
			left--;
		}
	}
	return left;
}

static uint64_t asking_calls(const struct correlation *s, size_t k)
{
	struct calls c;
	uint64_t n = 0;

	for (calls_begin(&c, &s->calls, k); calls_next(&c);)
		n += host_call_requests(&s->calls, &c.event);
	return n;
}

/* The recorder measured the device itself, and stored the id of the operation with the call. */
static void match_by_number(struct correlation *s, size_t k)
{
	struct calls c;

	for (calls_begin(&c, &s->calls, k); calls_next(&c);) {
		uint64_t slot = event_arg(&c.event, TF_ARG_DEVICE_OPERATION), id = tf_arg_value(slot);

		if (slot && id >= s->low && id - s->low < s->high - s->low)
			match_call(s, k, &c, id);
	}
}

static void match_by_order(struct correlation *s, size_t k, size_t from, size_t end)
{
	struct calls c;

	for (calls_begin(&c, &s->calls, k); calls_next(&c);) {
		if (!host_call_requests(&s->calls, &c.event))
			continue;
		while (from < end && !has_records(s, s->entries[from].id))
			from++;
		if (from == end)
			return;
		match_entry(s, k, &c, &s->entries[from++]);
		s->counts->by_order++;
	}
}

/* How many entries of a thread lie within a host call. */
static size_t count_fitting(const struct correlation *s, size_t k, size_t from, size_t end)
{
	struct calls c;
	size_t at = from, n = 0;
	uint64_t behind = 0; /* no entry is counted twice */

	for (calls_begin(&c, &s->calls, k); calls_next(&c);) {
		uint64_t start = event_start(&c.event);

		at = seek_entry(s->entries, at, end, start > behind ? start : behind + 1);
		for (; at < end && s->entries[at].middle <= c.event.ticks; at++)
			n++;
		behind = c.event.ticks > behind ? c.event.ticks : behind;
	}
	return n;
}

static bool goes_by_order(const struct correlation *s, size_t k, size_t from, size_t end)
{
	uint64_t working = 0;

	if (!s->is_single || !s->entries[from].is_placed || count_fitting(s, k, from, end) > (end - from) / 2)
		return false;
	for (size_t i = from; i < end; i++)
		working += has_records(s, s->entries[i].id);
	return working && working == asking_calls(s, k);
}

/* Selects the host calls that may match one of these entries, or a record of this stretch. */
static void want_calls(struct correlation *s, size_t k, size_t from, size_t end)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = from; i < end; i++) {
		const struct call_record *e = &s->entries[i];
		uint64_t start = e->middle > e->half ? e->middle - e->half : 0;

		first = start < first ? start : first;
		last = e->middle + e->half > last ? e->middle + e->half : last;
	}
	host_calls_select(&s->calls, k, first, last, s->low, s->high);
}

static void match_stretch(struct correlation *s)
{
	const struct trace *t = s->image->trace;

	for (size_t k = 0; k < t->thread_count; k++) {
		size_t from, end = entries_of(s, t->threads[k].tid, &from);

		if (!host_calls_may_request(&t->threads[k]))
			continue;
		want_calls(s, k, from, end);
		if (t->threads[k].args & 1u << TF_ARG_DEVICE_OPERATION)
			match_by_number(s, k);
		if (from == end)
			continue;
		if (goes_by_order(s, k, from, end)) {
			match_by_order(s, k, from, end);
			continue;
		}
		match_by_time(s, k, from, end, false);
		if (match_from_within(s, k, from, end))
			match_by_time(s, k, from, end, true);
	}
	for (size_t i = 0; i < s->entry_count; i++)
		s->counts->foreign += s->entries[i].next == i;
	for (size_t i = 0, n; i < s->record_count; i += n) {
		n = same_id(s, i);
		if (s->is_used[i])
			continue;
		s->counts->without_call += n;
		visit_correlated(s, NULL, NULL, i, n);
	}
}

/* ---- an image ---- */

static void visit_idle_calls(struct correlation *s, size_t k)
{
	struct calls c;

	for (calls_begin(&c, &s->calls, k); calls_next(&c);) {
		s->counts->captured += event_arg(&c.event, TF_ARG_GRAPH_NODE) != 0;
		if (!host_call_requests(&s->calls, &c.event))
			continue;
		s->counts->calls++;
		if (bits_get(&s->met[k], c.number))
			continue;
		s->counts->idle++;
		visit_correlated(s, &s->image->trace->threads[k], &c.event, 0, 0);
	}
}

static void match_loaded(struct correlation *s)
{
	drop_twins(s);
	sort_unless_sorted(s->records, s->record_count, sizeof(*s->records), compare_records);
	s->is_used = mem_alloc(s->record_count + 1);
	match_stretch(s);
	free(s->is_used);
}

/* Ids are distributed about evenly within an epoch. */
static void match_ids(struct correlation *s, const struct epoch *e)
{
	uint64_t stretches = e->total / (2 * scan_records_held(s->report)) + 1,
		 step = (e->last - e->first) / stretches + 1;

	for (uint64_t i = 0; i < stretches; i++) {
		s->low = e->first + i * step;
		s->high = s->low + step;
		load_stretch(s, NULL);
		match_loaded(s);
	}
}

/* Ids of each epoch start at 1, so there are none between the last id of one epoch and the first of the next. Small
 * epochs are joined. */
static void match_epochs(struct correlation *s)
{
	struct epoch all = {0};

	array_each(const struct epoch, e, s->epochs, s->epoch_count) {
		if (all.total && all.total + e->total >= 2 * scan_records_held(s->report)) {
			match_ids(s, &all);
			all.total = 0;
		}
		if (!e->total)
			continue;
		all.first = all.total ? all.first : e->first;
		all.last = e->last;
		all.total += e->total;
	}
	if (all.total)
		match_ids(s, &all);
}

static void match_all(struct correlation *s)
{
	size_t chunks = s->image->trace->chunk_count;

	s->ids = mem_alloc((chunks + 1) * sizeof(*s->ids));
	for (size_t i = 0; i < chunks; i++)
		s->ids[i].first = UINT64_MAX;
	s->is_measuring = true;
	s->high = UINT64_MAX;
	load_stretch(s, &s->counts->broken);
	s->is_measuring = false;
	s->is_single = s->total < 2 * scan_records_held(s->report);
	if (s->is_single) {
		match_loaded(s);
		return;
	}
	s->has_ids = mem_alloc(chunks + 1);
	host_calls_index(&s->calls);
	match_epochs(s);
	host_calls_select_all(&s->calls);
}

static void counts_add(struct correlate_counts *to, const struct correlate_counts *more)
{
	to->matched += more->matched;
	to->without_call += more->without_call;
	to->calls += more->calls;
	to->idle += more->idle;
	to->captured += more->captured;
	to->foreign += more->foreign;
	to->by_order += more->by_order;
	to->broken += more->broken;
}

/* State kept with a trace: the counts, once they are known. */
struct known_counts {
	bool is_known;
	struct correlate_counts counts;
};
static const struct attachment_kind known_counts = {.size = sizeof(struct known_counts)};

static void correlate_all(struct correlation *s)
{
	const struct trace *t = s->image->trace;

	host_calls_init(&s->calls, t);
	s->met = mem_alloc((t->thread_count + 1) * sizeof(*s->met));
	match_all(s);
	for (size_t k = 0; k < t->thread_count; k++)
		if (host_calls_may_request(&t->threads[k]))
			visit_idle_calls(s, k);
	array_free(item, s->met, t->thread_count, bits_done(item));
	host_calls_done(&s->calls);
	free(s->ids);
	free(s->epochs);
	free(s->has_ids);
	free(s->entries);
	free(s->records);
}

static void correlate_shown(const struct report_context *c, const struct image *image, const struct tick_spans *shown,
			    void *context, void (*visit)(void *, const struct correlated *),
			    struct correlate_counts *ret_counts)
{
	struct known_counts *known = attachment_get(&image->trace->attachments, &known_counts);
	struct correlate_counts counts = {0};
	struct correlation s = {
		.report = c, .image = image, .context = context, .visit = visit, .shown = shown, .counts = &counts};

	if ((visit || !known->is_known) && host_calls_may_matter(image->trace)) {
		correlate_all(&s);
		*known = (struct known_counts){true, counts};
	}
	if (ret_counts)
		counts_add(ret_counts, &known->counts);
}

void correlate_image(const struct report_context *c, const struct image *image, void *context,
		     void (*visit)(void *, const struct correlated *), struct correlate_counts *ret_counts)
{
	if (image->trace)
		correlate_shown(c, image, filter_of(image->trace), context, visit, ret_counts);
}

void correlate_unfiltered(const struct report_context *c, const struct image *image, void *context,
			  void (*visit)(void *, const struct correlated *))
{
	if (image->trace)
		correlate_shown(c, image, NULL, context, visit, NULL);
}
