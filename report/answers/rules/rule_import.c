/* SPDX-License-Identifier: Apache-2.0 */
/* import_heavy: avoidable imports that take a large part of a Python process. Three kinds are found: a module that
 * computes when it is imported, a package that is hardly used, and a package that many short programs import. Stacks
 * outside of imports show which packages are used. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"
#include "report/events/stacks/samples.h"
#include "report/names/python.h"

/* A package is hardly used if the time in it is less than 1/USED of that of its import. */
enum { ROWS = 50, IMPORT_PERCENT = 25, USED = 20, NAMED = 3, MODULES = 16, REPEATED = 3 };

/* What a stack tells. */
struct stack_kind {
	bool is_import;
	uint32_t row;	  /* of the import's line */
	bool is_own;	  /* an import in which a module of the user's own runs */
	uint32_t package; /* the one that the user's code imports, + 1; 0: such a module, or not known */
	uint32_t first, count; /* not an import: the packages whose code runs, in `used` */
};

struct imports {
	struct rules *rules;
	struct aggregate rows;
	struct map known; /* (stack, image) -> kind + 1 */
	struct stack_kind *kinds;
	size_t kind_count, kind_capacity;
	uint32_t *used;
	size_t used_count, used_capacity;
	struct aggregate packages; /* only to number them */
	struct map times; /* (package + 1, process) -> ns of imports, and (that with the highest bit) of use */
	uint64_t *all_ns, *own_ns; /* by process: imports; of these, what modules of the user's own take */
	bool *has_samples; /* by process */
	/* the previous event with a stack of the thread */
	const struct trace_thread *thread;
	uint64_t last_ticks;
	uint32_t last_row;
};

#define USE (1ull << 63)

/* "numpy" of ".../site-packages/numpy/core/x.py", "json" of ".../lib/python3.11/json/decoder.py". */
static size_t package_of(const char *file, const char **ret)
{
	static const char *const marks[] = {"/site-packages/", "/dist-packages/", "/lib-dynload/", "/lib/python3"};
	const char *at = NULL;

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks) && !at; i++)
		if ((at = strstr(file, marks[i])))
			at += strlen(marks[i]);
	if (at && text_begins_with(at - strlen("python3"), "python3") && strchr(at, '/'))
		at = strchr(at, '/') + 1;
	*ret = at;
	return at ? strcspn(at, "/.") : 0;
}

static uint32_t package_number(struct imports *p, const char *file)
{
	char text[64];
	const char *name;
	size_t length = package_of(file, &name);

	if (!length)
		return 0;
	snprintf(text, sizeof(text), "%.*s", (int)length, name);
	return (uint32_t)aggregate_row(&p->packages, text, strlen(text) + 1) + 1;
}

/* ---- stacks ---- */

struct import_reader {
	struct imports *imports;
	/* is_inside: the user's code runs within the innermost import: what it imports itself is another one */
	bool is_import, is_user_code, is_inside;
	uint32_t package;
};

static void read_import(void *context, const char *file, const char *function)
{
	struct import_reader *r = context;

	if (attribution_is_import(file, function)) {
		r->is_inside |= r->is_user_code && !r->is_import;
		r->is_import = true;
	} else if (!attribution_is_library(file)) {
		r->is_user_code = true;
	} else if (!r->is_user_code && !text_begins_with(file, "<frozen")) {
		r->package = package_number(r->imports, file);
	}
}

static void add_used(struct imports *p, uint32_t package)
{
	if (!package)
		return;
	mem_append(p->used, p->used_count, p->used_capacity, package);
}

static void read_used(void *context, const char *file, const char *function)
{
	(void)function;
	if (attribution_is_library(file))
		add_used(context, package_number(context, file));
}

static struct stack_kind stack_read(struct imports *p, const struct image *image, uint32_t stack)
{
	struct symbol_frame frames[MODULES];
	struct import_reader reading = {.imports = p};
	struct stack_kind kind = {.first = (uint32_t)p->used_count};
	SCOPED(buffer) name = {0};
	size_t count;

	python_frames(image->trace, stack, &reading, read_import);
	kind.is_import = reading.is_import;
	if (kind.is_import) {
		kind.is_own = reading.is_inside;
		kind.package = kind.is_own ? 0 : reading.package;
		buffer_text(&name, "import");
		if (kind.package)
			buffer_print(&name, " %s", aggregate_field(&p->packages.rows[kind.package - 1], 0));
		kind.row = rule_call_row(p->rules, &p->rows, image, 0, 0, name.data, stack);
		return kind;
	}
	python_frames(image->trace, stack, p, read_used);
	count = symbols_native(p->rules->context->symbols, image, stack, frames, MODULES);
	for (size_t i = 0; i < count; i++)
		add_used(p, package_number(p, frames[i].module));
	kind.count = (uint32_t)p->used_count - kind.first;
	return kind;
}

