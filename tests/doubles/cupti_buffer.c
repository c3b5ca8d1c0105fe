/* SPDX-License-Identifier: Apache-2.0 */
/* The CUPTI double: fills the client's buffers with records and delivers the buffers.
 *
 * A record first enters the hold, where `late` and `reorder` delay some records, then its thread's buffer. Full buffers
 * are queued and delivered by the thread that filled them, by a flush, or by the double's own thread. */
#include "simcupti.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOLD_ROOM 64
#define THREADS 1024		/* with their own buffer; further threads share these */
#define RECORD_BYTES 256

struct buffer {
	struct buffer *next;
	uint8_t *data;
	size_t size, used, max_records, count;
	unsigned client;
};

static struct {
	unsigned lock, wake_word, done_word;
	CUpti_BuffersCallbackRequestFunc request;
	CUpti_BuffersCallbackCompleteFunc complete;
	struct {
		CUpti_BuffersCallbackRequestFunc_v2 request;
		CUpti_BuffersCallbackCompleteFunc_v2 complete;
	} v2[CLIENTS];
	struct buffer *current[CLIENTS][THREADS], *full_first, *full_last;
	size_t dropped[CLIENTS];
	uint64_t period_ns;
	bool has_thread;
	unsigned handing_over;		/* buffers taken from the queue, not yet delivered */
	struct { size_t size; unsigned client; _Alignas(8) uint8_t bytes[RECORD_BYTES]; } hold[HOLD_ROOM];
	size_t hold_count;
} buffers;

static void lock(void)
{
	sim_mutex_lock(&buffers.lock);
}

static void unlock(void)
{
	sim_mutex_unlock(&buffers.lock);
}

/* ---- filling, with the lock held ---- */

/* The calling thread's buffer. */
static struct buffer **current_of(unsigned client)
{
	static unsigned threads;
	static __thread unsigned number;

	if (!number)
		number = ++threads;
	return &buffers.current[client][simcupti.has_thread_buffers ? number % THREADS : 0];
}

static void current_close(struct buffer **current)
{
	struct buffer *buffer = *current;

	*current = NULL;
	if (!buffer)
		return;
	if (buffers.full_last)
		buffers.full_last->next = buffer;
	else
		buffers.full_first = buffer;
	buffers.full_last = buffer;
}

static void close_all(void)
{
	for (size_t client = 0; client < CLIENTS; client++)
		for (size_t i = 0; i < THREADS; i++)
			current_close(&buffers.current[client][i]);
}

static bool has_room(const struct buffer *buffer, size_t bytes)
{
	return buffer && buffer->size - buffer->used >= bytes &&
	       (!buffer->max_records || buffer->count < buffer->max_records);
}

/* Before 12.9 CUPTI does not check that the client provided a buffer. */
static bool current_open(struct buffer **current, size_t bytes, unsigned client)
{
	bool has_request = client ? buffers.v2[client].request != NULL : buffers.request != NULL;
	struct buffer *buffer = has_request ? calloc(1, sizeof(*buffer)) : NULL;

	if (!buffer)
		return false;
	buffer->client = client;
	if (client)
		buffers.v2[client].request(&buffer->data, &buffer->size, &buffer->max_records, NULL);
	else
		buffers.request(&buffer->data, &buffer->size, &buffer->max_records);
	*current = buffer;
	if (buffer->data && buffer->size >= bytes)
		return true;
	if (!buffer->data) {
		if (simcupti.needs_buffers && simcupti.layout < LAYOUT_13_0)
			raise(SIGSEGV);
		free(buffer);
		*current = NULL;
	}
	return false;
}

static void drop(const void *record, unsigned client)
{
	buffers.dropped[client]++;
	simcupti.interface->log("cupti_dropped", ",\"kind\":%u", *(const CUpti_ActivityKind *)record);
}

static void put(const void *record, size_t bytes, unsigned client)
{
	struct buffer **current = current_of(client), *buffer;

	if (!has_room(*current, bytes)) {
		current_close(current);
		if (!current_open(current, bytes, client)) {
			drop(record, client);
			return;
		}
	}
	buffer = *current;
	memcpy(buffer->data + buffer->used, record, bytes);
	buffer->used += bytes;
	buffer->count++;
}

