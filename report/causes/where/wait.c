/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/where/wait.h"

#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "report/names/attribution.h"
#include "report/names/demangle.h"

enum { TASK_PLACES = 64, TASK_PLACES_SHOWN = 4 };
enum { FUTEX_FRAMES = 8, POLLED = 64, OWNER = 8, NAME_BYTES = 64 };

static const struct system_call {
	long number;
	const char *name;
	enum where_call waits;
} calls[] = {
	{SYS_read, "read", WAITS_READ},
	{SYS_readv, "readv", WAITS_READ},
	{SYS_pread64, "pread64", WAITS_READ},
	{SYS_preadv, "preadv", WAITS_READ},
	{SYS_recvfrom, "recvfrom", WAITS_READ},
	{SYS_recvmsg, "recvmsg", WAITS_READ},
	{SYS_recvmmsg, "recvmmsg", WAITS_READ},
	{SYS_write, "write", WAITS_WRITE},
	{SYS_writev, "writev", WAITS_WRITE},
	{SYS_pwrite64, "pwrite64", WAITS_WRITE},
	{SYS_sendto, "sendto", WAITS_WRITE},
	{SYS_sendmsg, "sendmsg", WAITS_WRITE},
	{SYS_connect, "connect", WAITS_WRITE},
	{SYS_fsync, "fsync", WAITS_WRITE},
	{SYS_fdatasync, "fdatasync", WAITS_WRITE},
	{SYS_accept, "accept", WAITS_ACCEPT},
	{SYS_accept4, "accept4", WAITS_ACCEPT},
	{SYS_futex, "futex", WAITS_FUTEX},
	{SYS_wait4, "wait4", WAITS_CHILD},
	{SYS_waitid, "waitid", WAITS_CHILD_ID},
	{SYS_ppoll, "ppoll", WAITS_POLL},
	{SYS_pselect6, "pselect6", WAITS_SELECT},
	{SYS_epoll_pwait, "epoll_pwait", WAITS_EPOLL},
	{SYS_nanosleep, "nanosleep", WAITS_TIME},
	{SYS_clock_nanosleep, "clock_nanosleep", WAITS_TIME},
	{SYS_rt_sigtimedwait, "rt_sigtimedwait", WAITS_SIGNAL},
	{SYS_rt_sigsuspend, "rt_sigsuspend", WAITS_SIGNAL},
	{SYS_flock, "flock", WAITS_LOCK},
	{SYS_fcntl, "fcntl", WAITS_LOCK},
	{SYS_semop, "semop", WAITS_SYSTEM_V},
	{SYS_semtimedop, "semtimedop", WAITS_SYSTEM_V},
	{SYS_msgrcv, "msgrcv", WAITS_SYSTEM_V},
	{SYS_msgsnd, "msgsnd", WAITS_SYSTEM_V},
	{SYS_mq_timedreceive, "mq_timedreceive", WAITS_READ},
	{SYS_mq_timedsend, "mq_timedsend", WAITS_WRITE},
	{SYS_io_getevents, "io_getevents", WAITS_OTHER},
	{SYS_openat, "openat", WAITS_OTHER},
	{SYS_splice, "splice", WAITS_READ},
	{SYS_ioctl, "ioctl", WAITS_WRITE},
	{SYS_sched_yield, "sched_yield", WAITS_OTHER},
#ifdef SYS_poll
	{SYS_poll, "poll", WAITS_POLL},
	{SYS_select, "select", WAITS_SELECT},
	{SYS_epoll_wait, "epoll_wait", WAITS_EPOLL},
	{SYS_pause, "pause", WAITS_SIGNAL},
	{SYS_open, "open", WAITS_OTHER},
#endif
};

/* ---- futexes ---- */

/* The recorded call is the one of the program; the innermost frames are those of libc. */
static enum lock_class class_of_futex(const struct where_stack *stack, const char *name)
{
	uint8_t class = function_kind_of(demangle_libc(name ? name : ""), TF_GROUP_OSRT).match;

	for (size_t i = 0; i < stack->count && i < FUTEX_FRAMES && !class; i++)
		class = function_kind_of(demangle_libc(stack->frames[i].line->function), TF_GROUP_OSRT).match;
	return class;
}

static const char *thread_name(const struct look_process *p, uint32_t tid)
{
	const struct look_thread *t = look_thread(p, tid);

	return t ? t->name : "";
}

