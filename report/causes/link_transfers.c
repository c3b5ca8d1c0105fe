/* SPDX-License-Identifier: Apache-2.0 */
/* Edges by what is written to pipes and sockets and read from them; and waits whose end can have had one cause only. */
#include "report/causes/causes_build.h"

#include <stdlib.h>

/* A wait ends so soon after its cause: the end of a thread or a send; the end of a process, which the kernel has to
 * clean up. */
enum { WAKE_NS = 300000, REAP_NS = 10000000, LONG_NS = 50000000 };

/* The end of a Python thread is recorded before or after the wait for it has ended. On a busy machine a thread ends
 * late, and the one that was woken waits for a CPU: then up to late_ns(), and a quarter of the wait. */
enum { ENDED_NS = 1000000, LATE_NS = 50000000 };
/* So long before a wait ends another thread of the process may have told the waiting one to send something. */
enum { TOLD_NS = 1000000 };

/* A wait for any of several descriptors is for the one that is read so soon after it. */
enum { POLLED_NS = 2000000 };

COMPARATOR(compare_transfers, struct moment *const,
	   order_of((*a)->value, (*b)->value) ?: order_of((*a)->start_ns, (*b)->start_ns))

/* By channel, then by start. */
struct by_channel {
	struct moment **items;
	size_t *others; /* by place: the last one before it of the channel by another actor; SIZE_MAX: none */
	size_t count;
};

static void by_channel_find(const struct linker *l, const struct moments *of, struct by_channel *ret)
{
	SCOPED_MEMORY size_t *places = mem_alloc((l->channels.count + 2) * sizeof(*places));
	struct moment **all = mem_alloc((of->count + 1) * sizeof(*all));

	*ret = (struct by_channel){all, mem_alloc((of->count + 1) * sizeof(*ret->others)), of->count};
	for (size_t i = 0; i < of->count; i++)
		places[of->items[i].value + 1]++;
	for (size_t i = 1; i <= l->channels.count + 1; i++)
		places[i] += places[i - 1];
	for (size_t i = 0; i < of->count; i++)
		all[places[of->items[i].value]++] = &of->items[i];
	sort_unless_sorted(all, of->count, sizeof(*all), compare_transfers);
	for (size_t i = 0; i < of->count; i++)
		ret->others[i] = !i || all[i - 1]->value != all[i]->value   ? SIZE_MAX
				 : all[i - 1]->actor == all[i]->actor ? ret->others[i - 1]
								      : i - 1;
}

static void by_channel_done(struct by_channel *t)
{
	free(t->items);
	free(t->others);
}

/* The last transfer of the channel that another actor began before that time; NULL: none. */
static const struct moment *last_before(const struct by_channel *t, const struct moment *other, uint64_t ns)
{
	struct moment *const *all = t->items;
	size_t at = first_place(i, 0, t->count,
				all[i]->value < other->value ||
					(all[i]->value == other->value && all[i]->start_ns < ns));

	if (!at || !other->value || all[at - 1]->value != other->value)
		return NULL;
	at = all[at - 1]->actor == other->actor ? t->others[at - 1] : at - 1;
	return at == SIZE_MAX ? NULL : all[at];
}

/* The next transfer that the actor began soon after its wait for descriptors. */
static const struct moment *read_after(const struct moments *of, const struct moment *wait)
{
	size_t at = first_place(i, 0, of->count,
				of->items[i].actor < wait->actor || (of->items[i].actor == wait->actor &&
								     of->items[i].end_ns < wait->end_ns));
	const struct moment *m = at < of->count ? &of->items[at] : NULL;

	return m && m->actor == wait->actor && m->start_ns >= wait->end_ns && m->start_ns - wait->end_ns < POLLED_NS
		       ? m
		       : NULL;
}

/* A read that takes less than the threshold is not recorded. The wait before it is taken to be for the channel that
 * the thread read after an earlier wait, if somebody wrote to it just before the wait ended. */
