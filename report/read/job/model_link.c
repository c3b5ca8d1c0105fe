/* SPDX-License-Identifier: Apache-2.0 */
/* After all files were read: builds the clock maps and the processes, and determines how each ended. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "report/base/newer_libc.h"
#include "report/read/job/model.h"
#include "report/read/job/process_tree.h"

/* Containers on one machine have different host names and the same clock. */
static void share_pairs(struct model *m)
{
	for (size_t i = 0; i < m->machine_count; i++) {
		struct clock_map *to = &m->machines[i].clock;

		for (size_t k = 0; k < m->machine_count; k++) {
			const struct machine *from = &m->machines[k];

			if (k == i || from->clock.source != to->source || strcmp(from->boot, m->machines[i].boot))
				continue;
			if (!to->hz)
				to->hz = from->clock.hz;
			for (size_t n = 0; n < from->own_pairs; n++)
				clock_map_add(to, &from->clock.pairs[n]);
		}
	}
}

static void build_clock_maps(struct model *m)
{
	for (size_t i = 0; i < m->machine_count; i++)
		m->machines[i].own_pairs = m->machines[i].clock.count;
	share_pairs(m);
	array_each(struct machine, machine, m->machines, m->machine_count) {
		for (size_t k = 0; !machine->clock.count && k < machine->rough_count; k++)
			clock_map_add(&machine->clock, &machine->rough[k]);
		clock_map_build(&machine->clock);
		if (machine->clock.count && !machine->clock.rate_is_known)
			texts_add(&m->problems,
				  "%s: the rate of its clock is not known, times of its processes are in ticks",
				  machine->host);
	}
}

const struct trace_thread *image_main_thread(const struct image *image)
{
	const struct trace *t = image->trace;

	return t ? array_find(thread, t->threads, t->thread_count, thread->tid == image->pid) : NULL;
}

uint64_t image_last_ticks(const struct image *image)
{
	const struct trace *t = image->trace;
	uint64_t last = image->start_ticks;

	if (image->end_ticks)
		return image->end_ticks;
	if (!t)
		return last;
	for (int i = 0; i < 2; i++)
		last = larger_of(last, t->header.last[i].ticks);
	array_each(const struct trace_thread, thread, t->threads, t->thread_count) {
		uint32_t function;
		uint64_t start;

		last = larger_of(last, thread->last_ticks);
		if (thread->page && thread->page->end_ticks > last)
			last = thread->page->end_ticks;
		if (thread_current(thread, &function, &start) && start > last)
			last = start;
	}
	return last;
}

static const struct model *sorted_model;

static uint64_t image_start_ns(const struct model *m, const struct image *image)
{
	return clock_map_ns(&m->machines[image->machine].clock, image->start_ticks);
}

COMPARATOR(compare_images, struct image,
	   order_of(image_start_ns(sorted_model, a), image_start_ns(sorted_model, b)) ?: order_of(a->pid, b->pid) ?:
	   order_of(a->nonce, b->nonce))

COMPARATOR(compare_by_process, struct image,
	   order_of(a->process, b->process) ?:
	   order_of(a->via != TF_VIA_OBSERVED, b->via != TF_VIA_OBSERVED) ?: compare_images(a, b))

/* Keys of the map of known processes besides the start times: the latest process that a forked image without an exact
 * start time began, the bound of its start time, and the latest observed image (its position + 1). */
enum { NEWEST = -1, NEWEST_BOUND = -2, NEWEST_OBSERVED = -3 };

/* The launcher may estimate the start time of a process that has ended, 1 tick too late. */
static bool has_started_by(const struct image *image, uint64_t bound)
{
	return image->process_start <= bound + (image->via == TF_VIA_OBSERVED);
}

/* Whether the launcher observed the process before the forked image began: an observed image begins with the fork. */
static const struct image *observed_before(const struct model *m, struct map *known, uint64_t key,
					   const struct image *image)
{
	uint64_t position = *map_put(known, key, (uint64_t)NEWEST_OBSERVED, NULL);
	const struct image *observed = position ? &m->images[position - 1] : NULL;
	bool has_ended = observed && observed->end_ticks && observed->end_ticks < image->start_ticks;

	return observed && !has_ended && has_started_by(observed, image->process_start) ? observed : NULL;
}

/* The place of an image's process in the map of known ones: by pid and start time within its run, since containers that
 * several launchers start at the same time have processes with the same pid and start time. If only an upper bound of
 * the start time is known, or an image with this pid before had only such a bound, it is the latest process with this
 * pid. */
