/* SPDX-License-Identifier: Apache-2.0 */
/* Device times from CUPTI's activity records.
 *
 * CUPTI is the process's own copy, opened once the program's own calls have brought the driver up, never before: a driver
 * that we had started would not survive the program's forks. The activity interface alone is used, without a
 * subscription. A forked child of a process that has CUPTI open leaves it alone.
 *
 * cupti_follow and cupti_succeeded come from the wrappers of CUDA calls, cupti_flush from wherever an image ends. */
#ifndef PILLION_CUPTI_H
#define PILLION_CUPTI_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/process.h"
#include "runtime/record/thread.h"

extern uint64_t cupti_settled; /* generation of the image where recording needs nothing done to go on */
extern uint64_t cupti_on;      /* generation of the image where CUPTI records */

/* Out of line: starts, pauses, or goes on. has_driver: this thread has come back from the driver, so it is loaded as a whole. */
void cupti_change(bool is_wanted, bool has_driver);

/* Before a CUDA call: is it recorded? Two loads where nothing changes. While another thread starts, this one waits. */
static inline void cupti_follow(bool is_wanted)
{
	if (__builtin_expect(is_wanted ? cupti_settled != process.generation : cupti_on && cupti_on == process.generation, 0))
		cupti_change(is_wanted, false);
}

/* After a recorded CUDA call without an error. */
static inline void cupti_succeeded(void)
{
	if (__builtin_expect(cupti_settled != process.generation, 0))
		cupti_change(true, true);
}

/* The CUDA driver has loaded us by CUDA_INJECTION64_PATH: the program is bringing it up. Starts, if recording is wanted. */
void cupti_driver_loads_us(void);

/* At the end of the image: says so if the driver came up in it by no call that we saw. */
void cupti_say_unseen(void);

/* Brings in what CUPTI still holds. Not from where the program may be interrupted: then nothing is done and the ledger
 * says so. */
void cupti_flush(void);

/* Around a call that may end contexts, and with them what is known of their work: this one, or (NULL) those of a device, or
 * (< 0) the current one. */
void cupti_context_ends(void *context, int device);
void cupti_context_ended(int device);

/* ---- another profiler in the program: cupti_foreign.c ---- */

/* The code at `caller` is about to use CUPTI for itself: it has it from now on, and the ledger says so. */
void cupti_step_aside(const void *caller);

/* Likewise: it is about to register these for its buffers. True: cupti_buffer_request and cupti_buffer_complete are to be
 * registered in their place. */
bool cupti_foreign_buffers(const void *caller, void *request, void *complete);

/* Likewise: it is about to switch a kind of records on. */
void cupti_foreign_enables(const void *caller, uint32_t kind);

/* It has switched one off. When all are off, CUPTI is ours again from the next recorded call on. */
void cupti_foreign_disabled(uint32_t kind);

/* It has ended CUPTI as a whole. */
void cupti_foreign_end(void);

/* For the rest of cupti_*.c. False: it still uses CUPTI. */
bool cupti_foreign_has_it(void);
bool cupti_foreign_gives_back(void);

/* Its buffers. False: it has none to give. */
bool cupti_foreign_request(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_limit);
void cupti_foreign_copy(void *context, uint32_t stream, const uint8_t *buffer, size_t used);
void cupti_foreign_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used);

/* cupti.c: only one thread at a time changes who has CUPTI; false: another one is at it. In a guard up to the release, or a handler that
 * leaves by longjmp would keep it. */
bool cupti_claim(struct thread_guard *guard);
/* The other one may be in calls of CUPTI's that take long; but it may also wait for this thread: then false, and at once from then on. */
bool cupti_claim_patiently(struct thread_guard *guard);
void cupti_release(struct thread_guard *guard);
bool cupti_is_asked_for(void);

/* CUPTI without us, and with what others expect of it. */
void cupti_let_go(void);
void cupti_set(uint64_t on, uint64_t settled);

/* ---- cupti_record.c: from CUPTI's buffers into the trace ---- */

/* What of CUPTI is called; types are the ABI's. NULL where this version does not have it. */
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
};
extern struct cupti_api cupti_api;

struct cupti_state {
	uint64_t generation; /* of the image that opened CUPTI; 0: none yet */
	uint32_t version;
	uint8_t time; /* enum tf_device_time */
	uint16_t epoch;	 /* of correlation ids */
	uint64_t kinds;	 /* that we have switched on */
	bool has_work;	 /* a device has done something since */
};
extern struct cupti_state cupti_state;

/* Around calls of ours into CUPTI, in a guard: buffers that come back meanwhile are read by this thread. */
extern __thread bool cupti_is_inside __attribute__((tls_model("initial-exec")));
void cupti_enter(struct thread_guard *guard);
void cupti_leave(struct thread_guard *guard);

void cupti_buffer_request(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_limit);
void cupti_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used);

/* Notes what CUPTI has dropped by now. */
void cupti_count_dropped(void *context, uint32_t stream);

/* Where CUPTI's clock stands, if it is not ours. */
void cupti_take_clock(void);

/* cupti_calls.c: the records of calls, by which a host call and what the device did for it are found together. */
void cupti_calls_set(bool is_on);
bool cupti_calls_wanted(bool is_driver, uint32_t function);

/* cupti_kinds.c: what is recorded, by the options and by CUPTI's version. enable gives what CUPTI answered for kernels. */
int cupti_kinds_enable(void);
void cupti_kinds_disable(void);

/* cupti_open.c: the functions of the process's CUPTI. NULL, or why not. */
const char *cupti_open(struct cupti_api *ret, char *ret_path, size_t size);

#endif
