/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/editable.h"

#include <stdlib.h>
#include <string.h>


/* A pool with fewer samples is divided as all such pools together. */
enum { POOL_SAMPLES = 3 };

const char *const editable_kinds[] = {"cpu", "call", "kernel", "copy", "program", "cpu"};

void editables_init(struct editables *e, struct symbols *symbols)
{
	*e = (struct editables){.attribution = {.symbols = symbols}};
}

void editables_done(struct editables *e)
{
	for (size_t i = 0; i < e->count; i++) {
		free(e->items[i].name);
	}
	free(e->items);
	free(e->pools);
	free(e->shares);
	free(e->stacks);
	map_done(&e->by_stack);
	map_done(&e->by_key);
	map_done(&e->calls);
	map_done(&e->lines);
	map_done(&e->programs);
	map_done(&e->by_pool);
	map_done(&e->samples);
	map_done(&e->stacked);
	attribution_done(&e->attribution);
	*e = (struct editables){0};
}

/* ---- the editables ---- */

static uint64_t of_stack(const struct image *image, uint32_t stack)
{
	return (uint64_t)image->nonce << 32 ^ image->nonce >> 32 ^ stack;
}

static uint64_t key_of(enum editable_kind kind, const char *name)
{
	return hash_bytes(name, strlen(name)) * 8 + kind;
}

/* The editable with that kind, name and line. */
static uint32_t editable_at(struct editables *e, enum editable_kind kind, const char *name, const struct image *image,
			    uint32_t stack)
{
	struct symbol_frame frame = {.place = SYMBOL_NO_PLACE};
	bool is_users = false,
	     has_frame = stack && attribution_stack(&e->attribution, image, stack, &frame, &is_users);

	return (uint32_t)map_place(&e->by_key, key_of(kind, name), has_frame ? frame.place : SYMBOL_NO_PLACE, e->items,
				   e->count, e->capacity,
				   (struct editable){.kind = kind,
						     .waits = BLOCKED_OTHER,
						     .name = mem_copy_text(name, strlen(name)),
						     .frame = frame,
						     .has_frame = has_frame,
						     .is_users = is_users,
						     .image = image,
						     .stack = stack});
}

uint32_t editable_call(struct editables *e, const struct image *image, uint32_t function, uint32_t stack)
{
	const struct function *f = trace_function(image->trace, function);
	bool is_new;
	uint64_t *known = map_put(&e->calls, of_stack(image, stack), function, &is_new);

	if (!is_new)
		return (uint32_t)*known;
	*known = editable_at(e, EDITABLE_CALL, f ? f->name : "", image, stack);
	if (f) {
		e->items[*known].waits = f->kind.waits;
		e->items[*known].role = f->kind.role;
		e->items[*known].does = f->kind.does;
	}
	return (uint32_t)*known;
}

uint32_t editable_cpu(struct editables *e, const struct image *image, uint32_t stack)
{
	bool is_new;
	uint64_t *known = map_put(&e->lines, of_stack(image, stack), 0, &is_new);

	if (is_new)
		*known = editable_at(e, EDITABLE_CPU, "", image, stack);
	return (uint32_t)*known;
}

uint32_t editable_named(struct editables *e, enum editable_kind kind, const char *name, const struct image *image,
			uint32_t stack)
{
	return editable_at(e, kind, name, image, stack);
}

void editable_add_stack(struct editables *e, uint32_t what, const struct image *image, uint32_t stack, uint64_t ns)
{
	size_t place;

	if (!stack)
		return;
	place = map_place(&e->by_stack, of_stack(image, stack), what, e->stacks, e->stack_count, e->stack_capacity,
			  (struct editable_stack){.image = image, .what = what, .stack = stack});
	e->stacks[place].ns += ns + 1; /* a stack of no time counts, too */
}

void editable_drop_stack(struct editables *e, uint32_t what, const struct image *image, uint32_t stack, uint64_t ns)
{
	const uint64_t *known = stack ? map_find(&e->by_stack, of_stack(image, stack), what) : NULL;

	if (known)
		e->stacks[*known].ns -= ns + 1;
}

