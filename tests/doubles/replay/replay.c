/* SPDX-License-Identifier: Apache-2.0 */
/* libcuda.so.1 of the replay: the recording, its clock, and the driver interface that the CUPTI double uses.
 *
 * Starts and ends of calls are the events of the clock. Each waits for its turn and its time, and stores the real time
 * at which it happened; device records are placed between two events. */
#include "replay.h"
#include "simgpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 64
#define AT_ONCE_NS 20000u	/* of the recording */
#define SPIN_NS 80000u		/* the last part of a wait spins, because sleeping would overrun */

struct call {
	uint64_t start, end;
	uint32_t correlation;
	int thread;
	enum replay_kind kind;
	struct record *first;	/* device records of its correlation id */
};

struct record {
	struct record *next;	/* of the same call */
	uint64_t start, end, run_end;	/* run_end: when the device was idle again */
	struct sim_op *op;
	bool is_queued, is_done;
};

struct event { uint64_t time, ns; size_t call; bool is_end; };	/* recorded and real time */

static struct {
	unsigned lock, turn;	/* turn: the event that comes next */
	uint64_t stretch;
	struct call *calls;		/* by start */
	size_t call_count;
	struct record *records;		/* by start */
	size_t record_count;
	struct record **by_end;
	size_t done;
	struct event *events;
	size_t event_count;
	uint64_t last_time, last_ns;	/* of the last event: recorded, real */
	size_t *mine[THREADS], count[THREADS], next[THREADS];
	int threads;
	struct sim_context *contexts;
	struct sim_device device;
	const struct sim_tool *tool;
	uint64_t next_op;
} replay = { .next_op = 1 };

static __thread size_t current_call;

static void *grow(void *list, size_t count, size_t size)
{
	if (count & (count - 1))
		return list;
	list = realloc(list, (count ? 2 * count : 1) * size);
	if (!list)
		abort();
	return list;
}

/* ---- the recording ---- */

static struct sim_stream *stream_of(unsigned device, unsigned context_id, unsigned stream_id)
{
	struct sim_context *context = replay.contexts;
	struct sim_stream *stream;

	while (context && context->id != context_id)
		context = context->next;
	if (!context) {
		context = calloc(1, sizeof(*context));
		*context = (struct sim_context){ .next = replay.contexts, .id = context_id, .device = (int)device };
		replay.contexts = context;
	}
	for (stream = context->streams; stream && stream->id != stream_id; stream = stream->next)
		;
	if (!stream) {
		stream = calloc(1, sizeof(*stream));
		*stream = (struct sim_stream){ .next = context->streams, .context = context, .id = stream_id };
		context->streams = stream;
	}
	return stream;
}

static struct sim_function *function_of(const char *name)
{
	static struct sim_function *functions;
	struct sim_function *f = functions;

	while (f && strcmp(f->name, name) != 0)
		f = f->next;
	if (f)
		return f;
	f = calloc(1, sizeof(*f) + strlen(name) + 1);
	strcpy(f->name, name);
	f->next = functions;
	functions = f;
	return f;
}

/* Of CUpti_ActivityMemoryKind. */
static enum sim_place place_of(unsigned kind)
{
	return kind == 1 ? SIM_PAGEABLE : kind == 2 ? SIM_PINNED : SIM_DEVICE;
}

