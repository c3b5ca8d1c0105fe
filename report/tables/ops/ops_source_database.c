/* SPDX-License-Identifier: Apache-2.0 */
/* The ranges and kernels of a database that Nsight Systems exported. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/sql_bounds.h"
#include "report/tables/ops/ops.h"

/* globalTid and globalPid have the process in the upper bits and the thread in the lower ones. */
enum { THREAD_BITS = 24 };

/* The call that launched a kernel. */
struct launch {
	uint64_t start, end, thread;
};

struct database {
	const char *path;
	sqlite3 *db;
	struct err *err;
	int code; /* -errno of the first failure */
	sqlite3_stmt *range_text, *string;
	struct ops ops;

	/* of one process */
	struct nvtx_node *ranges; /* by thread, then by start, longer ones first */
	int64_t *rows;		  /* of NVTX_EVENTS, by range */
	uint64_t *threads;	  /* likewise */
	size_t range_count, range_capacity, row_capacity, thread_capacity;
	struct launch *launches;
	size_t launch_count, launch_capacity;
	struct map by_correlation; /* correlation id -> place in `launches` + 1 */

	struct database_device {
		uint32_t id;
		struct device_properties properties;
	} *devices;
	size_t device_count, device_capacity;
};

/* ---- statements ---- */

static void fail(struct database *d)
{
	if (!d->code)
		d->code = err_set(d->err, -EINVAL, "%s: %s", d->path, sqlite3_errmsg(d->db));
}

/* NULL: it failed. */
static sqlite3_stmt *prepare(struct database *d, const char *sql, uint64_t process)
{
	sqlite3_stmt *ret = NULL;

	if (sqlite3_prepare_v2(d->db, sql, -1, &ret, NULL))
		fail(d);
	else if (sqlite3_bind_parameter_count(ret))
		sqlite3_bind_int64(ret, 1, (int64_t)process);
	return ret;
}

static bool next_row(struct database *d, sqlite3_stmt *s)
{
	int code = s ? sqlite3_step(s) : SQLITE_DONE;

	if (code != SQLITE_ROW && code != SQLITE_DONE)
		fail(d);
	return code == SQLITE_ROW;
}

static bool has_table(struct database *d, const char *name)
{
	sqlite3_stmt *s = prepare(d, "SELECT COUNT(*) FROM sqlite_master WHERE name = ?", 0);
	bool has = s && !sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC) && next_row(d, s) && sqlite3_column_int(s, 0);

	sqlite3_finalize(s);
	return has;
}

/* Appends the name of a column, or NULL where the version of nsys that wrote the table has none of that name. */
static void add_column(struct database *d, const char *table, const char *name, struct buffer *ret)
{
	sqlite3_stmt *s = prepare(d, "SELECT COUNT(*) FROM pragma_table_info(?) WHERE name = ?", 0);
	bool has = s && !sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC) &&
		   !sqlite3_bind_text(s, 2, name, -1, SQLITE_STATIC) && next_row(d, s) && sqlite3_column_int(s, 0);

	buffer_print(ret, "%s%s", ret->size ? ", " : "SELECT ", has ? name : "NULL");
	sqlite3_finalize(s);
}

static uint64_t column_number(sqlite3_stmt *s, int column)
{
	return (uint64_t)sqlite3_column_int64(s, column);
}

/* Appends what a prepared statement has for a key. */
static void text_by(sqlite3_stmt *s, int64_t key, struct buffer *ret)
{
	const char *text = NULL;

	if (!s)
		return;
	sqlite3_bind_int64(s, 1, key);
	if (sqlite3_step(s) == SQLITE_ROW)
		text = (const char *)sqlite3_column_text(s, 0);
	buffer_text(ret, text ? text : "");
	sqlite3_reset(s);
}

/* ---- what the table asks for ---- */

static void database_range_text(const void *source, size_t range, struct buffer *ret)
{
	const struct database *d = source;

	text_by(d->range_text, d->rows[range], ret);
}

static void database_kernel_name(const void *source, uint32_t name, struct buffer *ret)
{
	text_by(((const struct database *)source)->string, name, ret);
}

static const struct device_properties *database_device(void *source, uint32_t device)
{
	const struct database *d = source;
	const struct database_device *found = array_find(one, d->devices, d->device_count, one->id == device);

	return found ? &found->properties : NULL;
}

