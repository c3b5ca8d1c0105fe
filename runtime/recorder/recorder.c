/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which the parts of the recorder start and end, in an image and in its forked children. No other file
 * depends on this order. */
#include "runtime/recorder/recorder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/recorder/device/cupti.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/loader/readable.h"
#include "runtime/recorder/python/pystack.h"
#include "runtime/recorder/record/capture.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/file.h"
#include "runtime/recorder/record/first_chunk.h"
#include "runtime/recorder/record/image.h"
#include "runtime/recorder/record/process_line.h"
#include "runtime/recorder/record/slow_down.h"
#include "runtime/recorder/record/thread/spare_stack.h"
#include "runtime/recorder/record/traffic.h"
#include "runtime/recorder/record/usage.h"
#include "runtime/recorder/record/wake.h"
#include "runtime/recorder/stack/crash.h"
#include "runtime/recorder/stack/module.h"
#include "runtime/recorder/stack/object.h"
#include "runtime/recorder/stack/sample.h"
#include "runtime/recorder/stack/sample_mask.h"
#include "runtime/recorder/stack/stack.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/hot.h"
#include "runtime/shared/common/range.h"
#include "runtime/shared/common/sys.h"

enum { FREEZE_RESERVE = 1 << 20 };

static char *const *given_environment;
static bool is_rank;
HOT int recorder_pmi;

/* ---- start ---- */

/* Writes the index line of the image. False: there is no capture to record into. The launcher then finds no line of
 * this process; there is no better place for a message. */
static bool write_start_line(bool is_fork)
{
	int error = process_line_start(is_fork);

	return !error || error == -EMFILE || error == -ENFILE || error == -EBUSY || error == -ENOMEM || error == -EINTR;
}

/* A forked image in the range file has no line of its own: its parent has all that its place does not have. */
static bool recorder_list_image(bool is_fork)
{
	if (is_fork && process.image && !process_is_frozen)
		return true;
	if (is_fork)
		identity_forked(&process_inherited.identity);
	return write_start_line(is_fork);
}

/* Programs that open a library of MPI later, such as Python with mpi4py, are known by the variables of mpirun. */
static __attribute__((cold)) bool uses_mpi(char *const *environment)
{
	static const char *const variables[] = {TF_MPI_RANK_VARIABLES};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		if (identity_variable(environment, variables[i]))
			return true;
	return dso_next_unlocked("MPI_Init");
}

static bool recorder_start_image(void)
{
	bool is_fork = process_inherited.is_configured;

	if (!is_fork && !capture_find(given_environment ? given_environment : environ))
		return false;
	process.pid = (uint32_t)sys_getpid();
	process.nonce = capture_random_number();
	if (is_fork) {
		process_inherited.parent_nonce = process_inherited.nonce;
		process_inherited.identity.parent_pid = (uint32_t)sys_getppid();
		clock_forked();
		clock_pair(&process_inherited.loaded);
	}
	if (!is_fork && process_options.mpi_if_used && uses_mpi(given_environment ? given_environment : environ))
		process_options.trace |= TRACE_MPI;
	usage_begin_bytes(is_fork);
	image_begin(is_fork);
	if (!recorder_list_image(is_fork))
		return false;
	if (!is_fork && !identity_has_proc(&process_inherited.identity))
		process_note(TF_NOTE_NO_PROC
			     " cannot be read (a chroot without it?): the names of files and of the program are "
			     "missing, and the clock is aligned by the time of day");
	process_inherited.nonce = process.nonce;
	/* Set once, since a child inherits it. Without it, a child created by clone(2) would write into its parent's
	 * trace. */
	if (!is_fork && sys_madvise(&process, sizeof(process), MADV_WIPEONFORK)) {
		capture_report_off("Linux 4.14 or newer is required to detect forked children", "");
		return false;
	}
	if (!is_fork) {
		process_gate.groups = process_options.trace | (process_options.sample ? PROCESS_SAMPLES : 0) |
				      (process_options.memory ? PROCESS_MEMORY : 0) |
				      (process_options.lines_of ? PROCESS_LINES : 0);
		if (process_options.wakes)
			wake_start();
		slow_down_init(given_environment ? given_environment : environ);
		is_rank = identity_rank(given_environment ? given_environment : environ);
		recorder_pmi = (int)identity_number(
			identity_variable(given_environment ? given_environment : environ, "PMI_FD"));
	}
	/* Not in a child: the loader's lock may be held by a thread that does not exist in the child. The child
	 * inherits the results. */
	if (!is_fork) {
		loader_keep_state(&process.loader);
		spare_stack_init();
		usage_init();
		module_init();
		stack_init();
		sample_init();
		crash_init();
	}
	process.defined_in = ++process_inherited.generations & (PROCESS_TURN - 1);
	__atomic_store_n(&process.generation, process_inherited.generations, __ATOMIC_RELEASE);
	return true;
}

