/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/summary/summary_parts.h"

#include <string.h>

#include "report/answers/summary/summary_time.h"
#include "report/events/jax/jax_ranges.h"
#include "report/events/stacks/samples.h"
#include "report/names/attribution.h"

/* Computing for so much of the run's time is worth samples; waiting in MPI for so much of the ranks' time is worth a
 * record of its calls; so much at a line without a name is worth a word. */
enum { SAMPLES_PERCENT = 25, MESSAGES_PERCENT = 5, UNNAMED_PERCENT = 10 };

/* What --trace has without the option. */
#define TRACED_BY_DEFAULT(number, name, word, set, ...) TRACED_##set(word)
#define TRACED_DEFAULT(word) "," #word
#define TRACED_MORE(word)
#define TRACED_SAME(word)
static const char traced_by_default[] = TF_GROUPS(TRACED_BY_DEFAULT, );

/* ---- MPI ---- */

struct messages {
	struct rules *rules;
	uint64_t ns; /* in MPI's libraries: OS calls and samples */
};

static bool is_mpi_library(const char *path)
{
	return text_any(text_begins_with, path_name(path), "libmpi", "libpmpi");
}

/* The words of --trace of the image's run. */
static void traced_words(const struct model *m, const struct image *image, struct buffer *ret)
{
	const struct run_record *run = model_run(m, image);
	size_t length;
	const char *option = run ? run_option(run, "trace", &length) : NULL;

	if (option)
		buffer_print(ret, ",%.*s", (int)length, option);
	else
		buffer_text(ret, traced_by_default);
}

static void visit_messages(struct scan *s, const struct event *e)
{
	struct messages *m = s->more;
	const struct function *f = event_function(s->image->trace, e);
	uint32_t stack = e->kind == TF_SAMPLE || (f && f->group == TF_GROUP_OSRT) ? event_stack(e) : 0;

	if (stack && s->thread->tid == s->image->pid && rule_polls(m->rules, s->image, stack))
		m->ns += f ? clock_map_duration(s->clock, e->duration) : samples_ns(e);
}

/* Only recorded groups have names of functions. */
static bool records_mpi(const struct trace *t)
{
	const struct function *f;
	bool found = false;

	for (uint32_t id = 0; !found && t && (f = trace_function(t, id)); id++)
		found = f->group == TF_GROUP_MPI && *f->name;
	return found;
}

/* CPU time of the image's main thread. */
static uint64_t main_cpu(struct rules *r, const struct image *image)
{
	const struct partition *p = &rules_time(r)->partition;

	return array_sum(t, p->threads, p->count, t->image == image && t->origin == THREAD_MAIN ? t->cpu_ns : 0);
}

/* Whether ranks spend time in MPI whose calls are not recorded. MPI polls, so that without samples it is not known
 * whether the CPU time of a rank is waiting; nor is it where the events are too many to be read once more. Sets ret to
 * the words of --trace that are recorded already. */
static bool lacks_mpi(struct rules *r, bool is_large, struct buffer *ret)
{
	const struct model *m = r->context->model;
	struct messages messages = {.rules = r};
	uint64_t wall_ns = 0;

	array_each(const struct image, image, m->images, m->image_count) {
		if (!attribution_uses_module(image, is_mpi_library))
			continue;
		buffer_clear(ret);
		traced_words(m, image, ret);
		if (strstr(ret->data, ",mpi") || records_mpi(image->trace))
			return false;
		wall_ns += recorded_wall(m, &m->processes[image->process]);
		if (!is_large)
			scan_image(&(struct scan){.context = r->context, .image = image, .more = &messages},
				   visit_messages);
		if (is_large || !samples_any(m))
			messages.ns += main_cpu(r, image);
	}
	return messages.ns && messages.ns * 100 >= wall_ns * MESSAGES_PERCENT;
}

/* ---- names ---- */