/* ", held by thread 12 (name)", and sets the owner. */
static void describe_owner(const struct look_process *p, const struct look_thread *t, uint32_t owner,
			   struct where_wait *w)
{
	if (!owner) {
		buffer_text(&w->text, ", owner unknown");
	} else if (owner == t->head.tid) {
		buffer_text(&w->text, ", which this thread itself holds");
		w->owner = owner;
	} else if (look_thread(p, owner)) {
		buffer_print(&w->text, ", held by thread %u (%s)", owner, thread_name(p, owner));
		w->owner = owner;
	} else {
		buffer_print(&w->text, ", held by thread %u, which is not in this process any more", owner);
	}
}

/* The thread that holds a Python lock: the owner of an RLock; of a Lock the one that is in a `with` statement of it and
 * does not wait for it. 0: not known. */
static uint32_t python_owner(const struct look_process *p, const struct look_thread *self,
			     const struct tf_where_lock *lock)
{
	if (lock->flags & TF_WHERE_LOCK_IS_RECURSIVE)
		return lock->owner;
	array_each(const struct tf_where_lock, other, p->locks, p->lock_count) {
		const struct look_thread *t = look_thread(p, other->tid);

		if (other->semaphore != lock->semaphore || !(other->flags & TF_WHERE_LOCK_IS_ENTERED) || !t)
			continue;
		if (t->head.call == SYS_futex && t->head.flags & TF_WHERE_IN_CALL &&
		    t->head.arguments[0] == lock->semaphore) {
			/* It waits for the lock itself, for the second time if an outer frame is in a `with` of it. */
			if (t != self || !other->frame)
				continue;
		}
		return other->tid;
	}
	return 0;
}

static bool describe_python_lock(const struct look_process *p, const struct look_thread *t, uint64_t futex,
				 struct where_wait *w)
{
	array_each(const struct tf_where_lock, lock, p->locks, p->lock_count) {
		bool is_recursive = lock->flags & TF_WHERE_LOCK_IS_RECURSIVE;

		if (lock->tid != t->head.tid || lock->semaphore != futex)
			continue;
		w->kind = is_recursive ? "threading.RLock" : "threading.Lock";
		snprintf(w->lock, sizeof(w->lock), "%s 0x%llx", w->kind, (unsigned long long)lock->object);
		buffer_print(&w->text, "waits for the %s", w->lock);
		describe_owner(p, t, python_owner(p, t, lock), w);
		return true;
	}
	return false;
}

static void describe_mutex(const struct look_process *p, const struct look_thread *t, uint64_t futex, bool is_pi,
			   struct where_wait *w)
{
	uint32_t owner = 0;

	look_memory(p, is_pi ? futex : futex + OWNER, &owner, sizeof(owner));
	w->kind = "mutex";
	snprintf(w->lock, sizeof(w->lock), "mutex 0x%llx", (unsigned long long)futex);
	buffer_print(&w->text, "waits for the %s", w->lock);
	describe_owner(p, t, owner & FUTEX_TID_MASK, w);
}

/* The writer of a read-write lock: pthread_rwlock_t has the TID in its field __cur_writer at 24; the futexes are its
 * fields at 8 and 12. */
static void describe_rwlock(const struct look_process *p, const struct look_thread *t, uint64_t futex,
			    struct where_wait *w)
{
	uint32_t owner = 0;

	w->kind = "read-write lock";
	snprintf(w->lock, sizeof(w->lock), "read-write lock 0x%llx", (unsigned long long)futex & ~0xfull);
	buffer_text(&w->text, "waits for a read-write lock");
	for (int field = 8; field <= 12 && !owner; field += 4) {
		look_memory(p, futex - (uint64_t)field + 24, &owner, sizeof(owner));
		owner = look_thread(p, owner) ? owner : 0;
	}
	describe_owner(p, t, owner, w);
}

