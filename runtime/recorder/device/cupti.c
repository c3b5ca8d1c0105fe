/* SPDX-License-Identifier: Apache-2.0 */
/* When CUPTI records: opening it, pauses outside a capture range, the last flush. */
#include "runtime/recorder/device/cupti.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/recorder/device/cupti_client.h"
#include "runtime/recorder/device/cupti_driver.h"
#include "runtime/recorder/device/cupti_foreign.h"
#include "runtime/recorder/device/cupti_kinds.h"
#include "runtime/recorder/device/cupti_layout.h"
#include "runtime/recorder/device/cupti_open.h"
#include "runtime/recorder/device/cupti_record.h"
#include "runtime/recorder/device/cupti_source.h"
#include "runtime/recorder/device/event_timing.h"
#include "runtime/recorder/device/facts.h"
#include "runtime/recorder/device/graph.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/identity.h"
#include "runtime/recorder/record/process.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/foreign_profiler.h"

enum { FLUSH_COMPLETE = 0, FLUSH_FORCED = 1, PATIENCE = 16, LAUNCHES_WITHOUT_RECORD = 32, WAITS = 8 };

/* A forked child inherits all of these. */
uint64_t cupti_injected_in;
static uint32_t early_calls; /* calls before CUPTI was open, or was known to be open */
static uint64_t next_flush_ns; /* when the next flush after a wait is due */
static uint32_t launches; /* successful ones that were not captured, while cupti_state.counts_launches */
static unsigned waits; /* without a record */

static bool is_requested(void)
{
	return process_options.trace & 1u << TF_GROUP_CUDA && !sys_is_silent && !process_is_frozen &&
	       process_options.gpu_activity != GPU_ACTIVITY_NONE;
}

bool cupti_is_requested(void)
{
	return is_requested() && !event_timing_is_on() && process_options.gpu_activity != GPU_ACTIVITY_EVENTS;
}

/* ---- records ---- */

/* After a range has ended, operations of it may still be pending. */
static bool cupti_has_records(void)
{
	return cupti_phase_has(CUPTI_RECORDS) || event_timing_is_on() ||
	       (cupti_state.has_rest && cupti_phase() == CUPTI_PAUSED);
}

static void cupti_write_flush(uint64_t ticks)
{
	event_blob(TF_BLOB_DEVICE_FLUSH, 0, &(struct tf_device_flush){ticks}, sizeof(struct tf_device_flush));
}

static void cupti_collect(bool is_last)
{
	uint64_t ticks = clock_now();

	if (event_timing_is_on()) {
		event_timing_collect(is_last);
		return;
	}
	cupti_write_clock();
	if (is_last)
		cupti_finish_operations();
	/* A forced flush also returns incomplete operations, without an end, to all subscribers, and no others. */
	cupti_api.flush_all(is_last && !cupti_foreign_has_subscribers() ? FLUSH_FORCED : FLUSH_COMPLETE);
	cupti_count_dropped(NULL, 0);
	cupti_write_flush(ticks);
	if (!cupti_foreign_has_subscribers()) /* their callbacks would see our calls of the driver */
		device_facts_write();
}

static void cupti_collect_at_exit(int status, void *unused)
{
	struct thread_guard guard;

	if (!cupti_has_records() || sys_is_silent || !thread_attached())
		return;
	cupti_enter(&guard);
	cupti_collect(true);
	event_timing_stop();
	cupti_set_phase(CUPTI_OFF);
	cupti_leave(&guard);
}

/* Records must be read before CUDA's exit handlers run, which are registered when CUDA is loaded and when it is first
 * used. So ours is registered at the first call that succeeds, and within cuInit, as no call may be seen. Each once. */
static void cupti_register_exit_handler(bool is_early)
{
	static bool is_registered[2];

	if (!is_registered[is_early])
		is_registered[is_early] = !on_exit(cupti_collect_at_exit, NULL);
}

/* ---- the source of device times ---- */

static void cupti_turn_off(const char *why, const char *what, int result)
{
	cupti_source_note(TF_NOTE_NO_DEVICE_TIMES, why, what, result);
	cupti_set_phase(CUPTI_OFF);
}

static bool cupti_use_event_timing(void)
{
	const char *why = event_timing_start();

	if (why) {
		cupti_source_library[0] = 0;
		cupti_turn_off(why, NULL, 0);
		return false;
	}
	cupti_register_exit_handler(false);
	cupti_source_write(TF_SOURCE_EVENTS);
	cupti_set_phase(CUPTI_RECORDING);
	return true;
}