bool editable_awaits_device(struct editables *e, const struct image *image, const char *function, uint32_t stack)
{
	struct symbol_frame frame = {.place = SYMBOL_NO_PLACE};
	const uint64_t *place;
	bool is_users = false,
	     has_frame = stack && attribution_stack(&e->attribution, image, stack, &frame, &is_users);

	place = map_find(&e->by_key, key_of(EDITABLE_CALL, function), has_frame ? frame.place : SYMBOL_NO_PLACE);
	return place && e->items[*place].device_ns * 2 > e->items[*place].sync_ns;
}

/* ---- pools ---- */

static uint32_t pool_new(struct editables *e)
{
	mem_append(e->pools, e->pool_count, e->pool_capacity,
		   (struct pool){.rest = (uint32_t)e->pool_count, .cause = CAUSE_NONE});
	return (uint32_t)(e->pool_count - 1);
}

uint32_t editable_rest(struct editables *e, const struct image *image)
{
	const char *name = image->executable ? image->executable : "";
	bool is_new;
	uint64_t *known = map_put(&e->programs, hash_bytes(name, strlen(name)), 0, &is_new);

	if (is_new)
		*known = pool_new(e);
	return (uint32_t)*known;
}

static uint32_t pool_at(struct editables *e, uint32_t rest, uint32_t before, uint64_t after, bool *ret_new)
{
	uint64_t *known = map_put(&e->by_pool, (uint64_t)rest << 32 | before, after, ret_new);

	if (*ret_new) {
		*known = pool_new(e);
		e->pools[*known].rest = rest;
	}
	return (uint32_t)*known;
}

uint32_t editable_pool(struct editables *e, uint32_t rest, uint32_t before, uint32_t after)
{
	bool is_new;

	return EDITABLE_OF_POOL | pool_at(e, rest, before, after, &is_new);
}

/* In the place of the call after a stretch. The cause of a consequence is added. */
#define SHORT_CALLS (1ull << 32)
#define CAUSED_BY (1ull << 33)

/* A pool of calls: they have their function, without a line, as if by a sample of no time. */
static uint32_t pool_of_calls(struct editables *e, uint32_t rest, uint32_t call, uint64_t which)
{
	bool is_new;
	uint32_t pool = pool_at(e, rest, call, which, &is_new);

	if (is_new) {
		e->pools[pool].rest = pool;
		*map_put(&e->samples, pool, call, NULL) = 1;
	}
	return pool;
}

uint32_t editable_short_call(struct editables *e, uint32_t rest, uint32_t call, uint64_t ns)
{
	uint32_t pool = pool_of_calls(e, rest, call, SHORT_CALLS);

	e->pools[pool].calls++;
	e->pools[pool].calls_ns += ns;
	return EDITABLE_OF_POOL | pool;
}

void editable_stacked_call(struct editables *e, uint32_t rest, uint32_t call, uint32_t at_line)
{
	uint32_t pool = pool_of_calls(e, rest, call, SHORT_CALLS);

	e->pools[pool].stacked++;
	++*map_put(&e->stacked, pool, at_line, NULL);
}

uint32_t editable_consequence(struct editables *e, uint32_t rest, uint32_t call, uint32_t cause)
{
	uint32_t pool = pool_of_calls(e, rest, call, CAUSED_BY + cause);

	e->pools[pool].calls++;
	e->pools[pool].cause = cause;
	return EDITABLE_OF_POOL | pool;
}

void editable_pool_sample(struct editables *e, uint32_t pool, uint32_t what, uint64_t ns)
{
	e->pools[pool & ~EDITABLE_OF_POOL].samples++;
	e->pools[pool & ~EDITABLE_OF_POOL].sampled_ns += ns;
	/* one more, so that samples of no time have shares, too */
	*map_put(&e->samples, pool & ~EDITABLE_OF_POOL, what, NULL) += ns + 1;
	e->items[what].samples++;
}

/* The pool whose shares a pool has. */
static uint32_t shares_of(const struct editables *e, size_t pool)
{
	return e->pools[pool].samples < POOL_SAMPLES ? e->pools[pool].rest : (uint32_t)pool;
}

COMPARATOR(compare_shares, struct map_slot, order_of(a->a, b->a) ?: order_of(a->b, b->b))

/* The samples by pool and editable. The caller frees them. */
static struct map_slot *samples_by_pool(const struct editables *e, size_t *ret_count)
{
	struct map_slot *all = mem_alloc((e->samples.count + 1) * sizeof(*all));
	size_t count = 0;