static const struct stack_kind *stack_kind_of(struct imports *p, const struct image *image, uint32_t stack)
{
	uint64_t *known = map_put(&p->known, stack, (uint64_t)(image - p->rules->context->model->images), NULL);
	struct stack_kind kind;

	if (!*known) {
		kind = stack_read(p, image, stack);
		mem_append(p->kinds, p->kind_count, p->kind_capacity, kind);
		*known = p->kind_count;
	}
	return &p->kinds[*known - 1];
}

/* ---- events ---- */

static uint64_t *time_of(struct imports *p, uint32_t package, size_t process, uint64_t use)
{
	return map_put(&p->times, package | use, process, NULL);
}

/* Between two events of one import statement, the thread was importing. An event adds no more than the time since the
 * one before it: a sample has the time since the last sample, and a call that of those inside of it. */
static uint64_t import_ns(const struct imports *p, const struct scan *s, const struct event *e, uint32_t row,
			  uint64_t own_ns)
{
	uint64_t since_ns;

	if (p->thread != s->thread)
		return own_ns;
	since_ns = e->ticks > p->last_ticks ? clock_map_duration(s->clock, e->ticks - p->last_ticks) : 0;
	return p->last_row == row || since_ns < own_ns ? since_ns : own_ns;
}

static void visit_import(struct scan *s, const struct event *e)
{
	struct imports *p = s->more;
	bool is_sample = e->kind == TF_SAMPLE;
	uint32_t stack = is_sample || e->kind == TF_CALL ? event_stack(e) : 0;
	const struct stack_kind *kind;
	uint64_t ns;

	p->has_samples[s->image->process] |= is_sample;
	if (!stack)
		return;
	kind = stack_kind_of(p, s->image, stack);
	ns = is_sample ? samples_ns(e) : clock_map_duration(s->clock, e->duration);
	for (uint32_t i = 0; i < kind->count; i++)
		*time_of(p, p->used[kind->first + i], s->image->process, USE) += ns;
	if (s->thread->tid != s->image->pid)
		return;
	if (kind->is_import) {
		ns = import_ns(p, s, e, kind->row, ns);
		aggregate_add(&p->rows, kind->row, ns);
		p->all_ns[s->image->process] += ns;
		p->own_ns[s->image->process] += kind->is_own ? ns : 0;
		*time_of(p, kind->package, s->image->process, 0) += ns;
	}
	p->thread = s->thread;
	p->last_ticks = e->ticks;
	p->last_row = kind->is_import ? kind->row : UINT32_MAX;
}

/* ---- conclusions ---- */

static bool is_hardly_used(struct imports *p, uint32_t package, size_t process)
{
	uint64_t used = *time_of(p, package, process, USE);

	return used * USED < *time_of(p, package, process, 0);
}

/* The name of a row of a package ends with it. */
static bool is_row_avoidable(struct imports *p, const struct aggregate_row *row)
{
	const char *name = aggregate_field(row, 1) + strlen("import");
	size_t process = rule_call_process(row);

	if (!*name)
		return true;
	name++;
	return p->has_samples[process] &&
	       is_hardly_used(p, aggregate_row(&p->packages, name, strlen(name) + 1) + 1, process);
}

static void add_rows(struct imports *p, struct finding *f, size_t process)
{
	for (size_t i = 0, rows = 0; i < p->rows.count && rows < ROWS; i++)
		if (rule_call_process(&p->rows.rows[i]) == process && is_row_avoidable(p, &p->rows.rows[i])) {
			rule_call_add_row(p->rules, &p->rows.rows[i], f);
			rows++;
		}
}

/* The time of imports that could be avoided; *ret_unknown: of packages of which no use is known, without samples. */
static uint64_t avoidable(struct imports *p, size_t process, uint64_t *ret_unknown, struct buffer *ret_names)
{
	uint64_t sum = *time_of(p, 0, process, 0);
	size_t named = 0;

	*ret_unknown = 0;
	for (uint32_t i = 1; i <= p->packages.count; i++) {
		uint64_t ns = *time_of(p, i, process, 0);

		if (!ns || !is_hardly_used(p, i, process))
			continue;
		if (!p->has_samples[process]) {
			*ret_unknown += ns;
			continue;
		}
		sum += ns;
		if (ns * 100 >= p->all_ns[process] && named++ < NAMED)
			buffer_print(ret_names, "%s%s", named > 1 ? ", " : "",
				     aggregate_field(&p->packages.rows[i - 1], 0));
	}
	return sum;
}

