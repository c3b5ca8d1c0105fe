/* SPDX-License-Identifier: Apache-2.0 */
/* files_rank_sum, files_size_sum, files_meta_sum: the I/O of a job by file over its ranks, by size of access, and the
 * load on servers of metadata by directory. A process that is of no rank counts as one of its own. */
#include <stdlib.h>
#include <string.h>

#include "report/events/file_calls.h"
#include "report/tables/report.h"

/* ---- ranks ---- */

struct sharers {
	struct aggregate names; /* "3", or "pid 17 on host" */
	uint32_t *of_process;
};

static void sharers_find(struct sharers *all, const struct model *m)
{
	SCOPED(buffer) name = {0};

	all->of_process = mem_alloc(m->process_count * sizeof(*all->of_process));
	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *p = &m->processes[i];

		buffer_clear(&name);
		if (*p->rank)
			buffer_text(&name, p->rank);
		else
			buffer_print(&name, "pid %u on %s", p->pid, m->machines[p->machine].host);
		buffer_add(&name, "", 1);
		all->of_process[i] = aggregate_row(&all->names, name.data, name.size);
	}
}

static const char *sharer_name(const struct sharers *all, uint32_t sharer)
{
	return aggregate_field(&all->names.rows[sharer], 0);
}

static void sharers_done(struct sharers *all)
{
	aggregate_done(&all->names);
	free(all->of_process);
}

/* ---- files over ranks ---- */

/* What one rank did with one file. */
struct file_share {
	uint32_t file, sharer;
	uint64_t ns, bytes;
};

struct ranked_file {
	uint64_t ns, opens, reads, read_bytes, writes, written_bytes;
	uint64_t first_ns; /* of the first recorded open; 0: none */
	uint32_t first_by;
	uint64_t sharers, least_ns, most_ns, least_bytes, most_bytes;
	uint32_t most_by;
};

struct file_ranks {
	const struct model *model;
	struct sharers sharers;
	struct map places; /* file, sharer -> position in `shares` */
	struct file_share *shares;
	size_t share_count, share_capacity;
	struct file_calls *calls; /* the rows of its paths are with struct ranked_file */
};

static struct file_share *share_of(struct file_ranks *r, uint32_t file, uint32_t sharer)
{
	size_t place = map_place(&r->places, file, sharer, r->shares, r->share_count, r->share_capacity,
				 (struct file_share){.file = file, .sharer = sharer});

	return &r->shares[place];
}

/* Of a call on a path, only the directory is known. */
static bool is_directory(const char *path)
{
	size_t length = strlen(path);

	return length && path[length - 1] == '/';
}

static void visit_rank(struct file_calls *f, const struct file_call *call)
{
	struct file_ranks *r = f->more;
	uint32_t sharer = r->sharers.of_process[call->image->process], row = call->file;
	struct file_share *share;
	struct ranked_file *file;

	if (row == FILE_UNKNOWN && call->role != ROLE_READ && call->role != ROLE_WRITE)
		return; /* it may be the call of a path */
	if (row != FILE_UNKNOWN && is_directory(file_path(f, row)))
		return;
	if (row == FILE_UNKNOWN)
		row = aggregate_row(&f->paths, FILE_NOT_KNOWN, sizeof(FILE_NOT_KNOWN));
	file = aggregate_more(&f->paths, row, sizeof(*file));
	share = share_of(r, row, sharer);
	share->ns += call->ns;
	share->bytes += call->bytes;
	file->ns += call->ns;
	if (call->role == ROLE_READ) {
		file->reads += call->transfers;
		file->read_bytes += call->bytes;
	} else if (call->role == ROLE_WRITE) {
		file->writes += call->transfers;
		file->written_bytes += call->bytes;
	} else if (call->role == ROLE_OPEN) {
		uint64_t at = clock_map_ns(&r->model->machines[call->image->machine].clock, call->start_ticks);

		file->opens += call->calls;
		if (!file->first_ns || at < file->first_ns) {
			file->first_ns = at;
			file->first_by = sharer;
		}
	}
}

static void files_spread(struct file_ranks *r)
{
	array_each(const struct file_share, s, r->shares, r->share_count) {
		struct ranked_file *f = r->calls->paths.rows[s->file].more;
		bool is_first = !f->sharers++;

		if (is_first || s->ns < f->least_ns)
			f->least_ns = s->ns;
		if (is_first || s->bytes < f->least_bytes)
			f->least_bytes = s->bytes;
		f->most_bytes = larger_of(f->most_bytes, s->bytes);
		if (is_first || s->ns > f->most_ns) {
			f->most_ns = s->ns;
			f->most_by = s->sharer;
		}
	}
}