static bool parse_record(char kind, const char *text)
{
	struct record r = {0};
	unsigned device, context, stream, correlation, a = 0, b = 0, c = 0;
	unsigned long long start, end, bytes = 0;
	int used = 0;

	if (sscanf(text, "%llu %llu %u %u %u %u%n", &start, &end, &device, &context, &stream, &correlation, &used) != 6)
		return false;
	text += used;
	r.op = calloc(1, sizeof(*r.op));
	r.start = start;
	r.end = end;
	r.op->correlation = correlation;
	r.op->stream = stream_of(device, context, stream);
	if (kind == 'K') {
		unsigned *g = r.op->work.kernel.grid, *t = r.op->work.kernel.block;
		char name[4096];

		r.op->work.kind = SIM_KERNEL;
		if (sscanf(text, "%u %u %u %u %u %u %4095s", &g[0], &g[1], &g[2], &t[0], &t[1], &t[2], name) != 7)
			return false;
		r.op->work.kernel.function = function_of(name);
	} else if (kind == 'C') {
		r.op->work.kind = SIM_COPY;
		if (sscanf(text, "%u %llu %u %u", &a, &bytes, &b, &c) != 4)
			return false;
		r.op->work.copy = (struct sim_copy){ .width = bytes, .height = 1, .depth = 1, .is_async = true,
						     .src_place = place_of(b), .dst_place = place_of(c) };
		/* One recording has device memory on both sides of each copy. */
		if (a == 1 && b == 3)
			r.op->work.copy.src_place = SIM_PAGEABLE;
		if (a == 2 && c == 3)
			r.op->work.copy.dst_place = SIM_PAGEABLE;
	} else {
		r.op->work.kind = SIM_SET;
		if (sscanf(text, "%u %llu", &a, &bytes) != 2)
			return false;
		r.op->work.set.value = a;
		r.op->work.set.width = bytes;
		r.op->work.set.height = r.op->work.set.element_bytes = 1;
		r.op->work.set.place = SIM_DEVICE;
	}
	replay.records = grow(replay.records, replay.record_count, sizeof(r));
	replay.records[replay.record_count++] = r;
	return true;
}

static bool parse_call(const char *text)
{
	struct call c = {0};
	unsigned kind;
	unsigned long long start, end;

	if (sscanf(text, "%llu %llu %d %u %u", &start, &end, &c.thread, &c.correlation, &kind) != 5 || c.thread < 0 ||
	    c.thread >= THREADS || kind > REPLAY_WAIT_EVENT)
		return false;
	c.start = start;
	c.end = end;
	c.kind = (enum replay_kind)kind;
	replay.calls = grow(replay.calls, replay.call_count, sizeof(c));
	replay.calls[replay.call_count++] = c;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct call *l = a, *r = b;

	return l->start < r->start ? -1 : l->start > r->start;
}

static int by_record_start(const void *a, const void *b)
{
	const struct record *l = a, *r = b;

	return l->start < r->start ? -1 : l->start > r->start;
}

static int by_record_end(const void *a, const void *b)
{
	const struct record *l = *(struct record *const *)a, *r = *(struct record *const *)b;

	return l->end < r->end ? -1 : l->end > r->end;
}

/* At the same time: calls in their order, the start before the end. */
static int by_time(const void *a, const void *b)
{
	const struct event *l = a, *r = b;

	if (l->time != r->time)
		return l->time < r->time ? -1 : 1;
	if (l->call != r->call)
		return l->call < r->call ? -1 : 1;
	return l->is_end - r->is_end;
}

static int by_correlation(const void *a, const void *b)
{
	const struct call *l = *(struct call *const *)a, *r = *(struct call *const *)b;

	return l->correlation < r->correlation ? -1 : l->correlation > r->correlation;
}

static void link_records(void)
{
	struct call **by_id = calloc(replay.call_count + 1, sizeof(struct call *));

	for (size_t i = 0; i < replay.call_count; i++)
		by_id[i] = &replay.calls[i];
	qsort(by_id, replay.call_count, sizeof(*by_id), by_correlation);
	replay.by_end = calloc(replay.record_count + 1, sizeof(struct record *));
	for (size_t i = 0; i < replay.record_count; i++) {
		struct record *r = &replay.records[i];
		struct call key = { .correlation = r->op->correlation }, *wanted = &key;
		struct call **found = bsearch(&wanted, by_id, replay.call_count, sizeof(struct call *), by_correlation);

		replay.by_end[i] = r;
		if (found) {
			r->next = (*found)->first;
			(*found)->first = r;
		} else {
			r->is_queued = true;	/* its call is unknown */
		}
	}
	qsort(replay.by_end, replay.record_count, sizeof(struct record *), by_record_end);
	free(by_id);
}

static void find_runs(void)
{
	for (size_t first = 0, i = 0; first < replay.record_count; first = i) {
		uint64_t end = replay.records[first].end;

		for (i = first + 1; i < replay.record_count && replay.records[i].start <= end + AT_ONCE_NS; i++)
			if (replay.records[i].end > end)
				end = replay.records[i].end;
		for (size_t k = first; k < i; k++)
			replay.records[k].run_end = end;
	}
}

