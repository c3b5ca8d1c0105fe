/* SPDX-License-Identifier: Apache-2.0 */
/* Replays allocations and frees. */
#include "report/events/cuda/memory.h"

#include <stdlib.h>
#include <string.h>

enum { OUT_OF_MEMORY = 2 }; /* cudaErrorMemoryAllocation and CUDA_ERROR_OUT_OF_MEMORY */

struct device_block {
	uint64_t bytes, ns;
	size_t site;
	bool is_replacing; /* the free of the block before it is still to come */
	bool is_live;
};

struct memory_replay {
	struct memory *m;
	const struct model *model;
	struct map addresses; /* address -> block + 1 */
	struct map sites, uses; /* -> position */
	struct map devices;   /* thread -> its current device */
	struct map info_by_device;      /* device -> position in infos */
	struct device_block *blocks;
	size_t block_count, block_capacity;
	size_t *holes; /* indices of unused blocks */
	size_t hole_count, hole_capacity;
	struct memory_info {
		uint64_t left, total;
	} *infos;
	size_t info_count, info_capacity;
	uint64_t event; /* number of the current event */
	memory_watch *watch;
	void *context;
	uint64_t ns;
};

const char *memory_kind(unsigned int kind)
{
	static const char *const names[] = {"", "Device", "Managed", "Pinned host", "Async pool"};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "Other";
}

static struct memory_use *use_of(struct memory_replay *r, uint32_t device, uint8_t kind)
{
	struct memory *m = r->m;
	size_t place = map_place(&r->uses, device, kind, m->uses, m->use_count, m->use_capacity,
				 (struct memory_use){.device = device, .kind = kind});

	return &m->uses[place];
}

static size_t site_of(struct memory_replay *r, const struct event *e, uint32_t device, uint8_t kind)
{
	struct memory *m = r->m;
	uint32_t stack = event_stack(e);

	return map_place(&r->sites, (uint64_t)e->id << 32 | stack, (uint64_t)device << 8 | kind, m->sites,
			 m->site_count, m->site_capacity,
			 (struct memory_site){.function = e->id, .stack = stack, .device = device, .kind = kind});
}

static void use_grows(struct memory_replay *r, uint32_t device, uint8_t kind, uint64_t bytes)
{
	struct memory_use *u = use_of(r, device, kind);

	u->allocations++;
	u->blocks++;
	u->bytes += bytes;
	u->in_use += bytes;
	if (u->in_use > u->peak) {
		u->peak = u->in_use;
		u->peak_ns = r->ns;
		u->peak_event = r->event;
	}
	if (r->watch)
		r->watch(r->context, r->m, u, r->ns);
}

static void use_shrinks(struct memory_replay *r, uint32_t device, uint8_t kind, uint64_t bytes)
{
	struct memory_use *u = use_of(r, device, kind);

	u->frees++;
	u->blocks--;
	u->in_use -= bytes;
	if (r->watch)
		r->watch(r->context, r->m, u, r->ns);
}

static void memory_drop_block(struct memory_replay *r, size_t place)
{
	struct device_block *b = &r->blocks[place];
	struct memory_site *s = &r->m->sites[b->site];

	b->is_live = false;
	s->in_use -= b->bytes;
	s->blocks--;
	use_shrinks(r, s->device, s->kind, b->bytes);
	if (s->device != MEMORY_HOST)
		use_shrinks(r, s->device, 0, b->bytes);
	mem_append(r->holes, r->hole_count, r->hole_capacity, place);
}

static size_t block_place(struct memory_replay *r)
{
	if (r->hole_count)
		return r->holes[--r->hole_count];
	r->blocks = mem_grow(r->blocks, r->block_count, &r->block_capacity, sizeof(*r->blocks));
	return r->block_count++;
}

static void memory_allocate(struct memory_replay *r, const struct event *e, uint64_t address, uint8_t kind,
			    uint32_t device)
{
	uint64_t bytes = tf_arg_value(event_arg(e, TF_ARG_BYTES)), *known = map_put(&r->addresses, address, 0, NULL);
	bool is_replacing = *known != 0;
	struct memory_site *s;
	size_t site, place;

	if (is_replacing) {
		r->m->replaced++;
		memory_drop_block(r, *known - 1);
	}
	site = site_of(r, e, device, kind);
	place = block_place(r);
	r->blocks[place] = (struct device_block){
		.bytes = bytes, .ns = r->ns, .site = site, .is_replacing = is_replacing, .is_live = true};
	*known = place + 1;
	s = &r->m->sites[site];
	s->in_use += bytes;
	s->blocks++;
	use_grows(r, device, kind, bytes);
	if (device != MEMORY_HOST)
		use_grows(r, device, 0, bytes);
}

