/* SPDX-License-Identifier: Apache-2.0 */
/* file_flush, small_io, lock_convoy, gil_bound: OS calls that cost a process more than a share of its duration, by
 * source line. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"
#include "report/base/text.h"
#include "report/causes/price.h"
#include "report/names/demangle.h"
#include "report/time/blocked.h"

enum { ROWS = 50, FLUSH_PERCENT = 2, SMALL_PERCENT = 2, LOCK_PERCENT = 5, GIL_PERCENT = 10, COMPUTES_PERCENT = 10 };
enum { NATIVE_FRAMES = 64 };
enum { FLUSH_CALLS = 3, SMALL_CALLS = 5000, LOCK_CALLS = 20, GIL_CALLS = 20, SMALL_BYTES = 4096 };
#define SMALL_NS 1000000ull /* a longer call waits for data, whatever its size */
#define COPY_NS 20000ull    /* likewise of a pipe or a socket, which gives what its other end has written */

/* What a rule looks for. */
struct os_rule {
	uint8_t (*classify)(const struct function *);
	/* NULL: each call of a class does */
	bool (*counts)(struct descriptor_search *descriptors, const struct event *e, uint8_t class, uint64_t ns);
	bool is_of_interpreter; /* only calls that the Python interpreter itself makes */
	bool is_of_users;	/* not those of the system's own programs, which nobody who runs them can change */
	bool is_of_locks;	/* by CLASS_LOCK and CLASS_SEMAPHORE */
	bool has_short;	      /* calls below the threshold count as well */
	unsigned int percent; /* of the duration of the process */
	uint64_t calls;	      /* at least */
	uint32_t threads;     /* at least, and the cost is the mean of these threads */
	const char *what;
	const char *edit; /* NULL: it follows from the line; "lock": of the line */
};

/* ---- what the rules look for ---- */

static uint8_t classify_flush(const struct function *f)
{
	return f->kind.waits == BLOCKED_FLUSH;
}

enum { CLASS_OPEN = 1, CLASS_TRANSFER = 2 };

static uint8_t classify_small(const struct function *f)
{
	return f->kind.role == ROLE_OPEN ? CLASS_OPEN : f->kind.does & FUNCTION_MOVES ? CLASS_TRANSFER : 0;
}

/* Larger blocks are no repair for who waits for the other end of a pipe. */
static bool is_small(struct descriptor_search *descriptors, const struct event *e, uint8_t class, uint64_t ns)
{
	uint64_t fd = e->args_count ? tf_arg_value(event_arg(e, TF_ARG_FD)) : 0;

	if (ns >= SMALL_NS || class == CLASS_OPEN)
		return ns < SMALL_NS;
	return (int32_t)(fd >> 16) < SMALL_BYTES &&
	       (ns < COPY_NS || blocked_kind_of(descriptors, e, BLOCKED_READ) == BLOCKED_READ);
}

enum { CLASS_LOCK = 1, CLASS_SEMAPHORE = 2 };

/* A lock of CPython is a semaphore. */
static uint8_t classify_lock(const struct function *f)
{
	bool is_semaphore = f->kind.waits == BLOCKED_THREAD && f->kind.does == FUNCTION_AWAITS;

	return f->kind.does & FUNCTION_LOCKS ? CLASS_LOCK : is_semaphore ? CLASS_SEMAPHORE : 0;
}

/* CPython's locks are semaphores; it waits on a condition variable only for its global lock. */
static uint8_t classify_gil(const struct function *f)
{
	return f->kind.does & FUNCTION_CONDITION && f->kind.does & FUNCTION_AWAITS;
}

enum os_rule_number { OS_FLUSH, OS_SMALL, OS_LOCK, OS_GIL, OS_RULES };

static const struct os_rule os_rules[OS_RULES] = {
	[OS_FLUSH] = {.classify = classify_flush, .percent = FLUSH_PERCENT, .calls = FLUSH_CALLS,
		      .what = "calls that wait until data is on the disk"},
	[OS_SMALL] = {.classify = classify_small, .counts = is_small, .has_short = true, .percent = SMALL_PERCENT,
		      .calls = SMALL_CALLS, .what = "opens, and reads and writes of less than 4 KiB"},
	[OS_LOCK] = {.classify = classify_lock, .is_of_users = true, .is_of_locks = true, .percent = LOCK_PERCENT,
		     .calls = LOCK_CALLS, .threads = 2, .what = "waits for locks", .edit = "lock"},
	[OS_GIL] = {.classify = classify_gil, .is_of_interpreter = true, .percent = GIL_PERCENT, .calls = GIL_CALLS,
		    .threads = 2, .what = "waits for the interpreter lock (GIL)", .edit = "interpreter=0"},
};

