/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI in this process: the functions of CUPTI that are called, the phase of recording, and the claim to change
 * either. The other parts, cupti_*.c, depend on this one.
 *
 *   UNTRIED -------> OPENING -----------------> RECORDING <-----> PAUSED    outside a capture range
 *      |  ^                                        ^                ^
 *      |  | the attempt failed     first recorded  |                |
 *      v  |                        call succeeded  |                |
 *   OPENING_EARLY (within cuInit) ------------> EARLY <-------------+
 *
 *   From any of these to LENT: another profiler of the program uses CUPTI. When it has disabled all kinds that it had
 *   enabled, back to PAUSED; to UNTRIED if we had not opened CUPTI.
 *   From any to OFF: recording is not requested or not possible, or the image is ending. OFF is final.
 *
 * With CUDA events as the source (event_timing.h) the phases are the same. A phase belongs to one image: a forked
 * child is UNTRIED, or OFF if an earlier image had opened CUPTI. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/recorder/record/process_state.h"
#include "runtime/recorder/record/thread/thread.h"

enum cupti_phase {
	/* two flags, which the wrappers test */
	CUPTI_SETTLED = 1, /* a call that is recorded changes nothing */
	CUPTI_RECORDS = 2, /* records are being made */

	CUPTI_UNTRIED = 0,
	CUPTI_OPENING = 1 << 2,
	CUPTI_OPENING_EARLY = 2 << 2,
	CUPTI_EARLY = 3 << 2 | CUPTI_RECORDS,
	CUPTI_RECORDING = 4 << 2 | CUPTI_RECORDS | CUPTI_SETTLED,
	CUPTI_PAUSED = 5 << 2,
	CUPTI_LENT = 6 << 2 | CUPTI_SETTLED,
	CUPTI_OFF = 7 << 2 | CUPTI_SETTLED,
};
enum { CUPTI_PHASE_BITS = 8, CUPTI_PHASE_MASK = (1 << CUPTI_PHASE_BITS) - 1 };

/* Atomic: the phase and, in the bits above, the generation of its image. Written by cupti_set_phase() only. */
extern uint64_t cupti_phase_word;

/* Does this image's phase have the flag? */
static inline bool cupti_phase_has(enum cupti_phase flag)
{
	uint64_t word = __atomic_load_n(&cupti_phase_word, __ATOMIC_RELAXED);

	return (word & (~(uint64_t)CUPTI_PHASE_MASK | flag)) == (process.generation << CUPTI_PHASE_BITS | flag);
}

/* Likewise without a check of the image: if true, cupti_phase_has() must be called. */
static inline bool cupti_may_record(void)
{
	return __atomic_load_n(&cupti_phase_word, __ATOMIC_RELAXED) & CUPTI_RECORDS;
}

/* The phase of this image. */
enum cupti_phase cupti_phase(void);

/* The only function that changes the phase. Without effect once this image is OFF. */
void cupti_set_phase(enum cupti_phase phase);

/* Does the launcher wait for the records of this process, because it is about to end COMMAND? */
extern uint32_t cupti_answered; /* the number of the last request that was followed; written by cupti_answer() only */
static inline bool cupti_is_asked(void)
{
	return process_range && __atomic_load_n(&process_range->device_asked, __ATOMIC_RELAXED) != cupti_answered;
}

/* All that could be read has been; has_records: this process was counted as one that holds records, and is still. */
void cupti_answer(bool has_records);

/* May this thread have interrupted code that holds CUPTI's locks? */
bool cupti_may_be_in_handler(void);