static bool is_much(const struct model *m, const struct process *process, uint64_t ns)
{
	return ns && ns * 100 >= recorded_wall(m, process) * IMPORT_PERCENT;
}

static void judge_process(struct imports *p, struct finding *f, size_t number)
{
	const struct model *m = p->rules->context->model;
	const struct process *process = &m->processes[number];
	SCOPED(buffer) names = {0};
	uint64_t unknown, ns = avoidable(p, number, &unknown, &names), wall = recorded_wall(m, process);

	if (ns > wall) /* the recording paused during an import */
		ns = wall;
	if (is_much(m, process, ns)) {
		if (ns > f->cost_ns)
			f->line = NULL;
		add_rows(p, f, number);
		if (ns > f->cost_ns) {
			f->cost_ns = ns;
			buffer_set(&f->text, "process %u %s for at least ", process->pid,
				   p->own_ns[number] * 2 > ns
					   ? "runs the code of its own modules while it imports them,"
					   : "imports modules");
			rule_time(&f->text, ns);
			buffer_print(&f->text, ", %.1f %% of its time", 100 * (double)ns / (double)wall);
			if (names.size)
				buffer_print(&f->text, ", and hardly uses %s", names.data);
		}
	} else if (is_much(m, process, ns + unknown)) {
		rule_unchecked(f, "which imported packages are used is known from CPU samples: record with "
				  "--sample=cpu");
	}
}

/* The processes that were started to run a program, and spent much of their time with the import of the package. */
static size_t importers(struct imports *p, uint32_t package, struct rule_span *spans, uint64_t *ret_ns,
			uint64_t *ret_most, uint64_t *ret_wall)
{
	const struct model *m = p->rules->context->model;
	size_t count = 0;

	*ret_ns = *ret_most = *ret_wall = 0;
	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *process = &m->processes[i];
		uint64_t ns = p->all_ns[i] ? *time_of(p, package, i, 0) : 0;

		if (!is_much(m, process, ns) || (process->image_count == 1 &&
					      m->images[process->first_image].via == TF_VIA_FORK))
			continue;
		spans[count++] = (struct rule_span){process->start_ns, process->end_ns};
		*ret_ns += ns;
		*ret_most = ns > *ret_most ? ns : *ret_most;
		*ret_wall += recorded_wall(m, process);
	}
	return count;
}

/* The line that waits for worker processes, or for what they send: of the longest such wait. */
static const struct code_line *worker_line(struct rules *r)
{
	const struct job_time *t = rules_time(r);
	const struct model *m = r->context->model;

	list_each(const struct role, role, &t->roles)
		array_each(const struct role_call, call, role->calls, role->call_count) {
			const struct role *awaited = call->is_users ? role_waited_for(&t->roles, role, call) : NULL;

			if (awaited && attribution_is_worker(process_last_image(m, awaited->process)))
				return role_call_line(r->context, call);
		}
	return NULL;
}

/* Worker processes that import the package. */
struct workers {
	size_t count;
	uint64_t lives_ns, longest_ns; /* the time in which any of them lived; of one */
};

static struct workers find_workers(struct imports *p, uint32_t package)
{
	const struct model *m = p->rules->context->model;
	SCOPED_MEMORY struct rule_span *spans = mem_alloc((m->process_count + 1) * sizeof(*spans));
	struct workers ret = {0};

	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *process = &m->processes[i];
		uint64_t ns = p->all_ns[i] ? *time_of(p, package, i, 0) : 0;
		uint64_t lived = process->end_ns - process->start_ns;

		if (!is_much(m, process, ns) || !attribution_is_worker(process_last_image(m, process)))
			continue;
		spans[ret.count++] = (struct rule_span){process->start_ns, process->end_ns};
		ret.longest_ns = lived > ret.longest_ns ? lived : ret.longest_ns;
	}
	ret.lives_ns = rule_union(spans, ret.count);
	return ret;
}

/* The part of what workers do, but for waits for others, that is not at lines of the program's own: they would do that
 * if they stayed, too. */
