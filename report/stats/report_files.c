/* SPDX-License-Identifier: Apache-2.0 */
/* files, sockets: recorded OS calls by what their file descriptor referred to, without calls below the threshold. */
#include <stdlib.h>
#include <string.h>

#include "report/derive/events/descriptor.h"
#include "report/stats/report.h"

enum role { ROLE_OTHER, ROLE_OPEN, ROLE_MEET, ROLE_CLOSE, ROLE_READ, ROLE_WRITE, ROLE_UNKNOWN };

/* What the result of a call is: OPEN: a new descriptor; READ and WRITE: bytes; MEET: connects or accepts. Matched by
 * the beginning of the name; the first match applies. */
static const struct {
	const char *prefix;
	enum role role;
} roles[] = {
	{"open", ROLE_OPEN},
	{"creat", ROLE_OPEN},
	{"fopen", ROLE_OPEN},
	{"mkstemp", ROLE_OPEN},
	{"mkostemp", ROLE_OPEN},
	{"connect", ROLE_MEET},
	{"accept", ROLE_MEET},
	{"close", ROLE_CLOSE},
	{"fclose", ROLE_CLOSE},
	{"pclose", ROLE_CLOSE},
	{"mq_close", ROLE_CLOSE},
	{"readahead", ROLE_OTHER},
	{"readdir", ROLE_OTHER},
	{"recvmmsg", ROLE_OTHER},
	{"sendmmsg", ROLE_OTHER},
	{"mq_send", ROLE_OTHER},
	{"read", ROLE_READ},
	{"pread", ROLE_READ},
	{"recv", ROLE_READ},
	{"fread", ROLE_READ},
	{"fget", ROLE_READ},
	{"get", ROLE_READ},
	{"mq_receive", ROLE_READ},
	{"mq_timedreceive", ROLE_READ},
	{"write", ROLE_WRITE},
	{"pwrite", ROLE_WRITE},
	{"send", ROLE_WRITE},
	{"fwrite", ROLE_WRITE},
	{"fput", ROLE_WRITE},
	{"put", ROLE_WRITE},
	{"copy_file_range", ROLE_WRITE},
	{"splice", ROLE_WRITE},
	{"tee", ROLE_WRITE},
	{"vmsplice", ROLE_WRITE},
};

struct traffic {
	uint64_t total_ns, longest_ns, calls, opens, reads, read_bytes, writes, written_bytes;
};

struct traffics {
	struct scan scan;
	bool is_sockets;
	const struct image *image; /* the trace for which descriptors and roles are valid */
	struct descriptors descriptors;
	uint8_t role[1u << 11];
	struct aggregate keys; /* only for the keys; the numbers are in rows, in the same order */
	struct traffic *rows;
	size_t row_count, row_capacity;
};

static enum role role_of(const char *name)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (!strncmp(name, roles[i].prefix, strlen(roles[i].prefix)))
			return roles[i].role;
	return ROLE_OTHER;
}

static void enter_image(struct traffics *t)
{
	if (t->image == t->scan.image)
		return;
	t->image = t->scan.image;
	descriptors_done(&t->descriptors);
	descriptors_init(&t->descriptors, t->image->trace);
	memset(t->role, ROLE_UNKNOWN, sizeof(t->role));
}

static enum role event_role(struct traffics *t, uint32_t function)
{
	const struct function *f = trace_function(t->image->trace, function);

	if (!f || function >= sizeof(t->role))
		return ROLE_OTHER;
	if (t->role[function] == ROLE_UNKNOWN)
		t->role[function] = (uint8_t)role_of(f->name);
	return t->role[function];
}

static bool traffic_key(struct scan *s, const void *descriptor, struct buffer *fields)
{
	const struct traffics *t = s->more;

	if (descriptor)
		descriptors_text(&t->descriptors, descriptor, fields);
	if (!fields->size)
		buffer_text(fields, "(not known)");
	return true;
}

static struct traffic *traffic_row(struct traffics *t, const struct descriptor *d, uint64_t start)
{
	uint32_t row =
		scan_row_of(&t->scan, start, d ? (uint64_t)(d - t->descriptors.items) : UINT64_MAX, traffic_key, d);

	while (t->row_count <= row) {
		t->rows = mem_grow(t->rows, t->row_count, &t->row_capacity, sizeof(*t->rows));
		t->rows[t->row_count++] = (struct traffic){0};
	}
	return &t->rows[row];
}