/* The functions of CUPTI that are called; the types are those of its ABI. NULL if this version lacks one. */
struct cupti_api {
	int (*get_version)(uint32_t *ret);
	int (*get_timestamp)(uint64_t *ret);
	int (*register_timestamp)(uint64_t (*now)(void));
	int (*register_callbacks)(void (*request)(uint8_t **, size_t *, size_t *),
				  void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t));
	int (*enable)(uint32_t kind);
	int (*disable)(uint32_t kind);
	int (*enable_runtime_call)(uint32_t function, uint8_t is_on);
	int (*enable_driver_call)(uint32_t function, uint8_t is_on);
	int (*name_threads)(int how);
	int (*configure_managed)(void *configs, uint32_t count);
	int (*next_record)(uint8_t *buffer, size_t size, void **record);
	int (*get_dropped)(void *context, uint32_t stream, size_t *ret);
	int (*flush_all)(uint32_t flag);
	int (*flush_period)(uint32_t ms);
	int (*enable_hardware)(uint8_t is_on);
	/* of one subscriber among several */
	int (*subscribe)(void **ret, void (*callback)(void *, uint32_t, uint32_t, const void *), void *data,
			 void *params);
	int (*unsubscribe)(void *subscriber);
	int (*register_callbacks_v2)(void *subscriber, void (*request)(uint8_t **, size_t *, size_t *, void *),
				     void (*complete)(uint8_t *, size_t, size_t, void *));
	int (*enable_v2)(void *subscriber, uint32_t kind, void *config);
	int (*disable_v2)(void *subscriber, uint32_t kind, void *config);
	int (*enable_runtime_call_v2)(void *subscriber, uint32_t function, uint8_t is_on);
	int (*enable_driver_call_v2)(void *subscriber, uint32_t function, uint8_t is_on);
	int (*set_attribute_v2)(void *subscriber, int attribute, size_t *size, void *value);
	int (*next_record_v2)(void *subscriber, uint8_t *buffer, size_t size, void **record);
	int (*get_dropped_v2)(void *subscriber, void *context, uint32_t stream, size_t *ret);
	int (*get_timestamp_v2)(void *subscriber, uint64_t *ret);
	int (*node_id)(void *node, uint64_t *ret);
	int (*graph_id)(void *graph, uint32_t *ret);
	int (*exec_id)(void *exec, uint32_t *ret);
};
extern struct cupti_api cupti_api;

struct cupti_state {
	/* generation of the image that opened CUPTI, or tried to; 0: none. Inherited by forked children */
	uint64_t opened_in;
	uint32_t version;
	uint8_t time;	/* enum tf_device_time; of records outside of a subscription */
	uint16_t epoch; /* of correlation ids */
	uint64_t kinds; /* that we have enabled */
	bool has_operations;	/* a device has executed an operation since CUPTI was opened */
	bool has_records; /* there has been a record of a kernel, copy, memset or graph since then */
	bool counts_launches; /* until there has been one, or enough launches without one */
	bool has_hardware;  /* device times are by the hardware event system */
	bool is_registered; /* our buffer callbacks are CUPTI's, and its kinds need only be enabled */
	uint32_t whole_launches; /* of graphs since the last record of one, with --cuda-graph-sampling. Atomic */
	bool has_rest;	/* paused, and operations in progress at that time may still have records to come */
};
extern struct cupti_state cupti_state;

/* Has this image opened CUPTI? */
static inline bool cupti_is_open(void)
{
	return cupti_state.opened_in && cupti_state.opened_in == process.generation;
}

/* Around our calls into CUPTI, under a guard: buffers that are returned meanwhile are read by this thread. */
extern __thread bool cupti_is_inside __attribute__((tls_model("initial-exec")));
void cupti_enter(struct thread_guard *guard);
void cupti_leave(struct thread_guard *guard);

/* Only the thread with the claim may change who uses CUPTI. False: another thread has it. A guard is held until the
 * release, because a signal handler that leaves by longjmp would keep the claim. */
bool cupti_claim(struct thread_guard *guard);
void cupti_release(struct thread_guard *guard);

/* Waits for the claim. Its holder may be in a call of CUPTI that takes long, but it may also wait for this thread:
 * after one wait that timed out, this returns false at once. */
bool cupti_claim_patiently(struct thread_guard *guard);