static uint64_t *process_place(const struct model *m, struct map *known, const struct image *image)
{
	const uint64_t in_run[] = {image->run, (uint64_t)image->machine << 32 | image->pid};
	uint64_t key = hash_bytes(in_run, sizeof(in_run)), *place;
	uint64_t newest = *map_put(known, key, (uint64_t)NEWEST, NULL);

	if (image->start_is_bound) {
		const struct image *observed = observed_before(m, known, key, image);

		*map_put(known, key, (uint64_t)NEWEST_OBSERVED, NULL) = 0;
		*map_put(known, key, (uint64_t)NEWEST_BOUND, NULL) = image->process_start;
		place = map_put(known, key, (uint64_t)NEWEST, NULL);
		*place = observed ? observed->process + 1 : 0;
		return place;
	}
	if (image->via == TF_VIA_OBSERVED)
		*map_put(known, key, (uint64_t)NEWEST_OBSERVED, NULL) = (uint64_t)(image - m->images) + 1;
	place = map_put(known, key, image->process_start, NULL);
	if (!*place && newest && image->via != TF_VIA_FORK &&
	    has_started_by(image, *map_find(known, key, (uint64_t)NEWEST_BOUND)))
		*place = newest;
	return place;
}

/* Containers have processes with the same pid, and possibly the same start time: the latest image at this place exited,
 * so that another one does not continue it. While processes are made, first_image is the latest one. */
static bool is_other_process(const struct model *m, size_t process, const struct image *image)
{
	const struct image *last = &m->images[m->processes[process].first_image];

	return image->via == TF_VIA_START && last->via != TF_VIA_OBSERVED && last->end == TF_END_EXIT;
}

/* The process that an image continues: the same pid and start time, or, if the start time is not known, the one that
 * called exec. A forked image with a bound begins a process, unless the launcher observed it before. */
static size_t process_of(struct model *m, struct map *known, const struct image *image)
{
	uint64_t *place = process_place(m, known, image);

	if (*place && (image->process_start || image->via == TF_VIA_START) && !is_other_process(m, *place - 1, image))
		return *place - 1;
	*place = m->process_count + 1;
	mem_append(m->processes, m->process_count, m->process_capacity, (struct process){
					       .machine = image->machine,
					       .run = image->run,
					       .pid = image->pid,
					       .parent_pid = image->parent_pid,
					       .start_ns = image_start_ns(m, image),
				       });
	return m->process_count - 1;
}

static void make_processes(struct model *m)
{
	SCOPED(map) known = {0};

	sorted_model = m;
	array_sort(m->images, m->image_count, compare_images);
	for (size_t i = 0; i < m->image_count; i++) {
		size_t process = process_of(m, &known, &m->images[i]);

		m->images[i].process = process;
		m->processes[process].first_image = i;
	}
	array_sort(m->images, m->image_count, compare_by_process);
	for (size_t i = m->image_count; i-- > 0;) {
		struct process *p = &m->processes[m->images[i].process];

		p->first_image = i;
		p->image_count++;
	}
}

const char *image_variable(const struct image *image, const char *name)
{
	size_t length = strlen(name);

	for (const char *item = image->variables; item && *item; item += strlen(item) + 1)
		if (!strncmp(item, name, length) && item[length] == '=')
			return item + length + 1;
	return NULL;
}

const char *image_rank(const struct image *image)
{
	static const char *const names[] = {TF_RANK_VARIABLES};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = image_variable(image, names[i]);

		if (value && *value)
			return value;
	}
	return "";
}

uint32_t rank_number(const char *rank, const char **ret_step)
{
	char *end;
	unsigned long number = strtoul(rank, &end, 10);

	if (ret_step)
		*ret_step = end;
	return end != rank && number < INT32_MAX && (!*end || *end == '@') ? (uint32_t)number : RANK_NONE;
}

/* Words with unusual characters are in single quotes. */
const char *run_option(const struct run_record *r, const char *name, size_t *ret_length)
{
	const char *options = r->options ? r->options : "";
	size_t length = strlen(name);

	for (const char *at = options; (at = strstr(at, name)); at += length) {
		bool is_quoted = at > options && at[-1] == '\'';
		const char *before = at - is_quoted;

		if (at[length] != '=' || (before > options && before[-1] != ' '))
			continue;
		*ret_length = strcspn(at + length + 1, is_quoted ? "'" : " ");
		return at + length + 1;
	}
	return NULL;
}

