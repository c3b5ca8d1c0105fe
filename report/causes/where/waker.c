/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and processes that wait for each other. A thread waits for the one that has its lock, if that is known. One
 * that is blocked without a time limit waits for a semaphore, a pipe, a socket, a lock of a file or a child: other
 * threads of its process or other processes of the job can end that, or something outside of it can. What can be ended
 * by stuck ones only is stuck, too. Of the stuck ones, those that wait for each other are the cause; others only wait
 * for them. */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "report/causes/where/place.h"
#include "report/causes/where/stuck.h"

enum { FEW_THREADS = 64, FEW_PROCESSES = 256 };

/* Signals whose handlers end no wait of the program: those that an instruction or abort(3) raises. */
#define RAISED_SIGNALS                                                                                                 \
	(1u << SIGSEGV | 1u << SIGBUS | 1u << SIGFPE | 1u << SIGILL | 1u << SIGTRAP | 1u << SIGSYS | 1u << SIGABRT)

/* ---- one thread ---- */

/* Whether its system call has no time limit and waits for something that is known here. */
static bool is_blocked(const struct look *l, const struct look_process *p, const struct tf_where_thread *t)
{
	if (!(t->flags & TF_WHERE_IN_CALL) || t->state == 'D') /* D: it waits for a device */
		return false;
	switch (where_call_kind(l, t)) {
	case WAITS_FUTEX:
		return !t->arguments[3];
	case WAITS_READ:
	case WAITS_WRITE:
		if (t->call == SYS_mq_timedreceive || t->call == SYS_mq_timedsend)
			return !t->arguments[4];
		return t->call != SYS_ioctl && t->call != SYS_fsync && t->call != SYS_fdatasync;
	case WAITS_SYSTEM_V:
		return t->call != SYS_semtimedop || !t->arguments[3];
	case WAITS_CHILD:
	case WAITS_CHILD_ID:
		return true;
	case WAITS_LOCK:
		return t->call == SYS_flock || t->arguments[1] == F_SETLKW ||
		       t->arguments[1] == F_OFD_SETLKW;
	case WAITS_POLL:
		return t->call == SYS_ppoll ? !t->arguments[2] : (int)t->arguments[2] < 0;
	case WAITS_SELECT:
		return !t->arguments[4];
	case WAITS_EPOLL:
		return (int)t->arguments[3] < 0 && look_descriptor(p, (uint32_t)t->arguments[0]);
	default:
		return false;
	}
}

/* Python always handles SIGINT, and raises KeyboardInterrupt. */
bool where_may_be_stuck(const struct look *l, const struct look_process *p)
{
	uint32_t harmless = RAISED_SIGNALS | 1u | (p->code_count ? 1u << SIGINT : 0);

	if (!l->has_registers || !p->thread_count || p->thread_count > FEW_THREADS || p->head.error ||
	    !(p->head.handled & 1) || p->head.handled & ~harmless)
		return false;
	return !array_find(thread, p->threads, p->thread_count, !is_blocked(l, p, &thread->head));
}

/* ---- who can wake it ---- */

/* The processes of a look, by their positions. */
struct wakers {
	const struct look *look;
	bool *is; /* of the process in question */
};

static bool add_waker(struct wakers *w, uint32_t pid)
{
	for (size_t i = 0; i < w->look->count; i++)
		if (w->look->processes[i].head.pid == pid) {
			w->is[i] = true;
			return true;
		}
	return false;
}

/* A wait for any child, or one of a group. */
static bool add_children(struct wakers *w, const struct look_process *p)
{
	bool has = false;

	for (size_t i = 0; i < w->look->count; i++)
		if (w->look->processes[i].head.parent_pid == p->head.pid)
			has = w->is[i] = true;
	return has;
}

/* Those that have the memory of a futex mapped. Another program may map a file that has a name, unless Python's
 * multiprocessing has made it. */
static bool add_mapping(struct wakers *w, const struct look_process *p, uint64_t address)
{
	const struct look_module *m = look_module(p, address);
	char named[40];

	snprintf(named, sizeof(named), "named %" PRIu64 "\n", m ? m->inode : 0);
	if (m && ((!strstr(m->path, " (deleted)") && !strstr(m->path, "/sem.mp-")) || strstr(p->sockets, named)))
		return false;
	for (size_t i = 0; m && i < w->look->count; i++)
		for (size_t k = 0; k < w->look->processes[i].module_count; k++) {
			const struct look_module *other = &w->look->processes[i].modules[k];

			w->is[i] |= other->inode == m->inode && other->device == m->device;
		}
	return true;
}

/* A line of /proc/locks: "1: FLOCK  ADVISORY  WRITE PID DEVICE:INODE START END", "1: -> FLOCK ..." of one that waits.
 * `pid`: who took it, -1: an open file description. */
struct file_lock {
	bool waits, is_outside;
	char kind[8], access[8], file[64], start[24], end[24];
	long pid;
};