static void describe_futex(const struct look_process *p, const struct look_thread *t, const struct where_stack *stack,
			   const char *name, struct where_wait *w)
{
	uint64_t futex = t->head.arguments[0];
	int operation = (int)t->head.arguments[1] & FUTEX_CMD_MASK;
	bool is_pi = operation == FUTEX_LOCK_PI || operation == 13;
	uint32_t word = 0;

	w->is_timed = t->head.arguments[3] != 0;
	w->is_within = t->head.arguments[1] & FUTEX_PRIVATE_FLAG;
	if (describe_python_lock(p, t, futex, w))
		return;
	switch (class_of_futex(stack, name)) {
	case LOCK_MUTEX:
		describe_mutex(p, t, futex, is_pi, w);
		return;
	case LOCK_RWLOCK:
		describe_rwlock(p, t, futex, w);
		return;
	case LOCK_THREAD: /* the word is the TID of the thread */
		look_memory(p, futex, &word, sizeof(word));
		buffer_text(&w->text, "waits for the end of a thread");
		if (look_thread(p, word)) {
			buffer_print(&w->text, ": %u (%s)", word, thread_name(p, word));
			w->owner = word;
			w->is_within = true;
		}
		return;
	case LOCK_CONDITION:
		w->kind = "condition variable";
		buffer_text(&w->text, "waits for a condition variable");
		return;
	case LOCK_SEMAPHORE:
		w->kind = "semaphore";
		buffer_print(&w->text, "waits for the semaphore 0x%llx, owner unknown", (unsigned long long)futex);
		return;
	case LOCK_BARRIER:
		w->kind = "barrier";
		buffer_text(&w->text, "waits at a barrier for other threads");
		return;
	default:
		if (is_pi) {
			describe_mutex(p, t, futex, true, w);
			return;
		}
		w->kind = "futex";
		buffer_print(&w->text, "waits for the futex 0x%llx, owner unknown", (unsigned long long)futex);
		return;
	}
}

/* ---- other calls ---- */

static const struct look_process *process_of(const struct look *l, uint32_t pid)
{
	return array_find(process, l->processes, l->count, process->head.pid == pid);
}

/* pid -1: any child. */
static void describe_child(const struct look *l, const struct look_process *p, int64_t pid, struct where_wait *w)
{
	const struct look_process *child = pid > 0 ? process_of(l, (uint32_t)pid) : NULL;
	size_t count = 0;

	w->kind = "child process";
	buffer_text(&w->text, "waits for ");
	if (child) {
		buffer_text(&w->text, "the end of its child ");
		where_describe_process(child, &w->text);
		return;
	}
	if (pid > 0) {
		buffer_print(&w->text, "the end of its child PID %lld", (long long)pid);
		return;
	}
	buffer_text(&w->text, "the end of any child");
	for (size_t i = 0; i < l->count; i++) {
		if (l->processes[i].head.parent_pid != p->head.pid)
			continue;
		buffer_text(&w->text, count++ ? ", " : ": ");
		where_describe_process(&l->processes[i], &w->text);
	}
}

static void describe_child_id(const struct look *l, const struct look_process *p, const struct look_thread *t,
			      struct where_wait *w)
{
	describe_child(l, p, t->head.arguments[0] == P_PID ? (int64_t)t->head.arguments[1] : -1, w);
}

static void describe_polled(const struct look *l, const struct look_process *p, uint32_t number, bool is_read,
			    size_t *count, struct where_wait *w)
{
	enum { SHOWN = 4 };

	w->kind = *count ? w->kind : where_descriptor_kind(p, number);
	if (*count < SHOWN) {
		buffer_text(&w->text, *count ? "; " : "waits for ");
		where_describe_descriptor(l, p, number, is_read, &w->text);
	}
	++*count;
}

static void describe_poll(const struct look *l, const struct look_process *p, const struct look_thread *t,
			  struct where_wait *w)
{
	size_t count = 0;

	for (size_t i = 0; i < t->head.arguments[1] && i < POLLED; i++) {
		struct pollfd one;

		if (look_memory(p, t->head.arguments[0] + i * sizeof(one), &one, sizeof(one)) && one.fd >= 0)
			describe_polled(l, p, (uint32_t)one.fd, one.events & POLLIN, &count, w);
	}
}

static void describe_select(const struct look *l, const struct look_process *p, const struct look_thread *t,
			    struct where_wait *w)
{
	size_t count = 0;

	for (int set = 1; set <= 2; set++) {
		uint64_t words[16] = {0};

		if (!t->head.arguments[set] || !look_memory(p, t->head.arguments[set], words, sizeof(words)))
			continue;
		for (uint32_t i = 0; i < t->head.arguments[0] && i < sizeof(words) * 8; i++)
			if (words[i / 64] >> i % 64 & 1)
				describe_polled(l, p, i, set == 1, &count, w);
	}
}