static const struct moment *write_at_end(const struct by_channel *writes, const struct moment *usual,
					 const struct moment *wait)
{
	const struct moment *write = last_before(writes, usual, wait->end_ns);

	return write && write->start_ns + WAKE_NS >= wait->end_ns ? write : NULL;
}

static bool is_long(const struct moment *m)
{
	return m->end_ns - m->start_ns >= CAUSES_WAIT_NS;
}

/* A wait for descriptors is for what is read first after it. */
static void link_channels(struct linker *l, enum moment_kind received, enum moment_kind sent,
			  enum moment_kind of_others)
{
	SCOPED(by_channel) reads = {0}, writes = {0};
	const struct moment *cause, *read, *other, *usual = NULL;

	by_channel_find(l, &l->of[received], &reads);
	by_channel_find(l, &l->of[sent], &writes);
	list_each(struct moment, m, &l->of[received]) {
		cause = m->result && is_long(m) ? last_before(&writes, m, m->end_ns) : NULL;
		if (cause && cause->end_ns > m->start_ns)
			link_wait(l, m, cause->actor, cause->start_ns);
	}
	list_each(struct moment, m, &l->of[sent]) {
		cause = is_long(m) ? last_before(&reads, m, m->end_ns) : NULL;
		if (cause && cause->start_ns > m->start_ns)
			link_wait(l, m, cause->actor, cause->start_ns);
	}
	list_each(struct moment, m, &l->of[MOMENT_POLL]) {
		read = read_after(&l->of[received], m);
		other = read_after(&l->of[of_others], m);
		cause = read && read->result ? last_before(&writes, read, m->end_ns) : NULL;
		if (other && (!read || other->start_ns < read->start_ns))
			continue;
		if (read)
			usual = read;
		else if (usual && usual->actor == m->actor && !m->is_linked)
			cause = write_at_end(&writes, usual, m);
		if (cause && cause->end_ns > m->start_ns)
			link_wait(l, m, cause->actor, cause->start_ns);
	}
}

void link_transfers(struct linker *l)
{
	link_channels(l, MOMENT_READ, MOMENT_WRITE, MOMENT_RECEIVE);
	link_channels(l, MOMENT_RECEIVE, MOMENT_SEND, MOMENT_READ);
}

/* ---- the only possible cause ---- */

struct ending {
	uint64_t ns, lock; /* lock: see struct moment */
	uint32_t actor;
};

struct endings {
	struct ending *items; /* by time */
	size_t count, capacity;
};

COMPARATOR(compare_endings, struct ending, order_of(a->ns, b->ns) ?: order_of(a->actor, b->actor))

static void endings_add(struct endings *e, uint64_t ns, uint64_t lock, uint32_t actor)
{
	list_add(e, (struct ending){ns, lock, actor});
}

/* How much later than by its cause a wait may end. The kernel tells how long its thread has waited for a CPU in all. */
static uint64_t late_ns(const struct linker *l, const struct moment *wait)
{
	uint64_t delay_ns = l->delays_ns[wait->actor];

	return delay_ns > LATE_NS ? delay_ns : LATE_NS;
}

/* The last one that is a cause of the end of the wait, by `is_cause`, at most so long before it, or late_ns() if it
 * wakes those that wait for the same lock or condition; NULL: none. */
static const struct ending *last_ending(const struct linker *l, const struct endings *e, const struct moment *wait,
					uint64_t window_ns,
					bool (*is_cause)(const struct linker *l, const struct moment *, uint32_t))
{
	uint64_t most_ns = late_ns(l, wait);

	for (size_t i = first_place(k, 0, e->count, e->items[k].ns < wait->end_ns); i-- > 0;) {
		bool is_same = wait->lock && e->items[i].lock == wait->lock;
		uint64_t ns = wait->end_ns - e->items[i].ns;

		if (e->items[i].ns <= wait->start_ns || (ns > window_ns && (!wait->lock || ns > most_ns)))
			break;
		if (!is_same && (ns > window_ns || (e->items[i].lock && wait->lock)))
			continue;
		if (is_cause(l, wait, e->items[i].actor))
			return &e->items[i];
	}
	return NULL;
}