static void hold_release(size_t index)
{
	put(buffers.hold[index].bytes, buffers.hold[index].size, buffers.hold[index].client);
	buffers.hold_count--;
	memmove(&buffers.hold[index], &buffers.hold[index + 1],
		(buffers.hold_count - index) * sizeof(buffers.hold[0]));
}

static void hold_add(const void *record, size_t bytes)
{
	if (buffers.hold_count == HOLD_ROOM)
		hold_release(simcupti.reorders ? simcupti_random(HOLD_ROOM) : 0);
	buffers.hold[buffers.hold_count].size = bytes;
	buffers.hold[buffers.hold_count].client = simcupti_current;
	memcpy(buffers.hold[buffers.hold_count].bytes, record, bytes);
	buffers.hold_count++;
}

static void hold_empty(void)
{
	while (buffers.hold_count)
		hold_release(simcupti.reorders ? simcupti_random((uint32_t)buffers.hold_count) : 0);
}

/* ---- delivery, without the lock ---- */

static void overhead_record(uint64_t start_ns)
{
	CUpti_ActivityOverhead3 record = { .kind = CUPTI_ACTIVITY_KIND_OVERHEAD };

	if (!simcupti_client()->enabled[CUPTI_ACTIVITY_KIND_OVERHEAD])
		return;
	record.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
	record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
	record.objectId.pt.threadId = simcupti_thread_id();
	record.start = simcupti_time(start_ns);
	record.end = simcupti_time(simcupti.interface->now_ns());
	simcupti_emit(&record);
}

static void hand_over(void)
{
	uint64_t start_ns = simcupti.interface ? simcupti.interface->now_ns() : 0;
	unsigned before = simcupti_current;
	bool is_any[CLIENTS] = {0};

	for (;;) {
		struct buffer *buffer;

		lock();
		buffer = buffers.full_first;
		if (buffer) {
			buffers.full_first = buffer->next;
			if (!buffers.full_first)
				buffers.full_last = NULL;
			buffers.handing_over++;
		}
		unlock();
		if (!buffer)
			break;
		if (buffer->client)
			buffers.v2[buffer->client].complete(buffer->data, buffer->size, buffer->used, NULL);
		else if (buffers.complete)
			buffers.complete(NULL, 0, buffer->data, buffer->size, buffer->used);
		/* More than one: or the record of this flush alone would cause the next one. */
		is_any[buffer->client] |= buffer->count > 1;
		free(buffer);
		lock();
		buffers.handing_over--;
		unlock();
		__atomic_add_fetch(&buffers.done_word, 1, __ATOMIC_RELEASE);
		sim_futex_wake(&buffers.done_word);
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		simcupti_current = i;
		if (is_any[i] && simcupti.interface)
			overhead_record(start_ns);
	}
	simcupti_current = before;
}

/* Buffers filled before `since_ns` have been delivered, unless another thread is still delivering some of them. */
static void log_handed_over(uint64_t since_ns)
{
	bool is_all;

	lock();
	is_all = !buffers.handing_over && !buffers.hold_count;
	unlock();
	if (is_all && simcupti.interface)
		simcupti.interface->log("cupti_flushed", ",\"since\":%llu,\"period\":%llu",
					(unsigned long long)since_ns, (unsigned long long)buffers.period_ns);
}

/* Wakes for full buffers and, if a period is set, once per period; then it also delivers partly filled buffers, except
 * with `full`. */
static void *thread_main(void *unused)
{
	uint64_t due_ns = 0;

	for (;;) {
		unsigned seen = __atomic_load_n(&buffers.wake_word, __ATOMIC_ACQUIRE);
		uint64_t period_ns = __atomic_load_n(&buffers.period_ns, __ATOMIC_RELAXED);
		uint64_t now_ns = sim_now_ns();
		bool is_due = period_ns && now_ns >= due_ns;

		if (is_due)
			due_ns = now_ns + period_ns;
		if (is_due && !simcupti.keeps_partial) {
			lock();
			close_all();
			unlock();
		}
		hand_over();
		if (is_due && !simcupti.keeps_partial)
			log_handed_over(now_ns);
		sim_futex_wait(&buffers.wake_word, seen, period_ns ? due_ns - now_ns : 0);
	}
	return unused;
}