/* The text after the next line that begins with the word; NULL: there is none. */
static const char *next_lock(const char *at, const char *word, struct file_lock *ret)
{
	while (*at) {
		const char *colon = strchr(at, ':'), *line = at;
		char outside[8] = "";

		at += strcspn(at, "\n");
		at += *at == '\n';
		if (strncmp(line, word, strlen(word)) != 0 || !colon)
			continue;
		ret->waits = text_begins_with(colon, ": ->");
		if (sscanf(colon + (ret->waits ? 4 : 1), " %7s %*s %7s %ld %63s %23s %23s%*[ ]%7[outside]", ret->kind,
			   ret->access, &ret->pid, ret->file, ret->start, ret->end, outside) >= 6) {
			ret->is_outside = *outside;
			return at;
		}
	}
	return NULL;
}

static bool is_same_lock(const struct file_lock *a, const struct file_lock *b)
{
	return !strcmp(a->kind, b->kind) && !strcmp(a->access, b->access) && !strcmp(a->file, b->file) &&
	       !strcmp(a->start, b->start) && !strcmp(a->end, b->end);
}

/* Those that have the lock, of a descriptor also those that inherited it. A lock for reading has its like. */
static bool add_lock_holder(struct wakers *w, const struct file_lock *lock)
{
	bool is_of_process = !strcmp(lock->kind, "POSIX"), has = is_of_process;

	for (size_t i = 0; i < w->look->count && !is_of_process; i++) {
		const char *at = w->look->processes[i].sockets;
		struct file_lock held;

		while ((at = next_lock(at, "held ", &held))) {
			bool is = is_same_lock(&held, lock);

			w->is[i] |= is;
			has |= is;
			if (is && held.is_outside)
				return false;
		}
	}
	return has && ((!is_of_process && !strcmp(lock->access, "WRITE")) ||
		       (lock->pid > 0 && add_waker(w, (uint32_t)lock->pid)));
}

/* Whether the line is that of a lock for which the process waits by the descriptor. */
static bool is_wanted(const struct look_process *p, const struct file_lock *lock, uint64_t descriptor)
{
	const char *inode = strrchr(lock->file, ':');
	char line[64];

	if (!lock->waits || lock->pid != -1 || !inode)
		return lock->waits && lock->pid == (long)p->head.pid;
	snprintf(line, sizeof(line), "inode %" PRIu64 " %s\n", descriptor, inode + 1);
	return strstr(p->sockets, line);
}

/* Those that have any lock of the file for which the process waits. */
static bool add_lock_holders(struct wakers *w, const struct look_process *p, uint64_t descriptor)
{
	const char *at = p->sockets, *other;
	struct file_lock wanted, lock;
	bool has = false;

	while ((at = next_lock(at, "lock ", &wanted))) {
		if (!is_wanted(p, &wanted, descriptor))
			continue;
		for (other = p->sockets; (other = next_lock(other, "lock ", &lock));) {
			if (lock.waits || strcmp(lock.file, wanted.file) != 0)
				continue;
			has = true;
			if (!add_lock_holder(w, &lock))
				return false;
		}
	}
	return has;
}

static bool add_polled(struct wakers *w, const struct look_process *p, const struct tf_where_thread *t)
{
	for (size_t i = 0; i < t->arguments[1]; i++) {
		struct pollfd one;

		if (!look_memory(p, t->arguments[0] + i * sizeof(one), &one, sizeof(one)))
			return false;
		if (one.fd >= 0 && one.events & POLLIN &&
		    !where_descriptor_wakers(w->look, p, (uint32_t)one.fd, true, w->is))
			return false;
		if (one.fd >= 0 && one.events & POLLOUT &&
		    !where_descriptor_wakers(w->look, p, (uint32_t)one.fd, false, w->is))
			return false;
	}
	return true;
}

static bool add_selected(struct wakers *w, const struct look_process *p, const struct tf_where_thread *t)
{
	for (int set = 1; set <= 2; set++) {
		uint64_t words[16];

		if (!t->arguments[set])
			continue;
		if (!look_memory(p, t->arguments[set], words, sizeof(words)))
			return false;
		for (uint32_t i = 0; i < t->arguments[0]; i++)
			if (i >= sizeof(words) * 8 || (words[i / 64] >> i % 64 & 1 &&
						       !where_descriptor_wakers(w->look, p, i, set == 1, w->is)))
				return false;
	}
	return true;
}

static bool add_watched(struct wakers *w, const struct look_process *p, const struct tf_where_thread *t)
{
	const struct look_descriptor *d = look_descriptor(p, (uint32_t)t->arguments[0]);

	for (const char *at = d->link; (at = strstr(at, " tfd ")); at += 5)
		if (!where_descriptor_wakers(w->look, p, (uint32_t)strtoul(at + 5, NULL, 10), true, w->is))
			return false;
	return true;
}

/* Any process of the job can know the identifier, and no other one can if it has no key. */
static bool add_all(struct wakers *w, const struct look_process *p, const struct tf_where_thread *t)
{
	char line[48];

	snprintf(line, sizeof(line), "private %s %d\n", where_is_message(t->call) ? "msg" : "sem",
		 (int)t->arguments[0]);
	for (size_t i = 0; i < w->look->count; i++)
		w->is[i] = true;
	return strstr(p->sockets, line);
}

