/* SPDX-License-Identifier: Apache-2.0 */
/* What took most of the time of a role's waits for other threads, at the end of the chain of threads that wait for each
 * other: what the critical path through the graph of causes has from the beginning to the end of the longest waits of
 * each line. Who ended them is shown only if it explains most of the time of the waits that were looked at, with what
 * it did longest. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/roles/role.h"
#include "report/causes/critical.h"

/* Of a role's lifetime that waits at one line take at least, to be followed. */
enum { WAIT_PERCENT = 2 };

/* What a path passed through: a call of a role's threads, or their computing. */
struct passed {
	size_t role, call; /* of the wait */
	size_t thread;
	uint64_t who; /* its role, or if it has none its program: such threads often do the same in turn */
	const struct editable *what; /* NULL: it computed */
	double ns;
};

struct following {
	struct causality *causes;
	const struct partition *partition;
	struct roles *roles;
	size_t *thread_of; /* by actor: its thread in the partition + 1; 0: none */
	struct passed *passed;
	size_t passed_count, passed_capacity;
	struct map known;    /* (hash of role, call and who; place) -> passed */
	struct map followed; /* (role, call) -> ns */
	struct map timed;    /* likewise of waits that a timer ended */
	struct map of_whom;  /* (hash of role and call; who) -> ns of these */
	/* the wait that is followed, and who does what the path passes through */
	size_t role, call, thread;
	uint32_t actor;
	/* the last wait on the path of another thread of the process; NODE_NONE: none */
	uint32_t wait_of, waits;
};

/* The calls of one line, and what threads of one role computed, are one. */
static void pass(void *context, uint32_t number, double ns)
{
	struct following *k = context;
	const struct editable *what = &k->causes->editables.items[number];
	size_t role = k->roles->role_of[k->thread];
	bool is_call = what->kind == EDITABLE_CALL;
	const struct image *image = k->partition->threads[k->thread].image;
	uint64_t who = role ? role : SIZE_MAX - (uint64_t)(image - k->causes->context->model->images);
	uint64_t key[] = {k->role, k->call, who, is_call ? what->waits : BLOCKED_KINDS};
	size_t place = map_place(&k->known, hash_bytes(key, sizeof(key)),
				 is_call && what->has_frame ? what->frame.place : SYMBOL_NO_PLACE, k->passed,
				 k->passed_count, k->passed_capacity,
				 (struct passed){k->role, k->call, k->thread, who, is_call ? what : NULL, 0});

	k->passed[place].ns += ns;
	*map_put(&k->of_whom, hash_bytes(key, 2 * sizeof(*key)), who, NULL) += (uint64_t)ns;
}

/* What another program does tells less than the user's line that waits for it. */
static bool is_beyond(const struct following *k, size_t thread)
{
	size_t role = k->roles->role_of[thread];
	bool is_worker = role && k->roles->items[role - 1].is_workers;

	return k->partition->threads[thread].image != k->causes->actors[k->actor].image &&
	       (!is_worker || (k->wait_of != NODE_NONE && k->causes->editables.items[k->waits].is_users));
}

static void visit(void *context, enum critical_kind kind, uint32_t node, uint32_t what, double ns)
{
	struct following *k = context;
	const struct run_node *n = &k->causes->graph.nodes[node];

	if (n->actor == k->actor || !k->thread_of[n->actor])
		return;
	k->thread = k->thread_of[n->actor] - 1;
	if (is_beyond(k, k->thread)) {
		if (k->wait_of == NODE_NONE)
			return;
		k->thread = k->thread_of[k->wait_of] - 1;
		what = k->waits;
	} else if (kind > CRITICAL_UNSEEN) {
		if (n->kind == NODE_WAIT) {
			k->wait_of = n->actor;
			k->waits = what;
		}
		return;
	}
	editable_divide(&k->causes->editables, what, ns, k, pass);
}