	for (size_t i = 0; i < e->samples.size; i++)
		if (e->samples.slots[i].used) {
			all[count] = e->samples.slots[i];
			all[count].a = shares_of(e, (size_t)all[count].a);
			count++;
		}
	array_sort(all, count, compare_shares);
	*ret_count = count;
	return all;
}

static void divide_pool(struct editables *e, const struct map_slot *samples, size_t count)
{
	struct pool *pool = &e->pools[samples->a];
	double sum = array_sum(sample, samples, count, (double)sample->value);

	pool->first = (uint32_t)e->share_count;
	for (size_t i = 0; i < count; i++)
		if (i && samples[i].b == samples[i - 1].b)
			e->shares[e->share_count - 1].share += (float)((double)samples[i].value / sum);
		else
			e->shares[e->share_count++] = (struct share_of_pool){(uint32_t)samples[i].b,
									     (float)((double)samples[i].value / sum)};
	pool->count = (uint32_t)e->share_count - pool->first;
}

/* Of short calls, the time that no sample has is as that of the longer calls. */
static void add_stacked(struct editables *e)
{
	array_each(const struct map_slot, slot, e->stacked.slots, e->stacked.size) {
		const struct pool *pool = slot->used ? &e->pools[slot->a] : NULL;

		if (pool && pool->calls_ns > pool->sampled_ns)
			*map_put(&e->samples, slot->a, slot->b, NULL) +=
				(uint64_t)((double)(pool->calls_ns - pool->sampled_ns) * (double)slot->value /
					   (double)pool->stacked);
	}
}

void editables_finish(struct editables *e)
{
	SCOPED_MEMORY struct map_slot *samples = NULL;
	size_t count;
	/* nothing is known of a program without samples */
	uint32_t unknown = editable_at(e, EDITABLE_CPU, "", NULL, 0);

	add_stacked(e);
	samples = samples_by_pool(e, &count);
	e->shares = mem_alloc((count + 1) * sizeof(*e->shares));
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && samples[next].a == samples[i].a; next++)
			;
		divide_pool(e, samples + i, next - i);
	}
	e->shares[e->share_count] = (struct share_of_pool){unknown, 1};
	for (size_t i = 0; i < e->pool_count; i++) {
		const struct pool *of = &e->pools[shares_of(e, i)];

		e->pools[i].first = of->count ? of->first : (uint32_t)e->share_count;
		e->pools[i].count = of->count ? of->count : 1;
	}
	e->share_count++;
	e->pool_first = e->count;
	map_done(&e->samples);
	map_done(&e->stacked);
	map_done(&e->by_pool);
	map_done(&e->programs);
	map_done(&e->calls);
	map_done(&e->lines);
}

void editable_divide(const struct editables *e, uint32_t what, double ns, void *context,
		     void (*visit)(void *context, uint32_t what, double ns))
{
	const struct pool *pool = what >= e->pool_first ? &e->pools[what - e->pool_first] : NULL;

	if (!pool)
		visit(context, what, ns);
	for (size_t i = 0; pool && i < pool->count; i++)
		visit(context, e->shares[pool->first + i].what, ns * (double)e->shares[pool->first + i].share);
}

void editable_factors(const struct editables *e, enum editable_consequences consequences, float *factors)
{
	for (size_t i = 0; i < e->pool_count; i++) {
		const struct pool *pool = &e->pools[i];
		float sum = 1;

		for (size_t k = 0; k < pool->count; k++)
			sum -= (1 - factors[e->shares[pool->first + k].what]) * e->shares[pool->first + k].share;
		factors[e->pool_first + i] = sum;
	}
	for (size_t i = 0; i < e->pool_count && consequences == CONSEQUENCES_FOLLOW; i++)
		if (e->pools[i].cause != CAUSE_NONE)
			factors[e->pool_first + i] *= factors[editable_of_pool(e, e->pools[i].cause)];
}

/* ---- names ---- */

const struct code_line *editable_line(struct editables *e, uint32_t what)
{
	struct editable *item = &e->items[what];

	if (!item->line && item->has_frame)
		item->line = attribution_line(&e->attribution, item->image, item->stack);
	return item->line;
}

void editable_words(const struct editables *e, uint32_t what, struct buffer *ret)
{
	const struct editable *item = &e->items[what];

	buffer_text(ret, item->kind == EDITABLE_CPU ? "CPU" : item->name);
}