/* Starts the recorder in this image once. True: the image records. Signals must be blocked. */
static bool recorder_start(void)
{
	bool is_on;

	if (__atomic_load_n(&process.generation, __ATOMIC_ACQUIRE))
		return process_gate.groups;
	sys_lock(&process.starting);
	is_on = process.generation || (process_gate.groups && recorder_start_image());
	if (!is_on)
		process_gate.groups = 0;
	sys_unlock(&process.starting);
	return is_on;
}

static void recorder_forget_dispatch(void);

bool recorder_attach(struct thread *t, const struct function_table *functions)
{
	struct thread_guard guard;
	uint64_t start;

	if (!sys_has_errno() || t->generation == THREAD_OURS || t->generation == THREAD_DEAD || !process_gate.groups)
		return false;
	if (!__atomic_load_n(&process.generation, __ATOMIC_ACQUIRE)) {
		start = process_inherited.is_configured ? clock_now() : 0; /* of others init.c measures the start */
		recorder_forget_dispatch();
		thread_guard_enter(t, &guard);
		/* A signal handler may have attached the thread meanwhile; or the runtime of a sanitizer, which starts
		 * when we call the first one of the functions that it interposes. */
		if (guard.generation != __atomic_load_n(&process.generation, __ATOMIC_ACQUIRE)) {
			guard.start_ticks = start;
			/* The TLS of a forked child is a copy of its parent's: the chunks that it refers to are not
			 * mapped here. */
			t->page = NULL;
			process_use_functions(functions);
			recorder_start();
		}
		thread_guard_leave(t, &guard);
		sample_mask_hide(); /* the image may have inherited our signal as blocked */
	}
	return thread_enter(t);
}

void recorder_set_arguments(int argc, char **argv, char **environment)
{
	given_environment = environment;
	identity_set_arguments(argc, argv);
}

void recorder_before_fork(void)
{
	struct thread_guard guard;

	if (!process.generation || !image_expects_block())
		return;
	thread_guard_enter(&thread_self, &guard);
	image_map_block();
	thread_guard_leave(&thread_self, &guard);
}

/* ---- the end ---- */

void recorder_end(unsigned end, int status)
{
	struct thread_guard guard;
	struct usage usage;

	if (!process.generation || process_is_borrowed())
		return;
	if (end == TF_END_EXIT || end == TF_END_EXEC)
		cupti_flush();
	thread_guard_enter(&thread_self, &guard);
	stack_note_lost();
	process.end_ticks = clock_now();
	process.end_status = status;
	process.end = end;
	if (thread_self.page && end == TF_END_EXIT)
		thread_refresh_name(&thread_self);
	if (end != TF_END_NONE)
		usage_read(&usage);
	if (end != TF_END_NONE && usage.thread.ticks)
		process.end_ticks = usage.thread.ticks; /* what follows is the recorder's time */
	/* If its place in the range file has no room for this, the image gets a trace file. */
	if (end != TF_END_NONE && thread_self.page &&
	    (process.header ? thread_settle(&thread_self)
			    : process.image && thread_self.page == image_page(process.image))) {
		usage_write(&usage);
		if (!thread_self.number)
			traffic_end();
	}
	if (process.header) {
		process.header->end_status = status;
		process.header->end_ticks = process.end_ticks;
		__atomic_store_n(&process.header->end, end, __ATOMIC_RELEASE);
		process_take_clocks();
		if (end != TF_END_NONE)
			first_chunk_trim();
	} else if (process.image) {
		image_end();
	} else {
		process_line_end(end == TF_END_NONE ? NULL : &usage);
	}
	if (process_range && end != TF_END_EXEC)
		range_stop(process_range, process.pid, clock_now());
	thread_guard_leave(&thread_self, &guard);
}