static void memory_release(struct memory_replay *r, uint64_t address, uint64_t start_ns)
{
	const uint64_t *known = map_find(&r->addresses, address, 0);
	struct device_block *b = known ? &r->blocks[*known - 1] : NULL;

	if (!b) {
		r->m->unknown_frees++;
		return;
	}
	/* The call began before this block was allocated, so it refers to the previous block at that address. */
	if (b->is_replacing && start_ns < b->ns) {
		b->is_replacing = false;
		r->m->replaced--;
		return;
	}
	memory_drop_block(r, *known - 1);
	map_remove(&r->addresses, address, 0);
}

/* cudaDeviceReset frees all memory of the process on the device. */
static void memory_reset_device(struct memory_replay *r, uint32_t device)
{
	SCOPED(map) old = r->addresses;

	r->addresses = (struct map){0};
	array_each(const struct map_slot, slot, old.slots, old.size) {
		if (!slot->used)
			continue;
		if (r->m->sites[r->blocks[slot->value - 1].site].device == device)
			memory_drop_block(r, slot->value - 1);
		else
			*map_put(&r->addresses, slot->a, 0, NULL) = slot->value;
	}
}

/* The largest owners on the device, by insertion sort: there are few. */
static void collect_owners(const struct memory *m, struct memory_failure *f)
{
	for (size_t i = 0; i < m->site_count; i++) {
		const struct memory_site *s = &m->sites[i];
		size_t at = f->owner_count;

		if (s->device != f->device || !s->in_use)
			continue;
		while (at > 0 && f->owners[at - 1].in_use < s->in_use)
			at--;
		if (at == MEMORY_OWNERS)
			continue;
		f->owner_count += f->owner_count < MEMORY_OWNERS;
		memmove(&f->owners[at + 1], &f->owners[at], (f->owner_count - 1 - at) * sizeof(f->owners[0]));
		f->owners[at].site = i;
		f->owners[at].in_use = s->in_use;
		f->owners[at].blocks = s->blocks;
	}
}

static void memory_note_failure(struct memory_replay *r, const struct merge_event *g, uint32_t device)
{
	struct memory *m = r->m;
	uint64_t arg = event_arg(&g->event, TF_ARG_MEMORY);
	const uint64_t *info = map_find(&r->info_by_device, device, 0), *use = map_find(&r->uses, device, 0);
	struct memory_failure f = {.ns = r->ns,
				   .requested = arg ? tf_arg_value(event_arg(&g->event, TF_ARG_BYTES)) : 0,
				   .function = g->event.id,
				   .stack = event_stack(&g->event),
				   .device = device,
				   .tid = g->thread->tid,
				   .kind = (uint8_t)tf_arg_small(arg)};

	if (m->failure_count == MEMORY_FAILURES) {
		m->failures_left_out++;
		return;
	}
	f.in_use = use ? m->uses[*use].in_use : 0;
	if (info) {
		f.left = r->infos[*info].left;
		f.total = r->infos[*info].total;
	}
	collect_owners(m, &f);
	mem_append(m->failures, m->failure_count, m->failure_capacity, f);
}

static void note_memory_info(struct memory_replay *r, uint32_t device, uint64_t left, uint64_t total)
{
	size_t place = map_place(&r->info_by_device, device, 0, r->infos, r->info_count, r->info_capacity,
				 (struct memory_info){0});

	r->infos[place].left = left;
	r->infos[place].total = total;
}

/* Most calls have no data on memory. */
static bool is_memory_info_call(const struct event *e, const struct function *f)
{
	const uint32_t kinds = 1u << TF_ARG_MEMORY | 1u << TF_ARG_RESULT | 1u << TF_ARG_DEVICE | 1u << TF_ARG_LEFT;

	return f->kind.cuda & CUDA_RESET || array_find(arg, e->args, e->args_count, kinds & 1u << tf_arg_kind(*arg));
}

