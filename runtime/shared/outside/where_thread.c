/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, from /proc/PID/task/TID/syscall: it shows the system call, the arguments, the stack pointer and the pc of a
 * thread that is blocked. Reading it does not wake the thread. A ptrace stop would show all registers, but some system
 * calls then end with EINTR (epoll_wait, semop, receives with a timeout: signal(7)). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/shared/common/sys.h"
#include "runtime/shared/outside/process_stat.h"
#include "runtime/shared/outside/where.h"

/* STACK_BYTES of a stack are copied, but LESS_BYTES once the stacks of a process are BUDGET together. */
enum { STACK_BYTES = 256 << 10, LESS_BYTES = 8 << 10, BUDGET = 64 << 20, TRIES = 4, POLLED = 64 };
/* Around a futex: the other fields of a mutex, a read-write lock or a condition variable. */
enum { FUTEX_BEFORE = 48, FUTEX_AFTER = 48 };
enum { STACK_POINTER = 7, PC = 16 };

static size_t stack_bytes; /* of this process so far */

/* 0, or -errno. Sets what the file says; it says "running" of a thread that is not blocked. */
static int call_read(uint32_t pid, struct tf_where_thread *t)
{
	char path[64], text[256];
	unsigned long long a[6], stack, pc;
	long long call;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", pid, t->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n < 0) {
		int error = -errno;

		if (fd >= 0)
			close(fd);
		return error;
	}
	close(fd);
	text[n] = '\0';
	t->flags &= ~(uint32_t)(TF_WHERE_IN_CALL | TF_WHERE_IS_RUNNING | TF_WHERE_HAS_STACK);
	if (sscanf(text, "%lld %llx %llx %llx %llx %llx %llx %llx %llx", &call, &a[0], &a[1], &a[2], &a[3], &a[4],
		   &a[5], &stack, &pc) == 9) {
		t->flags |= TF_WHERE_IN_CALL | TF_WHERE_HAS_STACK;
		t->call = call;
		for (int i = 0; i < 6; i++)
			t->arguments[i] = a[i];
	} else if (sscanf(text, "-1 %llx %llx", &stack, &pc) == 2) {
		t->flags |= TF_WHERE_HAS_STACK; /* blocked, in a page fault for instance */
	} else {
		t->flags |= TF_WHERE_IS_RUNNING;
		return 0;
	}
	t->registers[STACK_POINTER] = stack;
	t->registers[PC] = pc;
	return 0;
}

/* The end of the mapping that has the address; 0: there is none. */
static uint64_t mapping_end(const char *maps, uint64_t address)
{
	while (*maps) {
		char *at;
		uint64_t start = strtoull(maps, &at, 16), end = *at == '-' ? strtoull(at + 1, NULL, 16) : 0;

		if (address >= start && address < end)
			return end;
		maps += strcspn(maps, "\n");
		maps += *maps == '\n';
	}
	return 0;
}

static void memory_record(uint64_t address, const void *bytes, size_t size)
{
	struct tf_where_memory head = {address};

	if (size)
		where_record(TF_WHERE_MEMORY, &head, sizeof(head), bytes, size);
}

/* The bytes of a stack that are copied. */
static size_t stack_size(const struct where_process *p, uint64_t stack_pointer)
{
	uint64_t end = mapping_end(p->maps, stack_pointer);
	size_t most = stack_bytes < BUDGET ? STACK_BYTES : LESS_BYTES;

	return where_without_strings(p, stack_pointer,
				     end - stack_pointer < most ? (size_t)(end - stack_pointer) : most);
}

uint64_t where_futex(const struct tf_where_thread *t)
{
	int operation = (int)t->arguments[1] & FUTEX_CMD_MASK;

	if (!(t->flags & TF_WHERE_IN_CALL) || t->call != SYS_futex)
		return 0;
	return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI ||
			       operation == 13 /* FUTEX_LOCK_PI2 */ || operation == FUTEX_WAIT_REQUEUE_PI
		       ? t->arguments[0]
		       : 0;
}

