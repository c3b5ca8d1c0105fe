/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the launcher: keeps the samples of HOST.RUN.usage, and the bytes of HOST.RUN.energy and HOST.RUN.where,
 * whose records report/events/energy and report/causes/where read. */
#include <stdlib.h>
#include <string.h>

#include "report/read/job/model.h"

/* An empty file was made just now by a launcher that is about to write its head. An incomplete sample at the end is
 * being written, or its writer was killed. */
void model_usage(struct model *m, const char *path, const char *name, const struct mapping *file)
{
	struct tf_usage_head head;
	struct usage_samples *u;
	SCOPED_MEMORY char *host = NULL;

	if (!file->size)
		return;
	if (file->size < sizeof(head) || (memcpy(&head, file->data, sizeof(head)), head.magic != TF_USAGE_MAGIC) ||
	    head.sample_bytes < sizeof(struct tf_usage_sample)) {
		texts_add(&m->problems, "%s: not a usage file", path);
		return;
	}
	head.boot[sizeof(head.boot) - 1] = 0;
	host = model_file_host(name);
	u = mem_new(m->usages, m->usage_count, m->usage_capacity, (struct usage_samples){
		.machine = model_machine(m, host, head.boot, head.clock),
		.run = head.run,
		.count = (file->size - sizeof(head)) / head.sample_bytes});
	u->items = mem_alloc((u->count + 1) * sizeof(*u->items));
	for (size_t i = 0; i < u->count; i++)
		memcpy(&u->items[i], file->data + sizeof(head) + i * head.sample_bytes, sizeof(*u->items));
}

void model_energy(struct model *m, const char *path, const char *name, const struct mapping *file)
{
	struct tf_energy_head head;
	struct energy_file *e;
	SCOPED_MEMORY char *host = NULL;

	if (!file->size)
		return;
	if (file->size < sizeof(head) || (memcpy(&head, file->data, sizeof(head)), head.magic != TF_ENERGY_MAGIC)) {
		texts_add(&m->problems, "%s: not an energy file", path);
		return;
	}
	head.boot[sizeof(head.boot) - 1] = 0;
	host = model_file_host(name);
	e = mem_new(m->energies, m->energy_count, m->energy_capacity, (struct energy_file){
		.machine = model_machine(m, host, head.boot, head.clock),
		.run = head.run,
		.size = file->size - sizeof(head)});
	e->bytes = mem_alloc(e->size + 1);
	memcpy(e->bytes, file->data + sizeof(head), e->size);
}

void model_where(struct model *m, const char *path, const struct mapping *file)
{
	struct tf_where_head head;
	struct where_file *w;

	if (!file->size)
		return;
	if (file->size < sizeof(head) || (memcpy(&head, file->data, sizeof(head)), head.magic != TF_WHERE_MAGIC)) {
		texts_add(&m->problems, "%s: not a file of pillion where", path);
		return;
	}
	w = mem_new(m->wheres, m->where_count, m->where_capacity, (struct where_file){
		.run = head.run, .machine = head.machine, .size = file->size - sizeof(head)});
	w->bytes = mem_alloc(w->size + 1);
	memcpy(w->bytes, file->data + sizeof(head), w->size);
}

enum { SEEN = 1, ENDED = 2 };

/* The last sign of life of a process is the last round of the launcher, unless that has seen it end. */
static void processes_seen(struct model *m, const struct usage_samples *u)
{
	SCOPED(map) states = {0};
	uint64_t round = 0, last_ns;

	list_each(const struct tf_usage_sample, s, u) {
		if (s->kind == TF_USAGE_ROUND)
			round = s->ticks;
		if (s->kind == TF_USAGE_PROCESS)
			*map_put(&states, s->pid, s->process_start, NULL) = s->state == 'Z' ? ENDED : SEEN;
		else if (s->kind == TF_USAGE_GONE && !s->tid)
			*map_put(&states, s->pid, s->process_start, NULL) = ENDED;
	}
	last_ns = round ? clock_map_ns(&m->machines[u->machine].clock, round) : 0;
	array_each(struct process, p, m->processes, m->process_count) {
		const struct image *image = &m->images[p->first_image + p->image_count - 1];
		const uint64_t *state = p->run == u->run && !p->end_is_known
						? map_find(&states, p->pid, image->process_start)
						: NULL;

		if (state && *state == SEEN && p->end_ns < last_ns)
			p->end_ns = last_ns;
	}
}

void model_last_seen(struct model *m)
{
	bool is_wanted = array_find(process, m->processes, m->process_count,
				    !process->end_is_known && !process->is_running);

	for (size_t i = 0; is_wanted && i < m->usage_count; i++)
		processes_seen(m, &m->usages[i]);
}
