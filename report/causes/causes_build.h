/* SPDX-License-Identifier: Apache-2.0 */
/* What builds the graph of a capture: actors, the calls that edges follow from, edges. */
#pragma once

#include "report/causes/causes.h"

void actors_find(struct causality *s);

/* A call that may have caused the end of a wait, or that may have waited. */
struct moment {
	uint64_t start_ns, end_ns;
	uint64_t value;	 /* by kind: a PID, a channel, bytes */
	/* the address of what a thread waits for, or ends the waits for; of OpenMP, its class; 0: not recorded */
	uint64_t lock;
	uint32_t actor;
	uint32_t what;	/* of a start of a process, and of what may wait for one: the editable; else NODE_NONE */
	uint32_t waker; /* of a wait for another thread: the tid of the one that ended it; 0: not recorded */
	uint64_t woken_ns; /* when it did */
	int32_t result; /* of a transfer: bytes; 0: the end of the data */
	bool is_linked; /* what ended it is known */
	bool takes_lock; /* for itself alone: who held it when the wait began is the waker, if nothing else is known */
	bool is_interpreter; /* a wait for the lock of an interpreter, which a thread does not hold during long calls */
};

enum moment_kind {
	MOMENT_NONE,
	MOMENT_SPAWN,	/* value: PID, 0: not known */
	MOMENT_CREATE,	/* of a thread */
	MOMENT_JOIN,
	MOMENT_CHILD,	/* a wait for a process; value: its PID */
	MOMENT_READ,	/* value: the channel, 0: not known */
	MOMENT_WRITE,
	MOMENT_RECEIVE, /* likewise, from a socket */
	MOMENT_SEND,
	MOMENT_WAKE,	/* of another thread: a signal of a condition, a post, an unlock */
	MOMENT_TEAM,	/* at a barrier of OpenMP */
	MOMENT_SYNC,	/* a call of CUDA that waits for a device */
	MOMENT_SYNC_STREAMS, /* likewise, for all streams of it */
	MOMENT_POLL,
	MOMENT_WAIT,	/* for another thread, in a way that does not tell for which */
	MOMENT_MPI,	/* a call of MPI: it is in mpi_calls */
	MOMENT_AWAIT,	/* a long call that may have waited for a process that its process has started */
	MOMENT_KINDS
};

/* A call that is not short: the thread did nothing else. */
struct actor_call {
	uint64_t start_ns, end_ns;
};

struct actor_calls {
	struct actor_call *items; /* by actor, then by time */
	size_t count, capacity;
	size_t *first; /* by actor, and one more */
};

struct moments {
	struct moment *items; /* by actor, then by time */
	size_t count, capacity;
};

/* Calls of MPI: a long one; short ones of any function; those that look and return at once. Sleeps. */
enum calls_kind { CALL_LONG, CALLS_SHORT, CALLS_POLL, CALLS_SLEEP };

/* Calls in a row of a thread, with little between them, or one long call. */
struct row_of_calls {
	uint64_t start_ns, end_ns;
	enum calls_kind kind;
	bool is_alone;	   /* of MPI: it waits for no other rank */
	/* of sleeps */
	uint32_t stack, count;
	bool looks;	      /* it asked for something between them, or may have: */
	bool has_started;     /* it had started a process or a thread just before */
	uint64_t first_end_ns, last_start_ns; /* the end of the first one, the start of the last one */
	uint32_t found;	   /* the actor whose end, or whose doing, the thread found then */
	uint64_t found_ns; /* when that had ended; 0: nothing known */
};

struct rows_of_calls {
	struct row_of_calls *items; /* by actor, then by time */
	size_t count, capacity;
	size_t *first; /* by actor, and one more */
};

/* Of a device. */
struct operation_of_stream {
	uint64_t start_ns, end_ns, launched_ns;
	uint32_t actor, what;
	uint32_t launched_by; /* the actor of the call; NODE_NONE: not known */
};

struct operations {
	struct operation_of_stream *items; /* by actor, then by time */
	size_t count, capacity;
};

struct linker {
	struct causality *causes;
	uint32_t *last_of;	/* by process: the main thread of its last image */
	bool *only_polls;	/* by actor: calls that ask others take nearly all of its CPU time */
	uint64_t *delays_ns;	/* by actor: for which it waited for a CPU; 0: it is not known */
	struct moments of[MOMENT_KINDS];
	struct actor_calls long_calls;
	struct rows_of_calls sleeps, mpi;
	struct map channels; /* (name, machine) -> number */
	struct operations operations;
};

/* For how long of that time a stream of the image executes operations: the one that does for longest. */
uint64_t linker_device_ns(const struct linker *l, const struct image *image, uint64_t start_ns, uint64_t end_ns);

/* Reads the calls that matter to the edges. */
void moments_read(struct linker *l);

/* Whether it asks others, such as sched_yield() or a lock that may be held, and does not block. */
bool function_only_asks(const struct function *f);

/* The actor's first long call that ended at that time or later, else what follows its last one. */
size_t linker_long_call(const struct linker *l, uint32_t actor, uint64_t ns);
/* The actor's last sleeps in a row that began before that time; NULL: none. */
struct row_of_calls *linker_sleeps(const struct linker *l, uint32_t actor, uint64_t ns);
/* When the actor was last not in a long call, before that time. `places`: by actor, what the last search for it found,
 * 0 at first; NULL: none is kept. */
uint64_t linker_last_running(const struct linker *l, size_t *places, uint32_t actor, uint64_t ns);
void link_processes(struct linker *l);
/* The process that started another, if it has actors; else SIZE_MAX. */
size_t linker_parent(const struct linker *l, size_t process);
/* Whether processes share what semaphores, locks and pipes they share: one is the parent of the other, or both have
 * one. Of more actors it is not asked. */
enum { FAMILY_MOST = 512 };
bool linker_is_family(const struct linker *l, size_t a, size_t b);
/* The end of the actor's last long call before that time, else its start. */
uint64_t last_long_call(const struct linker *l, uint32_t actor, uint64_t ns);
/* An edge to the end of a wait. */
void link_wait(struct linker *l, struct moment *wait, uint32_t from, uint64_t from_ns);
void link_threads(struct linker *l);
void link_transfers(struct linker *l);
/* Adds actors. */
void link_devices(struct linker *l);
void link_mpi(struct linker *l);
/* When the wait began that ended with that call: with the first of several that looked. */
uint64_t mpi_waits_since(const struct linker *l, uint32_t actor, uint64_t start_ns, uint64_t end_ns);
void link_openmp(struct linker *l);
void link_looks(struct linker *l);
/* What is left: waits whose end can have had one cause only. */
void link_only_causes(struct linker *l);
void linker_done(struct linker *l);

/* Of a call that may wait: its time was over, nothing ended it. is_poll: for descriptors. */
bool event_timed_out(const struct event *e, bool is_poll);

/* Shorter calls are not waits. */
enum { CAUSES_WAIT_NS = 20000 };
