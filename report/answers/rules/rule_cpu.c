/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_starved, cpu_oversubscribed: threads were runnable and waited for a CPU. The cause is either other programs on
 * the CPUs, or more runnable threads in the job than its affinity mask and its quota allow CPUs. */
#include <string.h>

#include "report/answers/rule.h"

/* Of the run. */
enum { FOUND_PERCENT = 5 };
/* Fewer runnable threads for each CPU are usual: make -j, pools of processes. `limited`: where the mask or the quota
 * leaves fewer CPUs than the machine has. `nested`: processes with several threads each. */
static const double over = 2.2, limited = 1.2, nested = 1.5;

struct waiting {
	const struct role *role;
	const struct pressure *pressure;
	uint64_t ns; /* as a part of the run's time */
};

static bool is_limited(const struct pressure *p)
{
	return cpu_limit_width(&p->limit) < p->limit.online;
}

static uint64_t waiting_for_others(const struct pressure *p, uint64_t ns)
{
	return (uint64_t)((double)ns * p->others);
}

static uint64_t waiting_for_own(const struct pressure *p, uint64_t ns)
{
	double each = p->runnable / cpu_limit_width(&p->limit);

	return each >= (is_limited(p) ? limited : p->is_nested ? nested : over) ? ns - waiting_for_others(p, ns) : 0;
}

static void add_waiting(struct rules *r, struct finding *f, const struct waiting *w)
{
	SCOPED(buffer) words = {0};

	role_words(w->role, &words);
	rule_row(f);
	table_cells(&f->table, r->context->model->machines[w->pressure->machine].host, words.data,
		    cpu_limit_width(&w->pressure->limit), w->pressure->limit.online, w->pressure->runnable,
		    w->role->cpu_ns, w->role->delay_ns, w->ns);
}

static void waiting_words(struct rules *r, const struct waiting *w, const char *why, struct finding *f)
{
	SCOPED(buffer) line = {0};
	double lifetime = w->role->lifetime_ns ? (double)w->role->lifetime_ns : 1;

	buffer_set(&f->text, "%s: ", why);
	role_words(w->role, &f->text);
	buffer_print(&f->text, " had a CPU %.0f %% of the time and waited for one %.0f %%, ",
		     100 * (double)w->role->cpu_ns / lifetime, 100 * (double)w->role->delay_ns / lifetime);
	/* The role's row in the partition of time has the same figure. */
	rule_time(&f->text, w->role->delay_ns);
	if (w->role->threads > 1)
		buffer_text(&f->text, " in all");
	role_work_line(r->context, &rules_time(r)->roles, w->role, &line);
	if (line.size)
		buffer_print(&f->text, ", working%s", line.data);
}

static void few_words(const struct pressure *p, struct buffer *ret)
{
	buffer_text(ret, "too few CPUs (");
	if (p->limit.quota_ns != TF_USAGE_UNKNOWN && is_limited(p) && cpu_limit_width(&p->limit) < p->limit.cpus) {
		buffer_print(ret, "%.2f by the quota of the cgroup", cpu_limit_width(&p->limit));
		if (p->limit.throttled_ns) {
			buffer_text(ret, ", which stopped the job for ");
			rule_time(ret, p->limit.throttled_ns);
		}
	} else if (is_limited(p)) {
		buffer_print(ret, "%u of %u by the affinity mask", p->limit.cpus, p->limit.online);
	} else {
		buffer_print(ret, "%u for %.0f runnable threads%s", p->limit.cpus, p->runnable,
			     p->is_nested ? ", several in each process" : "");
	}
	buffer_text(ret, ")");
}

static bool has_delays(const struct partition *p)
{
	return array_find(thread, p->threads, p->count, thread->delay_is_known && thread->cpu_is_known) != NULL;
}

static void cpu_run(struct rules *r, struct finding *f, uint64_t (*part)(const struct pressure *, uint64_t),
		    void (*words)(const struct pressure *, struct buffer *))
{
	const struct job_time *t = rules_time(r);
	size_t unknown = 0;

	rule_has(f, COL_HOST, COL_THREAD_NAMES, COL_CPUS, COL_ONLINE, COL_RUNNABLE, COL_CPU_NS, COL_WAITING_NS,
		 COL_COST_NS);
	list_each(const struct role, role, &t->roles) {
		struct waiting w = {role, pressures_of(&t->pressures, role->process->machine, role->mask), 0};
		SCOPED(buffer) why = {0};

		if (!w.pressure || !role->delay_ns)
			continue;
		unknown += !w.pressure->is_known;
		w.ns = w.pressure->is_known ? role_wall_ns(role, part(w.pressure, role->delay_ns)) : 0;
		if (w.ns * 100 < t->roles.wall_ns * FOUND_PERCENT || !w.ns)
			continue;
		add_waiting(r, f, &w);
		if (w.ns > f->cost_ns) {
			f->is_certain = w.pressure->is_nested && part == waiting_for_own;
			f->cost_ns = w.ns < t->roles.wall_ns ? w.ns : t->roles.wall_ns;
			words(w.pressure, &why);
			waiting_words(r, &w, why.data, f);
		}
	}
	if (!has_delays(&t->partition))
		rule_unchecked(f, t->roles.recorded.is_part ? "time without a CPU is not known of capture ranges"
							    : "the kernel did not account for time without a CPU");
	else if (unknown)
		rule_unchecked(f, "the CPUs that the job may use were not recorded");
}

static void others_words(const struct pressure *p, struct buffer *ret)
{
	buffer_text(ret, "other programs hold the CPUs");
}

void rule_cpu_starved(struct rules *r, struct finding *f)
{
	cpu_run(r, f, waiting_for_others, others_words);
}

void rule_cpu_oversubscribed(struct rules *r, struct finding *f)
{
	cpu_run(r, f, waiting_for_own, few_words);
}