static bool is_thread_beside(const struct linker *l, const struct moment *wait, uint32_t actor)
{
	return actor != wait->actor && l->causes->actors[actor].image == l->causes->actors[wait->actor].image;
}

static bool is_descendant(const struct linker *l, const struct moment *wait, uint32_t actor)
{
	size_t own = l->causes->actors[wait->actor].image->process, p = l->causes->actors[actor].image->process;

	if (p == own)
		return false;
	while (p != SIZE_MAX && p != own)
		p = linker_parent(l, p);
	return p == own;
}

static bool is_other(const struct linker *l, const struct moment *wait, uint32_t actor)
{
	(void)l;
	return actor != wait->actor;
}

static bool is_relative(const struct linker *l, const struct moment *wait, uint32_t actor)
{
	const struct actor *actors = l->causes->actors;

	return actor != wait->actor &&
	       linker_is_family(l, actors[actor].image->process, actors[wait->actor].image->process);
}

enum { THREADS_MOST = 64, RELEASED_NS = 100000 };

/* The other thread of the process, or of its family, that was not in a call shortly before the wait ended, within the
 * shortest window in which there is such a thread; of several the first one: it has woken the others, too. NODE_NONE:
 * none. The window is at most most_ns and a quarter of the wait: on a busy machine a thread that was woken waits for a
 * CPU, and what has woken it may have ended meanwhile. */
static uint32_t first_running_of(const struct linker *l, size_t *places, const struct moment *wait, bool of_family,
				uint64_t most_ns, uint64_t *ret_ns)
{
	static const uint64_t windows_ns[] = {1, 100000, 1000000, 10000000, LATE_NS, 200000000, 1000000000};
	const struct causality *s = l->causes;
	const struct image *image = s->actors[wait->actor].image;
	uint32_t first = of_family ? 0 : s->first_of_image[image - s->context->model->images], found = NODE_NONE;
	uint32_t count = 0;
	size_t window = sizeof(windows_ns) / sizeof(*windows_ns) - 1;

	most_ns = most_ns < late_ns(l, wait) ? most_ns : late_ns(l, wait);
	while (window && (windows_ns[window] > most_ns || windows_ns[window] * 4 > wait->end_ns - wait->start_ns))
		window--;
	if (of_family && s->actor_count > FAMILY_MOST)
		return NODE_NONE;
	for (uint32_t i = first; i < s->actor_count && (of_family || s->actors[i].image == image); i++) {
		uint64_t ns = s->actors[i].end_ns;

		if (i == wait->actor || s->actors[i].start_ns >= wait->end_ns || s->actors[i].is_stream ||
		    (ns < wait->end_ns && (!of_family || ns <= wait->start_ns)) ||
		    !linker_is_family(l, image->process, s->actors[i].image->process))
			continue;
		if (++count > THREADS_MOST)
			return NODE_NONE;
		if (ns >= wait->end_ns)
			ns = linker_last_running(l, places, i, wait->end_ns);
		if (ns <= wait->start_ns || wait->end_ns - ns > windows_ns[window])
			continue;
		for (; window && wait->end_ns - ns <= windows_ns[window - 1]; window--)
			found = NODE_NONE;
		if (found == NODE_NONE || ns < *ret_ns) {
			found = i;
			*ret_ns = ns;
		}
	}
	return found;
}

static uint32_t first_running(const struct linker *l, size_t *places, const struct moment *wait, uint64_t most_ns,
			     uint64_t *ret_ns)
{
	return first_running_of(l, places, wait, false, most_ns, ret_ns);
}

/* The thread of the process with that number, as far as it was recorded. */
static uint32_t thread_of(const struct linker *l, const struct moment *wait)
{
	const struct causality *s = l->causes;
	const struct image *image = s->actors[wait->actor].image;

	for (uint32_t i = s->first_of_image[image - s->context->model->images];
	     wait->waker && i < s->actor_count && s->actors[i].image == image; i++)
		if (s->actors[i].thread && (s->actors[i].thread->tid & 0xffffff) == wait->waker && i != wait->actor &&
		    s->actors[i].start_ns < wait->end_ns && s->actors[i].end_ns >= wait->woken_ns)
			return i;
	return NODE_NONE;
}

