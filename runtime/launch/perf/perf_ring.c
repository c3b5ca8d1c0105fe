/* SPDX-License-Identifier: Apache-2.0 */
/* The events and rings of perf_event_open(2). The event is the software clock of the task in user mode, which needs no
 * performance counters and is permitted up to perf_event_paranoid 2. Inherited events cannot share a ring across CPUs,
 * so each CPU has a ring and each sampled thread an event for each CPU. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/perf/perf.h"

/* A quarter of what the launchers of an unprivileged user may lock together for each CPU (perf_event_mlock_kb, 516), or
 * less if others have locked that much. */
enum { RING_PAGES_MOST = 32, RING_PAGES_LEAST = 4 };

struct ring {
	struct perf_event_mmap_page *page; /* NULL: the CPU has no event yet */
	size_t bytes;			   /* of its data */
	int fd;				   /* of the event that owns the ring; a duplicate, which is never closed */
};

static struct {
	struct ring *items; /* by CPU */
	long count;
	size_t page_bytes;
	struct perf_events *events; /* all that are open */
} rings;

/* Records that were read and not yet passed on. */
static struct {
	uint8_t *bytes;
	size_t used, room;
} held;

struct perf_counts perf_counts;

static struct perf_event_attr perf_attributes(const struct options *o, bool on_exec)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.size = sizeof(struct perf_event_attr),
		.sample_period = 1000000000 / o->sampling_frequency,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
		.sample_max_stack = (uint16_t)o->backtrace_depth,
		.disabled = on_exec,
		.enable_on_exec = on_exec,
		.inherit = true,
		.exclude_kernel = true,
		.exclude_hv = true,
		.exclude_callchain_kernel = true,
		.mmap = true,
		.mmap2 = true,
		.comm = true,
		.comm_exec = true,
		.task = true,
		.sample_id_all = true,
		.watermark = true, /* nothing waits for the event */
		.wakeup_watermark = UINT32_MAX,
		.use_clockid = true,
		.clockid = CLOCK_MONOTONIC,
	};
}