static double start_share(struct rules *r)
{
	uint64_t all_ns = 1, work_ns = 0;

	list_each(const struct role, role, &rules_time(r)->roles) {
		if (!attribution_is_worker(process_last_image(r->context->model, role->process)))
			continue;
		all_ns += role->cpu_ns;
		work_ns += array_sum(line, role->lines.items, role->lines.count, line->is_users ? line->ns : 0);
		array_each(const struct role_call, call, role->calls, role->call_count) {
			if (role_call_waits(role, call->kind, call->ns, call->count))
				continue;
			all_ns += call->ns;
			work_ns += call->is_users ? call->ns - smaller_of(call->import_ns, call->ns) : 0;
		}
	}
	return 1 - (double)smaller_of(work_ns, all_ns) / (double)all_ns;
}

/* Workers that follow each other could have stayed: the place is the line for which they are started. Of those that
 * live side by side it is the import. */
static void blame_start(struct imports *p, uint32_t package, struct finding *f)
{
	struct workers workers = find_workers(p, package);
	uint64_t again_ns = workers.lives_ns - workers.longest_ns, low_ns = f->cost_ns;
	const struct code_line *line = again_ns >= low_ns ? worker_line(p->rules) : NULL;
	double share;

	if (!line)
		return;
	share = start_share(p->rules);
	again_ns = (uint64_t)((double)again_ns * share);
	again_ns = larger_of(again_ns, low_ns);
	f->cost_ns = (uint64_t)((double)workers.lives_ns * share);
	f->cost_ns = larger_of(f->cost_ns, again_ns);
	f->line = line;
	f->saves = (struct saving){.saved_ns = again_ns, .low_ns = low_ns, .high_ns = f->cost_ns,
				   .cost_ns = f->cost_ns};
	f->is_priced = true;
	buffer_set(&f->text, "%zu worker processes are started anew and import %s, ", workers.count,
		   aggregate_field(&p->packages.rows[package - 1], 0));
	rule_time(&f->text, f->cost_ns);
}

static void judge_repeats(struct imports *p, struct finding *f)
{
	const struct model *m = p->rules->context->model;
	SCOPED_MEMORY struct rule_span *spans = mem_alloc((m->process_count + 1) * sizeof(*spans));

	for (uint32_t package = 1; package <= p->packages.count; package++) {
		uint64_t ns, most, wall, cost;
		size_t count = importers(p, package, spans, &ns, &most, &wall);
		const char *name = aggregate_field(&p->packages.rows[package - 1], 0);

		if (count < REPEATED)
			continue;
		/* What runs beside each other costs the run less than its sum. */
		cost = (uint64_t)((double)(ns - most) * (double)rule_union(spans, count) / (double)wall);
		if (cost <= f->cost_ns)
			continue;
		f->line = NULL;
		f->is_priced = false;
		for (size_t i = 0; i < p->rows.count; i++) {
			const char *row = aggregate_field(&p->rows.rows[i], 1) + strlen("import");

			if (*row && !strcmp(row + 1, name))
				rule_call_add_row(p->rules, &p->rows.rows[i], f);
		}
		f->cost_ns = cost;
		buffer_set(&f->text, "each of %zu processes imports %s anew, ", count, name);
		rule_time(&f->text, cost);
		blame_start(p, package, f);
	}
}

void rule_import_heavy(struct rules *r, struct finding *f)
{
	size_t processes = r->context->model->process_count;
	struct imports p = {.rules = r,
			    .packages.totals_only = true,
			    .all_ns = mem_alloc((processes + 1) * sizeof(*p.all_ns)),
			    .own_ns = mem_alloc((processes + 1) * sizeof(*p.own_ns)),
			    .has_samples = mem_alloc((processes + 1) * sizeof(*p.has_samples))};

	rule_call_columns(f);
	scan_events(&(struct scan){.context = r->context, .call_args = 1u << TF_ARG_STACK, .code = python_any_file,
				   .more = &p}, visit_import);
	aggregate_sort(&p.rows);
	for (size_t i = 0; i < processes; i++)
		if (p.all_ns[i])
			judge_process(&p, f, i);
	judge_repeats(&p, f);
	rule_needs_python(r, f);
	aggregate_done(&p.rows);
	aggregate_done(&p.packages);
	map_done(&p.known);
	map_done(&p.times);
	free(p.kinds);
	free(p.used);
	free(p.all_ns);
	free(p.own_ns);
	free(p.has_samples);
}
