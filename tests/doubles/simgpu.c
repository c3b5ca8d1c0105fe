/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of the simulated GPU: contexts, streams, and the thread that acts as the device.
 *
 * Simulated times are computed: an operation starts at the latest of its call, the end of the operation before it on
 * its stream and the end of what it waits for, and ends after sim_work_ns(). The device thread sleeps until the end,
 * does the work, notifies the tool and wakes waiters, so a late wake-up changes no time. A host function, and a kernel
 * that is timed, ends when it returns, in real time; no other work is finished while it runs. No lock is held while
 * external code (tool, host function, kernel body) runs. */
#include "simgpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LAUNCH_LATENCY_NS 500u
#define FIRST_STREAM_ID 7u		/* of a context's default stream, as CUPTI has it */

const struct sim_tool *sim_tool;

static struct {
	unsigned lock, done_word, work_word;
	bool is_ready, is_up, is_forked, is_stopping, has_thread;
	int device_count;
	struct sim_device devices[SIM_MAX_DEVICES];
	struct sim_context *contexts;
	uint32_t next_context, next_stream;
	uint64_t next_op;
	uint64_t launches, copies, sets, host_calls;
} sim = { .next_context = 1, .next_op = 1 };

static __thread struct sim_context *current_context;
static __thread struct { struct sim_context *context; struct sim_stream *stream; } own_default;

void sim_lock(void)
{
	sim_mutex_lock(&sim.lock);
}

void sim_unlock(void)
{
	sim_mutex_unlock(&sim.lock);
}

/* ---- devices ---- */