/* Clocks are in Hz there, the bandwidth in bytes per second. */
static void read_devices(struct database *d)
{
	static const char table[] = "TARGET_INFO_GPU",
			  *const columns[] = {"id", "computeMajor", "computeMinor", "smCount", "clockRate",
					      "memoryBandwidth"};
	SCOPED(buffer) query = {0};
	sqlite3_stmt *s;

	if (!has_table(d, table))
		return;
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		add_column(d, table, columns[i], &query);
	buffer_print(&query, " FROM %s", table);
	s = prepare(d, query.data, 0);
	while (next_row(d, s)) {
		static const uint8_t attributes[] = {TF_ATTRIBUTE_MAJOR, TF_ATTRIBUTE_MINOR, TF_ATTRIBUTE_SM_COUNT,
						     TF_ATTRIBUTE_CLOCK};
		struct database_device new = {.id = (uint32_t)column_number(s, 0)};

		for (int i = 0; i < (int)sizeof(attributes); i++) {
			new.properties.values[attributes[i]] =
				(int)(sqlite3_column_int64(s, 1 + i) /
				      (attributes[i] == TF_ATTRIBUTE_CLOCK ? 1000 : 1));
			new.properties.has[attributes[i]] = sqlite3_column_type(s, 1 + i) != SQLITE_NULL;
		}
		new.properties.bandwidth = sqlite3_column_double(s, 5);
		new.properties.is_known = true;
		mem_append(d->devices, d->device_count, d->device_capacity, new);
	}
	sqlite3_finalize(s);
}

/* ---- ranges ---- */

static void add_range(struct database *d, sqlite3_stmt *s)
{
	struct nvtx_node n = {.start = column_number(s, 1),
			      .end = column_number(s, 2),
			      .parent = NVTX_NO_PARENT,
			      .domain = sqlite3_column_int64(s, 4) != 0,
			      .is_pushpop = true};
	uint64_t thread = column_number(s, 3);
	size_t i = d->range_count, around = i ? i - 1 : NVTX_NO_PARENT;

	while (around != NVTX_NO_PARENT && (d->threads[around] != thread || d->ranges[around].end < n.end))
		around = d->ranges[around].parent;
	n.parent = around;
	d->ranges = mem_grow(d->ranges, i, &d->range_capacity, sizeof(*d->ranges));
	d->rows = mem_grow(d->rows, i, &d->row_capacity, sizeof(*d->rows));
	d->threads = mem_grow(d->threads, i, &d->thread_capacity, sizeof(*d->threads));
	d->ranges[i] = n;
	d->rows[i] = sqlite3_column_int64(s, 0);
	d->threads[i] = thread;
	d->range_count++;
}

/* Event types 59 and 70 are ranges that begin and end on one thread. */
static void read_ranges(struct database *d, uint64_t process)
{
	sqlite3_stmt *s;

	d->range_count = 0;
	if (!d->range_text)
		return;
	s = prepare(d,
		    "SELECT rowid, start, end, globalTid, domainId FROM NVTX_EVENTS WHERE eventType IN (59, 70) AND "
		    "end >= start AND globalTid >> 24 = ? ORDER BY globalTid, start, end DESC, rowid",
		    process);
	while (next_row(d, s))
		add_range(d, s);
	sqlite3_finalize(s);
}

/* The innermost range around a call. */
static size_t range_around(const struct database *d, const struct launch *l)
{
	size_t i = first_place(at, 0, d->range_count,
			       d->threads[at] < l->thread ||
				       (d->threads[at] == l->thread && d->ranges[at].start <= l->start));

	for (i = i ? i - 1 : NVTX_NO_PARENT; i != NVTX_NO_PARENT; i = d->ranges[i].parent)
		if (d->threads[i] == l->thread && d->ranges[i].end >= l->end)
			return i;
	return NVTX_NO_PARENT;
}

/* ---- kernels ---- */

/* A driver call inside of a runtime call may have the same id: the first one is the outer one. */
static void read_launches(struct database *d, uint64_t process)
{
	sqlite3_stmt *s = prepare(d,
				  "SELECT start, end, globalTid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE "
				  "globalTid >> 24 = ? ORDER BY start",
				  process);

	d->launch_count = 0;
	while (next_row(d, s)) {
		uint64_t *place = map_put(&d->by_correlation, column_number(s, 3), 0, NULL);

		if (*place)
			continue;
		mem_append(d->launches, d->launch_count, d->launch_capacity,
			   (struct launch){column_number(s, 0), column_number(s, 1),
					   column_number(s, 2)});
		*place = d->launch_count;
	}
	sqlite3_finalize(s);
}

