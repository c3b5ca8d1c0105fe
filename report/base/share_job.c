/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank of which job step this process is, by the variables that srun, mpirun and flux set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/base/share.h"

/* The first row applies whose variables are all set, except those with '?'. A batch script has SLURM_PROCID, but no
 * step, so that a command in it is alone. Ranks that mpirun started under srun have the SLURM_* variables of the
 * daemons too, so their own variables, and Hydra's, come first. */
static const struct {
	const char *name, *rank, *count;
	const char *key[3];
} jobs[] = {
	{"ompi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", {"PMIX_NAMESPACE"}},
	{"ompi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", {"OMPI_MCA_ess_base_jobid"}},
	{"flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", {"FLUX_JOB_ID"}},
	{"slurm",
	 "SLURM_PROCID",
	 "SLURM_STEP_NUM_TASKS",
	 {"SLURM_JOB_ID", "SLURM_STEP_ID", "?SLURM_RESTART_COUNT"}},
};

static bool number_of(const char *name, unsigned int *ret)
{
	const char *value = getenv(name);
	char *end;
	unsigned long number;

	if (!value || !*value)
		return false;
	number = strtoul(value, &end, 10);
	*ret = (unsigned int)number;
	return !*end && number <= 1u << 24;
}

static bool job_key(size_t job, struct rank_job *ret)
{
	size_t used = (size_t)snprintf(ret->key, sizeof(ret->key), "%s", jobs[job].name);

	for (size_t i = 0; i < 3 && jobs[job].key[i]; i++) {
		const char *name = jobs[job].key[i], *value;
		bool may_miss = *name == '?';

		value = getenv(name + may_miss);
		if (!(value && *value) && !may_miss)
			return false;
		used += (size_t)snprintf(ret->key + used, sizeof(ret->key) - used, ":%s", value ? value : "");
		if (used >= sizeof(ret->key))
			return false;
	}
	return number_of(jobs[job].rank, &ret->rank) && number_of(jobs[job].count, &ret->count) && ret->count > 1;
}

/* MPICH's Hydra sets no job id, but the ranks of one host are the children of one proxy. On several hosts the batch job
 * and the command have to tell jobs apart. */
static bool hydra_key(struct rank_job *ret)
{
	const char *batch = getenv("SLURM_JOB_ID");
	unsigned int local;

	if (!number_of("MPI_LOCALNRANKS", &local) || !number_of("PMI_RANK", &ret->rank) ||
	    !number_of("PMI_SIZE", &ret->count))
		return false;
	if (local < ret->count)
		snprintf(ret->key, sizeof(ret->key), "hydra:%s:%u", batch ? batch : "", ret->count);
	else
		snprintf(ret->key, sizeof(ret->key), "hydra:%d", (int)getppid());
	return true;
}

/* The launcher prints the summary of its own job. Other ranks of it may have nothing to print. */
static bool is_of_launcher(void)
{
	char parent[64], target[4096];
	const char *name;
	ssize_t length;

	snprintf(parent, sizeof(parent), "/proc/%d/exe", (int)getppid());
	length = readlink(parent, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	name = strrchr(target, '/');
	return name && !strncmp(name, "/pillion-launch", 15);
}

bool rank_job_find(struct rank_job *ret)
{
	const char *ranks = getenv("PILLION_RANKS"); /* "alone": set by programs that read captures in each rank */
	bool is_one = hydra_key(ret);

	if (ranks && !strcmp(ranks, "alone"))
		return false;

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]) && !is_one; i++)
		is_one = job_key(i, ret);
	return is_one && ret->count > 1 && ret->rank < ret->count && !is_of_launcher();
}
