/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of the CUPTI double share. */
#ifndef SIMCUPTI_H
#define SIMCUPTI_H

#include "cupti_13020.h"	/* first: cupti.h conflicts with the internal names of cuda.h */

#include "simgpu.h"

#define CBID_COUNT 2048		/* more than either layer has */

enum cupti_layout {
	LAYOUT_11_8, LAYOUT_12_0, LAYOUT_12_4, LAYOUT_12_8, LAYOUT_13_0, LAYOUT_13_3, LAYOUT_13_5, LAYOUT_COUNT
};

/* Clients of CUPTI. Each has its own kinds, buffers, clock and thread ids. */
enum {
	CLIENT_V1,	/* the process's: functions without _v2 */
	CLIENT_FIRST,	/* this and the following ones: subscribers of cuptiSubscribe_v2 */
	CLIENTS = 4
};

struct simcupti_client {
	bool enabled[CUPTI_ACTIVITY_KIND_COUNT];
	uint8_t api_enabled[2][CBID_COUNT];	/* by layer, by callback id */
	CUpti_ActivityThreadIdType thread_id_type;
	CUpti_TimestampCallbackFunc timestamp;
	int64_t clock_offset_ns;	/* added to the simulated device's clock */
};

struct simcupti {
	const struct sim_interface *interface;	/* NULL until the driver double is found */
	/* PILLION_SIMCUPTI */
	enum cupti_layout layout;
	uint32_t version;	/* of cuptiGetVersion() */
	bool tells_nested, drops, is_late, reorders, has_thread, refuses_subscribers, is_not_initialized, has_old_clock,
	    is_odd;
	bool is_broken, is_silent, is_mute, has_old_driver, is_blackwell, waits_for_cpu;
	/* restrictions of the real one, which `lenient` removes */
	bool keeps_partial, hands_over_unfinished, needs_buffers, has_thread_buffers, checks_scope, separates_v2,
	    detaches_slowly;
	bool traces_once;
	unsigned slow_ms, graph_disabled;	/* how often recording of whole graphs was disabled */
	uint64_t seed;

	struct simcupti_client clients[CLIENTS];
	bool wants_latency_times;
	bool has_defined_records;	/* outside of subscriptions: without any field beyond the kind */
	bool counts_managed[CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT];
};
extern struct simcupti simcupti;

/* The client for which records are being made. */
extern __thread unsigned simcupti_current;

static inline struct simcupti_client *simcupti_client(void)
{
	return &simcupti.clients[simcupti_current];
}

/* Finds the driver double. Returns CUPTI_ERROR_UNKNOWN if there is none, as the real one does without a driver. */
CUptiResult simcupti_ready(void);
/* Crashes if called while CUPTI detaches. */
void simcupti_touch(void);
void simcupti_take_time(void);
uint64_t simcupti_time(uint64_t ns);
uint32_t simcupti_thread_id(void);
uint32_t simcupti_random(uint32_t below);

/* cupti_record.c */
extern const struct sim_tool simcupti_tool;
/* 0: this release does not have the kind. */
size_t simcupti_record_size(CUpti_ActivityKind kind);
/* What the headers of this build declare of it: later releases append fields, which are 0. */
size_t simcupti_record_known(CUpti_ActivityKind kind);
void simcupti_tell_existing(CUpti_ActivityKind kind);
/* Is work in progress that will have a record? */
bool simcupti_has_unfinished(void);
/* Writes the records of such work without an end; the work gets no later record. */
void simcupti_tell_unfinished(void);

/* cupti_buffer.c */
void simcupti_emit(const void *record);
/* Likewise for the node of a graph: from 13.4 on the record ends in the id of its source. */
void simcupti_emit_node(const void *record, const struct sim_work *work);
void simcupti_flush(bool is_forced);
/* The client ends: its buffers are never delivered. */
void simcupti_forget_buffers(unsigned client);

/* cupti_callback.c */
void simcupti_call_api(struct sim_api *api, bool is_exit);
void simcupti_call_resource(CUpti_CallbackId id, CUcontext context, CUstream stream);
void simcupti_unsubscribe_all(void);
/* Is there a subscriber of cuptiSubscribe_v2? */
bool simcupti_has_v2(void);
bool simcupti_has_several(void);
/* The client of such a subscriber; CLIENT_V1: it is none. */
unsigned simcupti_client_of(CUpti_SubscriberHandle handle);

#endif