/* What the arguments of its system call point to. */
static void arguments_record(uint32_t pid, const struct tf_where_thread *t)
{
	char bytes[POLLED * sizeof(struct pollfd)];
	uint64_t futex = where_futex(t), at = t->arguments[0];

	if (!(t->flags & TF_WHERE_IN_CALL))
		return;
	if (futex) {
		size_t size = where_copy(pid, futex - FUTEX_BEFORE, bytes, FUTEX_BEFORE + FUTEX_AFTER);

		/* Its page may be the first that is mapped, or the last. */
		if (size > FUTEX_BEFORE)
			memory_record(futex - FUTEX_BEFORE, bytes, size);
		else
			memory_record(futex, bytes, where_copy(pid, futex, bytes, FUTEX_AFTER));
	}
#ifdef SYS_poll
	if (t->call == SYS_poll || t->call == SYS_ppoll) {
#else
	if (t->call == SYS_ppoll) {
#endif
		size_t count = t->arguments[1] < POLLED ? t->arguments[1] : POLLED;

		memory_record(at, bytes, where_copy(pid, at, bytes, count * sizeof(struct pollfd)));
	}
#ifdef SYS_select
	if (t->call == SYS_select || t->call == SYS_pselect6)
#else
	if (t->call == SYS_pselect6)
#endif
		for (int i = 1; i <= 3; i++)
			memory_record(t->arguments[i], bytes, where_copy(pid, t->arguments[i], bytes, 128));
}

/* Copies the stack between two readings of the system call, which must agree: else the thread has gone on meanwhile,
 * and what was copied belongs to neither. Returns the number of bytes. */
static size_t stack_copy(const struct where_process *p, struct tf_where_thread *t, char *ret)
{
	for (int i = 0; i < TRIES; i++) {
		struct tf_where_thread now = *t;
		uint64_t at = t->registers[STACK_POINTER];
		size_t size = where_copy(p->pid, at, ret, stack_size(p, at));

		if (call_read(p->pid, &now))
			return 0;
		if (!(now.flags & TF_WHERE_HAS_STACK)) {
			*t = now;
			return 0;
		}
		if (now.registers[STACK_POINTER] == at && now.registers[PC] == t->registers[PC] &&
		    now.call == t->call && !memcmp(now.arguments, t->arguments, sizeof(now.arguments)))
			return size;
		*t = now;
	}
	return 0;
}

static void schedule_read(uint32_t pid, struct tf_where_thread *t)
{
	char path[80], text[1024];
	struct process_stat stat;
	unsigned long long cpu;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, t->tid);
	if (sys_read_file(path, text, sizeof(text)) > 0 && process_stat_parse(text, &stat)) {
		t->state = stat.state;
		memcpy(t->name, stat.name, sizeof(t->name));
		t->cpu_ns = stat.cpu_ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	}
	snprintf(path, sizeof(path), "/proc/%u/task/%u/schedstat", pid, t->tid);
	if (sys_read_file(path, text, sizeof(text)) > 0 && sscanf(text, "%llu", &cpu) == 1 && cpu)
		t->cpu_ns = cpu;
}

static int threads_list(struct where_process *p)
{
	int error = 0;
	struct dirent *entry;
	char path[48];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/task", p->pid);
	d = opendir(path);
	while (d && p->count < WHERE_THREADS && (entry = readdir(d))) {
		struct tf_where_thread *t = &p->threads[p->count];
		int rc;

		*t = (struct tf_where_thread){.tid = (uint32_t)strtoul(entry->d_name, NULL, 10)};
		if (!t->tid)
			continue;
		schedule_read(p->pid, t);
		if (p->flags & WHERE_OF_QUIET)
			t->cpu_ns = 0;
		rc = t->state && t->state != 'Z' && t->state != 'X' ? call_read(p->pid, t) : -ESRCH;
		if (!rc)
			p->count++;
		else if (rc != -ESRCH && (!error || error == -ENOENT))
			error = rc;
	}
	if (d)
		closedir(d);
	return p->count ? 0 : error; /* -ENOENT: the process has ended, or this kernel has no such file */
}

int where_threads(struct where_process *p)
{
	static char stack[STACK_BYTES];
	int error = threads_list(p);
	bool is_brief = p->flags & WHERE_PYTHON_ONLY;

	stack_bytes = 0;
	for (size_t i = 0; i < p->count; i++) {
		struct tf_where_thread *t = &p->threads[i];
		size_t size;

		if (is_brief)
			t->flags &= ~(uint32_t)TF_WHERE_HAS_STACK;
		size = t->flags & TF_WHERE_HAS_STACK ? stack_copy(p, t, stack) : 0;

		memory_record(t->registers[STACK_POINTER], stack, size);
		arguments_record(p->pid, t);
		stack_bytes += size;
	}
	where_sample(p);
	for (size_t i = 0; i < p->count; i++)
		where_record(TF_WHERE_THREAD, &p->threads[i], sizeof(p->threads[i]), NULL, 0);
	return error;
}