static void link_calls(void)
{
	replay.events = calloc(2 * replay.call_count + 1, sizeof(struct event));
	for (size_t i = 0; i < replay.call_count; i++) {
		const struct call *c = &replay.calls[i];

		replay.events[replay.event_count++] = (struct event){ c->start, 0, i, false };
		replay.events[replay.event_count++] = (struct event){ c->end, 0, i, true };
		replay.mine[c->thread] = grow(replay.mine[c->thread], replay.count[c->thread], sizeof(size_t));
		replay.mine[c->thread][replay.count[c->thread]++] = i;
		if (c->thread >= replay.threads)
			replay.threads = c->thread + 1;
	}
	qsort(replay.events, replay.event_count, sizeof(struct event), by_time);
}

__attribute__((constructor)) static void replay_read(void)
{
	const char *path = getenv("PILLION_REPLAY"), *stretch = getenv("PILLION_REPLAY_STRETCH");
	FILE *file = path ? fopen(path, "re") : NULL;
	char line[8192];

	replay.stretch = stretch ? strtoull(stretch, NULL, 10) : 1;
	strcpy(replay.device.name, "Replayed GPU");
	while (file && fgets(line, sizeof(line), file)) {
		bool is_read = line[0] == 'A' ? parse_call(line + 1) :
						strchr("KCS", line[0]) && parse_record(line[0], line + 1);

		if (!is_read) {
			fprintf(stderr, "not a recording: %s", line);
			abort();
		}
	}
	if (file)
		fclose(file);
	qsort(replay.calls, replay.call_count, sizeof(*replay.calls), by_start);
	qsort(replay.records, replay.record_count, sizeof(*replay.records), by_record_start);
	link_records();
	find_runs();
	link_calls();
}

/* ---- the clock ---- */