/* CUPTI is unavailable. Within cuInit, another attempt follows when the driver has been initialised. Events may be
 * used, because nobody uses CUPTI and would see them. */
static void cupti_fall_back(const char *why, const char *what, int result)
{
	if (cupti_phase() == CUPTI_OPENING_EARLY) {
		cupti_state.opened_in = 0;
		cupti_set_phase(cupti_foreign_has_it() ? CUPTI_LENT : CUPTI_UNTRIED);
	} else if (process_options.gpu_activity != GPU_ACTIVITY_AUTO) {
		cupti_turn_off(why, what, result);
	} else if (cupti_use_event_timing()) {
		cupti_source_note("device times are from CUDA events because CUPTI is unavailable: ", why, what,
				  result);
	}
}

static void cupti_fall_back_refused(const char *what, int result)
{
	cupti_fall_back(result == CUPTI_OTHER_SUBSCRIBER ? "another tool uses CUPTI"
			: result == CUPTI_UNINITIALIZED  ? "CUPTI finds no initialised driver"
							 : "CUPTI does not work here",
			what, result);
}

/* ---- opening ---- */

static bool cupti_subscribe(const char *name)
{
	return cupti_client_subscribe(name, cupti_buffer_request_shared, cupti_buffer_complete_shared);
}

static void cupti_wait_for_subscribers(void)
{
	if (!cupti_foreign_has_it())
		cupti_foreign_write_gap(false, NULL);
	cupti_foreign.generation = process.generation;
	cupti_foreign.uses = CUPTI_FOREIGN_SUBSCRIBED;
}

/* The program has CUPTI, or has subscriptions beside which CUPTI does not accept ours. */
static bool cupti_must_wait(void)
{
	if (cupti_foreign_has_it() && cupti_foreign.uses)
		return true;
	if (cupti_foreign_has_subscribers() && !cupti_subscribe("pillion")) {
		cupti_wait_for_subscribers();
		return true;
	}
	return cupti_foreign_has_it() && !cupti_foreign_gives_back();
}

/* As the only user. The clock is set before the kinds, because earlier records would have another clock. */
static int cupti_register(void)
{
	cupti_state.time = TF_DEVICE_TIME_OWN;
	if (cupti_api.register_timestamp && !cupti_api.register_timestamp(clock_monotonic_ns))
		cupti_state.time = TF_DEVICE_TIME_MONOTONIC;
	return cupti_api.register_callbacks(cupti_buffer_request, cupti_buffer_complete);
}

static void cupti_note_sharing(void)
{
	static uint64_t noted_in; /* generation of the image that has the note */

	if (noted_in == process.generation)
		return;
	noted_in = process.generation;
	process_note("CUPTI is shared with a profiler of the program, both record; graphs are recorded by their nodes");
}

/* From here on, CUPTI is in use by us. */
static void cupti_start_recording(void)
{
	bool is_early = cupti_phase() == CUPTI_OPENING_EARLY;
	int result;

	if (cupti_must_wait()) {
		cupti_set_phase(CUPTI_LENT);
		return;
	}
	result = cupti_client_is_sharing() ? 0 : cupti_register();
	if (result) {
		cupti_fall_back_refused("cuptiActivityRegisterCallbacks", result);
		return;
	}
	cupti_state.is_registered = true;
	result = cupti_kinds_enable();
	if (result && cupti_client_is_sharing()) {
		cupti_client_unsubscribe(false);
		cupti_wait_for_subscribers();
		cupti_set_phase(CUPTI_LENT);
		return;
	}
	if (result) {
		cupti_fall_back_refused("cuptiActivityEnable", result);
		return;
	}
	if (cupti_client_is_sharing())
		cupti_note_sharing();
	else if (!cupti_api.flush_period || cupti_api.flush_period(process_options.cuda_flush_interval_ms))
		process_note("this CUPTI returns records only when its buffers are full: a kill loses more than one "
			     "flush interval");
	cupti_register_exit_handler(is_early);
	cupti_state.counts_launches = !cupti_state.has_records;
	cupti_source_write(TF_SOURCE_CUPTI);
	cupti_write_flush(clock_now()); /* there were no earlier records */
	cupti_write_clock();
	cupti_set_phase(is_early ? CUPTI_EARLY : CUPTI_RECORDING);
}