static int event_open(struct perf_event_attr *attributes, pid_t tid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attributes, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EOVERFLOW && attributes->sample_max_stack) {
		attributes->sample_max_stack = 0; /* as many as kernel.perf_event_max_stack allows */
		fd = (int)syscall(SYS_perf_event_open, attributes, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

int perf_ring_probe(const struct options *o)
{
	struct perf_event_attr attributes = perf_attributes(o, true);
	int fd = event_open(&attributes, 0, -1);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static bool rings_prepare(void)
{
	struct rlimit limit;

	if (rings.items)
		return true;
	rings.count = sysconf(_SC_NPROCESSORS_CONF);
	rings.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	rings.items = calloc((size_t)rings.count, sizeof(*rings.items));
	if (!getrlimit(RLIMIT_NOFILE, &limit)) { /* COMMAND has been started with its own limit */
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return rings.items;
}

/* No signal announces that the ring fills up: with O_ASYNC the kernel sends one for each sample. */
static int ring_map(struct ring *ring, int fd)
{
	void *at = MAP_FAILED;

	for (size_t pages = RING_PAGES_MOST; pages >= RING_PAGES_LEAST && at == MAP_FAILED; pages /= 2) {
		ring->bytes = pages * rings.page_bytes;
		at = mmap(NULL, ring->bytes + rings.page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (at == MAP_FAILED)
		return -errno;
	ring->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (ring->fd < 0) {
		munmap(at, ring->bytes + rings.page_bytes);
		return -errno;
	}
	ring->page = at;
	return 0;
}

/* Adds the event of one thread for one CPU. 0 or -errno. */
static int events_add(struct perf_events **events, struct perf_event_attr *attributes, pid_t tid, int cpu)
{
	struct ring *ring = &rings.items[cpu];
	struct perf_events *more;
	int fd, rc;

	fd = event_open(attributes, tid, cpu);
	if (fd < 0)
		return fd == -ENODEV ? 0 : fd; /* this CPU is offline */
	rc = !ring->page ? ring_map(ring, fd) : ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) ? -errno : 0;
	more = rc ? NULL : realloc(*events, sizeof(**events) + ((*events)->count + 1) * sizeof(int));
	if (!more) {
		close(fd);
		return rc ? rc : -ENOMEM;
	}
	*events = more;
	more->fds[more->count++] = fd;
	return 0;
}

static void events_free(struct perf_events *events)
{
	for (size_t i = 0; events && i < events->count; i++)
		close(events->fds[i]);
	free(events);
}

int perf_ring_open(const struct options *o, pid_t pid, bool on_exec, struct perf_events **ret_events)
{
	struct perf_event_attr attributes = perf_attributes(o, on_exec);
	struct perf_events *events = calloc(1, sizeof(*events));
	char path[32];
	struct dirent *entry;
	DIR *d;
	int rc = events && rings_prepare() ? 0 : -ENOMEM;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (!rc && d && (entry = readdir(d))) {
		pid_t tid = atoi(entry->d_name);

		for (int cpu = 0; tid > 0 && cpu < rings.count && !rc; cpu++)
			rc = events_add(&events, &attributes, tid, cpu);
		if (events)
			events->threads += tid > 0 && !rc;
		if (rc == -ESRCH && tid != pid)
			rc = 0; /* a thread that has ended */
	}
	if (!d && !rc)
		rc = -ESRCH;
	if (d)
		closedir(d);
	if (!rc) {
		events->next = rings.events;
		if (events->next)
			events->next->previous = events;
		rings.events = events;
		*ret_events = events;
		return 0;
	}
	events_free(events);
	*ret_events = NULL;
	return rc;
}

void perf_ring_close(struct perf_events *events)
{
	if (!events)
		return;
	if (events->next)
		events->next->previous = events->previous;
	*(events->previous ? &events->previous->next : &rings.events) = events->next;
	events_free(events);
}

void perf_ring_end(void)
{
	while (rings.events)
		perf_ring_close(rings.events);
	for (long cpu = 0; cpu < rings.count; cpu++)
		if (rings.items[cpu].page)
			close(rings.items[cpu].fd);
}

/* ---- reading ---- */

static void ring_copy(const struct ring *ring, uint64_t from, void *to, size_t size)
{
	const uint8_t *data = (const uint8_t *)ring->page + rings.page_bytes;
	size_t at = from % ring->bytes, first = size < ring->bytes - at ? size : ring->bytes - at;

	memcpy(to, data + at, first);
	memcpy((uint8_t *)to + first, data, size - first);
}

static bool held_reserve(size_t size)
{
	uint8_t *more;

	if (held.used + size <= held.room)
		return true;
	more = realloc(held.bytes, (held.used + size) * 2);
	if (!more)
		return false;
	held.bytes = more;
	held.room = (held.used + size) * 2;
	return true;
}

static void ring_read(struct ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), tail = ring->page->data_tail;

	if (head != tail && held_reserve(head - tail)) {
		ring_copy(ring, tail, held.bytes + held.used, head - tail);
		held.used += head - tail;
		__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
	}
}

struct ring_position {
	uint64_t time_ns;
	size_t offset;
};

static int compare_places(const void *left, const void *right)
{
	const struct ring_position *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Records other than samples end with the thread and the time. */
static uint64_t record_time(const struct perf_event_header *record)
{
	uint64_t time_ns;

	if (record->type == PERF_RECORD_SAMPLE)
		return ((const struct perf_sample *)record)->time_ns;
	memcpy(&time_ns, (const uint8_t *)record + record->size - sizeof(time_ns), sizeof(time_ns));
	return time_ns;
}

static void count_lost(const struct perf_event_header *record)
{
	const uint64_t *body = (const uint64_t *)(record + 1);

	if (record->type == PERF_RECORD_LOST)
		perf_counts.lost += body[1];
	else if (record->type == PERF_RECORD_LOST_SAMPLES)
		perf_counts.lost += body[0];
}

/* The places of all held records; the caller frees them. */
static struct ring_position *held_places(size_t *ret_count)
{
	struct ring_position *places = calloc(held.used / sizeof(struct perf_event_header) + 1, sizeof(*places));
	size_t count = 0;

	for (size_t at = 0; places && at + sizeof(struct perf_event_header) <= held.used; count++) {
		const struct perf_event_header *record = (const void *)(held.bytes + at);

		if (record->size < sizeof(*record) + sizeof(uint64_t) || at + record->size > held.used)
			break;
		places[count] = (struct ring_position){record_time(record), at};
		at += record->size;
	}
	if (count)
		qsort(places, count, sizeof(*places), compare_places);
	*ret_count = count;
	return places;
}

/* Keeps the records from the given place on. */
static void held_keep(const struct ring_position *places, size_t count)
{
	uint8_t *kept = NULL;
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		used += ((const struct perf_event_header *)(const void *)(held.bytes + places[i].offset))->size;
	if (used)
		kept = malloc(used);
	held.room = kept ? used : 0;
	used = 0;
	for (size_t i = 0; kept && i < count; i++) {
		const struct perf_event_header *record = (const void *)(held.bytes + places[i].offset);

		memcpy(kept + used, record, record->size);
		used += record->size;
	}
	free(held.bytes);
	held.bytes = kept;
	held.used = used;
}

void perf_ring_drain(uint64_t until_ns, void (*handle)(const struct perf_event_header *record, uint64_t time_ns))
{
	struct ring_position *places;
	size_t count, n = 0;

	for (long cpu = 0; cpu < rings.count; cpu++)
		if (rings.items[cpu].page)
			ring_read(&rings.items[cpu]);
	places = held_places(&count);
	for (; n < count && places[n].time_ns < until_ns; n++) {
		const struct perf_event_header *record = (const void *)(held.bytes + places[n].offset);

		count_lost(record);
		handle(record, places[n].time_ns);
	}
	held_keep(places + n, count - n);
	free(places);
}
