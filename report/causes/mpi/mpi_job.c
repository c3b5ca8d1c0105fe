/* SPDX-License-Identifier: Apache-2.0 */
/* Which images are the ranks of one MPI job. */
#include <stdlib.h>
#include <string.h>

#include "report/base/table/aggregate.h"
#include "report/causes/mpi/mpi_wait.h"

int64_t mpi_proc_null(const struct image *image)
{
	return image_variable(image, "OMPI_COMM_WORLD_RANK") ? -2 : image_variable(image, "PMI_RANK") ? -1 : 0;
}

/* ---- jobs ---- */

/* Decided by the definitions, of which there are few, not by the events. */
static bool uses_mpi(const struct trace *t)
{
	blobs_each(b, t, TF_BLOB_OPERATION) {
		struct tf_operation op = {0};

		trace_blob(t, b, &op, sizeof(op));
		/* NCCL's have both. */
		if (memchr(op.fields, TF_FIELD_COMMUNICATOR, sizeof(op.fields)) &&
		    !memchr(op.fields, TF_FIELD_COMMUNICATOR_ID, sizeof(op.fields)))
			return true;
	}
	return false;
}

/* The capture range in which the image initialised MPI; false: it did not, or that was not recorded. */
static bool find_begin(const struct model *m, const struct image *image, uint32_t *ret_range)
{
	const struct trace *t = image->trace;

	for (size_t i = 0; uses_mpi(t) && i < t->thread_count; i++) {
		struct cursor cursor;
		struct event e;

		cursor_init(&cursor, t, &t->threads[i]);
		while (t->threads[i].args & 1u << TF_ARG_OPERATION && cursor_next(&cursor, &e))
			if (event_begins_mpi(t, &e)) {
				*ret_range = image_range(image, event_start(&e));
				return true;
			}
	}
	return false;
}

bool mpi_is_whole(const struct trace *t)
{
	uint64_t lost = t->header.threads_lost + t->torn + t->orphans + t->broken + t->damaged_bytes + t->missing_bytes;

	for (size_t i = 0; i < t->thread_count; i++)
		lost += t->threads[i].page ? t->threads[i].page->lost : 1;
	return !lost;
}

static void add_rank(struct mpi_job *job, size_t *capacity, uint32_t rank, const struct image *image, uint32_t range)
{
	while (rank >= *capacity) {
		size_t wanted = *capacity ? *capacity * 2 : 16;

		job->ranks = mem_resize(job->ranks, wanted * sizeof(*job->ranks));
		job->ranges = mem_resize(job->ranges, wanted * sizeof(*job->ranges));
		memset(job->ranks + *capacity, 0, (wanted - *capacity) * sizeof(*job->ranks));
		*capacity = wanted;
	}
	job->ranks[rank] = image;
	job->ranges[rank] = range;
	job->count = rank >= job->count ? rank + 1 : job->count;
}

/* Forgets jobs of which a rank is missing, and those of one rank. */
static void drop_incomplete(struct mpi_jobs *j, const struct model *m, const bool *is_bad)
{
	for (size_t i = 0; i < j->count; i++) {
		bool is_complete = !is_bad[i];

		for (size_t k = 0; k < j->items[i].count; k++)
			is_complete &= j->items[i].ranks[k] != NULL;
		if (!is_complete && !j->reason)
			j->reason = "not all ranks were recorded";
		if (!is_complete || j->items[i].count < 2)
			j->items[i].count = 0;
	}
	for (size_t i = 0; i < m->image_count; i++)
		if (j->job_of[i] && !j->items[j->job_of[i] - 1].count)
			j->job_of[i] = 0;
}

void mpi_jobs_find(const struct model *m, struct mpi_jobs *ret)
{
	SCOPED(aggregate) steps = {0};
	SCOPED_MEMORY size_t *capacities = mem_alloc((m->image_count + 1) * sizeof(*capacities));
	SCOPED_MEMORY bool *is_bad = mem_alloc(m->image_count + 1);

	*ret = (struct mpi_jobs){.job_of = mem_alloc((m->image_count + 1) * sizeof(uint32_t)),
				 .rank_of = mem_alloc((m->image_count + 1) * sizeof(uint32_t))};
	for (size_t i = 0; i < m->image_count; i++) {
		const struct image *image = &m->images[i];
		const char *step, *reason = NULL;
		uint32_t rank = rank_number(m->processes[image->process].rank, &step), range, job;

		if (rank == RANK_NONE || !find_begin(m, image, &range))
			continue;
		job = aggregate_row(&steps, step, strlen(step) + 1);
		if (job == ret->count)
			list_add(ret, (struct mpi_job){0});
		if (rank > m->image_count)
			reason = "not all ranks were recorded";
		else if (rank < ret->items[job].count && ret->items[job].ranks[rank])
			reason = "several jobs have the same rank numbers";
		else if (!mpi_is_whole(image->trace))
			reason = "events of a rank were lost";
		else
			add_rank(&ret->items[job], &capacities[job], rank, image, range);
		ret->reason = reason ? reason : ret->reason;
		is_bad[job] |= reason != NULL;
		ret->job_of[i] = job + 1;
		ret->rank_of[i] = rank;
	}
	drop_incomplete(ret, m, is_bad);
}

void mpi_jobs_done(struct mpi_jobs *j)
{
	for (size_t i = 0; i < j->count; i++) {
		free(j->items[i].ranks);
		free(j->items[i].ranges);
	}
	free(j->items);
	free(j->job_of);
	free(j->rank_of);
	*j = (struct mpi_jobs){0};
}