static void cupti_try_open(bool is_early)
{
	const char *injection = identity_variable(environ, "CUDA_INJECTION64_PATH"), *why;
	int result;

	cupti_set_phase(is_early ? CUPTI_OPENING_EARLY : CUPTI_OPENING);
	cupti_state.opened_in = process.generation;
	cupti_state.has_operations = cupti_state.has_records = cupti_state.is_registered = false;
	launches = 0;
	if (process_range)
		__atomic_store_n(&process_range->uses_cuda, 1, __ATOMIC_RELAXED);
	if (process_options.gpu_activity == GPU_ACTIVITY_EVENTS) {
		cupti_use_event_timing();
		return;
	}
	if (injection && *injection && strcmp(injection, process_library()) != 0 &&
	    cupti_injected_in != process.generation) {
		cupti_turn_off("CUDA_INJECTION64_PATH names another tool, which uses CUPTI", NULL, 0);
		return;
	}
	if (foreign_profiler_is_named(environ)) {
		cupti_turn_off("the process runs under nsys or ncu, which use CUPTI", NULL, 0);
		return;
	}
	why = cupti_open(&cupti_api, cupti_source_library, sizeof(cupti_source_library));
	result = why ? 0 : cupti_api.get_version(&cupti_state.version);
	if (!why && (result || cupti_state.version < CUPTI_OLDEST))
		why = "this CUPTI is older than that of CUDA 11.0";
	if (!why && !cupti_buffer_prepare())
		why = "there is no memory for its buffers";
	if (why) {
		cupti_fall_back(why, NULL, 0);
		return;
	}
	cupti_kinds_request_hardware(is_early);
	cupti_start_recording();
}

/* Searching all libraries at each call would cost too much. */
static bool driver_is_initialized(void)
{
	if (!cupti_driver_is_found() && ++early_calls > PATIENCE && early_calls & (early_calls - 1) &&
	    cupti_injected_in != process.generation)
		return false;
	return cupti_driver_is_initialized();
}

/* Unless a call has returned or the driver has loaded our library, another thread may be in the dlopen of libcuda:
 * its symbols are found already, but calling them crashes. */
static void cupti_open_if_driver_is_initialized(bool has_driver)
{
	if (!is_requested())
		cupti_set_phase(CUPTI_OFF);
	else if ((has_driver || cupti_injected_in == process.generation) && driver_is_initialized())
		cupti_try_open(false);
}

/* A library that forwards CUDA's calls to another process or machine has no driver beside it. */
void cupti_check_driver(void)
{
	static uint64_t checked_in; /* generation of the image in which this was checked */
	struct thread_guard guard;

	if (cupti_phase() != CUPTI_UNTRIED || !thread_attached() ||
	    __atomic_exchange_n(&checked_in, process.generation, __ATOMIC_RELAXED) == process.generation)
		return;
	thread_guard_enter(&thread_self, &guard);
	if (!cupti_driver_is_initialized() && !cupti_driver_is_found())
		process_note(TF_NOTE_NO_DEVICE_TIMES
			     "CUDA calls succeed, but this process has no libcuda: a library forwards "
			     "them, and the process that executes them is to be recorded");
	thread_guard_leave(&thread_self, &guard);
}

/* The program's other threads wait for its cuInit, so no operation is requested before CUPTI records it. CUDA events
 * need an initialised driver. If CUPTI cannot be opened now, the next call finds the driver initialised, no matter
 * how many earlier calls did not find it. */
void cupti_driver_starts(void)
{
	struct thread_guard guard;

	cupti_injected_in = process.generation;
	if (!event_enabled(TF_GROUP_CUDA) || !cupti_is_requested() || cupti_state.opened_in || !cupti_claim(&guard))
		return;
	cupti_try_open(true);
	cupti_release(&guard);
}

/* A recorded call would have searched for the driver, or found that recording is off. Calls that request no device
 * operation have no rows. Outside a range, no call is recorded. */
void cupti_look_for_unseen(void)
{
	struct thread_guard guard;

	if (early_calls)
		return;
	if (cupti_is_open() ? !cupti_state.has_operations : cupti_phase() != CUPTI_UNTRIED)
		return;
	if ((process_range && process_range->mode != TF_RANGE_WHOLE_RUN) || !event_enabled(TF_GROUP_CUDA_DRIVER) ||
	    !thread_attached())
		return;
	thread_guard_enter(&thread_self, &guard);
	process_note("CUDA was used by calls that cannot be seen: by a library opened with RTLD_DEEPBIND, or in "
		     "another linker namespace");
	thread_guard_leave(&thread_self, &guard);
}

/* ---- pauses ---- */

static void cupti_pause(void)
{
	if (!event_timing_is_on()) {
		cupti_kinds_disable();
		cupti_state.has_rest = true;
	}
	cupti_collect(false);
	cupti_set_phase(CUPTI_PAUSED);
}