static void add_kernel(struct database *d, sqlite3_stmt *s)
{
	uint64_t start = column_number(s, 0), end = column_number(s, 1);
	const uint64_t *place = map_find(&d->by_correlation, column_number(s, 2), 0);
	struct op op = {.start_ns = start,
			.duration_ns = end > start ? end - start : 0,
			.name = (uint32_t)column_number(s, 3),
			.device = (uint32_t)column_number(s, 4),
			.stream = (uint32_t)column_number(s, 5),
			.range = NVTX_NO_PARENT};

	for (int i = 0; i < 3; i++) {
		op.grid[i] = (uint32_t)column_number(s, 6 + i);
		op.block[i] = (uint32_t)column_number(s, 9 + i);
	}
	if (place) {
		op.tid = (uint32_t)(d->launches[*place - 1].thread & ((1u << THREAD_BITS) - 1));
		op.range = range_around(d, &d->launches[*place - 1]);
	}
	ops_add(&d->ops, &op);
}

static void add_process(struct database *d, uint64_t process, struct table *table)
{
	sqlite3_stmt *s;

	read_ranges(d, process);
	read_launches(d, process);
	s = prepare(d,
		    "SELECT start, end, correlationId, shortName, deviceId, streamId, gridX, gridY, gridZ, blockX, "
		    "blockY, blockZ FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE globalPid >> 24 = ?",
		    process);
	while (next_row(d, s))
		add_kernel(d, s);
	sqlite3_finalize(s);
	d->ops.ranges = d->ranges;
	d->ops.range_count = d->range_count;
	ops_rows(&d->ops, table);
	map_done(&d->by_correlation);
	d->by_correlation = (struct map){0};
}

static void read_database(struct database *d, struct table *table)
{
	sqlite3_stmt *s;

	if (!has_table(d, "CUPTI_ACTIVITY_KIND_KERNEL") || !has_table(d, "CUPTI_ACTIVITY_KIND_RUNTIME")) {
		if (!d->code)
			d->code = err_set(d->err, -ENODATA,
					  "%s: no CUPTI_ACTIVITY_KIND_KERNEL and CUPTI_ACTIVITY_KIND_RUNTIME: it is "
					  "not an export of Nsight Systems with kernels",
					  d->path);
		return;
	}
	read_devices(d);
	if (has_table(d, "NVTX_EVENTS"))
		d->range_text = prepare(d,
					"SELECT COALESCE(text, (SELECT value FROM StringIds WHERE id = textId)) FROM "
					"NVTX_EVENTS WHERE rowid = ?",
					0);
	d->string = prepare(d, "SELECT value FROM StringIds WHERE id = ?", 0);
	s = prepare(d,
		    "SELECT globalPid >> 24 FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1 ORDER BY MIN(start)", 0);
	while (!d->code && next_row(d, s))
		add_process(d, column_number(s, 0), table);
	sqlite3_finalize(s);
	sqlite3_finalize(d->range_text);
	sqlite3_finalize(d->string);
}

int ops_of_database(const char *path, uint32_t seconds, struct table *table, struct err *err)
{
	struct sql_bounds bounds;
	struct database d = {.path = path,
			     .err = err,
			     .ops = {.source = &d,
				     .range_text = database_range_text,
				     .kernel_name = database_kernel_name,
				     .device = database_device}};

	if (sqlite3_open_v2(path, &d.db, SQLITE_OPEN_READONLY, NULL)) {
		fail(&d);
	} else {
		sql_bound(d.db, &bounds, seconds, 0);
		sql_bound_restart(&bounds);
		read_database(&d, table);
		sql_bound_end(&bounds);
		if (d.code && bounds.has_expired)
			err_set(err, d.code, "%s: reading it takes longer than %" PRIu32 " s (--time-limit)", path,
				seconds);
	}
	sqlite3_close(d.db);
	ops_done(&d.ops);
	free(d.ranges);
	free(d.rows);
	free(d.threads);
	free(d.launches);
	free(d.devices);
	return d.code;
}