/* What has virtual machines write the names of what they compile, which the report reads. */
static const struct {
	const char *program, *how;
} names_of_compiled[] = {
	{"node", "node --perf-basic-prof gives"},
	{"java", "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit (from 17 on) gives"},
	{"dotnet", "DOTNET_PerfMapEnabled=1 gives"},
	{"ruby", "ruby --yjit --yjit-perf gives"},
	{"beam.smp", "erl +JPperf true gives"},
};

static bool has_no_name(const struct report_context *c, const struct role_call *line)
{
	const struct code_line *of = role_call_line(c, line);

	return of && !strcmp(of->function, CODE_LINE_UNKNOWN);
}

static const char *how_to_name(const struct model *m, const struct process *p)
{
	const char *executable = m->images[p->first_image + p->image_count - 1].executable;

	for (size_t k = 0; executable && k < sizeof(names_of_compiled) / sizeof(*names_of_compiled); k++)
		if (!strcmp(path_name(executable), names_of_compiled[k].program))
			return names_of_compiled[k].how;
	return NULL;
}

/* What to fix is below code without a name, which may call much. */
static bool is_first_unnamed(const struct fix_first *first)
{
	return first->count && first->items->frame_count &&
	       !strcmp(first->items->frames[0].function, CODE_LINE_UNKNOWN);
}

void summary_names(const struct report_context *c, const struct roles *roles, const struct fix_first *first,
		   struct buffer *ret)
{
	for (size_t i = 0; i < roles->count; i++) {
		const struct role_lines *lines = &roles->items[i].lines;
		const char *how;

		if (!lines->count || !has_no_name(c, lines->items) ||
		    (lines->items->ns * 100 < roles->wall_ns * UNNAMED_PERCENT && !is_first_unnamed(first)))
			continue;
		how = how_to_name(c->model, roles->items[i].process);
		buffer_print(ret, "%-*s %s what is compiled at run time its names\n", SUMMARY_LABEL, "no names",
			     how ? how : "/tmp/perf-PID.map, if the program wrote it, would give");
		return;
	}
}

/* ---- JAX ---- */

static bool is_jax_library(const char *path)
{
	return strstr(path, "/jaxlib/");
}

static bool lacks_jax(const struct model *m)
{
	return array_find(image, m->images, m->image_count,
			  attribution_uses_module(image, is_jax_library) && !jax_has_phases(image)) != NULL;
}

/* Were samples asked for in all runs? */
static bool has_asked_for_samples(const struct model *m)
{
	const char *value;
	size_t length;

	for (size_t i = 0; i < m->run_count; i++)
		if (!(value = run_option(&m->runs[i], "sample", &length)) || strncmp(value, "cpu", length) != 0)
			return false;
	return m->run_count > 0;
}

bool summary_next(struct rules *r, bool computes, bool is_large, struct buffer *ret)
{
	const struct roles *roles = &rules_time(r)->roles;
	SCOPED(buffer) words = {0};
	bool lacks_samples, lacks_messages = lacks_mpi(r, is_large, &words), jax = lacks_jax(r->context->model);
	uint64_t cpu_ns = array_sum(role, roles->items, roles->count, role->cpu_ns);

	lacks_samples = !has_asked_for_samples(r->context->model) &&
			(computes || (cpu_ns && !samples_any(r->context->model) &&
				      cpu_ns * 100 >= roles->wall_ns * SAMPLES_PERCENT));
	if (!lacks_samples && !lacks_messages && !jax)
		goto done;
	buffer_print(ret, "%-*s ", SUMMARY_LABEL, "next");
	if (lacks_samples) {
		buffer_text(ret, "CPU ");
		rule_time(ret, cpu_ns);
		buffer_text(ret, " of ");
		rule_time(ret, roles->wall_ns);
		buffer_text(ret, " wall: ");
	} else if (lacks_messages) {
		buffer_text(ret, "ranks wait in MPI: ");
	}
	buffer_print(ret, "run again with%s%s", lacks_samples ? " -s cpu" : "", jax ? " --jax" : "");
	if (lacks_messages)
		buffer_print(ret, " -t mpi%s", words.data);
	buffer_text(ret, "\n");
done:
	return lacks_samples || lacks_messages || jax;
}