/* Paths without a call that counts are last. */
ROW_COMPARATOR(files_by_time, struct ranked_file, order_of(b ? b->ns + 1 : 0, a ? a->ns + 1 : 0))

static void file_row(const struct file_ranks *r, const struct ranked_file *f, const char *path, double all,
		     struct table *table)
{
	table_cells(table, share_percent((double)f->ns, all), f->ns, f->sharers, f->opens, f->reads, f->read_bytes,
		    f->writes, f->written_bytes, f->least_ns, f->most_ns, sharer_name(&r->sharers, f->most_by),
		    f->least_bytes, f->most_bytes);
	table_cells(table, cell_if(f->first_ns, model_since_origin(r->model, f->first_ns)),
		    f->first_ns ? sharer_name(&r->sharers, f->first_by) : "", path);
}

void report_files_rank_sum(const struct report_context *c, struct table *table)
{
	SCOPED_MEMORY struct file_calls *f = mem_alloc(sizeof(*f));
	struct file_ranks r = {.model = c->model, .calls = f};
	double all = 0;

	table_has(table, COL_TIME_PERCENT, COL_TOTAL_TIME_NS, COL_RANKS, COL_OPENS, COL_READS, COL_READ_BYTES,
		  COL_WRITES, COL_WRITTEN_BYTES, COL_LEAST_OF_A_RANK_NS, COL_MOST_OF_A_RANK_NS, COL_SLOWEST_RANK,
		  COL_LEAST_OF_A_RANK_BYTES, COL_MOST_OF_A_RANK_BYTES, COL_FIRST_OPEN_NS, COL_FIRST_OPENED_BY,
		  COL_PATH);
	sharers_find(&r.sharers, c->model);
	f->visit = visit_rank;
	f->more = &r;
	file_calls_read(f, c);
	files_spread(&r);
	aggregate_sort_by(&f->paths, files_by_time);
	all = array_sum(path, f->paths.rows, f->paths.count,
			path->more ? (double)((const struct ranked_file *)path->more)->ns : 0);
	for (size_t i = 0; i < f->paths.count && f->paths.rows[i].more; i++)
		file_row(&r, f->paths.rows[i].more, file_path(f, (uint32_t)i), all, table);
	free(r.shares);
	map_done(&r.places);
	sharers_done(&r.sharers);
	file_calls_done(f);
}

/* ---- sizes ---- */

/* Those of Darshan. */
static const struct {
	uint64_t least;
	const char *name;
} sizes[] = {
	{0, "0 - 100"},		      {101, "101 - 1K"},	{1025, "1K - 10K"},	{10241, "10K - 100K"},
	{102401, "100K - 1M"},	      {1048577, "1M - 4M"},	{4194305, "4M - 10M"},	{10485761, "10M - 100M"},
	{104857601, "100M - 1G"},     {1073741825, "over 1G"},
};
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

struct size_sums {
	uint64_t calls, counted, bytes, ns;
};

struct size_of {
	bool is_write;
	size_t size;
};

struct by_size {
	struct aggregate keys; /* with struct size_sums */
	struct scan scan;
};

/* The number sorts the rows. */
static bool size_key(struct scan *s, const void *of, struct buffer *fields)
{
	const struct size_of *size = of;

	(void)s;
	buffer_text(fields, size->is_write ? "write" : "read");
	buffer_print(fields, "%c%02zu", 0, size->size);
	return true;
}

static void visit_size(struct file_calls *f, const struct file_call *call)
{
	struct by_size *all = f->more;
	struct size_of of = {.is_write = call->role == ROLE_WRITE, .size = SIZES - 1};
	uint64_t each = call->transfers ? call->bytes / call->transfers : 0;
	struct size_sums *row;
	uint32_t at;

	if (call->role != ROLE_READ && call->role != ROLE_WRITE)
		return;
	while (of.size && each < sizes[of.size].least)
		of.size--;
	all->scan.image = call->image;
	all->scan.thread = call->thread;
	if (!call->thread || (!call->transfers && call->calls))
		return; /* a call of stdio that used the buffer only */
	at = scan_row_of(&all->scan, call->start_ticks, of.is_write * SIZES + of.size, size_key, &of);
	all->keys.rows[at].report_value = of.size;
	row = aggregate_more(&all->keys, at, sizeof(*row));
	row->calls += call->transfers;
	row->counted += call->is_sum ? call->transfers : 0;
	row->bytes += call->bytes;
	row->ns += call->ns;
}

