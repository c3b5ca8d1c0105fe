/* SPDX-License-Identifier: Apache-2.0 */
/* slow_loader, blocked_loop: what a Python program waits for between its steps. Both are derived from the stacks of
 * recorded calls. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"
#include "report/names/python.h"
#include "report/read/job/process_tree.h"

enum { ROWS = 50, LOADER_PERCENT = 5, LOADER_WAITS = 3, LOOP_PERCENT = 5, LOOP_CALLS = 3 };
#define LOOP_NS 1000000ull /* a shorter call of a callback does not delay the others noticeably */

struct python_times {
	struct rules *rules;
	struct aggregate aggregate;
	uint64_t *ns, *calls; /* by process */
	/* A stack is wanted if it has a frame in a wanted file, and is not unwanted. */
	bool (*is_wanted)(const char *file), (*is_unwanted)(const struct image *image, uint32_t stack);
	struct map known; /* image and stack -> 1 + whether it is wanted */
};

static bool python_is_wanted(struct python_times *p, const struct image *image, uint32_t stack)
{
	uint64_t *known = map_put(&p->known, (uint64_t)(image - p->rules->context->model->images), stack, NULL);

	if (!*known)
		*known = 1 + (python_has_file(image->trace, stack, p->is_wanted) &&
			      !(p->is_unwanted && p->is_unwanted(image, stack)));
	return *known > 1;
}

static void python_add(struct python_times *p, const struct scan *s, uint32_t row, uint64_t ns)
{
	aggregate_add(&p->aggregate, row, ns);
	p->ns[s->image->process] += ns;
	p->calls[s->image->process]++;
}

/* Adds rows for the processes that spent at least that share. Returns the one that spent most. */
static size_t python_find(struct python_times *p, struct finding *f, unsigned int percent, uint64_t calls)
{
	const struct model *m = p->rules->context->model;
	size_t worst = 0;

	aggregate_sort(&p->aggregate);
	for (size_t i = 0; i < p->aggregate.count && i < ROWS; i++) {
		size_t process = rule_call_process(&p->aggregate.rows[i]);
		uint64_t wall = recorded_wall(m, &m->processes[process]);

		if (p->calls[process] < calls || p->ns[process] * 100 < wall * percent)
			continue;
		rule_call_add_row(p->rules, &p->aggregate.rows[i], f);
		if (p->ns[process] > f->cost_ns) {
			worst = process;
			f->cost_ns = p->ns[process];
		}
	}
	return worst;
}

/* The process for which visit() adds most time, with rows for the processes of the finding; NULL: there is none. */
static const struct process *python_worst(struct python_times *p, void (*visit)(struct scan *, const struct event *),
					  unsigned int percent, uint64_t calls, struct finding *f)
{
	const struct report_context *c = p->rules->context;
	size_t count = c->model->process_count + 1, worst;

	p->ns = mem_alloc(count * sizeof(*p->ns));
	p->calls = mem_alloc(count * sizeof(*p->calls));
	rule_call_columns(f);
	scan_events(&(struct scan){.context = c,
				   .args = 1u << TF_ARG_STACK,
				   .call_args = 1u << TF_ARG_STACK,
				   .groups = 1u << TF_GROUP_OSRT,
				   .code = p->is_wanted,
				   .more = p},
		    visit);
	worst = python_find(p, f, percent, calls);
	return f->verdict == VERDICT_FOUND ? &c->model->processes[worst] : NULL;
}

static void python_end(struct python_times *p, struct finding *f)
{
	rule_needs_python(p->rules, f);
	aggregate_done(&p->aggregate);
	map_done(&p->known);
	free(p->ns);
	free(p->calls);
}

/* ---- slow_loader ---- */

static bool is_loader_file(const char *file)
{
	return text_ends_with(file, "/torch/utils/data/dataloader.py");
}

/* Workers inherit frames of the loader. Waiting for a worker to end is not waiting for its data. */
static void visit_loader(struct scan *s, const struct event *e)
{
	struct python_times *p = s->more;
	const struct function *f = event_function(s->image->trace, e);
	uint32_t stack = f && f->group == TF_GROUP_OSRT ? event_stack(e) : 0;

	if (!stack || s->thread->tid != s->image->pid || !python_is_wanted(p, s->image, stack) ||
	    !s->context->model->processes[s->image->process].children)
		return;
	if (f->kind.does & (FUNCTION_INPUT | FUNCTION_AWAITS))
		python_add(p, s, rule_call_row(p->rules, &p->aggregate, s->image, e->id, 0, f->name, stack),
			   clock_map_duration(s->clock, e->duration));
}