static void thread_wake(void)
{
	__atomic_add_fetch(&buffers.wake_word, 1, __ATOMIC_RELEASE);
	sim_futex_wake(&buffers.wake_word);
}

static void thread_start(void)
{
	bool is_first;

	lock();
	is_first = !buffers.has_thread;
	buffers.has_thread = true;
	unlock();
	if (is_first)
		sim_thread(thread_main, NULL);
}

/* Damages a kernel's record: no times, an end before the start, or no name. */
static void spoil(CUpti_ActivityKernel4 *record)
{
	switch (simcupti_random(3)) {
	case 0:
		record->start = record->end = 0;
		break;
	case 1:
		record->end = record->start - 1;
		break;
	default:
		record->name = NULL;
		return;
	}
	simcupti.interface->log("cupti_odd", "");
}

/* ---- the interface ---- */

/* `source`: of the node of a graph, 0 for others. */
static void emit(const void *record, uint64_t source)
{
	CUpti_ActivityKind kind = *(const CUpti_ActivityKind *)record;
	size_t bytes = simcupti_record_size(kind), known = simcupti_record_known(kind);
	_Alignas(8) uint8_t copy[RECORD_BYTES] = {0};
	bool is_any_full;

	if (simcupti.is_mute)
		return;
	if (simcupti.has_defined_records && simcupti_current == CLIENT_V1)
		known = sizeof(kind);
	memcpy(copy, record, bytes < known ? bytes : known);
	if (source && simcupti.layout >= LAYOUT_13_5 && known > sizeof(kind)) {
		memcpy(copy + bytes - 16, (uint32_t[]){(uint32_t)(source >> 32)}, 4);
		memcpy(copy + bytes - 8, &source, 8);
	}
	if (simcupti.is_odd && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && simcupti_random(8) == 0)
		spoil((CUpti_ActivityKernel4 *)copy);
	lock();
	if (simcupti.drops && simcupti_random(8) == 0)
		drop(copy, simcupti_current);
	else if (simcupti.is_late || simcupti.reorders)
		hold_add(copy, bytes);
	else
		put(copy, bytes, simcupti_current);
	is_any_full = buffers.full_first != NULL;
	unlock();
	if (!is_any_full)
		return;
	if (simcupti.has_thread) {
		thread_start();
		thread_wake();
	} else {
		hand_over();
	}
}

void simcupti_emit(const void *record)
{
	emit(record, 0);
}

void simcupti_emit_node(const void *record, const struct sim_work *work)
{
	emit(record, work->source);
}

/* While an operation with a record is in progress, only a forced flush delivers buffers; it also delivers that record
 * without an end, and the operation gets no other record. */
void simcupti_flush(bool is_forced)
{
	uint64_t since_ns = sim_now_ns();
	bool is_partial = simcupti.hands_over_unfinished && simcupti.interface;

	if (is_partial && is_forced)
		simcupti_tell_unfinished();
	is_partial = is_partial && !is_forced && simcupti_has_unfinished();
	lock();
	if (is_forced || !simcupti.is_late)
		hold_empty();
	if (!is_partial)
		close_all();
	unlock();
	/* The periodic thread may be delivering a buffer: wait for that, too. */
	if (!simcupti.has_thread)
		hand_over();
	else
		thread_start();
	for (;;) {
		unsigned seen = __atomic_load_n(&buffers.done_word, __ATOMIC_ACQUIRE);
		bool is_done;

		lock();
		is_done = !buffers.full_first && !buffers.handing_over;
		unlock();
		if (is_done)
			break;
		if (simcupti.has_thread)
			thread_wake();
		sim_futex_wait(&buffers.done_word, seen, 100000000);
	}
	if (!is_partial)
		log_handed_over(since_ns);
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
						    CUpti_BuffersCallbackCompleteFunc funcBufferCompleted)
{
	if (!funcBufferRequested || !funcBufferCompleted)
		return CUPTI_ERROR_INVALID_PARAMETER;
	simcupti_touch();
	simcupti_take_time();
	if (simcupti.separates_v2 && simcupti_has_v2())
		return CUPTI_ERROR_NOT_COMPATIBLE;
	/* As in the real one, the last caller's callbacks replace the earlier ones and get the earlier buffers too. */
	lock();
	buffers.request = funcBufferRequested;
	buffers.complete = funcBufferCompleted;
	unlock();
	if (simcupti.has_thread)
		thread_start();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle handle,
						       CUpti_BuffersCallbackRequestFunc_v2 request,
						       CUpti_BuffersCallbackCompleteFunc_v2 complete)
{
	unsigned client = simcupti_client_of(handle);

	simcupti_touch();
	if (!client || !request || !complete)
		return CUPTI_ERROR_INVALID_PARAMETER;
	lock();
	buffers.v2[client].request = request;
	buffers.v2[client].complete = complete;
	unlock();
	return CUPTI_SUCCESS;
}