COMPARATOR(sizes_in_order, struct aggregate_row,
	   memcmp(a->key, b->key, smaller_of(a->key_size, b->key_size)) ?: order_of(a->key_size, b->key_size))

void report_files_size_sum(const struct report_context *c, struct table *table)
{
	SCOPED_MEMORY struct file_calls *f = mem_alloc(sizeof(*f));
	struct by_size all = {.scan.context = c};

	by_column(c, table);
	table_has(table, COL_OPERATION, COL_SIZE_BYTES, COL_NUM_CALLS, COL_BY_MEAN, COL_BYTES, COL_TOTAL_TIME_NS);
	all.scan.aggregate = &all.keys;
	f->visit = visit_size;
	f->more = &all;
	file_calls_read(f, c);
	aggregate_sort_by(&all.keys, sizes_in_order);
	array_each(const struct aggregate_row, key, all.keys.rows, all.keys.count) {
		const struct size_sums *row = key->more;

		table_cells(table, aggregate_field(key, by_key_cell(c, table, key)), sizes[key->report_value].name,
			    row->calls, row->counted, row->bytes, row->ns);
	}
	aggregate_done(&all.keys);
	file_calls_done(f);
}

/* ---- metadata ---- */

struct directory {
	uint64_t ns, calls[METADATA_KINDS], failed[METADATA_KINDS], sharers, files;
};

struct directories {
	struct sharers sharers;
	struct aggregate keys; /* the directories, with struct directory */
	struct map seen;       /* directory and sharer; directory and file << 32 | UINT32_MAX */
};

/* Of the path; "(not known)" if the calls are known by function alone. */
static uint32_t directory_of(struct directories *all, const struct file_calls *f, uint32_t file)
{
	const char *path = file_path(f, file), *slash = strrchr(path, '/');
	size_t length = !slash ? strlen(path) : slash == path ? 1 : (size_t)(slash - path);
	SCOPED_MEMORY char *name = mem_copy_text(path, length);

	return aggregate_row(&all->keys, name, length + 1);
}

static void visit_metadata(struct file_calls *f, const struct file_call *call)
{
	struct directories *all = f->more;
	uint32_t row, sharer = all->sharers.of_process[call->image->process];
	struct directory *d;
	bool is_new;

	if (call->metadata == METADATA_NONE)
		return;
	row = directory_of(all, f, call->file);
	d = aggregate_more(&all->keys, row, sizeof(*d));
	map_put(&all->seen, row, sharer, &is_new);
	d->sharers += is_new;
	if (call->file != FILE_UNKNOWN && !is_directory(file_path(f, call->file))) {
		map_put(&all->seen, row, (uint64_t)call->file << 32 | UINT32_MAX, &is_new);
		d->files += is_new;
	}
	d->ns += call->ns;
	d->calls[call->metadata] += call->calls;
	d->failed[call->metadata] += call->failed;
}

ROW_COMPARATOR(directories_by_time, struct directory, order_of(b->ns, a->ns))

void report_files_meta_sum(const struct report_context *c, struct table *table)
{
	SCOPED_MEMORY struct file_calls *f = mem_alloc(sizeof(*f));
	struct directories all = {0};

	table_has(table, COL_TOTAL_TIME_NS, COL_RANKS, COL_FILES, COL_OPENS, COL_FAILED_OPENS, COL_STATS,
		  COL_FAILED_STATS, COL_CHANGES, COL_FAILED_CHANGES, COL_DIRECTORY);
	sharers_find(&all.sharers, c->model);
	f->visit = visit_metadata;
	f->more = &all;
	file_calls_read(f, c);
	aggregate_sort_by(&all.keys, directories_by_time);
	array_each(const struct aggregate_row, row, all.keys.rows, all.keys.count) {
		const struct directory *d = row->more;

		table_cells(table, d->ns, d->sharers, d->files, d->calls[METADATA_OPEN], d->failed[METADATA_OPEN],
			    d->calls[METADATA_STAT], d->failed[METADATA_STAT], d->calls[METADATA_CHANGE],
			    d->failed[METADATA_CHANGE], aggregate_field(row, 0));
	}
	map_done(&all.seen);
	aggregate_done(&all.keys);
	sharers_done(&all.sharers);
	file_calls_done(f);
}
