/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies the batch job that this launcher runs in by the variables that the scheduler sets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/launch/run.h"

/* The first row applies whose `id` is set and, where that name is not specific to the scheduler, whose `also` is
 * set too. */
static const struct scheduler {
	const char *name, *id, *also;
	const char *array;   /* the id that all tasks of an array share, if it is not `id` itself */
	const char *task;    /* of an array; `no_task` is its value outside an array */
	const char *no_task;
	const char *restart; /* how often the job was started before */
	const char *step, *node;
} schedulers[] = {
	/* Each component of a heterogeneous job has an id of its own; all of them have the id of the first one. */
	{"slurm", "SLURM_JOB_ID_HET_GROUP_0", .restart = "SLURM_RESTART_COUNT", .step = "SLURM_STEP_ID",
	 .node = "SLURMD_NODENAME"},
	{"slurm", "SLURM_JOB_ID", .array = "SLURM_ARRAY_JOB_ID", .task = "SLURM_ARRAY_TASK_ID",
	 .restart = "SLURM_RESTART_COUNT", .step = "SLURM_STEP_ID", .node = "SLURMD_NODENAME"},
	{"pbs", "PBS_JOBID", .task = "PBS_ARRAY_INDEX"},
	{"lsf", "LSB_JOBID", .task = "LSB_JOBINDEX", .no_task = "0"},
	{"flux", "FLUX_JOB_ID"},
	{"cobalt", "COBALT_JOBID"},
	{"oar", "OAR_JOB_ID", .array = "OAR_ARRAY_ID", .task = "OAR_ARRAY_INDEX"},
	{"pjm", "PJM_JOBID", .task = "PJM_BULKNUM"},
	{"loadleveler", "LOADL_STEP_ID"},
	{"htcondor", "_CONDOR_JOB_AD"},
	{"awsbatch", "AWS_BATCH_JOB_ID", .task = "AWS_BATCH_JOB_ARRAY_INDEX"},
	{"sge", "JOB_ID", .also = "SGE_ROOT", .task = "SGE_TASK_ID", .no_task = "undefined", .restart = "RESTARTED"},
};

static const char *value_of(const char *name)
{
	const char *value = name ? getenv(name) : NULL;

	return value ? value : "";
}

static void value_take(char *ret, size_t size, const char *name)
{
	snprintf(ret, size, "%s", value_of(name));
	for (char *c = ret; *c; c++) {
		if ((unsigned char)*c < ' ')
			*c = '_';
	}
}

void job_find(struct batch_job *job)
{
	for (size_t i = 0; i < sizeof(schedulers) / sizeof(schedulers[0]); i++) {
		const struct scheduler *s = &schedulers[i];

		if (!*value_of(s->id) || (s->also && !*value_of(s->also)))
			continue;
		job->scheduler = s->name;
		value_take(job->id, sizeof(job->id), s->id);
		value_take(job->array, sizeof(job->array), *value_of(s->array) ? s->array : s->id);
		value_take(job->task, sizeof(job->task), s->task);
		if (s->no_task && !strcmp(job->task, s->no_task))
			job->task[0] = '\0';
		value_take(job->restart, sizeof(job->restart), s->restart);
		value_take(job->step, sizeof(job->step), s->step);
		value_take(job->node, sizeof(job->node), s->node);
		return;
	}
}

void job_names(const struct batch_job *job, char ret_job[JOB_NAME_BYTES], char ret_array[JOB_NAME_BYTES])
{
	*ret_job = *ret_array = '\0';
	if (!job->scheduler)
		return;
	snprintf(ret_job, JOB_NAME_BYTES, "%s:%s:%s", job->scheduler, job->id, job->task);
	snprintf(ret_array, JOB_NAME_BYTES, "%s:%s", job->scheduler, job->array);
}