static void follow(struct following *k, const struct image *image, const struct blocked_call *b)
{
	for (size_t i = 0; i < BLOCKED_LONGEST && b->longest[i].end; i++) {
		uint64_t from_ns = causes_ns(k->causes, image, b->longest[i].start);
		uint64_t until_ns = causes_ns(k->causes, image, b->longest[i].end);
		uint32_t node = critical_node_at(&k->causes->graph, k->actor, until_ns);

		k->wait_of = NODE_NONE;
		*map_put(&k->followed, k->role, k->call, NULL) += until_ns - from_ns;
		if (b->kind == BLOCKED_POLL && k->causes->graph.nodes[node].is_timer)
			*map_put(&k->timed, k->role, k->call, NULL) += until_ns - from_ns;
		critical_walk(&k->causes->graph, node, from_ns, until_ns, visit, k);
	}
}

static bool is_wait(enum blocked_kind kind)
{
	return kind == BLOCKED_THREAD || kind == BLOCKED_LOCK || kind == BLOCKED_POLL || kind == BLOCKED_SOCKET;
}

static void follow_thread(struct following *k, size_t thread)
{
	const struct thread_time *t = &k->partition->threads[thread];
	size_t role = k->roles->role_of[thread];

	k->actor = causes_actor(k->causes, t->image, t->thread);
	for (size_t i = 0; role && t->thread && k->actor != NODE_NONE && i < t->blocked.count; i++) {
		const struct blocked_call *b = &t->blocked.calls[i];
		const uint64_t *call = role_find_call(k->roles, role - 1, t->image, b);

		if (!call || !is_wait(b->kind) || b->blocked_ns * 100 < t->lifetime_ns * WAIT_PERCENT)
			continue;
		k->role = role - 1;
		k->call = *call;
		follow(k, t->image, b);
	}
}

/* The name of a thread, or "" if it has that of the main thread: it was not given one. */
static const char *own_name(const struct partition *p, size_t thread)
{
	const struct thread_time *t = &p->threads[thread];
	size_t main = thread;

	while (main && p->threads[main - 1].image == t->image)
		main--;
	return main != thread && !strcmp(p->threads[main].name, t->name) ? "" : t->name;
}

static void conclude_timed(struct following *k)
{
	for (size_t role = 0; role < k->roles->count; role++)
		for (size_t i = 0; i < k->roles->items[role].call_count; i++) {
			const uint64_t *all = map_find(&k->followed, role, i), *timed = map_find(&k->timed, role, i);

			k->roles->items[role].calls[i].is_timed = all && timed && *timed * 2 >= *all;
		}
}

static void conclude(struct following *k)
{
	array_each(const struct passed, p, k->passed, k->passed_count) {
		const uint64_t key[] = {p->role, p->call}, *all = map_find(&k->followed, p->role, p->call),
			       *of_whom = map_find(&k->of_whom, hash_bytes(key, sizeof(key)), p->who);
		struct role_call *call = &k->roles->items[p->role].calls[p->call];
		const struct thread_time *t = &k->partition->threads[p->thread];

		if (*of_whom * 2 >= *all && p->ns > (double)call->end.ns)
			call->end = (struct role_end){
				.ns = (uint64_t)p->ns,
				.thread = p->thread,
				.name = own_name(k->partition, p->thread),
				.function = p->what ? p->what->name : NULL,
				.kind = p->what ? p->what->waits : BLOCKED_KINDS,
				.computes = t->cpu_ns + t->delay_ns >= t->unexplained_ns,
				.frame = p->what ? p->what->frame : (struct symbol_frame){.place = SYMBOL_NO_PLACE},
				.has_frame = p->what && p->what->has_frame,
				.is_users = p->what && p->what->is_users,
			};
	}
}

void roles_find_ends(struct causality *s, const struct partition *p, struct roles *roles)
{
	struct following k = {.causes = s, .partition = p, .roles = roles,
			      .thread_of = mem_alloc((s->actor_count + 1) * sizeof(*k.thread_of))};

	for (size_t i = 0; i < p->count; i++) {
		uint32_t actor = p->threads[i].thread ? causes_actor(s, p->threads[i].image, p->threads[i].thread)
						      : NODE_NONE;

		if (actor != NODE_NONE)
			k.thread_of[actor] = i + 1;
	}
	for (size_t i = 0; i < p->count; i++)
		follow_thread(&k, i);
	conclude(&k);
	conclude_timed(&k);
	free(k.thread_of);
	free(k.passed);
	map_done(&k.known);
	map_done(&k.followed);
	map_done(&k.timed);
	map_done(&k.of_whom);
}