bool model_has_capture_range(const struct model *m, uint64_t run)
{
	return array_find(ranges, m->ranges, m->ranges_count,
			  ranges->run == run && ranges->mode != TF_RANGE_WHOLE_RUN) != NULL;
}

const struct run_record *model_run(const struct model *m, const struct image *image)
{
	const uint64_t *place = map_find(&m->run_by_id, image->run, 0);

	return place ? &m->runs[*place - 1] : NULL;
}

/* Names the job step of a run: JOB[TASK].STEP of Slurm, else what mpirun or torchrun call the step and the job.
 * Empty: none. */
static void step_name(const struct run_record *r, struct buffer *ret)
{
	const char *name = r ? strchr(r->key, ':') : NULL;
	bool is_slurm = r && *r->step && text_begins_with(r->key, "slurm:");

	buffer_clear(ret);
	if (!r)
		return;
	if (name && !is_slurm)
		buffer_print(ret, "%s%s", name + 1, *r->job ? "/" : "");
	buffer_text(ret, r->job);
	if (*r->task)
		buffer_print(ret, "[%s]", r->task);
	if (is_slurm)
		buffer_print(ret, ".%s", r->step);
	if (*r->restart)
		buffer_print(ret, ".restart%s", r->restart);
}

/* Two ranks of one number in different steps are two ranks. */
static void tell_ranks_apart(struct model *m)
{
	SCOPED(map) steps = {0};
	SCOPED(buffer) name = {0};

	texts_done(&m->ranks);
	for (int is_second = 0; is_second < 2; is_second++) {
		array_each(struct process, p, m->processes, m->process_count) {
			if (!*p->rank)
				continue;
			step_name(model_run(m, &m->images[p->first_image]), &name);
			map_put(&steps, hash_bytes(name.data, name.size), 0, NULL);
			if (!is_second || !name.size)
				continue;
			texts_add(&m->ranks, "%s@%s", p->rank, name.data);
			p->rank = m->ranks.items[m->ranks.count - 1];
		}
		if (steps.count < 2)
			break;
	}
}

static bool same_boot(const struct model *m, size_t a, size_t b)
{
	return a == b || !strcmp(m->machines[a].boot, m->machines[b].boot);
}

static uint64_t wait_time_ns(const struct model *m, const struct wait_status *t)
{
	if (t->realtime_ns)
		return clock_map_realtime(&m->machines[t->machine].clock, t->realtime_ns);
	return t->ticks ? clock_map_ns(&m->machines[t->machine].clock, t->ticks) : 0;
}

/* The process to which a wait status applies: the last one of that pid that had started by then, or the first one
 * without a status. */
static struct process *waited_process(struct model *m, const struct map *by_pid, const size_t *next,
				      const struct wait_status *t)
{
	const uint64_t *first = map_find(by_pid, t->pid, 0);
	uint64_t at = wait_time_ns(m, t);
	struct process *best = NULL;

	for (size_t i = first ? *first : SIZE_MAX; i != SIZE_MAX; i = next[i]) {
		struct process *p = &m->processes[i];

		if (!same_boot(m, p->machine, t->machine) || p->has_status || (t->run && p->run != t->run))
			continue;
		if (t->parent_pid && p->parent_pid && p->parent_pid != t->parent_pid)
			continue;
		if (!at)
			return p;
		if (p->start_ns <= at)
			best = p;
	}
	return best;
}

static void apply_wait_statuses(struct model *m)
{
	SCOPED(map) by_pid = {0};
	SCOPED_MEMORY size_t *next = mem_alloc(m->process_count * sizeof(*next));

	for (size_t i = m->process_count; i-- > 0;) {
		bool is_new;
		uint64_t *first = map_put(&by_pid, m->processes[i].pid, 0, &is_new);

		next[i] = is_new ? SIZE_MAX : *first;
		*first = i;
	}
	array_each(const struct wait_status, t, m->wait_statuses, m->wait_status_count) {
		struct process *p;

		if (!WIFEXITED(t->status) && !WIFSIGNALED(t->status))
			continue;
		p = waited_process(m, &by_pid, next, t);
		if (!p)
			continue;
		p->has_status = true;
		p->status = t->status;
		p->waited_ns = wait_time_ns(m, t);
		p->total_ns = t->cpu_ns;
	}
}