/* Other tools interpret CUPTI's times as CLOCK_REALTIME, which they are unless a tool registers another clock. */
void cupti_stop(void)
{
	if (!cupti_api.flush_all)
		return;
	cupti_kinds_disable();
	cupti_collect(false);
	cupti_state.has_rest = cupti_client_is_sharing();
	if (cupti_state.has_rest)
		return;
	cupti_collect(true); /* the other profiler would receive what CUPTI still has */
	if (cupti_state.is_registered && cupti_state.time == TF_DEVICE_TIME_MONOTONIC)
		cupti_api.register_timestamp(clock_realtime_ns);
	cupti_state.is_registered = false;
}

bool cupti_join(const char *name)
{
	enum cupti_phase phase = cupti_phase();

	if (cupti_client_is_sharing())
		return true;
	if (!cupti_client_can_share() || !(phase & CUPTI_RECORDS || phase == CUPTI_PAUSED))
		return false;
	cupti_set_phase(CUPTI_OPENING); /* calls of other threads wait */
	cupti_stop();
	if (!cupti_subscribe(name)) {
		cupti_set_phase(CUPTI_PAUSED);
		return false;
	}
	if (phase & CUPTI_RECORDS)
		cupti_start_recording();
	else
		cupti_set_phase(CUPTI_PAUSED);
	return true;
}

void cupti_disable(void)
{
	if (!cupti_client_is_sharing())
		return;
	cupti_kinds_disable();
	cupti_collect(false);
	cupti_collect(true);
	cupti_client_unsubscribe(false);
	cupti_state.has_rest = cupti_state.is_registered = false;
	if (cupti_phase() & CUPTI_RECORDS)
		cupti_set_phase(CUPTI_PAUSED);
}

/* If the range goes on, because other processes are inside, the next recorded call resumes. */
void cupti_range_ends(void)
{
	struct thread_guard guard;

	if (!cupti_phase_has(CUPTI_RECORDS) || cupti_is_inside || cupti_may_be_in_handler() || !thread_attached() ||
	    !cupti_claim(&guard))
		return;
	if (cupti_phase() == CUPTI_RECORDING)
		cupti_pause();
	cupti_release(&guard);
}

static void cupti_resume(void)
{
	int result;

	if (!event_timing_is_on() && (cupti_foreign_has_it() || !cupti_state.is_registered)) {
		cupti_start_recording();
		return;
	}
	if (event_timing_is_on()) {
		cupti_set_phase(CUPTI_RECORDING);
		return;
	}
	result = cupti_kinds_enable();
	if (result) {
		cupti_fall_back_refused("cuptiActivityEnable", result);
		return;
	}
	cupti_write_clock();
	cupti_set_phase(CUPTI_RECORDING);
}

/* For a recorded call while CUPTI has been recording since cuInit. */
static void cupti_stop_before_init(bool has_driver)
{
	early_calls++;
	if (!has_driver)
		return;
	cupti_register_exit_handler(false);
	if (!event_timing_is_on())
		cupti_kinds_enable_managed();
	cupti_set_phase(CUPTI_RECORDING);
}

/* A thread whose call is recorded waits while another thread opens CUPTI, because CUPTI has no records of earlier
 * operations. */
static bool cupti_claim_for_call(bool is_wanted, struct thread_guard *guard)
{
	static uint64_t noted_in; /* generation of the image that has the note */

	if (cupti_claim(guard))
		return true;
	if (!is_wanted || (early_calls > PATIENCE && cupti_phase() == CUPTI_UNTRIED))
		return false;
	if (cupti_claim_patiently(guard))
		return true;
	if (__atomic_exchange_n(&noted_in, process.generation, __ATOMIC_RELAXED) == process.generation)
		return false;
	thread_guard_enter(&thread_self, guard);
	process_note("device records are missing of operations requested while another thread was opening CUPTI");
	thread_guard_leave(&thread_self, guard);
	return false;
}

void cupti_change(bool is_wanted, bool has_driver)
{
	struct thread_guard guard;
	enum cupti_phase phase;

	if (!thread_attached())
		return;
	if (cupti_phase() == CUPTI_OFF) {
		cupti_set_phase(CUPTI_OFF); /* stored for this image, too: an earlier image opened CUPTI */
		return;
	}
	if (!cupti_claim_for_call(is_wanted, &guard))
		return;
	phase = cupti_phase();
	if (!is_wanted && phase & CUPTI_RECORDS)
		cupti_pause();
	else if (is_wanted && phase == CUPTI_UNTRIED)
		cupti_open_if_driver_is_initialized(has_driver);
	else if (is_wanted && phase == CUPTI_EARLY)
		cupti_stop_before_init(has_driver);
	else if (is_wanted && phase == CUPTI_PAUSED && !cupti_foreign_is_detaching())
		cupti_resume();
	else if (is_wanted && phase == CUPTI_RECORDING)
		cupti_collect(false);
	cupti_answer(phase & CUPTI_RECORDS && cupti_phase_has(CUPTI_RECORDS));
	cupti_release(&guard);
}

