/* SPDX-License-Identifier: Apache-2.0 */
/* files, sockets: OS calls by what their file descriptor referred to. Of the calls below the threshold, those that open
 * and close are missing, because they are counted by function only. */
#include <stdlib.h>
#include <string.h>

#include "report/events/filter.h"
#include "report/events/traffic.h"
#include "report/tables/report.h"
#include "report/time/io_account.h"

struct file_sums {
	uint64_t total_ns, longest_ns, calls, opens, reads, read_bytes, writes, written_bytes, maps,
		mapped_bytes;
};

/* What a table is of: all but sockets, sockets, or files that have a path. */
enum traffic_of { OF_FILES, OF_SOCKETS, OF_PATHS };

struct files_scan {
	struct scan scan;
	enum traffic_of of;
	const struct image *image; /* of the descriptors */
	struct descriptor_search descriptors;
	struct aggregate keys; /* with struct file_sums */
};

static void enter_image(struct files_scan *f)
{
	if (f->image == f->scan.image)
		return;
	f->image = f->scan.image;
	f->descriptors = descriptor_search(f->image->trace);
}

static struct function_kind kind_of(const struct files_scan *f, uint32_t function)
{
	const struct function *callee = trace_function(f->image->trace, function);

	return callee ? callee->kind : (struct function_kind){BLOCKED_OTHER};
}

static bool files_key(struct scan *s, const void *descriptor, struct buffer *fields)
{
	const struct files_scan *f = s->more;

	if (descriptor)
		descriptors_text(f->descriptors.of, descriptor, fields);
	if (!fields->size)
		buffer_text(fields, "(not known)");
	return true;
}

static struct file_sums *files_row(struct files_scan *f, const struct descriptor *d, uint64_t start)
{
	uint32_t row = scan_row_of(&f->scan, start, d ? d->text : UINT64_MAX, files_key, d);

	return aggregate_more(&f->keys, row, sizeof(struct file_sums));
}

static void files_add_moved(struct file_sums *r, enum traffic_role role, uint64_t transfers, uint64_t bytes)
{
	if (role == ROLE_READ) {
		r->reads += transfers;
		r->read_bytes += bytes;
	} else if (role == ROLE_WRITE) {
		r->writes += transfers;
		r->written_bytes += bytes;
	} else if (role == ROLE_MAP) {
		r->maps += transfers;
		r->mapped_bytes += bytes;
	}
}

static void files_add_call(const struct files_scan *f, struct file_sums *r, const struct event *e,
			   enum traffic_role role, int64_t result)
{
	uint64_t duration = clock_map_duration(f->scan.clock, e->duration),
		 many = tf_arg_value(event_arg(e, TF_ARG_BYTES)),
		 bytes = many ? many : result > 0 ? (uint64_t)result : 0;
	enum traffic_kind kind = kind_of(f, e->id).traffic;

	r->calls++;
	r->total_ns += duration;
	r->longest_ns = larger_of(r->longest_ns, duration);
	r->opens += (role == ROLE_OPEN || role == ROLE_MEET) && result >= 0;
	files_add_moved(r, traffic_moves(role, kind), traffic_transfers(kind, 1, bytes), bytes);
}

static bool is_wanted(const struct files_scan *f, const struct descriptor *d)
{
	if (f->of == OF_PATHS)
		return d && d->kind == TF_DESCRIPTOR_FILE;
	return (f->of == OF_SOCKETS) == (d && d->kind == TF_DESCRIPTOR_SOCKET);
}

/* --mode=profile: calls that have the file in common. */
static void files_visit_sum(struct files_scan *f, const struct event *e)
{
	uint64_t file = event_arg(e, TF_ARG_FILE), most_ns;
	struct event_sum sum = event_sum(e);
	enum traffic_role role = kind_of(f, e->id).role;
	enum traffic_kind kind = kind_of(f, e->id).traffic;
	const struct descriptor *d = file ? descriptors_find_id(f->descriptors.of, (uint32_t)tf_arg_value(file)) : NULL;
	struct file_sums *r;

	/* Without a file, the role tells a call on one that is not known from a call that has none. */
	if (!is_wanted(f, d) || (!file && (role == ROLE_OTHER || event_arg(e, TF_ARG_RESULT))))
		return;
	r = files_row(f, d, 0);
	most_ns = clock_map_duration(f->scan.clock, sum.most);
	r->calls += sum.count;
	r->total_ns += clock_map_duration(f->scan.clock, sum.total);
	r->longest_ns = most_ns > r->longest_ns ? most_ns : r->longest_ns;
	r->opens += (role == ROLE_OPEN || role == ROLE_MEET) && !event_arg(e, TF_ARG_RESULT) ? sum.count : 0;
	files_add_moved(r, traffic_moves(role, kind), traffic_transfers(kind, sum.count, sum.bytes), sum.bytes);
}

static void files_visit_call(struct scan *s, const struct event *e)
{
	struct files_scan *f = s->more;
	uint64_t arg = e->kind == TF_CALL && e->args_count ? event_arg(e, TF_ARG_FD) : 0,
		 fd = tf_arg_value(arg) & 0xffff;
	int64_t result = (int32_t)(tf_arg_value(arg) >> 16);
	const struct descriptor *d;
	enum traffic_role role;

	if (scan_is_call(e) && e->kind == TF_SUM) {
		enter_image(f);
		files_visit_sum(f, e);
	}
	if (!arg)
		return;
	enter_image(f);
	role = kind_of(f, e->id).role;
	if (role == ROLE_OPEN)
		fd = result < 0 || result >= 0xffff ? 0xffff : (uint64_t)result;
	if (fd == 0xffff)
		return; /* a failed open, an unconnected socket, or a number that is too large */
	d = descriptors_find(&f->descriptors, fd, role == ROLE_CLOSE ? event_start(e) : e->ticks);
	if (!is_wanted(f, d))
		return;
	files_add_call(f, files_row(f, d, event_start(e)), e, role, result);
}