/* Whether the image's process, not a later one with the same pid, exists and is not a zombie: one of its threads is
 * alive, not necessarily the main one. */
static bool is_alive(const struct image *image)
{
	char path[32], text[1024], state = 0, *at;
	unsigned long long started = 0;
	unsigned threads = 0;
	FILE *f;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%u/stat", image->pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	size = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[size] = 0;
	at = strrchr(text, ')'); /* its name may contain anything */
	if (!at || sscanf(at + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %u %*s %llu",
			  &state, &threads, &started) != 3)
		return false;
	return (state != 'Z' || threads > 1) && state != 'X' &&
	       (started == image->process_start || (image->start_is_bound && started < image->process_start));
}

static void signal_text(char *text, size_t size, int signal)
{
	const char *name = signal_name(signal);

	if (name)
		snprintf(text, size, "killed by signal %d (SIG%s)", signal, name);
	else
		snprintf(text, size, "killed by signal %d", signal);
}

static void describe_end(struct model *m, struct process *p, const struct image *last)
{
	bool has_exited = p->has_status ? !WIFSIGNALED(p->status) : last->end == TF_END_EXIT;

	/* Without a launcher: what exit() was given, of which its parent sees a byte. */
	p->exit_status = !has_exited ? -1 : p->has_status ? WEXITSTATUS(p->status) : last->end_status & 0xff;
	if (p->has_status && WIFSIGNALED(p->status))
		signal_text(p->ended, sizeof(p->ended), WTERMSIG(p->status));
	else if (has_exited)
		snprintf(p->ended, sizeof(p->ended), "exit %d", p->exit_status);
	else if (last->end == TF_END_ABORT)
		signal_text(p->ended, sizeof(p->ended), SIGABRT);
	else if (m->machines[p->machine].is_this && last->process_start && is_alive(last))
		p->is_running = true;
	else if (last->end == TF_END_EXEC) {
		snprintf(p->ended, sizeof(p->ended), "exec");
		p->has_exec = true;
	}
	else if ((last->via == TF_VIA_OBSERVED && last->end_ticks) || last->is_missing)
		snprintf(p->ended, sizeof(p->ended), "status unknown");
	else
		snprintf(p->ended, sizeof(p->ended), "killed");
	if (p->is_running)
		snprintf(p->ended, sizeof(p->ended), "running");
	for (size_t i = 0; i < p->image_count; i++)
		p->lacks_file |= m->images[p->first_image + i].is_missing;
	if (p->lacks_file)
		snprintf(p->ended + strlen(p->ended), sizeof(p->ended) - strlen(p->ended), ", trace file missing");
}

/* The last image by time. If the last image that the process recorded ended by an exec, and the launcher observed the
 * program that was executed, the observed image is the last one; other observed images are earlier. */
static const struct image *last_image(const struct model *m, const struct process *p)
{
	const struct image *images = &m->images[p->first_image], *own = &images[p->image_count - 1], *observed = NULL;

	for (size_t i = 0; i < p->image_count && images[i].via == TF_VIA_OBSERVED; i++)
		observed = &images[i];
	if (!observed || own->via == TF_VIA_OBSERVED)
		return own;
	return own->end == TF_END_EXEC && observed->start_ticks >= own->start_ticks ? observed : own;
}

bool model_unrecorded_command(const struct model *m, uint64_t *ret_ns, char **ret_ended)
{
	const struct run_record *r = m->run_count == 1 ? m->runs : NULL;
	const struct wait_status *t = NULL;

	for (size_t i = 0; r && i < m->wait_status_count; i++)
		if (m->wait_statuses[i].run == r->id)
			t = &m->wait_statuses[i];
	for (size_t i = 0; t && i < m->process_count; i++)
		if (m->processes[i].pid == t->pid && m->processes[i].run == r->id)
			t = NULL;
	if (!t)
		return false;
	*ret_ns = clock_map_realtime(&m->machines[t->machine].clock, r->realtime_ns);
	*ret_ns = wait_time_ns(m, t) > *ret_ns ? wait_time_ns(m, t) - *ret_ns : 0;
	*ret_ended = mem_alloc(sizeof(m->processes->ended));
	if (WIFSIGNALED(t->status))
		signal_text(*ret_ended, sizeof(m->processes->ended), WTERMSIG(t->status));
	else
		snprintf(*ret_ended, sizeof(m->processes->ended), "exit %d", WEXITSTATUS(t->status));
	return true;
}

