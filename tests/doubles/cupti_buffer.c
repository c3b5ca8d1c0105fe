/* SPDX-License-Identifier: Apache-2.0 */
/* The CUPTI double: records on their way into the client's buffers, and buffers on their way back.
 *
 * A record passes the hold first, where `late` and `reorder` keep some back, then goes into the current buffer.
 * Full buffers wait in a line and are handed over by whoever filled them, by a flush, or by the double's own thread. */
#include "simcupti.h"

#include <stdlib.h>
#include <string.h>

#define HOLD_ROOM 64
#define RECORD_BYTES 256

struct buffer {
	struct buffer *next;
	uint8_t *data;
	size_t size, used, max_records, count;
};

static struct {
	unsigned lock, wake_word, done_word;
	CUpti_BuffersCallbackRequestFunc request;
	CUpti_BuffersCallbackCompleteFunc complete;
	struct buffer *current, *full_first, *full_last;
	size_t dropped;
	uint64_t period_ns;
	bool has_thread;
	unsigned handing_over;		/* buffers taken from the line, not yet given */
	struct { size_t size; _Alignas(8) uint8_t bytes[RECORD_BYTES]; } hold[HOLD_ROOM];
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

static void current_close(void)
{
	struct buffer *buffer = buffers.current;

	buffers.current = NULL;
	if (!buffer)
		return;
	if (buffers.full_last)
		buffers.full_last->next = buffer;
	else
		buffers.full_first = buffer;
	buffers.full_last = buffer;
}

static bool current_has_room(size_t bytes)
{
	const struct buffer *buffer = buffers.current;

	return buffer && buffer->size - buffer->used >= bytes &&
	       (!buffer->max_records || buffer->count < buffer->max_records);
}

static bool current_open(size_t bytes)
{
	struct buffer *buffer = buffers.request ? calloc(1, sizeof(*buffer)) : NULL;

	if (!buffer)
		return false;
	buffers.request(&buffer->data, &buffer->size, &buffer->max_records);
	buffers.current = buffer;
	if (buffer->data && buffer->size >= bytes)
		return true;
	if (!buffer->data) {
		free(buffer);
		buffers.current = NULL;
	}
	return false;
}

static void drop(const void *record)
{
	buffers.dropped++;
	simcupti.interface->log("cupti_dropped", ",\"kind\":%u", *(const CUpti_ActivityKind *)record);
}

static void put(const void *record, size_t bytes)
{
	struct buffer *buffer;

	if (!current_has_room(bytes)) {
		current_close();
		if (!current_open(bytes)) {
			drop(record);
			return;
		}
	}
	buffer = buffers.current;
	memcpy(buffer->data + buffer->used, record, bytes);
	buffer->used += bytes;
	buffer->count++;
}

static void hold_release(size_t index)
{
	put(buffers.hold[index].bytes, buffers.hold[index].size);
	buffers.hold_count--;
	memmove(&buffers.hold[index], &buffers.hold[index + 1],
		(buffers.hold_count - index) * sizeof(buffers.hold[0]));
}

static void hold_add(const void *record, size_t bytes)
{
	if (buffers.hold_count == HOLD_ROOM)
		hold_release(simcupti.reorders ? simcupti_random(HOLD_ROOM) : 0);
	buffers.hold[buffers.hold_count].size = bytes;
	memcpy(buffers.hold[buffers.hold_count].bytes, record, bytes);
	buffers.hold_count++;
}

static void hold_empty(void)
{
	while (buffers.hold_count)
		hold_release(simcupti.reorders ? simcupti_random((uint32_t)buffers.hold_count) : 0);
}

/* ---- handing over, without the lock ---- */

static void overhead_record(uint64_t start_ns)
{
	CUpti_ActivityOverhead3 record = { .kind = CUPTI_ACTIVITY_KIND_OVERHEAD };

	if (!simcupti.enabled[CUPTI_ACTIVITY_KIND_OVERHEAD])
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
	bool is_any = false;

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
		if (buffers.complete)
			buffers.complete(NULL, 0, buffer->data, buffer->size, buffer->used);
		is_any |= buffer->count > 1;	/* or the record of this flush alone would call for the next */
		free(buffer);
		lock();
		buffers.handing_over--;
		unlock();
		__atomic_add_fetch(&buffers.done_word, 1, __ATOMIC_RELEASE);
		sim_futex_wake(&buffers.done_word);
	}
	if (is_any && simcupti.interface)
		overhead_record(start_ns);
}