static void files_add_call(struct traffic *r, const struct scan *s, const struct event *e, enum role role,
			   int64_t result)
{
	uint64_t duration = clock_map_duration(s->clock, e->duration), many = tf_arg_value(event_arg(e, TF_ARG_BYTES));
	uint64_t bytes = many ? many : result > 0 ? (uint64_t)result : 0;

	r->calls++;
	r->total_ns += duration;
	if (duration > r->longest_ns)
		r->longest_ns = duration;
	r->opens += (role == ROLE_OPEN || role == ROLE_MEET) && result >= 0;
	if (role == ROLE_READ) {
		r->reads++;
		r->read_bytes += bytes;
	} else if (role == ROLE_WRITE) {
		r->writes++;
		r->written_bytes += bytes;
	}
}

static void files_visit_call(struct scan *s, const struct event *e)
{
	struct traffics *t = s->more;
	uint64_t arg = e->kind == TF_CALL && e->args_count ? event_arg(e, TF_ARG_FD) : 0,
		 fd = tf_arg_value(arg) & 0xffff;
	int64_t result = (int32_t)(tf_arg_value(arg) >> 16);
	const struct descriptor *d;
	enum role role;

	if (!arg)
		return;
	enter_image(t);
	role = event_role(t, e->id);
	if (role == ROLE_OPEN)
		fd = result < 0 || result >= 0xffff ? 0xffff : (uint64_t)result;
	if (fd == 0xffff)
		return; /* a failed open, an unconnected socket, or a number that is too large */
	d = descriptors_find(&t->descriptors, fd, role == ROLE_CLOSE ? event_start(e) : e->ticks);
	if (t->is_sockets != (d && d->kind == TF_DESCRIPTOR_SOCKET))
		return;
	files_add_call(traffic_row(t, d, event_start(e)), s, e, role, result);
}

/* ---- the table ---- */

static int files_by_total(size_t a, size_t b, const void *context)
{
	const struct traffic *rows = context;

	return order_of(rows[b].total_ns, rows[a].total_ns);
}

static void files_columns(const struct traffics *t, struct table *table)
{
	table->hides_zeros = true;
	by_column(t->scan.context, table);
	table_has(table, {"Time (%)", COLUMN_PERCENT}, {"Total Time (ns)", COLUMN_NS}, {"Num Calls", COLUMN_COUNT},
		  {"Max (ns)", COLUMN_NS}, {t->is_sockets ? "Connects" : "Opens", COLUMN_COUNT},
		  {t->is_sockets ? "Receives" : "Reads", COLUMN_COUNT},
		  {t->is_sockets ? "Received (bytes)" : "Read (bytes)", COLUMN_COUNT},
		  {t->is_sockets ? "Sends" : "Writes", COLUMN_COUNT},
		  {t->is_sockets ? "Sent (bytes)" : "Written (bytes)", COLUMN_COUNT},
		  {t->is_sockets ? "Peer" : "Path", COLUMN_TEXT});
}

static void files_fill_table(const struct traffics *t, struct table *table)
{
	size_t *order = places_in_order(t->row_count, files_by_total, t->rows);
	double all = 0;

	for (size_t i = 0; i < t->row_count; i++)
		all += (double)t->rows[i].total_ns;
	for (size_t i = 0; i < t->row_count; i++) {
		const struct traffic *r = &t->rows[order[i]];
		const struct aggregate_row *key = &t->keys.rows[order[i]];
		size_t field = 0;

		if (t->scan.context->by != BY_NOTHING)
			by_cell(t->scan.context, table, aggregate_field(key, field++));
		table_real(table, all > 0 ? 100 * (double)r->total_ns / all : 0);
		table_number(table, r->total_ns);
		table_number(table, r->calls);
		table_number(table, r->longest_ns);
		table_number(table, r->opens);
		table_number(table, r->reads);
		table_number(table, r->read_bytes);
		table_number(table, r->writes);
		table_number(table, r->written_bytes);
		table_text(table, aggregate_field(key, field));
	}
	free(order);
}

static int files_report_traffic(const struct report_context *c, struct table *table, bool is_sockets)
{
	struct traffics *t = mem_alloc(sizeof(*t));

	t->is_sockets = is_sockets;
	t->scan = (struct scan){.context = c, .aggregate = &t->keys, .args = 1u << TF_ARG_FD, .more = t};
	files_columns(t, table);
	scan_events(&t->scan, files_visit_call);
	files_fill_table(t, table);
	descriptors_done(&t->descriptors);
	aggregate_done(&t->keys);
	free(t->rows);
	free(t);
	return 0;
}

int report_files(const struct report_context *c, struct table *table, struct err *err)
{
	(void)err;
	return files_report_traffic(c, table, false);
}

int report_sockets(const struct report_context *c, struct table *table, struct err *err)
{
	(void)err;
	return files_report_traffic(c, table, true);
}