static void describe_process(struct model *m, struct process *p)
{
	const struct image *last = last_image(m, p);
	const struct clock_map *clock = &m->machines[p->machine].clock;
	struct timespec now;

	p->command = last->command && *last->command ? last->command : last->executable;
	p->rank = image_rank(last);
	describe_end(m, p, last);
	p->end_ns = last->end_realtime_ns ? clock_map_realtime(clock, last->end_realtime_ns)
					  : clock_map_ns(clock, image_last_ticks(last));
	p->end_is_known = last->end_ticks || last->end_realtime_ns;
	if (!p->end_is_known && p->waited_ns > p->end_ns) {
		p->end_ns = p->waited_ns;
		p->end_is_known = true;
	}
	if (p->is_running) {
		clock_gettime(CLOCK_REALTIME, &now);
		p->end_ns = clock_map_realtime(clock, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
	}
	p->end_ns = larger_of(p->end_ns, p->start_ns);
}

void model_order(struct model *m)
{
	free(m->processes);
	m->processes = NULL;
	m->process_count = m->process_capacity = 0;
	make_processes(m);
	process_tree_find(m);
	apply_wait_statuses(m);
	m->origin_ns = UINT64_MAX;
	for (size_t i = 0; i < m->process_count; i++) {
		describe_process(m, &m->processes[i]);
		m->origin_ns = smaller_of(m->origin_ns, m->processes[i].start_ns);
	}
	model_last_seen(m);
	tell_ranks_apart(m);
	for (size_t i = 0; i < m->run_count; i++) {
		uint64_t at =
			clock_map_realtime(&m->machines[m->runs[i].machine].clock, m->runs[i].realtime_ns);

		if (m->runs[i].realtime_ns && at < m->origin_ns)
			m->origin_ns = at;
	}
	if (m->origin_ns == UINT64_MAX)
		m->origin_ns = 0;
}

static bool has_samples(const struct image *image)
{
	return image->trace && array_find(thread, image->trace->threads, image->trace->thread_count,
					  thread->samples) != NULL;
}

/* Whether the process took samples by itself while the launcher observed it. `sampled`: the images with samples. */
static bool has_own_samples(const struct image *const *sampled, size_t count, const struct image *observed)
{
	for (size_t i = 0; i < count; i++) {
		const struct image *own = sampled[i];

		if (own->pid == observed->pid && own->machine == observed->machine &&
		    own->start_ticks <= image_last_ticks(observed) && image_last_ticks(own) >= observed->start_ticks)
			return true;
	}
	return false;
}

/* Of samples from two sources, a process's own are kept: they have Python frames and complete stacks. */
static void drop_observed_twice(struct model *m)
{
	SCOPED_MEMORY const struct image **sampled = mem_alloc((m->image_count + 1) * sizeof(*sampled));
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < m->image_count; i++)
		if (m->images[i].via != TF_VIA_OBSERVED && has_samples(&m->images[i]))
			sampled[count++] = &m->images[i];
	array_each(struct image, image, m->images, m->image_count)
		image->is_dropped = image->via == TF_VIA_OBSERVED && has_own_samples(sampled, count, image);
	for (size_t i = 0; i < m->image_count; i++) {
		if (m->images[i].is_dropped)
			image_done(&m->images[i]);
		else
			m->images[kept++] = m->images[i];
	}
	m->image_count = kept;
}

static const struct ranges *ranges_of(const struct model *m, uint64_t run)
{
	return array_find(ranges, m->ranges, m->ranges_count, ranges->run == run && ranges->count);
}

void model_link(struct model *m)
{
	drop_observed_twice(m);
	model_ring(m);
	for (size_t i = 0; i < m->image_count; i++)
		m->images[i].ranges = ranges_of(m, m->images[i].run);
	build_clock_maps(m);
	model_order(m);
}

uint32_t image_range(const struct image *image, uint64_t ticks)
{
	const struct ranges *r = image->ranges;
	size_t after = r ? first_place(i, 0, r->count, r->items[i].begin_ticks <= ticks) : 0;

	return after && (!r->items[after - 1].end_ticks || ticks < r->items[after - 1].end_ticks) ? (uint32_t)after : 0;
}

uint64_t image_range_part(const struct image *image, uint64_t start, uint64_t end)
{
	uint32_t range = image_range(image, start);
	uint64_t last = range ? image->ranges->items[range - 1].end_ticks : 0;

	return (last && last < end ? last : end) - start;
}