void recorder_child_ended(int pid, int status)
{
	struct tf_child child = {.pid = (uint32_t)pid, .status = status};

	if (!process.generation || !process_gate.groups)
		return;
	if (process.header && thread_self.generation == process.generation) {
		event_blob(TF_BLOB_CHILD, 0, &child, sizeof(child));
		return;
	}
	/* A child records its exit code itself, but not the signal that kills it. */
	if (status & 0x7f)
		process_line_child(pid, status);
}

/* A stack costs as much as many a short process; who died first is asked of ranks. A forked child may end many times a
 * second: it gets no trace file for this. */
static bool may_record_exit(void)
{
	const struct thread *t = &thread_self;

	return is_rank && !process_is_borrowed() && t->page && t->generation == process.generation &&
	       (process.header || (!process_is_frozen && process_inherited.generations <= 1));
}

/* `python`: the frames of an exit by Python's means. */
static void record_exit(int code, uintptr_t frame, const struct pystack_frame *python, unsigned count)
{
	struct thread *t = &thread_self;
	struct tf_crash exits = {.code = code};
	struct thread_guard guard;

	thread_guard_enter(t, &guard);
	exits.ticks = clock_now();
	exits.tid = t->page->chunk.tid;
	exits.stack = count ? pystack_intern(python, count, false) : stack_take(t, frame);
	event_blob(TF_BLOB_CRASH, t->number, &exits, sizeof(exits));
	thread_guard_leave(t, &guard);
}

void recorder_exit(int status, uintptr_t frame)
{
	if (status & 0xff && may_record_exit())
		record_exit(status & 0xff, frame, NULL, 0);
	recorder_end(TF_END_EXIT, status);
}

/* The caller is the interpreter: only then is there so much on the stack. */
static __attribute__((noinline)) bool record_python_exit(const void *dynamic, uintptr_t frame)
{
	struct pystack_frame python[PYSTACK_FRAMES];
	int status;
	unsigned count = pystack_exit(frame, dynamic, python, &status);

	if (count)
		record_exit(status, frame, python, count);
	return count;
}

void recorder_python_exit(const void *caller, uintptr_t frame)
{
	enum { STRANGERS = 4 };
	static const void *strangers[STRANGERS]; /* callers that have not exited */
	static uint32_t next;
	struct object object;
	const void *dynamic;
	uintptr_t base;

	if (!is_rank)
		return;
	for (unsigned i = 0; i < STRANGERS; i++)
		if (caller == __atomic_load_n(&strangers[i], __ATOMIC_RELAXED))
			return;
	if (!may_record_exit() || object_find((uintptr_t)caller, &object) != OBJECT_FOUND)
		return;
	dynamic = object_dynamic(&object, &base);
	if (dynamic)
		pystack_check_module(base, dynamic);
	if (!dynamic || !pystack_is_interpreter(dynamic) || !record_python_exit(dynamic, frame))
		__atomic_store_n(&strangers[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % STRANGERS], caller,
				 __ATOMIC_RELAXED);
}

/* After MPI_Finalize, a file that the program opens may get the number: then it asks for nothing from there on. */
static bool is_pmi(int fd)
{
	struct stat st;

	if (sys_fstat(fd, &st))
		return false;
	if (!S_ISSOCK(st.st_mode) && !process_is_borrowed())
		__atomic_store_n(&recorder_pmi, 0, __ATOMIC_RELAXED);
	return S_ISSOCK(st.st_mode);
}

