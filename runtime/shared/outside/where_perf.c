/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that run: perf_event_open(2) takes one sample of each, with its registers and its stack, at the next tick of
 * its CPU time. The thread is not stopped. */
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/shared/outside/where.h"
#include "runtime/shared/common/clock.h"

#ifdef __x86_64__

/* A ring has room for two samples. AT_ONCE rings are within what a user may lock (perf_event_mlock_kb). */
enum { AT_ONCE = 4, STACK_BYTES = 24 << 10, RING_BYTES = 64 << 10, PERIOD_NS = 1000000, ALL = 17 };
/* A thread may be runnable and have no CPU. */
enum { BATCH_MS = 100 };

/* The kernel's numbers of registers (asm/perf_regs.h), by their DWARF numbers. */
static const uint8_t kernel_number[ALL] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};

struct probe {
	const struct where_process *process;
	struct tf_where_thread *thread;
	struct perf_event_mmap_page *page;
	int fd;
};

static uint64_t register_mask(void)
{
	uint64_t mask = 0;

	for (int i = 0; i < ALL; i++)
		mask |= 1ull << kernel_number[i];
	return mask;
}

/* A sample that is taken in the kernel has the registers of the thread in user space, too, but needs
 * perf_event_paranoid 1. */
static int event_open(uint32_t tid, bool is_user)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.size = sizeof(attributes),
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = register_mask(),
		.sample_stack_user = STACK_BYTES,
		.exclude_kernel = is_user,
		.exclude_hv = true,
		.wakeup_events = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool probe_open(struct probe *p, const struct where_process *process, struct tf_where_thread *thread)
{
	void *at;

	*p = (struct probe){.process = process, .thread = thread, .fd = event_open(thread->tid, false)};
	if (p->fd < 0)
		p->fd = event_open(thread->tid, true);
	if (p->fd < 0)
		return false;
	at = mmap(NULL, RING_BYTES + (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (at != MAP_FAILED) {
		p->page = at;
		return true;
	}
	close(p->fd);
	return false;
}

static bool probe_has_sample(const struct probe *p)
{
	return __atomic_load_n(&p->page->data_head, __ATOMIC_ACQUIRE);
}

/* The first record is at the start of the ring: struct perf_event_header, the ABI, the registers in the order of their
 * numbers, the size of the stack, its bytes, the number of valid ones. */
static void probe_read(struct probe *p)
{
	const uint64_t *word = (const uint64_t *)((const char *)p->page + p->page->data_offset);
	const struct perf_event_header *head = (const struct perf_event_header *)word;
	struct tf_where_memory memory;
	uint64_t size, valid;

	if (head->type != PERF_RECORD_SAMPLE || head->size < (4 + ALL) * sizeof(*word) ||
	    word[1] != PERF_SAMPLE_REGS_ABI_64)
		return;
	for (int i = 0; i < ALL; i++)
		p->thread->registers[i] = word[2 + __builtin_popcountll(register_mask() &
									((1ull << kernel_number[i]) - 1))];
	p->thread->flags |= TF_WHERE_HAS_REGISTERS | TF_WHERE_HAS_STACK;
	size = word[2 + ALL];
	if (!size || size > STACK_BYTES || (4 + ALL) * sizeof(*word) + size > head->size)
		return;
	valid = word[3 + ALL + size / sizeof(*word)];
	memory.address = p->thread->registers[7];
	if (valid <= size)
		where_record(TF_WHERE_MEMORY, &memory, sizeof(memory), &word[3 + ALL],
			     where_without_strings(p->process, memory.address, valid));
}

static void probe_close(struct probe *p)
{
	munmap(p->page, RING_BYTES + (size_t)sysconf(_SC_PAGESIZE));
	close(p->fd);
}

static void batch_run(struct probe *probes, size_t count)
{
	uint64_t until = clock_monotonic_ns() + BATCH_MS * 1000000ull, now;
	size_t missing = count;

	while (missing && (now = clock_monotonic_ns()) < until) {
		struct pollfd fds[AT_ONCE];

		for (size_t i = 0; i < count; i++)
			fds[i] = (struct pollfd){probe_has_sample(&probes[i]) ? -1 : probes[i].fd, POLLIN, 0};
		if (poll(fds, count, (int)((until - now) / 1000000) + 1) < 0)
			break;
		missing = 0;
		for (size_t i = 0; i < count; i++) {
			bool is_gone = fds[i].fd >= 0 && fds[i].revents & (POLLHUP | POLLERR);

			missing += !is_gone && !probe_has_sample(&probes[i]);
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (probe_has_sample(&probes[i]))
			probe_read(&probes[i]);
		probe_close(&probes[i]);
	}
}

void where_sample(struct where_process *p)
{
	struct probe probes[AT_ONCE];
	size_t count = 0;

	for (size_t i = 0; i < p->count && clock_monotonic_ns() < p->patience_ns; i++) {
		if (p->threads[i].flags & TF_WHERE_IS_RUNNING && probe_open(&probes[count], p, &p->threads[i]))
			count++;
		if (count == AT_ONCE) {
			batch_run(probes, count);
			count = 0;
		}
	}
	batch_run(probes, count);
}

#else

void where_sample(struct where_process *p)
{
	(void)p;
}

#endif