/* ---- the calls ---- */

/* Of one process. */
struct os_sum {
	uint64_t calls, ns;
	uint32_t threads;
	const struct trace_thread *last;
};

struct os_calls {
	struct rules *rules;
	const struct os_rule *rule;
	struct aggregate aggregate;
	struct os_sum *sums; /* by process */
	const uint8_t *classes; /* by function of the current image */
	struct map callers;  /* (stack, image) -> 1 + has_caller() */
	struct map locks;    /* likewise takes_lock() */
	size_t worst;	     /* process */
};

static void os_add(struct os_calls *o, const struct scan *s, uint32_t function, uint32_t stack, uint64_t calls,
		   uint64_t ns)
{
	struct os_sum *sum = &o->sums[s->image->process];
	uint32_t row = rule_call_row(o->rules, &o->aggregate, s->image, function, 0,
				     trace_function(s->image->trace, function)->name, stack);

	if (calls == 1)
		aggregate_add(&o->aggregate, row, ns);
	else
		aggregate_add_total(&o->aggregate, row, calls, ns);
	sum->calls += calls;
	sum->ns += ns;
	sum->threads += sum->last != s->thread;
	sum->last = s->thread;
}

/* Whether the function that made the call is code of the Python interpreter, in a stack with Python frames. */
static bool is_of_interpreter(const struct os_calls *o, const struct image *image, uint32_t stack)
{
	return stack && trace_definition(image->trace, TF_BLOB_PYTHON_STACK, stack) &&
	       attribution_is_interpreter(o->rules->context->symbols, image, stack);
}

/* An interpreter is a program of the system, too, but its stacks have frames of the user's code. */
static bool is_of_users(struct os_calls *o, const struct image *image, uint32_t stack)
{
	struct symbol_frame frame;
	bool is_users = true;

	o->rules->attribution.symbols = o->rules->context->symbols;
	if (attribution_is_systems_program(image)) {
		is_users = false;
		attribution_stack(&o->rules->attribution, image, stack, &frame, &is_users);
	}
	return is_users;
}

/* What a module reads as it is imported is a part of the import, which has a price by itself. */
static bool is_wanted(struct os_calls *o, const struct image *image, uint32_t stack)
{
	return o->rule->is_of_users	       ? is_of_users(o, image, stack)
	       : o->rule->is_of_interpreter ? is_of_interpreter(o, image, stack)
	       : o->rule->has_short	       ? !stack || !attribution_has_import(image, stack)
					       : true;
}

/* Whether the rule looks at the calls of this stack. */
static bool has_caller(struct os_calls *o, const struct image *image, uint32_t stack)
{
	uint64_t *known = map_put(&o->callers, stack, (uint64_t)(image - o->rules->context->model->images), NULL);

	if (!*known)
		*known = 1 + is_wanted(o, image, stack);
	return *known > 1;
}

/* Whether the user's code takes a lock of Python: no library's code is inside of it, as that of a condition, a queue or
 * the end of a thread, which also wait for such a lock. */
static bool is_lock(const struct os_calls *o, const struct image *image, uint32_t stack)
{
	struct symbols *symbols = o->rules->context->symbols;
	struct symbol_frame frames[NATIVE_FRAMES];
	size_t count = symbols_frames(symbols, image, stack, frames, NATIVE_FRAMES);
	struct symbol_frame *inner = array_find(f, frames, count, !f->is_interpreter && f->place != SYMBOL_NO_PLACE);

	if (!inner || !inner->is_python)
		return false;
	symbols_name(symbols, inner);
	return inner->line->file && !attribution_is_library(inner->line->file);
}

static bool takes_lock(struct os_calls *o, const struct image *image, uint32_t stack)
{
	uint64_t *known;

	if (!stack)
		return false;
	known = map_put(&o->locks, stack, (uint64_t)(image - o->rules->context->model->images), NULL);
	if (!*known)
		*known = 1 + is_lock(o, image, stack);
	return *known > 1;
}

static bool os_counts(struct os_calls *o, struct descriptor_search *descriptors, const struct image *image,
		      const struct event *e, uint64_t ns)
{
	const struct os_rule *rule = o->rule;

	if (rule->is_of_locks && o->classes[e->id] == CLASS_SEMAPHORE && !takes_lock(o, image, event_stack(e)))
		return false;
	return has_caller(o, image, event_stack(e)) &&
	       (!rule->counts || rule->counts(descriptors, e, o->classes[e->id], ns));
}

/* All of these rules read the events together. */
struct os_rules {
	struct os_calls of[OS_RULES];
	uint8_t *are_any; /* by function of the current image: whether any of the rules looks for it */
	struct descriptor_search descriptors; /* of the current image */
};