/* The thread of the process that ended about when the wait did, less than least_ns before or after: what joins it in
 * Python waits for a lock that it releases shortly before. NODE_NONE: none. */
static uint32_t ended_beside(const struct linker *l, size_t *places, const struct moment *wait, uint64_t least_ns)
{
	uint64_t most_ns = least_ns;
	const struct causality *s = l->causes;
	const struct image *image = s->actors[wait->actor].image;
	uint32_t found = NODE_NONE;

	for (uint32_t i = s->first_of_image[image - s->context->model->images];
	     i < s->actor_count && s->actors[i].image == image; i++) {
		uint64_t end_ns = s->actors[i].end_ns,
			 ns = end_ns > wait->end_ns ? end_ns - wait->end_ns : wait->end_ns - end_ns;

		if (i == wait->actor || !s->actors[i].ended || ns >= least_ns || end_ns <= wait->start_ns)
			continue;
		/* in a call since long before, it releases nothing: what woke the other thread wakes this one next */
		if (wait->end_ns - linker_last_running(l, places, i, wait->end_ns) > most_ns)
			continue;
		least_ns = ns;
		found = i;
	}
	return found;
}

/* The last call by which the actor of the wait has created a thread, if it has not waited since, but for the
 * interpreter; NULL: none. */
static const struct moment *created_before(const struct linker *l, const struct moment *wait)
{
	const struct moment *before = wait, *first = l->of[MOMENT_WAIT].items, *all = l->of[MOMENT_CREATE].items;
	size_t at = first_place(i, 0, l->of[MOMENT_CREATE].count,
				all[i].actor < wait->actor ||
					(all[i].actor == wait->actor && all[i].end_ns <= wait->start_ns));
	const struct moment *create = at && all[at - 1].actor == wait->actor ? &all[at - 1] : NULL;

	while (before > first && before[-1].actor == wait->actor && before[-1].is_interpreter)
		before--;
	return create && before > first && before[-1].actor == wait->actor && before[-1].end_ns > create->start_ns
		       ? NULL
		       : create;
}

/* A thread of Python that creates another one waits until that one runs: the first one that started since, or hardly
 * before: when a thread is created is read before the start of the call. NODE_NONE: none. */
static uint32_t started_before(const struct linker *l, const struct moment *wait)
{
	const struct causality *s = l->causes;
	const struct image *image = s->actors[wait->actor].image;
	const struct moment *create = wait->is_interpreter || !attribution_is_python_program(image)
					      ? NULL
					      : created_before(l, wait);
	uint64_t until_ns = wait->end_ns;
	uint32_t found = NODE_NONE;

	for (uint32_t i = s->first_of_image[image - s->context->model->images];
	     create && i < s->actor_count && s->actors[i].image == image; i++)
		if (i != wait->actor && s->actors[i].start_ns + CAUSES_WAIT_NS > create->start_ns &&
		    s->actors[i].start_ns < until_ns) {
			until_ns = s->actors[i].start_ns;
			found = i;
		}
	/* later it would not be that wait, which was too short to be recorded */
	return found != NODE_NONE && wait->end_ns - until_ns > late_ns(l, wait) ? NODE_NONE : found;
}