void recorder_pmi_write(uintptr_t frame, const char *bytes, size_t size)
{
	static const char aborts[] = "cmd=abort"; /* of PMI-2 after six digits or spaces */
	enum { LONGEST = 4096, LENGTH_DIGITS = 6 };
	int error = errno, fd = __atomic_load_n(&recorder_pmi, __ATOMIC_RELAXED);

	if (size < LONGEST && fd > 0 && is_pmi(fd) && readable_bytes(bytes, size) &&
	    memmem(bytes, size < sizeof(aborts) + LENGTH_DIGITS ? size : sizeof(aborts) + LENGTH_DIGITS, aborts,
		   sizeof(aborts) - 1) &&
	    may_record_exit()) {
		record_exit(TF_CRASH_MPI_ERROR, frame, NULL, 0);
		if (process_range)
			range_await_abort(process_range);
	}
	errno = error;
}

/* For the other threads, if the caller is not attached: a child that shares the memory and has thread-local storage of
 * its own, such as that of a sandbox. */
static void recorder_reserve_file(void)
{
	uint64_t signals;

	if (!process.generation || process_is_frozen || process.header || !process_gate.groups)
		return;
	sys_signals_block(&signals);
	if (file_make())
		file_reserve(FREEZE_RESERVE);
	sys_signals_restore(&signals);
}

/* Does the calling thread of this image record? */
static bool recorder_has_thread(void)
{
	return process.generation && thread_self.generation == process.generation;
}

void recorder_freeze(bool silent)
{
	if (!process_is_frozen && recorder_has_thread())
		thread_reserve(&thread_self);
	recorder_reserve_file();
	__atomic_add_fetch(&process_is_frozen, 1, __ATOMIC_SEQ_CST);
	if (!silent)
		return;
	stack_prepare();
	sample_stop();
	__atomic_add_fetch(&process.closing, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; __atomic_load_n(&process.guarded, __ATOMIC_SEQ_CST) && i < 500; i++)
		sys_wait(i);
	__atomic_add_fetch(&sys_is_silent, 1, __ATOMIC_SEQ_CST);
}

static void recorder_thaw(bool silent)
{
	if (silent) {
		uint32_t others = __atomic_sub_fetch(&sys_is_silent, 1, __ATOMIC_SEQ_CST);

		__atomic_sub_fetch(&process.closing, 1, __ATOMIC_SEQ_CST);
		if (!others) {
			sample_continue();
			crash_init();
		}
	}
	__atomic_sub_fetch(&process_is_frozen, 1, __ATOMIC_SEQ_CST);
}

void recorder_freeze_end(bool silent, const char *note, const char *unsampled)
{
	bool *has_noted = silent ? &process.has_noted_silent : &process.has_noted_frozen;

	if (!note)
		recorder_thaw(silent);
	else if (recorder_has_thread() && !__atomic_exchange_n(has_noted, true, __ATOMIC_RELAXED)) {
		event_blob(TF_BLOB_NOTE, 0, note, strlen(note));
		if (silent && sample_stopped_signal)
			event_blob(TF_BLOB_NOTE, 0, unsampled, strlen(unsampled));
	}
}

/* Threads that have the kernel dispatch their system calls, and is this one of them? A forked child is not. */
static uint32_t dispatched;
static __thread bool is_dispatched __attribute__((tls_model("initial-exec")));

void recorder_set_dispatch(bool is_on)
{
	if (is_dispatched)
		recorder_thaw(true); /* the call that had turned it on */
	if (is_on != is_dispatched)
		__atomic_add_fetch(&dispatched, is_on ? 1 : -1, __ATOMIC_SEQ_CST);
	is_dispatched = is_on;
}

/* In a forked child. */
static void recorder_forget_dispatch(void)
{
	if (!dispatched)
		return;
	process_is_frozen -= dispatched;
	sys_is_silent -= dispatched;
	dispatched = 0;
	is_dispatched = false;
	if (!sys_is_silent) {
		sample_continue();
		crash_init();
	}
}