/* Adds who can end the wait beside other threads of the process. False: something outside of the look can. */
static bool add_wakers(struct wakers *w, const struct where_item *item)
{
	const struct tf_where_thread *t = &item->thread->head;
	const struct look_process *p = item->process;

	switch (where_call_kind(w->look, t)) {
	case WAITS_FUTEX:
		return item->wait.is_within || add_mapping(w, p, t->arguments[0]);
	case WAITS_READ:
	case WAITS_WRITE:
		return where_descriptor_wakers(w->look, p, (uint32_t)t->arguments[0],
					       where_call_kind(w->look, t) == WAITS_READ, w->is);
	case WAITS_CHILD:
		return (int32_t)t->arguments[0] > 0 ? add_waker(w, (uint32_t)t->arguments[0]) : add_children(w, p);
	case WAITS_CHILD_ID:
		if (t->arguments[0] == P_PID)
			return add_waker(w, (uint32_t)t->arguments[1]);
		return (t->arguments[0] == P_ALL || t->arguments[0] == P_PGID) && add_children(w, p);
	case WAITS_SYSTEM_V:
		return add_all(w, p, t);
	case WAITS_LOCK:
		return add_lock_holders(w, p, t->arguments[0]);
	case WAITS_POLL:
		return add_polled(w, p, t);
	case WAITS_SELECT:
		return add_selected(w, p, t);
	case WAITS_EPOLL:
		return add_watched(w, p, t);
	default:
		return false;
	}
}

/* ---- processes ---- */

/* Whether all children of all processes are in the look, which may have inherited what these wait for. */
static bool is_whole(const struct look *l)
{
	for (size_t i = 0; i < l->count; i++) {
		const char *at = l->processes[i].children;
		char *end;

		for (unsigned long pid; at && (pid = strtoul(at, &end, 10)); at = end) {
			bool has = false;

			for (size_t k = 0; k < l->count && !has; k++)
				has = l->processes[k].head.pid == pid;
			if (!has)
				return false;
		}
		if (!at)
			return false;
	}
	return true;
}

size_t where_place_find(const struct where_place *p, const struct look_process *process, uint32_t tid)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].process == process && p->items[i].thread->head.tid == tid)
			return i;
	return SIZE_MAX;
}

/* Whether something of the look must end the wait of the item. */
static bool is_closed(const struct where_item *item, bool is_known)
{
	return item->since == WHERE_STILL && !item->is_recorded && !item->wait.is_timed &&
	       (item->wait.is_within || is_known);
}

/* The nodes of a look's processes begin at `first`. A process goes on if any of its threads does; each thread can end
 * the waits of the others. */
static void add_thread(const struct where_place *p, struct stuck_node *nodes, size_t at, size_t first, bool is_known)
{
	const struct where_item *item = &p->items[at];
	const struct look *l = item->look;
	size_t owner = item->wait.owner ? where_place_find(p, item->process, item->wait.owner) : SIZE_MAX;
	struct wakers w = {l, mem_alloc((l->count + 1) * sizeof(*w.is))};

	nodes[at].may_be = owner != SIZE_MAX || (l->count <= FEW_PROCESSES && where_may_be_stuck(l, item->process) &&
						 is_closed(item, is_known) && add_wakers(&w, item));
	stuck_wait(&nodes[at]);
	w.is[item->process - l->processes] = true;
	for (size_t i = 0; i < l->count && owner == SIZE_MAX; i++)
		if (w.is[i])
			stuck_add(&nodes[at], first + i);
	if (owner != SIZE_MAX)
		stuck_add(&nodes[at], owner);
	free(w.is);
}

/* Adds a look's threads, and its processes from `first` on. */
static void add_look(const struct where_place *p, const struct look *l, struct stuck_node *nodes, size_t first)
{
	bool is_known = l->count <= FEW_PROCESSES && is_whole(l);
	SCOPED_MEMORY size_t *counts = mem_alloc((l->count + 1) * sizeof(*counts));

	for (size_t i = 0; i < l->count; i++)
		stuck_wait(&nodes[first + i]);
	for (size_t i = 0; i < p->count; i++) {
		size_t process = (size_t)(p->items[i].process - l->processes);

		if (p->items[i].look != l)
			continue;
		add_thread(p, nodes, i, first, is_known);
		stuck_add(&nodes[first + process], i);
		counts[process]++;
	}
	for (size_t i = 0; i < l->count; i++)
		nodes[first + i].may_be = counts[i] && counts[i] == l->processes[i].thread_count;
}

void where_find_stuck(struct where_place *p)
{
	size_t count = p->count;
	struct stuck_node *nodes = stuck_new(count + array_sum(look, p->looks, p->look_count, look->count));

	for (size_t i = 0; i < p->look_count; i++) {
		add_look(p, &p->looks[i], nodes, count);
		count += p->looks[i].count;
	}
	p->cycles = stuck_solve(nodes, count);
	for (size_t i = 0; i < p->count; i++)
		p->items[i].cycle = nodes[i].set;
	stuck_free(nodes, count);
}
