/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/stack/crash.h"

#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/loader/readable.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/process_state.h"
#include "runtime/recorder/record/thread/spare_stack.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/recorder/stack/altstack.h"
#include "runtime/recorder/stack/module.h"
#include "runtime/recorder/stack/object.h"
#include "runtime/recorder/stack/sample.h"
#include "runtime/recorder/stack/stack.h"
#include "runtime/shared/common/sys.h"

/* STACK_ROOM: what recording needs below the handler's frame, most of it for Python's frames. */
enum { STACK_BYTES = 160 << 10, STACK_ROOM = 104 << 10, PATIENCE = 2000, REASON_BYTES = 400 };

/* Of the first crash. A later one, in another thread, dies as it is. */
static struct {
	int owner; /* the thread that records or has recorded it; 0: none */
	uint32_t reason; /* that the C++ library has for the call of abort() by the thread `aborts` */
	const struct thread *aborts;
	bool is_recording, is_done, has_stack;
	void *escape[5]; /* where a fault while recording continues */
	struct tf_crash what;
	struct stack_place place;
} crash;

struct libc_message {
	unsigned size;
	char text[];
};

static struct libc_message *const *libc_reason; /* __abort_msg; NULL: libc has none */

/* The registers at the fault. A jump to an address without code has pushed where it came from. */
static struct stack_place crash_place(const ucontext_t *u)
{
#if defined(__x86_64__)
	const greg_t *r = u->uc_mcontext.gregs;
	struct stack_place place = {(uintptr_t)r[REG_RIP], (uintptr_t)r[REG_RSP], (uintptr_t)r[REG_RBP], 0};

	if (!readable_address(place.pc) && readable_address(place.sp)) {
		place.pc = *(const uintptr_t *)place.sp - 1;
		place.sp += sizeof(uintptr_t);
	}
	return place;
#else
	const mcontext_t *m = &u->uc_mcontext;
	struct stack_place place = {(uintptr_t)m->pc, (uintptr_t)m->sp, (uintptr_t)m->regs[29], (uintptr_t)m->regs[30]};

	if (!readable_address(place.pc))
		place.pc = place.lr - 4;
	return place;
#endif
}

/* What libc has written before it called abort(): a failed assertion, a damaged heap or stack. */
static uint32_t crash_libc_reason(void)
{
	const struct libc_message *message = libc_reason ? *libc_reason : NULL;
	const char *text;
	size_t length;

	if (!message || !readable_bytes(message, sizeof(*message) + REASON_BYTES))
		return 0;
	text = message->text;
	length = strnlen(text, REASON_BYTES);
	while (length && text[length - 1] == '\n')
		length--;
	return length ? event_intern(TF_BLOB_STRING, text, length) : 0;
}

void crash_aborts(uint32_t reason)
{
	crash.reason = reason;
	crash.aborts = &thread_self;
}

static void crash_write(void *unused)
{
	struct thread *t = &thread_self;

	(void)unused;
	event_blob(TF_BLOB_CRASH, t->number, &crash.what, sizeof(crash.what));
	if (crash.has_stack) {
		crash.what.stack = stack_take_crash(t, &crash.place);
		event_blob(TF_BLOB_CRASH, t->number, &crash.what, sizeof(crash.what));
	}
	/* Last: another thread that calls abort() unmaps the message of libc. */
	if (crash.what.signal == SIGABRT && crash.what.sender == process.pid)
		crash.what.reason = crash.aborts == t ? crash.reason : crash_libc_reason();
	if (crash.what.reason)
		event_blob(TF_BLOB_CRASH, t->number, &crash.what, sizeof(crash.what));
}

/* Without object_has_lookup() a walk may wait for the loader's lock.
 *
 * On our alternate stack, if the thread has it; else on a new one, because that of the program may be small. */
static void crash_write_with_room(void)
{
	char *here = __builtin_frame_address(0);

	crash.has_stack = object_has_lookup();
	if (altstack_is_ours(here) && altstack_is_ours(here - STACK_ROOM)) {
		crash_write(NULL);
		return;
	}
#if defined(__x86_64__)
	char *own = sys_mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			     0);

	if (own) {
		spare_stack_switch(crash_write, NULL, own + STACK_BYTES);
		return;
	}
#endif
	crash.has_stack &= readable_between((uintptr_t)here - STACK_ROOM, (uintptr_t)here);
	crash_write(NULL);
}

