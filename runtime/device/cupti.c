/* SPDX-License-Identifier: Apache-2.0 */
/* When CUPTI records: its start, its pauses outside a capture range, its last flush. */
#include "runtime/device/cupti.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/common/clock.h"
#include "runtime/device/cupti_layout.h"
#include "runtime/record/event.h"
#include "runtime/record/identity.h"
#include "runtime/common/loaded.h"
#include "runtime/device/pair.h"
#include "runtime/common/sys.h"
#include "runtime/base/text.h"

enum { FLUSH_FORCED = 1, PATIENCE = 16 };
#define CLAIM_NS 5000000000ull /* opening CUPTI may take as long on a machine with much to do */

uint64_t cupti_settled, cupti_on;
struct cupti_api cupti_api;
struct cupti_state cupti_state;
__thread bool cupti_is_inside __attribute__((tls_model("initial-exec")));

/* All of this a forked child inherits, and goes by the generations in it. */
static uint64_t busy; /* generation of the image one of whose threads is changing something */
static uint32_t attempts;
static char library[PATH_MAX];

void cupti_enter(struct thread_guard *guard)
{
	thread_guard_enter(&thread_self, guard);
	cupti_is_inside = true;
}

void cupti_leave(struct thread_guard *guard)
{
	cupti_is_inside = false;
	thread_guard_leave(&thread_self, guard);
}