/* The workers, and what they do, if samples tell. */
static void add_worker_line(struct rules *r, const struct process *parent, struct finding *f)
{
	const struct job_time *t = rules_time(r);
	SCOPED(buffer) line = {0};

	for (size_t i = 0; i < t->roles.count && !line.size; i++) {
		const struct role *role = &t->roles.items[i];

		if (!role->is_workers || process_parent(r->context->model, role->process) != parent)
			continue;
		role_hot_line(r->context, role, &line);
		f->awaited = role;
	}
	f->awaited_at = f->text.size;
	if (line.size)
		buffer_print(&f->text, ", which compute at %s", line.data);
}

void rule_slow_loader(struct rules *r, struct finding *f)
{
	struct python_times p = {.rules = r, .is_wanted = is_loader_file, .is_unwanted = attribution_has_import};
	const struct process *process = python_worst(&p, visit_loader, LOADER_PERCENT, LOADER_WAITS, f);

	if (process) {
		buffer_print(&f->text, "process %u waits ", process->pid);
		rule_time(&f->text, f->cost_ns);
		buffer_print(&f->text, " for its %zu worker processes, %.1f %% of its time",
			     process->children,
			     100 * (double)f->cost_ns / (double)recorded_wall(r->context->model, process));
		add_worker_line(r, process, f);
	}
	python_end(&p, f);
}

/* ---- blocked_loop ---- */

/* Handle._run() of asyncio calls each callback, and each step of a coroutine. The loop's own wait is not below it. */
static bool is_callback_file(const char *file)
{
	return text_ends_with(file, "/asyncio/events.py");
}

/* asyncio.to_thread() starts threads, and waits until they run. */
static bool is_thread_starter(const char *file)
{
	return text_ends_with(file, "/concurrent/futures/thread.py");
}

static bool is_users_file(const char *file)
{
	return !attribution_is_library(file);
}

/* Start-up, and a library that waits in a loop of its own, are nothing that the program can await instead. */
static bool is_not_awaitable(const struct image *image, uint32_t stack)
{
	return attribution_has_import(image, stack) || python_has_file(image->trace, stack, is_thread_starter) ||
	       !python_has_file(image->trace, stack, is_users_file);
}

/* Waits for the interpreter's lock, which are those of its condition variable, are of rule gil_bound. */
static bool blocks_loop(const struct function *f)
{
	return f->kind.waits != BLOCKED_OTHER && f->kind.waits != BLOCKED_FILE &&
	       !(f->kind.does & FUNCTION_CONDITION);
}

static void visit_callback(struct scan *s, const struct event *e)
{
	struct python_times *p = s->more;
	const struct function *f = event_function(s->image->trace, e);
	uint32_t stack = f && f->group == TF_GROUP_OSRT ? event_stack(e) : 0;
	uint64_t ns = stack ? clock_map_duration(s->clock, e->duration) : 0;

	if (ns >= LOOP_NS && blocks_loop(f) && python_is_wanted(p, s->image, stack))
		python_add(p, s, rule_call_row(p->rules, &p->aggregate, s->image, e->id, 0, f->name, stack), ns);
}

void rule_blocked_loop(struct rules *r, struct finding *f)
{
	struct python_times p = {.rules = r, .is_wanted = is_callback_file, .is_unwanted = is_not_awaitable};
	const struct process *process = python_worst(&p, visit_callback, LOOP_PERCENT, LOOP_CALLS, f);

	if (process) {
		buffer_print(&f->text,
			     "%llu blocking calls in coroutines stop the event loop (asyncio) of process %u for ",
			     (unsigned long long)p.calls[process - r->context->model->processes], process->pid);
		rule_time(&f->text, f->cost_ns);
		buffer_print(&f->text, ", %.1f %% of its time",
			     100 * (double)f->cost_ns / (double)recorded_wall(r->context->model, process));
	}
	python_end(&p, f);
}