static void replay_one(struct memory_replay *r, const struct merge_event *g)
{
	const struct event *e = &g->event;
	const struct function *f = event_function(g->image->trace, e);
	uint64_t *device, arg;
	unsigned int kind;

	if (!f || !f->kind.cuda || !is_memory_info_call(e, f))
		return;
	r->ns = g->ns;
	device = map_put(&r->devices, g->thread->number, 0, NULL); /* the initial device of a thread is 0 */
	if (tf_arg_value(event_arg(e, TF_ARG_RESULT))) {
		if (tf_arg_value(event_arg(e, TF_ARG_RESULT)) == OUT_OF_MEMORY)
			memory_note_failure(r, g, (uint32_t)*device);
		return;
	}
	arg = event_arg(e, TF_ARG_MEMORY);
	kind = tf_arg_small(arg);
	if (event_arg(e, TF_ARG_DEVICE))
		*device = (uint32_t)tf_arg_value(event_arg(e, TF_ARG_DEVICE));
	else if (event_arg(e, TF_ARG_LEFT))
		note_memory_info(r, (uint32_t)*device, tf_arg_value(event_arg(e, TF_ARG_LEFT)),
				 tf_arg_value(event_arg(e, TF_ARG_BYTES)));
	else if (arg && kind & TF_MEMORY_FREE)
		memory_release(r, tf_arg_value(arg),
			       g->ns - clock_map_duration(&r->model->machines[g->image->machine].clock, e->duration));
	else if (arg)
		memory_allocate(r, e, tf_arg_value(arg), (uint8_t)kind,
				kind == TF_MEMORY_HOST ? MEMORY_HOST : (uint32_t)*device);
	else if (f->kind.cuda & CUDA_RESET)
		memory_reset_device(r, (uint32_t)*device);
}

static void take_peaks(struct memory_replay *r, const struct memory_use *peaks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (peaks[i].kind || !peaks[i].peak || peaks[i].peak_event != r->event)
			continue;
		array_each(struct memory_site, s, r->m->sites, r->m->site_count) {
			if (s->device == peaks[i].device) {
				s->peak_in_use = s->in_use;
				s->peak_blocks = s->blocks;
			}
		}
	}
}

/* `peaks`: result of the first pass; the owners at each peak are collected when its event is replayed. */
static void memory_pass_change(struct memory_replay *r, const struct memory_use *peaks, size_t count)
{
	struct merge *merge = merge_new_image(r->model, r->m->image);
	const struct merge_event *g;

	while ((g = merge_next(merge)) != NULL) {
		r->event++;
		replay_one(r, g);
		take_peaks(r, peaks, count);
	}
	merge_free(merge);
	array_each(const struct device_block, b, r->blocks, r->block_count) {
		struct memory_site *s = &r->m->sites[b->site];

		if (b->is_live && (!s->first_ns || b->ns < s->first_ns))
			s->first_ns = b->ns;
	}
}

static void memory_replay_done(struct memory_replay *r)
{
	map_done(&r->addresses);
	map_done(&r->sites);
	map_done(&r->uses);
	map_done(&r->devices);
	map_done(&r->info_by_device);
	free(r->blocks);
	free(r->holes);
	free(r->infos);
}

void memory_replay(const struct model *model, const struct image *image, struct memory *ret, memory_watch *watch,
		   void *context)
{
	SCOPED(memory_replay) r = {.m = ret, .model = model, .watch = watch, .context = context};
	const struct trace_bits bits = trace_bits(image->trace);

	*ret = (struct memory){.image = image};
	if (bits.groups & (1u << TF_GROUP_CUDA | 1u << TF_GROUP_CUDA_DRIVER) &&
	    bits.args & (1u << TF_ARG_MEMORY | 1u << TF_ARG_RESULT))
		memory_pass_change(&r, NULL, 0);
}

void memory_replay_peaks(const struct model *model, const struct image *image, struct memory *ret)
{
	SCOPED(memory) first = {0};
	SCOPED(memory_replay) r = {.m = ret, .model = model};

	memory_replay(model, image, &first, NULL, NULL);
	*ret = (struct memory){.image = image};
	if (first.use_count || first.failure_count || first.unknown_frees)
		memory_pass_change(&r, first.uses, first.use_count);
}

void memory_done(struct memory *m)
{
	free(m->sites);
	free(m->uses);
	free(m->failures);
}