static void os_visit(struct scan *s, const struct event *e)
{
	struct os_rules *all = s->more;
	uint32_t stack;
	uint64_t ns;

	if (e->kind != TF_CALL || e->id >= s->image->trace->functions->count || !all->are_any[e->id])
		return;
	stack = event_stack(e);
	if (rule_polls(all->of->rules, s->image, stack))
		return;
	ns = clock_map_duration(s->clock, e->duration);
	for (size_t i = 0; i < OS_RULES; i++)
		if (all->of[i].classes[e->id] && os_counts(&all->of[i], &all->descriptors, s->image, e, ns))
			os_add(&all->of[i], s, e->id, stack, 1, ns);
}

static void os_add_short(struct os_calls *o, struct scan *s)
{
	const struct trace *t = s->image->trace;

	for (size_t k = 0; k < t->thread_count; k++) {
		s->thread = &t->threads[k];
		for (size_t i = 0; i < s->thread->counter_count; i++) {
			const struct trace_counter *c = &t->counters[s->thread->first_counter + i];

			if (c->sum.calls && c->function < t->functions->count && o->classes[c->function])
				os_add(o, s, c->function, 0, c->sum.calls, clock_map_duration(s->clock, c->sum.ticks));
		}
	}
}

static void os_gather_image(struct os_rules *all, struct scan *s)
{
	const struct functions *functions = s->image->trace->functions;

	all->are_any = mem_alloc(functions->count + 1);
	all->descriptors = descriptor_search(s->image->trace);
	for (size_t i = 0; i < OS_RULES; i++) {
		all->of[i].classes = functions_classes(s->image->trace->functions, all->of[i].rule->classify);
		for (uint32_t k = 0; k < functions->count; k++)
			all->are_any[k] |= all->of[i].classes[k];
	}
	scan_image(s, os_visit);
	for (size_t i = 0; i < OS_RULES; i++)
		if (all->of[i].rule->has_short)
			os_add_short(&all->of[i], s);
	free(all->are_any);
}

static void os_gather(struct rules *r)
{
	const struct model *m = r->context->model;

	r->os = mem_alloc(sizeof(*r->os));
	for (size_t i = 0; i < OS_RULES; i++)
		r->os->of[i] = (struct os_calls){.rules = r, .rule = &os_rules[i],
						 .sums = mem_alloc((m->process_count + 1) * sizeof(struct os_sum))};
	for (size_t i = 0; i < m->image_count; i++)
		if (m->images[i].trace)
			os_gather_image(r->os, &(struct scan){.context = r->context, .image = &m->images[i],
							      .groups = 1u << TF_GROUP_OSRT, .more = r->os});
}

void rules_os_done(struct rules *r)
{
	for (size_t i = 0; r->os && i < OS_RULES; i++) {
		aggregate_done(&r->os->of[i].aggregate);
		map_done(&r->os->of[i].callers);
		map_done(&r->os->of[i].locks);
		free(r->os->of[i].sums);
	}
	free(r->os);
	r->os = NULL;
}

/* With one thread that computes, the others wait for the interpreter lock while they have little to do. */
static bool has_computing_threads(const struct os_calls *o, size_t process)
{
	const struct partition *p = &rules_time(o->rules)->partition;
	uint64_t wall = recorded_wall(o->rules->context->model, &o->rules->context->model->processes[process]);

	return array_sum(t, p->threads, p->count,
			 t->process == process && t->cpu_ns * 100 >= wall * COMPUTES_PERCENT) >= 2;
}

/* What it cost the process; 0: less than the rule reports. */
static uint64_t os_cost(const struct os_calls *o, size_t process)
{
	const struct os_sum *sum = &o->sums[process];
	uint64_t cost = o->rule->threads > 1 && sum->threads ? sum->ns / sum->threads : sum->ns;
	uint64_t wall = recorded_wall(o->rules->context->model, &o->rules->context->model->processes[process]);

	if (sum->calls < o->rule->calls || sum->threads < o->rule->threads || cost * 100 < wall * o->rule->percent)
		return 0;
	if (o->rule->is_of_interpreter && !has_computing_threads(o, process))
		return 0;
	return cost < wall ? cost : wall;
}