/* Of a wait that does not tell for which thread it was. */
static uint32_t thread_cause(const struct linker *l, size_t *places, const struct moment *wait, uint64_t *ret_ns)
{
	uint64_t part_ns = (wait->end_ns - wait->start_ns) / 4, most_ns = late_ns(l, wait), ended_ns;
	uint32_t found = started_before(l, wait), other;

	if (found != NODE_NONE) {
		*ret_ns = linker_last_running(l, places, found, wait->end_ns);
		return found;
	}
	found = ended_beside(l, places, wait, ENDED_NS);
	if (found == NODE_NONE) {
		found = first_running(l, places, wait, UINT64_MAX, ret_ns);
		if (found != NODE_NONE)
			return found;
		found = ended_beside(l, places, wait, part_ns < most_ns ? part_ns : most_ns);
		other = wait->lock ? first_running_of(l, places, wait, true, REAP_NS, ret_ns) : NODE_NONE;
		/* a process for which the thread had waited ended before it */
		if (other != NODE_NONE && (found == NODE_NONE || l->causes->actors[found].end_ns < *ret_ns))
			return other;
	}
	if (found == NODE_NONE)
		return NODE_NONE;
	ended_ns = l->causes->actors[found].end_ns;
	*ret_ns = ended_ns < wait->end_ns ? ended_ns : wait->end_ns - 1;
	return found;
}

/* A wait of a thread beside the main one, after which it sends before it has received anything: another thread told it
 * to, by a call that is too short to be recorded. */
static bool sends_for_others(const struct linker *l, const struct moment *wait)
{
	const struct moment *send = read_after(&l->of[MOMENT_SEND], wait),
			    *receive = read_after(&l->of[MOMENT_RECEIVE], wait);

	return send && !l->causes->actors[wait->actor].is_main && (!receive || receive->start_ns > send->start_ns);
}

/* A long wait of a process that has started others: a launcher waits in many ways. */
static bool is_of_launcher(const struct linker *l, const struct moment *wait)
{
	size_t process = l->causes->actors[wait->actor].image->process;

	return wait->end_ns - wait->start_ns >= LONG_NS && l->causes->context->model->processes[process].children;
}

struct causes_of_ends {
	struct endings processes, sends, writes, wakes;
	struct endings locked; /* ends of waits for locks that others did not share */
};

/* Who released the lock: the last other thread that took it during the wait, else the one that held it before, unless
 * that was in a call then and only one other thread was not: a free lock is taken without a record. */
static void link_lock(struct linker *l, const struct causes_of_ends *all, size_t *places, struct moment *wait)
{
	const struct ending *taken = last_ending(l, &all->locked, wait, UINT64_MAX, is_thread_beside);
	uint32_t from = taken ? taken->actor : thread_of(l, wait), other;
	uint64_t ns;

	if (from == NODE_NONE || wait->end_ns - linker_last_running(l, places, from, wait->end_ns) > RELEASED_NS) {
		other = first_running(l, places, wait, RELEASED_NS, &ns);
		from = other == NODE_NONE ? from : other;
	}
	if (from == NODE_NONE)
		return;
	wait->is_linked = true;
	graph_edge(&l->causes->graph, from, wait->end_ns - 1, wait->actor, wait->end_ns);
}

/* Whether another thread of the process left a call since about when that process ended: then that one has ended the
 * wait for a thread, also if it had waited for the process itself. On a busy machine that takes long. */
static bool is_told_by_thread(const struct linker *l, const struct moment *wait, const struct ending *process)
{
	const struct causality *s = l->causes;
	const struct image *image = s->actors[wait->actor].image;

	for (uint32_t i = s->first_of_image[image - s->context->model->images];
	     i < s->actor_count && s->actors[i].image == image && !s->actors[i].is_stream; i++)
		if (i != wait->actor && last_long_call(l, i, wait->end_ns) + REAP_NS > process->ns)
			return true;
	return false;
}

static const struct ending *cause_of(const struct linker *l, const struct causes_of_ends *all, enum moment_kind kind,
				     const struct moment *wait)
{
	uint64_t length_ns = wait->end_ns - wait->start_ns;
	/* A launcher of other programs waits in many ways. */
	const struct ending *cause = length_ns < LONG_NS ? NULL
				    : last_ending(l, &all->processes, wait, length_ns / 10, is_descendant);

	if (cause && !(kind == MOMENT_WAIT && is_told_by_thread(l, wait, cause)))
		return cause;
	cause = NULL;
	if (kind == MOMENT_WAIT)
		return last_ending(l, &all->wakes, wait, WAKE_NS, is_thread_beside);
	if (kind == MOMENT_RECEIVE || kind == MOMENT_POLL)
		cause = last_ending(l, &all->sends, wait, WAKE_NS, is_other);
	if (!cause && kind == MOMENT_POLL && !read_after(&l->of[MOMENT_RECEIVE], wait))
		cause = last_ending(l, &all->writes, wait, length_ns / 10 < REAP_NS ? length_ns / 10 : REAP_NS,
				    is_relative);
	if (!cause && (kind == MOMENT_RECEIVE || kind == MOMENT_POLL))
		cause = last_ending(l, &all->sends, wait, REAP_NS, is_descendant);
	return cause ?: last_ending(l, &all->processes, wait, REAP_NS, is_descendant);
}