/* ---- while recording ---- */

/* Launches into a graph have no records. */
void cupti_count_launch(void *stream)
{
	if (cupti_phase_has(CUPTI_RECORDS) && !event_timing_is_on() && !cupti_driver_is_capturing(stream) &&
	    __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED) >= LAUNCHES_WITHOUT_RECORD)
		cupti_state.counts_launches = false;
}

/* On some virtual machines CUPTI is enabled without an error and delivers no record. Nothing is concluded before a
 * forced flush has returned none either; it cuts off what other streams execute, so it follows several waits. */
static void cupti_stop_quietly(void)
{
	static const char text[] = "CUPTI was enabled without an error, but delivers no record of any kernel";

	if (++waits % WAITS)
		return;
	cupti_kinds_disable();
	cupti_collect(true);
	if (cupti_state.has_records) {
		cupti_kinds_enable();
		return;
	}
	launches = 0;
	if (process_options.gpu_activity != GPU_ACTIVITY_AUTO)
		cupti_turn_off(text, NULL, 0);
	else if (cupti_use_event_timing())
		cupti_source_note("device times are from CUDA events from here on: ", text, NULL, 0);
}

/* A program that waits and then makes no call of CUDA for long may be ended meanwhile, so flushes take 1/FLUSH_SHARE of
 * the time, by the shorter one of the last two: the longer may have waited for a CPU. LEAST_NS follows the first. */
static uint64_t next_flush(uint64_t began_ns, uint64_t interval_ns)
{
	enum { FLUSH_SHARE = 200, LEAST_NS = 10000000 };
	static uint64_t last_ns;
	uint64_t now = clock_monotonic_ns(), ns = now - began_ns, pause = (ns < last_ns ? ns : last_ns) * FLUSH_SHARE;

	last_ns = ns;
	pause = pause > LEAST_NS ? pause : LEAST_NS;
	return now + (pause < interval_ns ? pause : interval_ns);
}

/* The program has waited for its operations, so their records are complete. */
void cupti_flush_waited(void)
{
	uint64_t interval_ns = process_options.cuda_flush_interval_ms * 1000000ull, now = clock_monotonic_ns();
	uint64_t due = __atomic_load_n(&next_flush_ns, __ATOMIC_RELAXED);
	bool is_due = interval_ns && now >= due;
	bool is_silent = !cupti_state.has_records &&
			 __atomic_load_n(&launches, __ATOMIC_RELAXED) >= LAUNCHES_WITHOUT_RECORD;
	struct thread_guard guard;

	if ((!is_due && !is_silent) || cupti_is_inside || !thread_attached() || !cupti_claim(&guard))
		return;
	if (cupti_phase() == CUPTI_RECORDING && !event_timing_is_on()) {
		__atomic_store_n(&next_flush_ns, now + interval_ns, __ATOMIC_RELAXED);
		cupti_collect(false);
		__atomic_store_n(&next_flush_ns, next_flush(now, interval_ns), __ATOMIC_RELAXED);
		graph_check_whole();
		if (is_silent && !cupti_state.has_records)
			cupti_stop_quietly();
	}
	cupti_release(&guard);
}

/* ---- end ---- */

static void cupti_collect_now(bool is_last)
{
	struct thread_guard guard;

	if (!cupti_has_records() || sys_is_silent || cupti_is_inside)
		return;
	if (cupti_may_be_in_handler()) {
		process_note("device records of the last moments are missing: the process may have ended in a signal "
			     "handler");
		return;
	}
	if (!thread_attached())
		return;
	cupti_enter(&guard);
	cupti_collect(is_last);
	cupti_leave(&guard);
}

void cupti_flush_now(void)
{
	cupti_collect_now(true);
}

void cupti_context_ends(void *context, int device)
{
	cupti_collect_now(false);
	if (event_timing_is_on() && thread_attached())
		event_timing_context_ends(context, device);
}

void cupti_context_ended(int device)
{
	if (event_timing_is_on())
		event_timing_context_ended(device);
}