/* A thread that shares the thread-local storage of another one must not write to its chunk. */
static bool crash_is_ours_to_record(void)
{
	struct sample_status status;

	if (!sys_has_errno() || sys_is_silent || !process_gate.groups || !thread_attached())
		return false;
	sample_read_status(&status);
	return !status.is_traced && thread_self.page->chunk.tid == (uint32_t)crash.owner;
}

/* A fault on the way ends the recording, not the program: the program's own fault is to recur. */
static __attribute__((noinline)) void crash_record(int signal, const siginfo_t *info, const ucontext_t *context)
{
	crash.what = (struct tf_crash){.tid = (uint32_t)crash.owner, .signal = signal, .code = info->si_code};
	if (info->si_code > 0)
		crash.what.address = (uintptr_t)info->si_addr;
	else
		crash.what.sender = (uint32_t)info->si_pid;
	if (!__builtin_setjmp(crash.escape)) {
		crash.is_recording = true;
		crash.what.ticks = clock_now();
		if (crash_is_ours_to_record()) {
			crash.place = crash_place(context);
			crash_write_with_room();
		}
	}
	crash.is_recording = false;
	__atomic_store_n(&crash.is_done, true, __ATOMIC_RELEASE);
}

static __attribute__((noinline, noreturn)) void crash_escape(void)
{
	__builtin_longjmp(crash.escape, 1);
}

/* The fault recurs on return, with the registers and the siginfo of the first time. A signal that was sent does not
 * recur: it is sent again with its siginfo, and is delivered when the return has restored the mask. */
static void crash_die(int signal, siginfo_t *info)
{
	const struct altstack_kernel_action standard = {.handler = (void *)SIG_DFL};
	bool recurs = info->si_code > 0 && signal != SIGABRT && (signal != SIGBUS || info->si_code != BUS_MCEERR_AO);
	long pid, tid;
	uint64_t all = ~0ull;

	sys_enter(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, sizeof(all), 0, 0);
	sys_enter(SYS_rt_sigaction, signal, (long)&standard, 0, sizeof(standard.mask), 0, 0);
	if (recurs)
		return;
	pid = sys_enter(SYS_getpid, 0, 0, 0, 0, 0, 0);
	tid = sys_enter(SYS_gettid, 0, 0, 0, 0, 0, 0);
	if (sys_enter(SYS_rt_tgsigqueueinfo, pid, tid, signal, (long)info, 0, 0))
		sys_enter(SYS_tgkill, pid, tid, signal, 0, 0, 0);
}

static __attribute__((cold)) void crash_on_signal(int signal, siginfo_t *info, void *context)
{
	int tid = (int)sys_enter(SYS_gettid, 0, 0, 0, 0, 0, 0), other = 0;

	if (crash.owner == tid && crash.is_recording)
		crash_escape();
	/* The child of a vfork shares this memory, and has handlers of its own. */
	if ((uint32_t)sys_enter(SYS_getpid, 0, 0, 0, 0, 0, 0) == process.pid) {
		if (__atomic_compare_exchange_n(&crash.owner, &other, tid, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			crash_record(signal, info, context);
		else if (other != tid)
			for (int i = 0; !__atomic_load_n(&crash.is_done, __ATOMIC_ACQUIRE) && i < PATIENCE; i++)
				sys_wait(i);
	}
	crash_die(signal, info);
}

/* ---- where there is no handler ---- */

/* Go and the JVM rely on the handlers that they find or install; Wine has threads without our thread-local storage. */
static bool crash_is_foreign_runtime(void)
{
	static const char *const symbols[] = {"JLI_Launch", "JNI_CreateJavaVM", "wine_main_preload_info",
					      "__wine_main"};

	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		if (dso_next(symbols[i]))
			return true;
	return module_is_go((const void *)getauxval(AT_ENTRY));
}

void crash_init(void)
{
	altstack_action_call *real = dso_next("sigaction");

	/* The kernel discards fatal signals for the first process of a PID namespace, unless they have a handler. */
	if (!real || sys_getpid() == 1 || sys_is_under_valgrind() || sample_was_traced() || crash_is_foreign_runtime())
		return;
	libc_reason = dso_next("__abort_msg");
	altstack_watch_fatal(crash_on_signal, real);
}