static uint64_t real_time(uint64_t time)
{
	size_t low = 0, high = replay.turn;	/* events before it have been made */
	const struct event *e;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (replay.events[middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	e = &replay.events[low];
	return e->ns + (time - e->time) * replay.stretch;
}

/* Work without idle time in between is placed as one run, by its end: the time for which the clock was stopped comes
 * before the run, where the device was idle in the recording too. */
static void place(struct record *r)
{
	r->op->end_ns = real_time(r->run_end) - (r->run_end - r->end) * replay.stretch;
	r->op->start_ns = r->op->end_ns - (r->end - r->start) * replay.stretch;
	r->op->id = replay.next_op++;
	r->op->is_placed = true;
}

static void wait_until(uint64_t ns)
{
	unsigned nobody = 0;

	for (uint64_t now = sim_now_ns(); now < ns; now = sim_now_ns())
		if (ns - now > SPIN_NS)
			sim_futex_wait(&nobody, 0, ns - now - SPIN_NS);
}

/* The calling thread waits for the event's turn and time, then makes the event. */
static uint64_t take_event(size_t call, bool is_end)
{
	size_t turn;
	uint64_t due;

	for (;;) {
		turn = __atomic_load_n(&replay.turn, __ATOMIC_ACQUIRE);
		if (replay.events[turn].call == call && replay.events[turn].is_end == is_end)
			break;
		sim_futex_wait(&replay.turn, (unsigned)turn, 0);
	}
	due = replay.last_ns + (replay.events[turn].time - replay.last_time) * replay.stretch;
	if (turn)
		wait_until(due);
	sim_mutex_lock(&replay.lock);
	replay.last_time = replay.events[turn].time;
	replay.last_ns = replay.events[turn].ns = due = sim_now_ns();
	for (struct record *r = is_end ? NULL : replay.calls[call].first; r && replay.tool; r = r->next) {
		r->is_queued = true;
		r->op->queued_ns = due;
		replay.tool->queued(r->op);
	}
	sim_mutex_unlock(&replay.lock);
	return due;
}

static void pass_on(void)
{
	__atomic_fetch_add(&replay.turn, 1, __ATOMIC_RELEASE);
	sim_futex_wake(&replay.turn);
}

/* Reports to the tool the work that has ended by the last event. */
static void tell_done(bool is_all)
{
	for (;;) {
		struct record *r = NULL;

		sim_mutex_lock(&replay.lock);
		if (replay.done < replay.record_count &&
		    (is_all || replay.by_end[replay.done]->run_end < replay.last_time))
			r = replay.by_end[replay.done++];
		if (r)
			place(r);
		sim_mutex_unlock(&replay.lock);
		if (!r)
			return;
		if (replay.tool)
			replay.tool->work(r->op, NULL);
		r->is_done = true;
	}
}

int replay_threads(void)
{
	return replay.threads;
}

/* Returns the cudaMemcpyKind for the memory kinds in a copy's record. */
static int copy_kind(const struct sim_copy *copy)
{
	return (sim_is_host(copy->src_place) ? 0 : 2) + (sim_is_host(copy->dst_place) ? 0 : 1);
}

struct replay_call replay_next(int thread)
{
	struct replay_call ret = { .copy_kind = 3, .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };
	const struct sim_work *work;
	size_t call;

	if (replay.next[thread] == replay.count[thread])
		return ret;
	current_call = call = replay.mine[thread][replay.next[thread]++];
	ret.kind = replay.calls[call].kind;
	work = replay.calls[call].first ? &replay.calls[call].first->op->work : NULL;
	if (work && work->kind == SIM_KERNEL) {
		memcpy(ret.grid, work->kernel.grid, sizeof(ret.grid));
		memcpy(ret.block, work->kernel.block, sizeof(ret.block));
	} else if (work && work->kind == SIM_COPY) {
		ret.copy_kind = copy_kind(&work->copy);
		ret.bytes = work->copy.width;
	} else if (work) {
		ret.bytes = work->set.width;
	}
	take_event(call, false);	/* the next thread's turn comes during the call */
	return ret;
}

void replay_call(unsigned cbid, const char *name)
{
	struct sim_api api = { .layer = SIM_RUNTIME, .cbid = cbid, .name = name,
			       .correlation = replay.calls[current_call].correlation, .start_ns = sim_now_ns() };

	if (replay.tool)
		replay.tool->api(&api, false);
	pass_on();
	api.end_ns = take_event(current_call, true);
	tell_done(false);
	if (replay.tool)
		replay.tool->api(&api, true);
	pass_on();
}

void replay_finish(void)
{
	if (replay.record_count)
		wait_until(real_time(replay.by_end[replay.record_count - 1]->end));
	tell_done(true);
}

/* ---- the driver interface that the CUPTI double uses ---- */

static void set_tool(const struct sim_tool *tool)
{
	replay.tool = tool;
}

static bool is_forked(void)
{
	return false;
}

static bool is_up(void)
{
	return true;
}

static void each_op(void (*visit)(struct sim_op *op, void *data), void *data)
{
	sim_mutex_lock(&replay.lock);
	for (size_t i = 0; i < replay.record_count; i++)
		if (replay.records[i].is_queued && !replay.records[i].is_done)
			visit(replay.records[i].op, data);
	sim_mutex_unlock(&replay.lock);
}

static struct sim_context *first_context(void)
{
	return replay.contexts;
}

static struct sim_device *device(int ordinal)
{
	(void)ordinal;
	return &replay.device;
}

CUresult cuGetExportTable(const void **ret, const CUuuid *id)
{
	static const CUuuid wanted = SIM_EXPORT_ID;
	static const struct sim_interface table = {
		.now_ns = sim_now_ns, .log = sim_log, .set_tool = set_tool, .is_forked = is_forked, .is_up = is_up,
		.each_op = each_op, .first_context = first_context, .device = device,
	};

	if (memcmp(id, &wanted, sizeof(wanted)) != 0)
		return CUDA_ERROR_NOT_FOUND;
	*ret = &table;
	return CUDA_SUCCESS;
}

CUresult cuInit(unsigned flags)
{
	(void)flags;
	return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	*version = SIM_API_CUDA_VERSION;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	*context = (CUcontext)replay.contexts;
	return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	(void)stream;
	*status = CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}