static void link_only_cause(struct linker *l, const struct causes_of_ends *all, size_t *places,
			    enum moment_kind kind, struct moment *wait)
{
	const struct ending *cause;
	uint32_t running;
	uint64_t ns = 0;

	if (wait->is_linked || wait->end_ns - wait->start_ns < CAUSES_WAIT_NS)
		return;
	if (wait->takes_lock)
		link_lock(l, all, places, wait);
	running = wait->is_linked ? NODE_NONE : thread_of(l, wait);
	if (wait->is_linked)
		return;
	if (running != NODE_NONE) {
		link_wait(l, wait, running, wait->woken_ns);
		return;
	}
	if (kind == MOMENT_POLL && sends_for_others(l, wait))
		running = first_running(l, places, wait, TOLD_NS, &ns);
	cause = running == NODE_NONE ? cause_of(l, all, kind, wait) : NULL;
	if (cause) {
		link_wait(l, wait, cause->actor, cause->ns);
		return;
	}
	if (kind == MOMENT_WAIT)
		running = thread_cause(l, places, wait, &ns);
	else if (running == NODE_NONE && kind == MOMENT_POLL && is_of_launcher(l, wait))
		running = first_running(l, places, wait, TOLD_NS, &ns);
	if (running != NODE_NONE)
		link_wait(l, wait, running, ns);
}

static void endings_of(const struct moments *of, struct endings *ret)
{
	for (size_t i = 0; i < of->count; i++)
		endings_add(ret, of->items[i].start_ns, of->items[i].lock, of->items[i].actor);
}

static void endings_sort(struct endings *e)
{
	sort_unless_sorted(e->items, e->count, sizeof(*e->items), compare_endings);
}

void link_only_causes(struct linker *l)
{
	static const enum moment_kind kinds[] = {MOMENT_READ, MOMENT_RECEIVE, MOMENT_POLL, MOMENT_WAIT, MOMENT_CHILD};
	const struct causality *s = l->causes;
	struct causes_of_ends all = {0};
	SCOPED_MEMORY size_t *places = mem_alloc(s->actor_count * sizeof(*places));

	for (size_t i = 0; i < s->context->model->process_count; i++)
		if (l->last_of[i] != NODE_NONE)
			endings_add(&all.processes, s->actors[l->last_of[i]].end_ns, 0, l->last_of[i]);
	endings_of(&l->of[MOMENT_SEND], &all.sends);
	endings_of(&l->of[MOMENT_WRITE], &all.writes);
	endings_of(&l->of[MOMENT_WAKE], &all.wakes);
	for (size_t i = 0; i < l->of[MOMENT_WAIT].count; i++)
		if (l->of[MOMENT_WAIT].items[i].takes_lock)
			endings_add(&all.locked, l->of[MOMENT_WAIT].items[i].end_ns, l->of[MOMENT_WAIT].items[i].lock,
				    l->of[MOMENT_WAIT].items[i].actor);
	endings_sort(&all.processes);
	endings_sort(&all.locked);
	endings_sort(&all.sends);
	endings_sort(&all.writes);
	endings_sort(&all.wakes);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (size_t i = 0; i < l->of[kinds[k]].count; i++)
			link_only_cause(l, &all, places, kinds[k], &l->of[kinds[k]].items[i]);
	free(all.processes.items);
	free(all.sends.items);
	free(all.writes.items);
	free(all.wakes.items);
	free(all.locked.items);
}