static void describe_epoll(const struct look *l, const struct look_process *p, const struct look_thread *t,
			   struct where_wait *w)
{
	const struct look_descriptor *d = look_descriptor(p, (uint32_t)t->head.arguments[0]);
	size_t count = 0;

	for (const char *at = d ? d->link : ""; (at = strstr(at, " tfd ")); at += 5)
		describe_polled(l, p, (uint32_t)strtoul(at + 5, NULL, 10), true, &count, w);
}

/* Lines of tasks, with the number of tasks at each. */
struct task_places {
	struct task_place {
		struct buffer text;
		size_t count;
	} items[TASK_PLACES];
	size_t count;
};

static void add_task_place(struct task_places *places, const struct where_frame *line)
{
	SCOPED(buffer) text = {0};
	size_t at = 0;

	code_line_short(line->line, &text);
	while (at < places->count && strcmp(places->items[at].text.data, text.data) != 0)
		at++;
	if (at == TASK_PLACES)
		return;
	if (at == places->count) {
		places->items[places->count++].text = text;
		text = (struct buffer){0};
	}
	places->items[at].count++;
}

COMPARATOR(task_place_order, struct task_place,
	   order_of(b->count, a->count) ?: strcmp(a->text.data, b->text.data))

/* "3 tasks wait at job.py:7 store, 1 at job.py:9 main" */
static void describe_tasks(const struct look_process *p, const struct look_thread *t, const struct where_stack *stack,
			   struct buffer *ret)
{
	struct task_places places = {.count = 0};

	array_each(const struct look_task, task, p->tasks, p->task_count) {
		SCOPED(where_stack) frames = {0};
		const struct where_frame *line;

		if (task->tid != t->head.tid || task->raised || !stack->lines)
			continue;
		where_stack_of_task(stack, p, task, &frames);
		line = where_stack_line(&frames);
		if (line)
			add_task_place(&places, line);
	}
	qsort(places.items, places.count, sizeof(*places.items), task_place_order);
	for (size_t i = 0; i < places.count; i++) {
		const struct task_place *place = &places.items[i];

		if (i < TASK_PLACES_SHOWN)
			buffer_print(ret, "%s%zu%s at %s", i ? ", " : "", place->count,
				     i		      ? ""
				     : place->count > 1 ? " tasks wait"
							: " task waits",
				     place->text.data);
		buffer_done(&places.items[i].text);
	}
	if (places.count > TASK_PLACES_SHOWN)
		buffer_text(ret, " and others elsewhere");
}

static void describe_system_v(const struct look_thread *t, struct where_wait *w)
{
	bool is_message = where_is_message(t->head.call);

	w->kind = is_message ? "message" : "semaphore";
	w->is_timed = t->head.call == SYS_semtimedop && t->head.arguments[3];
	buffer_print(&w->text, "waits for a %s of System V, identifier %d", w->kind, (int)t->head.arguments[0]);
}

static void describe_call(const struct look *l, const struct look_process *p, const struct look_thread *t,
			  const struct where_stack *stack, const char *name, enum where_call waits,
			  struct where_wait *w)
{
	uint32_t first = (uint32_t)t->head.arguments[0];

	switch (waits) {
	case WAITS_READ:
	case WAITS_WRITE:
	case WAITS_ACCEPT:
	case WAITS_LOCK:
		w->kind = waits == WAITS_LOCK			  ? "lock of a file"
			  : where_is_message(t->head.call) ? "message queue"
							   : where_descriptor_kind(p, first);
		buffer_text(&w->text, waits == WAITS_LOCK ? "waits for a lock of " : "waits for ");
		where_describe_descriptor(l, p, first, waits != WAITS_WRITE, &w->text);
		break;
	case WAITS_SYSTEM_V:
		describe_system_v(t, w);
		break;
	case WAITS_FUTEX:
		describe_futex(p, t, stack, name, w);
		break;
	case WAITS_CHILD:
		describe_child(l, p, (int32_t)first, w);
		break;
	case WAITS_CHILD_ID:
		describe_child_id(l, p, t, w);
		break;
	case WAITS_POLL:
		describe_poll(l, p, t, w);
		break;
	case WAITS_SELECT:
		describe_select(l, p, t, w);
		break;
	case WAITS_EPOLL:
		describe_epoll(l, p, t, w);
		w->kind = "wakeup of its event loop";
		break;
	case WAITS_TIME:
		buffer_text(&w->text, "sleeps");
		break;
	case WAITS_SIGNAL:
		buffer_text(&w->text, "waits for a signal");
		break;
	case WAITS_OTHER:
		break;
	}
}