bool cupti_claim(struct thread_guard *guard)
{
	uint64_t old = __atomic_load_n(&busy, __ATOMIC_RELAXED);

	if (old == process.generation)
		return false;
	cupti_enter(guard);
	if (__atomic_compare_exchange_n(&busy, &old, process.generation, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return true;
	cupti_leave(guard);
	return false;
}

void cupti_release(struct thread_guard *guard)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	cupti_leave(guard);
}

bool cupti_claim_patiently(struct thread_guard *guard)
{
	static uint64_t impatient; /* generation of the image in which a wait was in vain: the next would be, too */
	struct timespec pause = {.tv_nsec = 100000};
	uint64_t until = clock_monotonic_ns() + CLAIM_NS;

	while (!cupti_claim(guard)) {
		if (sys_is_silent || impatient == process.generation)
			return false;
		if (clock_monotonic_ns() > until) {
			impatient = process.generation;
			return false;
		}
		sys_call(SYS_nanosleep, &pause, NULL, 0, 0);
	}
	return true;
}

void cupti_set(uint64_t on, uint64_t settled)
{
	__atomic_store_n(&cupti_on, on, __ATOMIC_RELAXED);
	__atomic_store_n(&cupti_settled, settled, __ATOMIC_RELAXED);
}

static void at_exit(int status, void *unused);

/* Records are brought in before CUDA's own handlers, which were registered when it was loaded, and when it was first used: so at
 * the first call that succeeds; and within cuInit, for no call of the program's may ever be seen. Once is enough. */
static void bring_in_at_exit(bool is_within)
{
	static bool has_exit[2];

	if (!has_exit[is_within])
		has_exit[is_within] = !on_exit(at_exit, NULL);
}

static void tell_source(unsigned kind)
{
	char bytes[sizeof(struct tf_device_source) + PATH_MAX];
	struct tf_device_source source = {TF_SOURCE_CUPTI, cupti_state.time, cupti_state.version};
	size_t size = strlen(library);

	if (kind == TF_SOURCE_EVENTS) {
		source = (struct tf_device_source){TF_SOURCE_EVENTS, TF_DEVICE_TIME_MONOTONIC, 0};
		size = 0;
	}
	memcpy(bytes, &source, sizeof(source));
	memcpy(bytes + sizeof(source), library, size);
	event_blob(TF_BLOB_DEVICE_SOURCE, 0, bytes, sizeof(source) + size);
}

static void note(const char *start, const char *why, const char *what, int result)
{
	char bytes[PATH_MAX + 256];
	struct text t = text_init(bytes, sizeof(bytes));

	text_add(&t, start);
	text_add(&t, why);
	if (what) {
		text_add(&t, " (");
		text_add(&t, what);
		text_add(&t, " gave ");
		text_number(&t, (uint64_t)result);
		text_char(&t, ')');
	}
	if (library[0]) {
		text_add(&t, ", ");
		text_add(&t, library);
	}
	process_note(bytes);
}

/* For good, in this image. */
static void give_up(const char *why, const char *what, int result)
{
	note("no device times: ", why, what, result);
	cupti_set(0, process.generation);
}

static bool use_events(void)
{
	const char *why = pair_start();

	if (why) {
		library[0] = 0;
		give_up(why, NULL, 0);
		return false;
	}
	bring_in_at_exit(false);
	tell_source(TF_SOURCE_EVENTS);
	cupti_set(process.generation, process.generation);
	return true;
}

static uint64_t starts_early; /* generation of the image where the driver is about to be up: what fails is tried again when it is */
static uint64_t early; /* generation of the image where CUPTI was opened then, and no call has been recorded since */

static bool is_early(void)
{
	return starts_early && starts_early == process.generation;
}

/* Nobody has CUPTI, so nobody is disturbed by events. */
static void do_without(const char *why, const char *what, int result)
{
	if (is_early())
		cupti_state.generation = 0;
	else if (process_options.gpu_activity != GPU_ACTIVITY_AUTO)
		give_up(why, what, result);
	else if (use_events())
		note("device times are from CUDA events, for want of CUPTI: ", why, what, result);
}

static void refused(const char *what, int result)
{
	do_without(result == CUPTI_OTHER_SUBSCRIBER ? "another tool has CUPTI"
		   : result == CUPTI_UNINITIALIZED  ? "CUPTI does not find an initialised driver"
						    : "CUPTI does not work here",
		   what, result);
}

/* ---- start ---- */

static uint64_t told; /* generation of the image in which the driver has loaded us */

/* A recorded call would have looked for the driver, or settled that it is not wanted; calls that ask no device for anything have no
 * rows. Outside a range none is recorded. */
void cupti_say_unseen(void)
{
	struct thread_guard guard;

	if (!told || told != process.generation || attempts ||
	    ((cupti_state.generation || cupti_settled) && (early != told || !cupti_state.has_work)))
		return;
	if ((process_range && process_range->mode != TF_RANGE_WHOLE_RUN) || !event_enabled(TF_GROUP_CUDA_DRIVER) || !thread_attached())
		return;
	thread_guard_enter(&thread_self, &guard);
	process_note("CUDA was used by calls that cannot be seen: a library opened with RTLD_DEEPBIND, or a process of other name spaces");
	thread_guard_leave(&thread_self, &guard);
}

/* A question that does not initialise the driver, as others would. */
static bool driver_is_up(void)
{
	static int (*get_context)(void **);
	void *context;

	if (!get_context) {
		if (++attempts > PATIENCE && attempts & (attempts - 1) && told != process.generation)
			return false; /* looking through all libraries at each call would cost too much */
		get_context = loaded_in("libcuda.so", "cuCtxGetCurrent");
	}
	return get_context && !get_context(&context);
}

static bool is_asked_for(void)
{
	return process_options.trace & 1u << TF_GROUP_CUDA && !sys_is_silent && !process_is_frozen &&
	       process_options.gpu_activity != GPU_ACTIVITY_NONE;
}

bool cupti_is_asked_for(void)
{
	return is_asked_for() && !pair_is_on() && process_options.gpu_activity != GPU_ACTIVITY_EVENTS;
}

static void flush(bool is_last)
{
	if (pair_is_on()) {
		pair_collect(is_last);
		return;
	}
	cupti_take_clock();
	cupti_api.flush_all(FLUSH_FORCED);
	cupti_count_dropped(NULL, 0);
}

/* Pairs that a range has left behind are pending still. */
static bool has_records(void)
{
	return (cupti_on && cupti_on == process.generation) || pair_is_on();
}

static void at_exit(int status, void *unused)
{
	struct thread_guard guard;

	if (!has_records() || sys_is_silent || !thread_attached())
		return;
	cupti_enter(&guard);
	flush(true);
	pair_on = 0;
	cupti_set(0, process.generation);
	cupti_leave(&guard);
}

/* CUPTI is ours from now on. */
static void take(void)
{
	int result;

	if (cupti_foreign_has_it() && !cupti_foreign_gives_back()) {
		cupti_set(0, process.generation);
		return;
	}
	/* The clock before the kinds: records made before would have another. */
	cupti_state.time = cupti_api.register_timestamp && !cupti_api.register_timestamp(clock_monotonic_ns) ? TF_DEVICE_TIME_MONOTONIC
													     : TF_DEVICE_TIME_OWN;
	result = cupti_api.register_callbacks(cupti_buffer_request, cupti_buffer_complete);
	if (result) {
		refused("cuptiActivityRegisterCallbacks", result);
		return;
	}
	result = cupti_kinds_enable();
	if (result) {
		refused("cuptiActivityEnable", result);
		return;
	}
	if (!cupti_api.flush_period || cupti_api.flush_period(process_options.cuda_flush_interval_ms))
		process_note("this CUPTI hands records over when its buffers are full: a kill loses more than the flush interval");
	bring_in_at_exit(is_early());
	tell_source(TF_SOURCE_CUPTI);
	cupti_take_clock();
	early = is_early() ? process.generation : 0;
	cupti_set(process.generation, is_early() ? 0 : process.generation);
}

static void start(void)
{
	const char *injection = identity_variable(environ, "CUDA_INJECTION64_PATH"), *why;
	int result;

	cupti_state.generation = process.generation;
	cupti_state.has_work = false;
	if (process_options.gpu_activity == GPU_ACTIVITY_EVENTS) {
		use_events();
		return;
	}
	if (injection && *injection && strcmp(injection, process_library()) != 0 && told != process.generation) {
		give_up("CUDA_INJECTION64_PATH names another tool, which CUPTI is left to", NULL, 0);
		return;
	}
	if (identity_variable(environ, "NSYS_PROFILING_SESSION_ID") || identity_variable(environ, "NV_COMPUTE_PROFILER_PERFWORKS_DIR")) {
		give_up("this runs under nsys or ncu, which CUPTI is left to", NULL, 0);
		return;
	}
	why = cupti_open(&cupti_api, library, sizeof(library));
	result = why ? 0 : cupti_api.get_version(&cupti_state.version);
	if (!why && (result || cupti_state.version < CUPTI_OLDEST))
		why = "this CUPTI is older than 11.0's";
	if (why)
		do_without(why, NULL, 0);
	else
		take();
}

static void start_if_driver_is_up(bool has_driver)
{
	if (!is_asked_for())
		cupti_set(0, process.generation);
	/* Else libcuda may be half loaded, in another thread's dlopen: its symbols are there, and crash. */
	else if ((has_driver || told == process.generation) && driver_is_up())
		start();
}

/* In the program's cuInit, for which its other threads wait: no work is asked for before CUPTI records it. Events need a driver
 * that is up. If this is not the time, the next call finds the driver up, however many have looked in vain. */
void cupti_driver_loads_us(void)
{
	struct thread_guard guard;

	told = process.generation;
	if (!event_enabled(TF_GROUP_CUDA) || !cupti_is_asked_for() || cupti_state.generation || !cupti_claim(&guard))
		return;
	starts_early = process.generation;
	start();
	starts_early = 0;
	cupti_release(&guard);
}

/* ---- pauses ---- */

static void pause_kinds(void)
{
	flush(false);
	if (!pair_is_on())
		cupti_kinds_disable();
	cupti_set(0, 0);
}

/* Others read CUPTI's times as CLOCK_REALTIME, which they are until somebody says otherwise. */
void cupti_let_go(void)
{
	early = 0;
	if (!cupti_api.flush_all)
		return;
	flush(false);
	cupti_kinds_disable();
	flush(false);
	if (cupti_state.time == TF_DEVICE_TIME_MONOTONIC)
		cupti_api.register_timestamp(clock_realtime_ns);
}

static void resume_kinds(void)
{
	int result;

	if (cupti_foreign_has_it()) {
		take();
		return;
	}
	if (pair_is_on()) {
		cupti_set(process.generation, process.generation);
		return;
	}
	result = cupti_kinds_enable();
	if (result) {
		refused("cuptiActivityEnable", result);
		return;
	}
	cupti_take_clock();
	cupti_set(process.generation, process.generation);
}

/* CUPTI has been on since cuInit. */
static void settle(bool has_driver)
{
	early = 0;
	if (!has_driver || cupti_settled == process.generation)
		return;
	bring_in_at_exit(false);
	cupti_set(process.generation, process.generation);
}

/* A thread whose call is to be recorded waits for another that starts: CUPTI has no records of what came before. */
static bool claim(bool is_wanted, struct thread_guard *guard)
{
	static uint64_t said;

	if (cupti_claim(guard))
		return true;
	if (!is_wanted || (attempts > PATIENCE && !cupti_state.generation))
		return false;
	if (cupti_claim_patiently(guard))
		return true;
	if (__atomic_exchange_n(&said, process.generation, __ATOMIC_RELAXED) == process.generation)
		return false;
	thread_guard_enter(&thread_self, guard);
	process_note("device records are missing of what was asked for while CUPTI was being opened by another thread");
	thread_guard_leave(&thread_self, guard);
	return false;
}

void cupti_change(bool is_wanted, bool has_driver)
{
	struct thread_guard guard;

	if (!thread_attached())
		return;
	if (cupti_state.generation && cupti_state.generation != process.generation) {
		cupti_set(0, process.generation); /* the parent's CUPTI is no good here */
		return;
	}
	if (!claim(is_wanted, &guard))
		return;
	if (!is_wanted && cupti_on == process.generation)
		pause_kinds();
	else if (is_wanted && !cupti_state.generation)
		start_if_driver_is_up(has_driver);
	else if (is_wanted && cupti_on == process.generation)
		settle(has_driver);
	else if (is_wanted && cupti_settled != process.generation)
		resume_kinds();
	cupti_release(&guard);
}

/* ---- ends ---- */

/* CUPTI locks and allocates. In a signal handler the code below it may hold those very locks: a handler has its own
 * signal blocked, and code that is no handler rarely blocks these. */
static bool is_interrupted(void)
{
	static const int signals[] = {SIGHUP,  SIGINT,	SIGQUIT, SIGILL,  SIGABRT, SIGBUS,  SIGFPE,
				      SIGUSR1, SIGSEGV, SIGUSR2, SIGALRM, SIGTERM, SIGCHLD, SIGXCPU};
	uint64_t mask = 0;

	if (thread_self.generation == process.generation && thread_self.page->current)
		return true; /* in the middle of a call */
	sys_call(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask));
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (mask & 1ull << (signals[i] - 1))
			return true;
	return false;
}

static void bring_in(bool is_last)
{
	struct thread_guard guard;

	if (!has_records() || sys_is_silent || cupti_is_inside)
		return;
	if (is_interrupted()) {
		process_note("device records of the last moments are missing: the process may have ended in a signal handler");
		return;
	}
	if (!thread_attached())
		return;
	cupti_enter(&guard);
	flush(is_last);
	cupti_leave(&guard);
}

void cupti_flush(void)
{
	bring_in(true);
}

void cupti_context_ends(void *context, int device)
{
	bring_in(false);
	if (pair_is_on() && thread_attached())
		pair_context_ends(context, device);
}

void cupti_context_ended(int device)
{
	if (pair_is_on())
		pair_context_ended(device);
}
