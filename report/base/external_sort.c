/* SPDX-License-Identifier: Apache-2.0 */
#include "report/base/external_sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1024 }; /* items of a run that are in memory during the merge */

struct sorted_run {
	uint64_t offset, left; /* what is still in the file, in items */
	uint8_t *piece;	       /* NULL: the items that never left memory */
	const uint8_t *at;     /* in memory; the next item */
	size_t have;
};

void external_sort_init(struct external_sort *r, size_t item_bytes, size_t held,
			int (*compare)(const void *, const void *))
{
	*r = (struct external_sort){.item_bytes = item_bytes, .held = held, .compare = compare, .fd = -1};
}

static int open_unnamed_file(void)
{
	const char *wished = getenv("TMPDIR"), *directory = wished && *wished ? wished : "/var/tmp";
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	SCOPED(buffer) name = {0};

	if (fd >= 0)
		return fd;
	buffer_print(&name, "%s/pillion-report.XXXXXX", directory);
	fd = mkostemp(name.data, O_CLOEXEC);
	if (fd >= 0)
		unlink(name.data);
	return fd;
}

static bool write_fully(int fd, const uint8_t *data, size_t size, uint64_t at)
{
	while (size) {
		ssize_t n = pwrite(fd, data, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		size -= (size_t)n;
		at += (uint64_t)n;
	}
	return true;
}

static void add_run(struct external_sort *r, struct sorted_run run)
{
	mem_append(r->runs, r->run_count, r->run_capacity, run);
}

static void spill_run(struct external_sort *r)
{
	size_t size = r->count * r->item_bytes;

	sort_unless_sorted(r->items, r->count, r->item_bytes, r->compare);
	if (r->fd < 0)
		r->fd = open_unnamed_file();
	r->is_stuck = r->fd < 0 || !write_fully(r->fd, r->items, size, r->file_bytes);
	if (r->is_stuck)
		return;
	add_run(r, (struct sorted_run){.offset = r->file_bytes, .left = r->count});
	r->file_bytes += size;
	r->count = 0;
}

void *external_sort_add(struct external_sort *r)
{
	uint8_t *place;

	if (r->count >= r->held && !r->is_stuck)
		spill_run(r);
	r->items = mem_grow(r->items, r->count, &r->capacity, r->item_bytes);
	place = r->items + r->count++ * r->item_bytes;
	memset(place, 0, r->item_bytes);
	return place;
}

/* ---- merging ---- */

/* False: the run is exhausted. A disk that fails to return what it accepted is handled like a lack of memory. */
static bool run_fill(struct external_sort *r, struct sorted_run *run)
{
	size_t count = run->left < PIECE ? (size_t)run->left : PIECE, size = count * r->item_bytes, done = 0;

	while (done < size) {
		ssize_t n = pread(r->fd, run->piece + done, size - done, (off_t)(run->offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			mem_failed();
		done += (size_t)n;
	}
	run->offset += size;
	run->left -= count;
	run->at = run->piece;
	run->have = count;
	return count;
}

static bool run_is_before(const struct external_sort *r, size_t a, size_t b)
{
	int order = r->compare(r->runs[a].at, r->runs[b].at);

	return order ? order < 0 : a < b;
}

static void sink_down(struct external_sort *r, size_t at)
{
	for (;;) {
		size_t least = at, moved = r->heap[at];

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < r->heap_count; child++)
			if (run_is_before(r, r->heap[child], r->heap[least]))
				least = child;
		if (least == at)
			return;
		r->heap[at] = r->heap[least];
		r->heap[least] = moved;
		at = least;
	}
}

static void begin_merging(struct external_sort *r)
{
	r->is_merging = true;
	sort_unless_sorted(r->items, r->count, r->item_bytes, r->compare);
	for (size_t i = 0; i < r->run_count; i++) {
		r->runs[i].piece = mem_alloc(PIECE * r->item_bytes);
		run_fill(r, &r->runs[i]);
	}
	if (r->count)
		add_run(r, (struct sorted_run){.at = r->items, .have = r->count});
	r->heap = mem_alloc((r->run_count + 1) * sizeof(*r->heap));
	r->heap_count = r->run_count;
	for (size_t i = 0; i < r->heap_count; i++)
		r->heap[i] = i;
	for (size_t i = r->heap_count / 2; i > 0; i--)
		sink_down(r, i - 1);
}

/* The item returned last is released only now, because the caller borrowed it. */
static void advance_first_run(struct external_sort *r)
{
	struct sorted_run *run = &r->runs[r->heap[0]];

	run->at += r->item_bytes;
	if (!--run->have && !(run->left && run_fill(r, run)))
		r->heap[0] = r->heap[--r->heap_count];
	if (r->heap_count)
		sink_down(r, 0);
}

const void *external_sort_next(struct external_sort *r)
{
	if (!r->is_merging)
		begin_merging(r);
	else if (r->heap_count)
		advance_first_run(r);
	return r->heap_count ? r->runs[r->heap[0]].at : NULL;
}

void external_sort_done(struct external_sort *r)
{
	array_free(run, r->runs, r->run_count, free(run->piece));
	free(r->items);
	free(r->heap);
	if (r->fd >= 0)
		close(r->fd);
	*r = (struct external_sort){.fd = -1};
}
