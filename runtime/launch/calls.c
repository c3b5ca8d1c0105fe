/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of MPI and NCCL that are in progress, and those that wait for the GPU, from the pages of threads in the
 * traces, which the recorder keeps current. Ranks that wait for each other poll, and so use all of a CPU: only the age
 * of their calls tells it. One pread(2) of each of the first threads of a process, at most every INTERVAL_MS. */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/base/function_kind.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/outside/where.h"

/* CHUNKS: how far threads are searched in a trace. */
enum { INTERVAL_MS = 200, RETRY_MS = 500, RETRIES = 8, THREADS = 8, CHUNKS = 64, FUNCTIONS = 1 << 11 };

struct rank_calls {
	int fd; /* of the trace; -1: there is none yet */
	unsigned tries, chunks;
	uint64_t nonce, due_ns;
	uint64_t at; /* of the next chunk */
	uint64_t pages[THREADS];
	size_t count;
	/* of each function: 0, or whether it may wait for other ranks, and 1 + enum where_requests */
	uint8_t waits[FUNCTIONS];
	uint64_t call;		  /* of the oldest call, as in the page; 0: none */
	uint64_t changed_ns;	  /* CLOCK_MONOTONIC: when `call` was first seen */
};

/* For `waits`. A GPU is awaited for a kernel of NCCL, perhaps, which waits for those of other ranks. */
static uint8_t waits_of_function(uint8_t group, const char *name)
{
	struct function_kind kind = function_kind_of(name, group);

	if (kind.parallel & PARALLEL_AWAITS)
		return 1 + (kind.parallel & PARALLEL_ONE ? WHERE_REQUEST : WHERE_REQUESTS);
	return group == TF_GROUP_MPI || group == TF_GROUP_NCCL || kind.cuda & CUDA_SYNCHRONIZE;
}

static void functions_read(struct rank_calls *c, const struct tf_header *h)
{
	size_t size = h->function_bytes, at = 0;
	uint8_t *names = malloc(size + 2), next;

	if (names && pread(c->fd, names, size, TF_PAGE) == (ssize_t)size)
		for (size_t i = 0; i < h->function_count && i < FUNCTIONS && at + 2 + names[at + 1] <= size; i++) {
			uint8_t group = names[at], *name = &names[at + 2];

			at += 2 + (size_t)names[at + 1];
			next = names[at];
			names[at] = '\0'; /* ends the name */
			c->waits[i] = waits_of_function(group, (const char *)name);
			names[at] = next;
		}
	free(names);
}

static void trace_close(struct rank_calls *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

static void trace_open(const struct run *run, const struct living *p, struct rank_calls *c)
{
	char path[PATH_MAX + INDEX_NAME_BYTES];
	struct tf_header h;

	snprintf(path, sizeof(path), "%s/%s.%u.%016llx.trace", run->spool[0] ? run->spool : run->directory, run->host,
		 p->pid, (unsigned long long)p->nonce);
	c->fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (c->fd >= 0 && (pread(c->fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) || h.magic != TF_MAGIC))
		trace_close(c);
	if (c->fd < 0)
		return;
	functions_read(c, &h);
	c->at = TF_PAGE + ((uint64_t)h.function_bytes + TF_PAGE - 1) / TF_PAGE * TF_PAGE;
}

static void threads_find(struct rank_calls *c)
{
	struct tf_chunk head;

	while (c->count < THREADS && c->chunks < CHUNKS &&
	       pread(c->fd, &head, sizeof(head), (off_t)c->at) == (ssize_t)sizeof(head) &&
	       head.magic == TF_CHUNK_MAGIC && head.nonce == c->nonce && head.size_bytes >= TF_PAGE) {
		if (head.kind == TF_CHUNK_FIRST)
			c->pages[c->count++] = c->at;
		c->at += head.size_bytes;
		c->chunks++;
	}
}

static uint64_t age_ns(uint64_t call)
{
	const uint64_t mask = ((uint64_t)1 << TF_CURRENT_SHIFT) - 1;

	return call ? (uint64_t)((double)((clock_now() - call) & mask) * 1e9 / (double)clock_ticks(1000000000u)) : 0;
}

static unsigned waits_of(const struct rank_calls *c, uint64_t call)
{
	return call ? c->waits[((call >> TF_CURRENT_SHIFT) - 1) % FUNCTIONS] : 0;
}

/* The call of a thread that may wait for other ranks; of nested calls the outermost one. 0: it is in none. */
static uint64_t thread_read(const struct rank_calls *c, size_t thread, uint32_t *ret_tid)
{
	struct tf_thread page;
	uint64_t call;

	if (pread(c->fd, &page, sizeof(page), (off_t)c->pages[thread]) != (ssize_t)sizeof(page) || page.end_ticks)
		return 0;
	call = page.outer ? page.outer : page.current;
	*ret_tid = page.chunk.tid;
	return waits_of(c, call) ? call : 0;
}

/* The oldest one. */
static uint64_t call_read(const struct rank_calls *c)
{
	uint64_t oldest = 0;
	uint32_t tid;

	for (size_t i = 0; i < c->count; i++) {
		uint64_t call = thread_read(c, i, &tid);

		if (call && age_ns(call) > age_ns(oldest))
			oldest = call;
	}
	return oldest;
}

void calls_record(const struct living *p)
{
	const struct rank_calls *c = p->calls;
	uint32_t tid;

	for (size_t i = 0; c && c->nonce == p->nonce && c->fd >= 0 && i < c->count; i++) {
		uint64_t call = thread_read(c, i, &tid);

		if (call)
			where_arguments(p->pid, tid, call, waits_of(c, call) - 1);
	}
}

void calls_forget(struct living *p)
{
	if (p->calls)
		trace_close(p->calls);
	free(p->calls);
	p->calls = NULL;
}

uint64_t calls_oldest(const struct run *run, struct living *p, uint64_t *ret_ns)
{
	uint64_t now = clock_monotonic_ns(), call;
	struct rank_calls *c = p->calls;

	*ret_ns = 0;
	if (c && c->nonce != p->nonce)
		calls_forget(p);
	if (!p->calls && p->nonce && (p->calls = calloc(1, sizeof(*c))))
		*p->calls = (struct rank_calls){.fd = -1, .nonce = p->nonce, .changed_ns = now};
	c = p->calls;
	if (!c)
		return 0;
	if (now >= c->due_ns) {
		if (c->fd < 0) {
			trace_open(run, p, c);
			c->tries += c->tries < RETRIES;
		}
		if (c->fd >= 0)
			threads_find(c);
		call = c->fd >= 0 ? call_read(c) : 0;
		c->changed_ns = call == c->call ? c->changed_ns : now;
		c->call = call;
		c->due_ns = now + (c->fd >= 0 ? INTERVAL_MS : RETRY_MS * c->tries) * 1000000ull;
	}
	*ret_ns = age_ns(c->call);
	return c->call;
}

uint64_t calls_same_ns(const struct living *p)
{
	return p->calls ? clock_monotonic_ns() - p->calls->changed_ns : UINT64_MAX;
}
