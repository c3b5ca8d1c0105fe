/* SPDX-License-Identifier: Apache-2.0 */
/* What an edit can change, and what time is attributed to: a function that a line calls, a line that computes, a
 * kernel, a copy, a program that was not recorded.
 *
 * CPU samples are rarer than the stretches of computing between calls. So the stretches between the same two calls are
 * pooled: a pool has the time of all of them, and the samples that were taken in any of them divide each. Calls too
 * short for a stack are pooled by function likewise: the samples in them tell the lines of as much time as they have. A
 * call that waits for a disk has few of them, and a sample makes it long enough for a stack. So the rest of the time
 * belongs to the lines of the function's calls that were hardly long enough for one.
 *
 * A consequence is time of one editable that another one caused: without either, it is nothing. */
#pragma once

#include "report/events/traffic.h"
#include "report/names/attribution.h"
#include "report/time/blocked.h"

enum editable_kind { EDITABLE_CPU, EDITABLE_CALL, EDITABLE_KERNEL, EDITABLE_COPY, EDITABLE_PROGRAM, EDITABLE_POOL };

struct editable {
	enum editable_kind kind;
	enum blocked_kind waits; /* of a call: what it does while it blocks */
	enum traffic_role role;	 /* of a call */
	uint32_t does;		 /* likewise: FUNCTION_* */
	char *name;		 /* of a call, a kernel, a program; "": none. Owned */
	struct symbol_frame frame;
	bool has_frame, is_users;
	const struct code_line *line; /* NULL: not named yet, or not known; see editable_line */
	const struct image *image; /* the first one */
	uint32_t stack;
	uint64_t samples; /* of CPU time */
	uint64_t calls;	  /* how many there are, without short ones; what they contain is counted, too */
	uint64_t sync_ns, device_ns; /* of calls that synchronize with a device; of that, in which the device works */
};

/* A share of a pool. */
struct share_of_pool {
	uint32_t what;
	float share;
};

enum { CAUSE_NONE = UINT32_MAX };

struct pool {
	uint32_t first, count; /* in shares */
	uint32_t samples;
	uint32_t rest; /* the pool of what has few samples in the same program */
	uint64_t calls; /* so many short calls; 0: it is of stretches between calls, or of a function without them */
	uint32_t cause; /* of a consequence; CAUSE_NONE: it is none */
	uint64_t calls_ns, sampled_ns, stacked; /* of these: their time, that of samples in them; longer calls */
};

/* The time that an editable had in one stack: edits of functions change as large a part of it as is below them. */
struct editable_stack {
	const struct image *image;
	uint32_t what, stack;
	uint64_t ns;
};

struct editables {
	struct editable *items; /* by what */
	size_t count, capacity;
	struct map by_key;
	struct pool *pools; /* by what - pool_first */
	size_t pool_count, pool_capacity, pool_first;
	struct share_of_pool *shares;
	size_t share_count;
	struct editable_stack *stacks;
	size_t stack_count, stack_capacity;
	struct map by_stack;
	struct attribution attribution;
	/* while they are gathered */
	struct map calls, lines, programs, by_pool, samples, stacked;
};

void editables_init(struct editables *e, struct symbols *symbols);
void editables_done(struct editables *e);

/* A call of the function by that line; stack 0: the line is not known. */
uint32_t editable_call(struct editables *e, const struct image *image, uint32_t function, uint32_t stack);
/* The line that computes, by a sample's stack. */
uint32_t editable_cpu(struct editables *e, const struct image *image, uint32_t stack);
/* By name: a kernel, a copy, a program; stack 0: not launched by a known line. */
uint32_t editable_named(struct editables *e, enum editable_kind kind, const char *name, const struct image *image,
			uint32_t stack);

/* Counts time in a stack; 0: none was taken. */
void editable_add_stack(struct editables *e, uint32_t what, const struct image *image, uint32_t stack, uint64_t ns);
/* Takes back what was added. */
void editable_drop_stack(struct editables *e, uint32_t what, const struct image *image, uint32_t stack, uint64_t ns);

/* Whether calls of this function at the line of this stack wait for what a device executes: otherwise what they take is
 * their own cost, such as that of asking a device that has long been idle. */
bool editable_awaits_device(struct editables *e, const struct image *image, const char *function, uint32_t stack);

/* ---- pools: their numbers are marked until editables_finish ---- */

#define EDITABLE_OF_POOL (1u << 31)

/* Of the program of an image: what has few samples. */
uint32_t editable_rest(struct editables *e, const struct image *image);
/* Of the stretches between calls of `before` and `after` in the program whose rest that is. */
uint32_t editable_pool(struct editables *e, uint32_t rest, uint32_t before, uint32_t after);
/* Of calls of a function without a stack in that program; `call` is their editable without a line, to which they belong
 * if nothing tells their lines. Counts the call. */
uint32_t editable_short_call(struct editables *e, uint32_t rest, uint32_t call, uint64_t ns);
/* A call that was hardly long enough for a stack, and its line. */
void editable_stacked_call(struct editables *e, uint32_t rest, uint32_t call, uint32_t at_line);
/* Of calls in that program that another editable or pool caused. Counts the call. */
uint32_t editable_consequence(struct editables *e, uint32_t rest, uint32_t call, uint32_t cause);
void editable_pool_sample(struct editables *e, uint32_t pool, uint32_t what, uint64_t ns);

/* After everything was gathered: divides the pools. A pool without samples is an editable of its own. */
void editables_finish(struct editables *e);

/* The number of a part once the pools have theirs. */
static inline uint32_t editable_of_pool(const struct editables *e, uint32_t what)
{
	return what & EDITABLE_OF_POOL ? (uint32_t)e->pool_first + (what & ~EDITABLE_OF_POOL) : what;
}

/* How many numbers there are, with those of pools. */
static inline size_t editables_count(const struct editables *e)
{
	return e->pool_first + e->pool_count;
}

/* Calls visit for each editable that a part consists of. */
void editable_divide(const struct editables *e, uint32_t what, double ns, void *context,
		     void (*visit)(void *context, uint32_t what, double ns));

/* Fills in the factors of the pools from those of the editables. */
enum editable_consequences { CONSEQUENCES_STAY, CONSEQUENCES_FOLLOW };
void editable_factors(const struct editables *e, enum editable_consequences consequences, float *factors);

/* NULL if it is not known; named at the first call. */
const struct code_line *editable_line(struct editables *e, uint32_t what);

/* Appends "usleep", "CPU", "kernel gemm". */
void editable_words(const struct editables *e, uint32_t what, struct buffer *ret);
extern const char *const editable_kinds[];