static void forget_full(unsigned client)
{
	struct buffer **at = &buffers.full_first;

	buffers.full_last = NULL;
	while (*at) {
		if ((*at)->client == client) {
			*at = (*at)->next;
		} else {
			buffers.full_last = *at;
			at = &(*at)->next;
		}
	}
}

void simcupti_forget_buffers(unsigned client)
{
	size_t kept = 0;

	lock();
	for (size_t i = 0; i < THREADS; i++)
		buffers.current[client][i] = NULL;
	for (size_t i = 0; i < buffers.hold_count; i++)
		if (buffers.hold[i].client != client)
			buffers.hold[kept++] = buffers.hold[i];
	buffers.hold_count = kept;
	forget_full(client);
	buffers.dropped[client] = 0;
	unlock();
}

/* As on a machine where another program has the CPU. */
static void wait_once(void)
{
	static const struct timespec pause = {0, 20000000};

	if (__atomic_exchange_n(&simcupti.waits_for_cpu, false, __ATOMIC_RELAXED))
		nanosleep(&pause, NULL);
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
	CUptiResult result = simcupti_ready();

	wait_once();
	if (result == CUPTI_SUCCESS)
		simcupti_flush(flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	return result;
}

CUptiResult CUPTIAPI cuptiActivityFlush(CUcontext context, uint32_t streamId, uint32_t flag)
{
	(void)context;
	(void)streamId;
	return cuptiActivityFlushAll(flag);
}

CUptiResult CUPTIAPI cuptiActivityFlushPeriod(uint32_t time)
{
	CUptiResult result = simcupti_ready();

	if (result != CUPTI_SUCCESS)
		return result;
	__atomic_store_n(&buffers.period_ns, (uint64_t)time * 1000000u, __ATOMIC_RELAXED);
	if (time) {
		thread_start();
		thread_wake();
	}
	return CUPTI_SUCCESS;
}

static CUptiResult tell_dropped(unsigned client, size_t *dropped)
{
	if (!dropped)
		return CUPTI_ERROR_INVALID_PARAMETER;
	lock();
	*dropped = buffers.dropped[client];
	buffers.dropped[client] = 0;
	unlock();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t streamId, size_t *dropped)
{
	(void)context;
	(void)streamId;
	return tell_dropped(CLIENT_V1, dropped);
}

/* From CUDA 13.3; the headers of 13.0 lack it. */
CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle handle, CUcontext context,
							  uint32_t streamId, size_t *dropped)
{
	unsigned client = simcupti_client_of(handle);

	(void)context;
	(void)streamId;
	return client ? tell_dropped(client, dropped) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer, size_t validBufferSizeBytes, CUpti_Activity **record)
{
	const uint8_t *at = buffer;
	size_t bytes;

	if (!buffer || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*record && simcupti.is_broken && simcupti_random(64) == 0)
		return CUPTI_ERROR_INVALID_KIND;
	if (*record) {
		bytes = simcupti_record_size((*record)->kind);
		if (!bytes)
			return CUPTI_ERROR_INVALID_KIND;
		at = (const uint8_t *)*record + bytes;
	}
	if (at >= buffer + validBufferSizeBytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)(uintptr_t)at;
	return simcupti_record_size((*record)->kind) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_KIND;
}

/* From CUDA 13.3; the headers of 13.0 lack it. */
CUptiResult CUPTIAPI cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle handle, uint8_t *buffer,
						   size_t validBufferSizeBytes, CUpti_Activity **record)
{
	if (!simcupti_client_of(handle))
		return CUPTI_ERROR_INVALID_PARAMETER;
	return cuptiActivityGetNextRecord(buffer, validBufferSizeBytes, record);
}
