/* SPDX-License-Identifier: Apache-2.0 */
/* ledger: the entries of the ledger as a table, and their totals as a line. */
#include <inttypes.h>
#include <string.h>

#include "report/events/stacks/samples.h"
#include "report/tables/report.h"
#include "report/tables/run/ledger.h"
#include "report/tables/run/ledger_facts.h"

static void ledger_add_row(void *data, const struct ledger_entry *e)
{
	struct table *table = data;

	table_cells(table, cell_if(e->pid >= 0, (uint64_t)e->pid));
	table_text_part(table, e->host, e->host ? strlen(e->host) : 0);
	table_cells(table, ledger_kinds[e->fact].fact, e->count, e->detail);
}

void report_ledger(const struct report_context *c, struct table *table)
{
	table_has(table, COL_PID, COL_HOST, COL_FACT, COL_COUNT, COL_DETAIL);
	ledger_each(c, table, ledger_add_row);
}

/* Returns the number of notes of that code, and the first of them. */
static size_t notes_of(const struct model *m, enum note_code code, const char **ret_first)
{
	size_t count = 0;

	for (size_t i = 0; i < m->note_count; i++)
		if (m->notes[i].code == code && !count++)
			*ret_first = m->notes[i].text;
	return count;
}

/* Spools that were not moved, and the earliest time from which records are missing. */
static void add_spools(const struct model *m, struct buffer *ret)
{
	uint64_t since = UINT64_MAX;
	size_t count = 0;

	for (size_t i = 0; i < m->run_count; i++) {
		enum spool_state state = model_spool(m, &m->runs[i]);
		uint64_t ns = state == SPOOL_MOVED || state == SPOOL_MOVING ? UINT64_MAX
									     : model_spool_since(m, &m->runs[i]);

		count += ns != UINT64_MAX;
		since = ns < since ? ns : since;
	}
	if (count)
		buffer_print(ret, ", %zu spool%s not moved: records after %.3f s are missing", count,
			     count == 1 ? "" : "s", (double)model_since_origin(m, since) / 1e9);
}

static void add_unsampled(const struct model *m, struct buffer *ret)
{
	SCOPED(unsampled) unsampled = {0};

	unsampled_find(m, &unsampled);
	for (size_t i = 0; i < unsampled.count; i++) {
		buffer_text(ret, ", ");
		unsampled_words(&unsampled.items[i], ret);
	}
}

/* Notes that the summary prints: why samples are missing, and why events are. */
static void add_reasons(const struct model *m, struct buffer *ret)
{
	static const enum note_code codes[] = {NOTE_DISK_FULL, NOTE_FILE_LIMIT, NOTE_NO_PROC};

	add_unsampled(m, ret);
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		const char *first = NULL;
		size_t count = notes_of(m, codes[i], &first);

		if (count)
			buffer_print(ret, count == 1 ? ", %s" : ", %s (%zu times)", first, count);
	}
	add_spools(m, ret);
	if (m->lost_lines)
		buffer_print(ret,
			     ", %" PRIu64
			     " lines of the index not stored (disk full, file size limited, capture hidden)",
			     m->lost_lines);
}

/* Programs that are not recorded, and each reason once: "2 programs not recorded (musl, setuid)". */
static void add_bare(const struct model *m, struct buffer *ret)
{
	const char *seen[8];
	size_t count = 0, k;

	if (!m->bare_count)
		return;
	buffer_print(ret, ", %zu program%s not recorded (", m->bare_count, m->bare_count == 1 ? "" : "s");
	for (size_t i = 0; i < m->bare_count && count < sizeof(seen) / sizeof(*seen); i++) {
		for (k = 0; k < count && strcmp(seen[k], m->bare[i].reason) != 0; k++)
			;
		if (k < count)
			continue;
		buffer_print(ret, "%s%s", count ? ", " : "", m->bare[i].reason);
		seen[count++] = m->bare[i].reason;
	}
	buffer_text(ret, ")");
}