/* The function that the program has called, if that is one of torch.distributed: of the Python frames outside of c10d's
 * the innermost one. */
static char *name_of_c10d(const struct where_stack *stack, size_t c10d)
{
	const char *native = stack->frames[c10d].line->function;

	for (size_t i = c10d + 1; i < stack->count; i++) {
		const struct code_line *line = stack->frames[i].line;

		if (!stack->frames[i].is_python)
			continue;
		if (line->file && strstr(line->file, "/torch/distributed/"))
			return mem_copy_text(line->function, strlen(line->function));
		break;
	}
	return mem_copy_text(native, strcspn(native, "("));
}

/* The function of MPI, NCCL or c10d that the thread has called. */
static void find_collective(const struct where_stack *stack, const char *name, struct where_wait *w)
{
	const char *found = name ? function_of_ranks(name) : NULL;
	bool is_recorded = found;
	size_t c10d = SIZE_MAX;

	for (size_t i = 0; i < stack->count && !is_recorded; i++) {
		const char *function = stack->frames[i].line->function;

		if (stack->frames[i].is_python)
			continue;
		found = function_of_ranks(function) ? function_of_ranks(function) : found; /* the outermost one */
		c10d = function_awaits_ranks(function) ? i : c10d;
	}
	if (found)
		w->collective = mem_copy_text(found, strlen(found));
	else if (c10d != SIZE_MAX)
		w->collective = name_of_c10d(stack, c10d);
}

static const struct system_call *call_of(const struct look *l, const struct tf_where_thread *t)
{
	return t->flags & TF_WHERE_IN_CALL && l->has_registers
		       ? array_find(call, calls, sizeof(calls) / sizeof(*calls), call->number == t->call)
		       : NULL;
}

enum where_call where_call_kind(const struct look *l, const struct tf_where_thread *t)
{
	const struct system_call *call = call_of(l, t);

	return call ? call->waits : WAITS_OTHER;
}

bool where_is_message(int64_t call)
{
	return call == SYS_msgrcv || call == SYS_msgsnd || call == SYS_mq_timedreceive || call == SYS_mq_timedsend;
}

void where_wait_find(const struct look *l, const struct look_process *p, const struct look_thread *t,
		     const struct where_stack *stack, const char *name, struct where_wait *ret)
{
	const struct system_call *call = call_of(l, &t->head);
	enum where_call waits = WAITS_OTHER;

	*ret = (struct where_wait){.call = ""};
	find_collective(stack, name, ret);
	if (call) {
		describe_tasks(p, t, stack, &ret->tasks);
		ret->call = call->name;
		waits = ret->waits = call->waits;
	}
	if (t->head.state == 'T' || t->head.state == 't')
		buffer_text(&ret->text, t->head.state == 'T' ? "stopped by a signal" : "stopped by a debugger");
	else if (ret->collective)
		buffer_print(&ret->text, "in %s, waits for other ranks", ret->collective);
	else if (t->head.flags & TF_WHERE_IS_RUNNING)
		buffer_text(&ret->text, "runs");
	else if (*ret->call)
		describe_call(l, p, t, stack, name, waits, ret);
	if (ret->tasks.size) {
		buffer_text(&ret->text, ret->text.size ? "; " : "");
		buffer_text(&ret->text, ret->tasks.data);
	}
}

void where_wait_recorded(const char *name, struct where_wait *ret)
{
	const struct where_stack none = {0};

	where_wait_done(ret);
	find_collective(&none, name, ret);
	if (ret->collective)
		buffer_print(&ret->text, "in %s, waits for other ranks", ret->collective);
}

void where_wait_done(struct where_wait *w)
{
	buffer_done(&w->text);
	buffer_done(&w->tasks);
	free(w->collective);
	*w = (struct where_wait){.call = ""};
}