/* Sums of calls below the threshold. */
static void files_add_traffic(void *files, const struct traffic *traffic)
{
	struct files_scan *f = files;
	struct scan *s = &f->scan;
	const struct descriptor *d;
	enum traffic_role role;
	enum traffic_kind kind;
	struct file_sums *r;

	if (!traffic->thread || traffic_is_of_path(traffic))
		return;
	enter_image(f);
	d = traffic_descriptor(&f->descriptors, traffic);
	role = kind_of(f, traffic->function).role;
	if (!is_wanted(f, d))
		return;
	s->thread = traffic->thread;
	r = files_row(f, d, traffic->from_ticks);
	kind = kind_of(f, traffic->function).traffic;
	r->calls += traffic_calls(kind, traffic->calls);
	r->total_ns += clock_map_duration(s->clock, traffic->ticks);
	files_add_moved(r, role, traffic_transfers(kind, traffic->calls, traffic->bytes), traffic->bytes);
}

static void files_add_short(struct files_scan *f)
{
	const struct model *m = f->scan.context->model;

	for (size_t i = 0; i < m->image_count; i++) {
		if (!m->images[i].trace)
			continue;
		f->scan.image = &m->images[i];
		f->scan.clock = &m->machines[m->images[i].machine].clock;
		traffic_each(m->images[i].trace, files_add_traffic, f);
	}
}

/* ---- what only the kernel has counted ---- */

static bool not_seen_key(struct scan *s, const void *unused, struct buffer *fields)
{
	(void)s;
	(void)unused;
	buffer_text(fields, "(not seen)");
	return true;
}

/* Of processes: it is not known of threads, nor in which capture range it was. */
static void files_add_not_seen(struct files_scan *f)
{
	const struct model *m = f->scan.context->model;
	const enum by by = f->scan.context->by;
	SCOPED_MEMORY struct io_account *accounts = NULL;

	if (by != BY_NOTHING && by != BY_PROCESS && by != BY_RANK && by != BY_HOST)
		return;
	accounts = io_accounts(f->scan.context);
	for (size_t i = 0; i < m->process_count; i++) {
		uint64_t read = io_not_seen(&accounts[i], IO_READ), written = io_not_seen(&accounts[i], IO_WRITTEN);
		struct file_sums *r;

		if (!read && !written)
			continue;
		f->scan.image = &m->images[m->processes[i].first_image];
		r = aggregate_more(&f->keys, scan_row_of(&f->scan, 0, UINT64_MAX - 1, not_seen_key, NULL), sizeof(*r));
		r->read_bytes += read;
		r->written_bytes += written;
	}
}

/* ---- the table ---- */

ROW_COMPARATOR(files_by_total, struct file_sums, order_of(b->total_ns, a->total_ns))

static void files_columns(const struct files_scan *f, struct table *table)
{
	bool is_sockets = f->of == OF_SOCKETS;

	table->hides_zeros = true;
	by_column(f->scan.context, table);
	table_has(table, COL_TIME_PERCENT, COL_TOTAL_TIME_NS, COL_NUM_CALLS, COL_MAX_NS,
		  is_sockets ? COL_CONNECTS : COL_OPENS, is_sockets ? COL_RECEIVES : COL_READS,
		  is_sockets ? COL_RECEIVED_BYTES : COL_READ_BYTES, is_sockets ? COL_SENDS : COL_WRITES,
		  is_sockets ? COL_SENT_BYTES : COL_WRITTEN_BYTES, is_sockets ? COL_PEER : COL_PATH,
		  is_sockets ? COL_NONE : COL_MAPS, is_sockets ? COL_NONE : COL_MAPPED_BYTES);
}

static void files_fill_table(struct files_scan *f, struct table *table)
{
	double all = array_sum(row, f->keys.rows, f->keys.count,
			       (double)((const struct file_sums *)row->more)->total_ns);

	aggregate_sort_by(&f->keys, files_by_total);
	array_each(const struct aggregate_row, key, f->keys.rows, f->keys.count) {
		const struct file_sums *r = key->more;
		size_t field = by_key_cell(f->scan.context, table, key);

		table_cells(table, share_percent((double)r->total_ns, all), r->total_ns, r->calls,
			    cell_if(r->longest_ns, r->longest_ns), r->opens, r->reads, r->read_bytes, r->writes,
			    r->written_bytes, aggregate_field(key, field));
		if (f->of == OF_SOCKETS)
			continue;
		table_cells(table, r->maps, r->mapped_bytes);
	}
}

static void files_report_traffic(const struct report_context *c, struct table *table, enum traffic_of of)
{
	SCOPED_MEMORY struct files_scan *f = mem_alloc(sizeof(*f));

	f->of = of;
	f->scan = (struct scan){.context = c, .aggregate = &f->keys, .args = 1u << TF_ARG_FD | 1u << TF_ARG_FILE,
				 .more = f};
	files_columns(f, table);
	scan_events(&f->scan, files_visit_call);
	if (!filter_is_set(c->model)) /* sums have no time */
		files_add_short(f);
	if (!filter_is_set(c->model) && of == OF_FILES)
		files_add_not_seen(f);
	files_fill_table(f, table);
	aggregate_done(&f->keys);
}

void report_files(const struct report_context *c, struct table *table)
{
	files_report_traffic(c, table, OF_FILES);
}

void file_paths_sum(const struct report_context *c, struct table *table)
{
	files_report_traffic(c, table, OF_PATHS);
}

void report_sockets(const struct report_context *c, struct table *table)
{
	files_report_traffic(c, table, OF_SOCKETS);
}