static void os_conclude(struct os_calls *o, struct finding *f)
{
	const struct model *m = o->rules->context->model;

	for (size_t i = 0; i < m->process_count; i++)
		if (os_cost(o, i) > f->cost_ns) {
			o->worst = i;
			f->cost_ns = os_cost(o, i);
		}
	if (!f->cost_ns)
		return;
	aggregate_sort(&o->aggregate);
	for (size_t i = 0, rows = 0; i < o->aggregate.count && rows < ROWS; i++)
		if (os_cost(o, rule_call_process(&o->aggregate.rows[i]))) {
			rule_call_add_row(o->rules, &o->aggregate.rows[i], f);
			rows++;
		}
	buffer_print(&f->text, "%llu %s", (unsigned long long)o->sums[o->worst].calls, o->rule->what);
	if (o->rule->threads > 1)
		buffer_print(&f->text, " in %u threads", o->sums[o->worst].threads);
	buffer_text(&f->text, ", ");
	/* threads wait at the same time: the sum may be longer than the run */
	if (o->rule->threads > 1)
		buffer_print(&f->text, "%.0f %% of their time",
			     100 * (double)f->cost_ns / (double)recorded_wall(m, &m->processes[o->worst]));
	else
		rule_time(&f->text, f->cost_ns);
	buffer_print(&f->text, " in process %u", m->processes[o->worst].pid);
}

/* Where the threads compute, rather than where they wait, if samples tell. */
static void os_find_holder(const struct os_calls *o, struct finding *f)
{
	const struct job_time *t = rules_time(o->rules);
	const struct code_line *line = NULL;

	for (size_t i = 0; i < t->roles.count && !line; i++)
		if (t->roles.items[i].process == &o->rules->context->model->processes[o->worst])
			line = role_hot_code_line(o->rules->context, &t->roles.items[i]);
	f->line = line ? line : f->line;
}

/* Whether the innermost function of the stack is one of the calls, or is not known, as in stacks of Python alone. */
static bool is_in_call(const struct os_calls *o, const struct role_stack *s)
{
	struct symbol_frame frame;
	const char *name;

	if (!symbols_native(o->rules->context->symbols, s->image, s->stack, &frame, 1))
		return true;
	symbols_name(o->rules->context->symbols, &frame);
	name = demangle_libc(frame.line->function);
	return o->rule->classify(&(struct function){name, TF_GROUP_OSRT, function_kind_of(name, TF_GROUP_OSRT)});
}

/* Calls that are too short for a stack of their own: the line in whose samples most of their time is. */
static void os_find_short(const struct os_calls *o, struct finding *f)
{
	const struct job_time *t = rules_time(o->rules);
	SCOPED(map) lines = {0};
	uint64_t most = 0;

	list_each(const struct role, role, &t->roles)
		array_each(const struct role_stack, s, role->stacks, role->stack_count) {
			struct attribution *attribution = &o->rules->attribution;
			struct symbol_frame frame;
			uint64_t *ns;
			bool is_users;

			attribution->symbols = o->rules->context->symbols;
			if (s->image->process != o->worst || attribution_has_import(s->image, s->stack) ||
			    !is_in_call(o, s) ||
			    !attribution_stack(attribution, s->image, s->stack, &frame, &is_users) || !is_users)
				continue;
			ns = map_put(&lines, frame.place, 0, NULL);
			*ns += s->ns;
			if (*ns <= most)
				continue;
			most = *ns;
			f->line = attribution_exact(attribution, s->image, s->stack);
		}
}

static void os_run(struct rules *r, struct finding *f, enum os_rule_number number)
{
	struct os_calls *o;

	rule_call_columns(f);
	if (!r->os)
		os_gather(r);
	o = &r->os->of[number];
	os_conclude(o, f);
	if (!(model_bits(r->context->model).groups & 1u << TF_GROUP_OSRT))
		rule_unchecked(f, "no OS calls were recorded");
	if (f->verdict == VERDICT_FOUND && o->rule->edit && strchr(o->rule->edit, '='))
		buffer_text(&f->edit, o->rule->edit);
	else if (f->verdict == VERDICT_FOUND && o->rule->edit)
		price_add_line(o->rule->edit, f->line, "=0", &f->edit);
	if (f->verdict == VERDICT_FOUND && o->rule->is_of_interpreter)
		os_find_holder(o, f);
	if (f->verdict == VERDICT_FOUND && o->rule->has_short && !f->line)
		os_find_short(o, f);
	if (o->rule->is_of_interpreter)
		rule_needs_python(r, f);
}

void rule_file_flush(struct rules *r, struct finding *f)
{
	os_run(r, f, OS_FLUSH);
}

void rule_small_io(struct rules *r, struct finding *f)
{
	os_run(r, f, OS_SMALL);
}

void rule_lock_convoy(struct rules *r, struct finding *f)
{
	os_run(r, f, OS_LOCK);
}

void rule_gil_bound(struct rules *r, struct finding *f)
{
	os_run(r, f, OS_GIL);
}