/* What was filled before `since_ns` is with the client, unless another thread is still handing some of it over. */
static void log_handed_over(uint64_t since_ns, uint64_t period_ns)
{
	bool is_all;

	lock();
	is_all = !buffers.handing_over;
	unlock();
	if (is_all && simcupti.interface)
		simcupti.interface->log("cupti_flushed", ",\"since\":%llu,\"period\":%llu",
					(unsigned long long)since_ns, (unsigned long long)period_ns);
}

/* Wakes for full buffers and, if a period is set, to hand over the one being filled. */
static void *thread_main(void *unused)
{
	uint64_t due_ns = 0;

	for (;;) {
		unsigned seen = __atomic_load_n(&buffers.wake_word, __ATOMIC_ACQUIRE);
		uint64_t period_ns = __atomic_load_n(&buffers.period_ns, __ATOMIC_RELAXED);
		uint64_t now_ns = sim_now_ns();
		bool is_due = period_ns && now_ns >= due_ns;

		if (is_due) {
			lock();
			current_close();
			unlock();
			due_ns = now_ns + period_ns;
		}
		hand_over();
		if (is_due)
			log_handed_over(now_ns, period_ns);
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

/* A kernel that has no times or ends before it starts, or has no name. */
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

/* ---- from outside ---- */

void simcupti_emit(const void *record)
{
	CUpti_ActivityKind kind = *(const CUpti_ActivityKind *)record;
	size_t bytes = simcupti_record_size(kind);
	_Alignas(8) uint8_t spoilt[RECORD_BYTES];
	bool is_any_full;

	if (simcupti.is_odd && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && simcupti_random(8) == 0) {
		memcpy(spoilt, record, bytes);
		spoil((CUpti_ActivityKernel4 *)spoilt);
		record = spoilt;
	}
	lock();
	if (simcupti.drops && simcupti_random(8) == 0)
		drop(record);
	else if (simcupti.is_late || simcupti.reorders)
		hold_add(record, bytes);
	else
		put(record, bytes);
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

void simcupti_flush(bool is_forced)
{
	lock();
	if (is_forced || !simcupti.is_late)
		hold_empty();
	current_close();
	unlock();
	/* The thread that keeps the period may be handing a buffer over: that is waited for, too. */
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
			return;
		if (simcupti.has_thread)
			thread_wake();
		sim_futex_wait(&buffers.done_word, seen, 100000000);
	}
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
						    CUpti_BuffersCallbackCompleteFunc funcBufferCompleted)
{
	if (!funcBufferRequested || !funcBufferCompleted)
		return CUPTI_ERROR_INVALID_PARAMETER;
	simcupti_take_time();
	/* The last caller wins, and gets the buffers of the one before too: that is what the real one does. */
	lock();
	buffers.request = funcBufferRequested;
	buffers.complete = funcBufferCompleted;
	unlock();
	if (simcupti.has_thread)
		thread_start();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
	CUptiResult result = simcupti_ready();

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

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t streamId, size_t *dropped)
{
	(void)context;
	(void)streamId;
	if (!dropped)
		return CUPTI_ERROR_INVALID_PARAMETER;
	lock();
	*dropped = buffers.dropped;
	buffers.dropped = 0;
	unlock();
	return CUPTI_SUCCESS;
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