static void sum_facts(const struct model *m, struct ledger_facts *ret)
{
	struct usages *usages = usages_new(m);
	const struct report_context c = {.model = m};

	*ret = (struct ledger_facts){.own = OWN_COST_NONE};
	ret->counts[LEDGER_LOST] = m->lost_events;
	for (size_t i = 0; i < m->image_count; i++) {
		ledger_add_image(usages, &m->images[i], ret);
		ledger_add_device(&c, &m->images[i], ret);
	}
	usages_free(usages);
}

static uint64_t torn_of(const uint64_t *n)
{
	return n[LEDGER_TORN] + n[LEDGER_UNREADABLE];
}

static uint64_t device_lost_of(const uint64_t *n)
{
	return n[LEDGER_DEVICE_DROPPED] + n[LEDGER_DEVICE_TIMELESS] + n[LEDGER_DEVICE_UNREADABLE];
}

/* What is not recorded, and why: each begins with ", ". with_records: also how many records there are of devices. */
static void add_missing(const struct model *m, const struct ledger_facts *f, bool with_records, struct buffer *ret)
{
	const uint64_t *n = f->counts;
	uint64_t torn = torn_of(n), device_lost = device_lost_of(n);
	uint64_t unmatched = n[LEDGER_UNMATCHED_PUSH] + n[LEDGER_UNMATCHED_POP] + n[LEDGER_UNMATCHED_START] +
			     n[LEDGER_UNMATCHED_END];

	if (n[LEDGER_MISSING_FILES])
		buffer_print(ret, ", %" PRIu64 " trace file%s missing", n[LEDGER_MISSING_FILES],
			     n[LEDGER_MISSING_FILES] == 1 ? "" : "s");
	if (torn)
		buffer_print(ret, ", %" PRIu64 " torn", torn);
	if (unmatched)
		buffer_print(ret, ", %" PRIu64 " unmatched", unmatched);
	if (f->sources && with_records)
		buffer_print(ret, ", %" PRIu64 " device records", n[LEDGER_DEVICE_RECORDS]);
	if (device_lost)
		buffer_print(ret, with_records ? " (%" PRIu64 " lost)" : ", %" PRIu64 " device records lost",
			     device_lost);
	if (f->sources && n[LEDGER_UNMATCHED_CALLS])
		buffer_print(ret, ", %" PRIu64 " launch%s, copies or memsets without one", n[LEDGER_UNMATCHED_CALLS],
			     n[LEDGER_UNMATCHED_CALLS] == 1 ? "" : "es");
	if (n[LEDGER_STACKS_LOST])
		buffer_print(ret, ", %" PRIu64 " stacks lost", n[LEDGER_STACKS_LOST]);
	if (n[LEDGER_THREADS_LOST])
		buffer_print(ret, ", %" PRIu64 " threads lost", n[LEDGER_THREADS_LOST]);
	add_bare(m, ret);
	add_reasons(m, ret);
}

void ledger_line(const struct model *m, struct buffer *ret)
{
	struct ledger_facts f;
	size_t notes = m->note_count;

	sum_facts(m, &f);
	for (size_t i = 0; i < m->image_count; i++)
		blobs_each(b, m->images[i].trace, TF_BLOB_NOTE)
			notes++;
	buffer_print(ret, "recording: %" PRIu64 " recorded, %" PRIu64 " below threshold, %" PRIu64 " lost",
		     f.counts[LEDGER_RECORDED], f.counts[LEDGER_BELOW], f.counts[LEDGER_LOST]);
	add_missing(m, &f, true, ret);
	if (notes)
		buffer_print(ret, ", %zu note%s", notes, notes == 1 ? "" : "s");
	buffer_text(ret, ", ");
	own_cost_line(m, &f.own, ret);
}

void ledger_totals(const struct model *m, struct ledger_totals *ret)
{
	struct ledger_facts f;

	sum_facts(m, &f);
	*ret = (struct ledger_totals){.recorded = f.counts[LEDGER_RECORDED] + f.counts[LEDGER_DEVICE_RECORDS],
				      .below = f.counts[LEDGER_BELOW],
				      .lost = f.counts[LEDGER_LOST] + torn_of(f.counts) + device_lost_of(f.counts),
				      .own_ns = whole_of(own_cost_ns(&f.own))};
	ret->launcher_ns += array_sum(run, m->runs, m->run_count, run->cost.launcher_ns);
	add_missing(m, &f, false, &ret->missing);
}