static long long number(const char *name, long long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

/* CUDA does not survive a fork: all calls fail in a child of a process that initialised it. */
static void fork_child(void)
{
	sim.lock = 0;
	sim.is_forked = sim.is_ready;
	sim_log_fork_child();
}

CUresult sim_init(void)
{
	if (sim.is_forked)
		return CUDA_ERROR_NOT_INITIALIZED;
	sim_lock();
	if (!sim.is_ready) {
		long long count = number("PILLION_SIMGPU_DEVICES", 1);

		if (count <= 0) {
			sim_unlock();
			return CUDA_ERROR_NO_DEVICE;
		}
		sim.device_count = count < SIM_MAX_DEVICES ? (int)count : SIM_MAX_DEVICES;
		for (int i = 0; i < sim.device_count; i++) {
			struct sim_device *device = &sim.devices[i];

			device->total_bytes = (size_t)number("PILLION_SIMGPU_MEMORY", 8LL << 30);
			snprintf(device->name, sizeof(device->name), "Simulated GPU %d", i);
		}
		pthread_atfork(NULL, NULL, fork_child);
		sim.is_ready = true;
		sim_log("init", ",\"devices\":%d", sim.device_count);
	}
	sim_unlock();
	for (int i = 0; i < sim.device_count; i++) {
		if (!sim.devices[i].default_pool)
			sim.devices[i].pool = sim.devices[i].default_pool = sim_pool_new(i);
	}
	return CUDA_SUCCESS;
}

CUresult sim_ready_status(void)
{
	return sim.is_ready && !sim.is_forked ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

bool sim_is_forked(void)
{
	return sim.is_forked;
}

bool sim_is_up(void)
{
	return __atomic_load_n(&sim.is_up, __ATOMIC_ACQUIRE);
}

void sim_set_up(void)
{
	__atomic_store_n(&sim.is_up, true, __ATOMIC_RELEASE);
}

void sim_each_op(void (*visit)(struct sim_op *op, void *data), void *data)
{
	sim_lock();
	for (struct sim_context *context = sim.contexts; context; context = context->next)
		for (struct sim_stream *stream = context->streams; stream; stream = stream->next)
			for (struct sim_op *op = stream->head; op; op = op->next)
				visit(op, data);
	sim_unlock();
}

void sim_set_tool(const struct sim_tool *tool)
{
	sim_lock();
	sim_tool = tool;
	sim_unlock();
}

int sim_device_count(void)
{
	return sim.device_count;
}

struct sim_device *sim_device(int ordinal)
{
	return ordinal >= 0 && ordinal < sim.device_count ? &sim.devices[ordinal] : NULL;
}

/* ---- the device's thread; everything below up to device_main runs with the lock held ---- */

static bool needs_are_met(const struct sim_op *op, uint64_t *ready_ns)
{
	const struct sim_event *event = op->work.kind == SIM_WAIT ? op->work.event.event : NULL;

	for (size_t i = 0; i < op->need_count; i++) {
		if (op->needs[i].stream->done_seq < op->needs[i].seq)
			return false;
		if (op->needs[i].stream->done_ns > *ready_ns)
			*ready_ns = op->needs[i].stream->done_ns;
	}
	if (event && event->done < op->work.event.seq)
		return false;
	if (event && event->done_ns > *ready_ns)
		*ready_ns = event->done_ns;
	return true;
}

static void place(struct sim_op *op)
{
	const struct sim_stream *stream = op->stream;
	uint64_t ready_ns = op->queued_ns + LAUNCH_LATENCY_NS;

	if (stream->done_ns > ready_ns)
		ready_ns = stream->done_ns;
	if (!needs_are_met(op, &ready_ns))
		return;
	op->start_ns = ready_ns;
	op->end_ns = ready_ns + sim_work_ns(&op->work);
	op->is_placed = true;
}

/* The placed operation that ends first, of all streams. */
static struct sim_stream *next_to_end(void)
{
	struct sim_stream *best = NULL;

	for (struct sim_context *context = sim.contexts; context; context = context->next) {
		for (struct sim_stream *stream = context->streams; stream; stream = stream->next) {
			struct sim_op *op = stream->head;

			if (op && !op->is_placed)
				place(op);
			if (op && op->is_placed &&
			    (!best || op->end_ns < best->head->end_ns ||
			     (op->end_ns == best->head->end_ns && op->id < best->head->id)))
				best = stream;
		}
	}
	return best;
}

static void host_call(struct sim_op *op)
{
	if (op->work.host.callback)
		op->work.host.callback(op->work.host.stream, CUDA_SUCCESS, op->work.host.data);
	else
		op->work.host.call(op->work.host.data);
	op->end_ns = sim_now_ns();
	if (op->end_ns < op->start_ns)
		op->end_ns = op->start_ns;
}

static void log_end(const struct sim_op *op)
{
	sim_log("done", ",\"op\":%llu,\"start\":%llu,\"end\":%llu,\"stream\":%u", (unsigned long long)op->id,
		(unsigned long long)op->start_ns, (unsigned long long)op->end_ns, op->stream->id);
}

/* Works on the stream's head without the lock: only this thread removes heads, so it stays the head. */
static void finish(struct sim_stream *stream)
{
	static struct sim_op graph_first;
	struct sim_op *op = stream->head;

	sim_unlock();
	if (op->work.kind == SIM_HOST)
		host_call(op);
	else
		sim_work_do(&op->work);
	if (sim_work_is_timed(&op->work) && sim_now_ns() > op->end_ns)
		op->end_ns = sim_now_ns();
	if (op->work.kind <= SIM_SET || op->work.kind == SIM_HOST)
		log_end(op);
	if (op->work.graph_id && op->work.kind != SIM_GRAPH_END && !graph_first.id)
		graph_first = *op;
	if (sim_tool)
		sim_tool->work(op, op->work.kind == SIM_GRAPH_END && graph_first.id ? &graph_first : NULL);
	if (op->work.kind == SIM_GRAPH_END)
		graph_first.id = 0;
	sim_lock();
	if (op->work.kind == SIM_RECORD && op->work.event.event) {
		op->work.event.event->done = op->work.event.seq;
		op->work.event.event->done_ns = op->end_ns;
	}
	stream->head = op->next;
	if (!stream->head)
		stream->tail = NULL;
	stream->done_seq = op->seq;
	stream->done_ns = op->end_ns;
	sim_work_done(&op->work);
	free(op);
	__atomic_add_fetch(&sim.done_word, 1, __ATOMIC_RELEASE);
	sim_futex_wake(&sim.done_word);
}

static void *device_main(void *unused)
{
	(void)unused;
	syscall(SYS_prctl, PR_SET_NAME, "simgpu", 0, 0, 0);
	syscall(SYS_prctl, PR_SET_TIMERSLACK, 1000, 0, 0, 0);
	sim_lock();
	while (!sim.is_stopping) {
		unsigned seen = __atomic_load_n(&sim.work_word, __ATOMIC_ACQUIRE);
		struct sim_stream *stream = next_to_end();
		uint64_t now_ns = sim_now_ns(), sleep_ns = 0;

		if (stream && stream->head->end_ns <= now_ns) {
			finish(stream);
			continue;
		}
		if (stream)
			sleep_ns = stream->head->end_ns - now_ns;
		sim_unlock();
		sim_futex_wait(&sim.work_word, seen, sleep_ns);
		sim_lock();
	}
	sim_unlock();
	return NULL;
}

static void device_start(void)
{
	bool is_first;

	sim_lock();
	is_first = !sim.has_thread;
	sim.has_thread = true;
	sim_unlock();
	if (is_first)
		sim_thread(device_main, NULL);
}

/* ---- contexts and streams ---- */

struct sim_context *sim_context_current(void)
{
	return current_context && !current_context->is_dead ? current_context : NULL;
}

void sim_context_set(struct sim_context *context)
{
	current_context = context;
}

struct sim_context *sim_context_first(void)
{
	return sim.contexts;
}

bool sim_context_is(const struct sim_context *context)
{
	const struct sim_context *at;

	sim_lock();
	for (at = sim.contexts; at && at != context; at = at->next)
		;
	sim_unlock();
	return at && !at->is_dead;
}

struct sim_context *sim_context_new(int device, bool is_primary, unsigned flags)
{
	struct sim_context *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	*made = (struct sim_context){ .device = device, .is_primary = is_primary, .flags = flags, .users = 1 };
	sim_lock();
	made->id = sim.next_context++;
	made->next = sim.contexts;
	sim.contexts = made;
	if (sim.next_stream < FIRST_STREAM_ID)
		sim.next_stream = FIRST_STREAM_ID;
	sim_unlock();
	device_start();
	sim_log("context", ",\"context\":%u,\"device\":%d", made->id, device);
	if (sim_tool)
		sim_tool->context(made, false);
	made->legacy = sim_stream_new(made, 0, 0);
	return made;
}

/* Kept as a dead entry, so that stale handles can be recognised. */
void sim_context_free(struct sim_context *context)
{
	sim_wait_context(context);
	if (sim_tool)
		sim_tool->context(context, true);
	sim_memory_drop(context);
	sim_lock();
	context->is_dead = true;
	sim_unlock();
	if (current_context == context)
		current_context = NULL;
}

struct sim_stream *sim_stream_new(struct sim_context *context, unsigned flags, int priority)
{
	struct sim_stream *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	*made = (struct sim_stream){ .context = context, .flags = flags, .priority = priority };
	sim_lock();
	made->id = sim.next_stream;
	/* 7, then 13, 14...: the ids of the real one. */
	sim.next_stream += sim.next_stream == FIRST_STREAM_ID ? 6 : 1;
	made->next = context->streams;
	context->streams = made;
	sim_unlock();
	if (sim_tool)
		sim_tool->stream(made, false, sim_correlation());
	return made;
}

/* The real one lets queued work finish; the double waits for it and keeps a dead entry. */
void sim_stream_free(struct sim_stream *stream)
{
	sim_wait_stream(stream);
	if (sim_tool)
		sim_tool->stream(stream, true, sim_correlation());
	sim_lock();
	stream->is_dead = true;
	sim_unlock();
}

struct sim_stream *sim_stream_find(CUstream handle, bool is_per_thread)
{
	struct sim_context *context = sim_context_current();
	struct sim_stream *found = NULL;

	if (!context)
		return NULL;
	if (handle == NULL)
		handle = is_per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
	if (handle == CU_STREAM_LEGACY)
		return context->legacy;
	if (handle == CU_STREAM_PER_THREAD) {
		if (own_default.context != context) {
			own_default.stream = sim_stream_new(context, 0, 0);
			own_default.context = context;
		}
		return own_default.stream;
	}
	sim_lock();
	for (context = sim.contexts; context && !found; context = context->next) {
		for (found = context->streams; found && (CUstream)found != handle; found = found->next)
			;
	}
	sim_unlock();
	return found && !found->is_dead ? found : NULL;
}

/* ---- queueing ---- */

/* The legacy default stream waits for all blocking streams of its context, and they for it. */
static size_t needs_of(struct sim_stream *stream, struct sim_need *needs)
{
	struct sim_context *context = stream->context;
	size_t count = 0;

	if (stream->flags & CU_STREAM_NON_BLOCKING)
		return 0;
	for (struct sim_stream *other = context->streams; other; other = other->next) {
		bool is_related = stream == context->legacy || other == context->legacy;

		if (other == stream || !is_related || (other->flags & CU_STREAM_NON_BLOCKING) ||
		    other->done_seq == other->queued_seq)
			continue;
		if (needs)
			needs[count] = (struct sim_need){ other, other->queued_seq };
		count++;
	}
	return count;
}

static void count_work(const struct sim_work *work)
{
	sim.launches += work->kind == SIM_KERNEL;
	sim.copies += work->kind == SIM_COPY;
	sim.sets += work->kind == SIM_SET;
	sim.host_calls += work->kind == SIM_HOST;
}

CUresult sim_queue(struct sim_stream *stream, const struct sim_work *work)
{
	struct sim_op *op;
	CUresult result;
	size_t count;

	if (stream->capture) {
		result = sim_graph_add(stream->capture, work, &stream->depends[0]);
		stream->depend_count = result == CUDA_SUCCESS;
		return result;
	}
	sim_lock();
	count = needs_of(stream, NULL);
	op = calloc(1, sizeof(*op) + count * sizeof(op->needs[0]));
	result = op ? sim_work_copy(&op->work, work) : CUDA_ERROR_OUT_OF_MEMORY;
	if (result != CUDA_SUCCESS) {
		sim_unlock();
		free(op);
		return result;
	}
	op->need_count = needs_of(stream, op->needs);
	op->stream = stream;
	op->id = sim.next_op++;
	op->seq = stream->queued_seq + 1;
	op->correlation = sim_correlation();
	op->queued_ns = work->queued_ns ? work->queued_ns : sim_now_ns();
	count_work(work);
	if (sim_tool)
		sim_tool->queued(op);
	sim_log_queued(op);		/* before the device can see it, so that the log has a launch before its end */
	stream->queued_seq = op->seq;
	if (stream->tail)
		stream->tail->next = op;
	else
		stream->head = op;
	stream->tail = op;
	__atomic_add_fetch(&sim.work_word, 1, __ATOMIC_RELEASE);
	sim_unlock();
	sim_futex_wake(&sim.work_word);
	return CUDA_SUCCESS;
}

/* The event is destroyed, possibly while recorded or waited for: removes it from all queued work. */
void sim_event_forget(struct sim_event *event)
{
	sim_lock();
	for (struct sim_context *context = sim.contexts; context; context = context->next) {
		for (struct sim_stream *stream = context->streams; stream; stream = stream->next) {
			for (struct sim_op *op = stream->head; op; op = op->next) {
				bool is_about_events = op->work.kind == SIM_RECORD || op->work.kind == SIM_WAIT;

				if (is_about_events && op->work.event.event == event)
					op->work.event.event = NULL;
			}
		}
	}
	sim_unlock();
}

/* ---- waiting ---- */

static void wait_while(bool (*is_busy)(const void *), const void *what)
{
	for (;;) {
		unsigned seen = __atomic_load_n(&sim.done_word, __ATOMIC_ACQUIRE);

		sim_lock();
		if (!is_busy(what) || sim.is_stopping) {
			sim_unlock();
			return;
		}
		sim_unlock();
		sim_futex_wait(&sim.done_word, seen, 0);
	}
}

struct until { const struct sim_stream *stream; const struct sim_event *event; uint64_t seq; };

static bool stream_is_behind(const void *what)
{
	const struct until *until = what;

	return until->stream->done_seq < until->seq;
}

static bool event_is_behind(const void *what)
{
	const struct until *until = what;

	return until->event->done < until->seq;
}

bool sim_stream_is_idle(struct sim_stream *stream)
{
	bool is_idle;

	sim_lock();
	is_idle = stream->done_seq == stream->queued_seq;
	sim_unlock();
	return is_idle;
}

void sim_wait_stream(struct sim_stream *stream)
{
	struct until until = { .stream = stream };

	sim_lock();
	until.seq = stream->queued_seq;
	sim_unlock();
	wait_while(stream_is_behind, &until);
}

void sim_wait_event(struct sim_event *event)
{
	struct until until = { .event = event, .seq = event->queued };

	wait_while(event_is_behind, &until);
}

void sim_wait_context(struct sim_context *context)
{
	for (struct sim_stream *stream = context->streams; stream; stream = stream->next)
		sim_wait_stream(stream);
}

__attribute__((destructor)) static void sim_end(void)
{
	sim_lock();
	sim.is_stopping = true;
	sim_unlock();
	if (sim.is_ready && !sim.is_forked)
		sim_log("end", ",\"launches\":%llu,\"memcpys\":%llu,\"memsets\":%llu,\"hosts\":%llu",
			(unsigned long long)sim.launches, (unsigned long long)sim.copies,
			(unsigned long long)sim.sets, (unsigned long long)sim.host_calls);
}
