/* SPDX-License-Identifier: Apache-2.0 */
/* The reusable CUDA events of one context, and the device's clock.
 *
 * Lock-free: the state of a slot or a pool determines who may use it; states change by compare-and-swap.
 *
 *   slot: EMPTY -> TAKEN <-> FREE            events created; taken for an operation, or freed because its call failed
 *         TAKEN -> PENDING -> FREE           both events are recorded; their times have been read
 *         EMPTY, PENDING -> BROKEN           the driver returned an error; never used again
 *   pool: NONE -> STARTING -> READY <-> RESTING    RESTING: a call that may destroy the context is in progress
 *         STARTING, RESTING -> DEAD
 *
 * Pools are never freed: at most 64 contexts of a process have device times. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The driver's own functions, so that no hook sees the calls. The types are those of the ABI. */
struct event_pool_api {
	int (*is_capturing)(void *stream, int *ret);
	int (*stream_context)(void *stream, void **ret);
	int (*stream_id)(void *stream, unsigned long long *ret);
	int (*context_id)(void *context, unsigned long long *ret);
	int (*current)(void **ret);
	int (*push)(void *context);
	int (*pop)(void **ret);
	int (*device)(int *ret);
	int (*device_name)(char *ret, int size, int device);
	int (*primary_state)(int device, unsigned *ret_flags, int *ret_is_active);
	int (*exchange_mode)(int *mode);
	int (*stream_create)(void **ret, unsigned flags);
	int (*create)(void **ret, unsigned flags);
	int (*record)(void *event, void *stream);
	int (*query)(void *event);
	int (*elapsed)(float *ret_ms, void *start, void *end);
};
extern struct event_pool_api event_pool_api;

enum event_slot_state {
	EVENT_SLOT_EMPTY,
	EVENT_SLOT_FREE,
	EVENT_SLOT_TAKEN,   /* by a thread that is requesting the operation */
	EVENT_SLOT_PENDING, /* both events are on the stream */
	EVENT_SLOT_BROKEN,
};

struct event_slot {
	uint32_t state; /* atomic */
	uint32_t operation;	/* id of a TF_BLOB_DEVICE_OPERATION */
	uint64_t number, bytes;
	void *begin, *end, *stream;
};

enum { EVENT_POOLS = 64, EVENT_SLOTS = 16384 };
enum event_pool_state { EVENT_POOL_NONE, EVENT_POOL_STARTING, EVENT_POOL_READY, EVENT_POOL_RESTING, EVENT_POOL_DEAD };

struct event_pool {
	uint64_t id;	    /* cuCtxGetId */
	uint32_t state;	    /* atomic */
	uint32_t made, next; /* slots with events; the slot to try next */
	uint32_t taken;	    /* since the events were last read */
	int device;
	void *context;
	struct event_slot *slots;
	/* The clock, used by the thread that reads events: `base` occurred at host_ns. */
	void *probe_stream, *base, *probe;
	uint64_t host_ns, first_host_ns, taken_ns;
	double device_ns, rate; /* from the first base to this one; host ns per device ns */
	bool has_clock;
};
extern struct event_pool event_pools[EVENT_POOLS];

/* The pool of a context, created at its first use; NULL: not possible now. */
struct event_pool *event_pool_get(void *context, uint64_t id);

/* Allocates a slot whose events may be recorded; NULL: none is free. */
struct event_slot *event_pool_take_slot(struct event_pool *p);

/* Reads the device's clock if the last reading is older than the flush interval. False: there is no reading. To be
 * called under a guard and with the capture mode relaxed. is_patient: all records would be lost without a reading. */
bool event_pool_update_clock(struct event_pool *p, bool is_patient);

/* The time of an event of this context in ns of CLOCK_MONOTONIC. 0: the driver returned an error. */
uint64_t event_pool_time(const struct event_pool *p, void *event);

/* In this mode, calls that the driver considers unsafe do not invalidate a stream capture in any thread. */
int event_pool_relax(void);
void event_pool_restore(int mode);
