/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies the job step that this launcher is a rank of by the variables that srun, mpirun and torchrun set. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/sys.h"

enum { ANCESTORS_MAX = 16 };

/* The first row applies whose variables are all set, except those with '?'. Ranks that mpirun or PMIx started
 * under srun have the SLURM_* variables of the daemons too, so their own variables come first. */
static const struct step {
	const char *name;
	const char *variables[3];
	const char *rank; /* must be set; the number of a rank. NULL: the first of TF_RANK_VARIABLES */
} steps[] = {
	{"pmix", {"PMIX_NAMESPACE"}, "PMIX_RANK"},
	{"ompi", {"OMPI_MCA_ess_base_jobid"}, "OMPI_COMM_WORLD_RANK"},
	{"ompi", {"OMPI_MCA_orte_ess_jobid"}, "OMPI_COMM_WORLD_RANK"},
	{"ompi", {"PMIX_NAMESPACE"}, "OMPI_COMM_WORLD_RANK"},
	{"ompi", {"OMPI_MCA_orte_hnp_uri"}, "OMPI_COMM_WORLD_RANK"},
	{"pals", {"PALS_APID"}, "PALS_RANKID"},
	{"flux", {"FLUX_JOB_ID"}, "FLUX_TASK_RANK"},
	{"slurm", {"SLURM_JOB_ID", "SLURM_STEP_ID", "?SLURM_RESTART_COUNT"}, NULL},
	{"torch", {"MASTER_ADDR", "MASTER_PORT", "?TORCHELASTIC_RUN_ID"}, "RANK"},
};

static const char *const ranks[] = {TF_RANK_VARIABLES};

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

static bool step_key(const struct step *step, char *ret, size_t size)
{
	size_t used = (size_t)snprintf(ret, size, "%s", step->name);

	if (step->rank && !is_set(step->rank))
		return false;
	for (size_t i = 0; i < 3 && step->variables[i]; i++) {
		const char *name = step->variables[i];
		bool may_miss = *name == '?';

		name += may_miss;
		if (!is_set(name) && !may_miss)
			return false;
		used += (size_t)snprintf(ret + used, size - used, ":%s", is_set(name) ? getenv(name) : "");
		if (used >= size)
			return false;
	}
	return true;
}

/* The argument that follows `option` in the command line of a process; NULL: none. */
static const char *argument_of(uint32_t pid, const char *option, char *text, size_t size)
{
	char path[48];
	long n;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	n = sys_read_file(path, text, size);
	for (const char *at = text, *end = text + (n > 0 ? n : 0); at < end; at += strlen(at) + 1) {
		const char *next = at + strlen(at) + 1;

		if (!strcmp(at, option) && next < end)
			return next;
	}
	return NULL;
}

/* MPICH's Hydra sets no job id. Its proxy on each host, our parent or that of a script which started us, has the
 * address of mpiexec as an argument. Without it, the ranks of one host are those with the same parent. */
static bool hydra_key(const struct run *run, char *ret, size_t size)
{
	struct process_stat stat = {.parent_pid = (uint32_t)getppid()};
	const char *address = NULL;
	char text[4096];

	if (!getenv("PMI_RANK") || !(getenv("PMI_FD") || getenv("PMI_PORT")))
		return false;
	for (int depth = 0; !address && stat.parent_pid > 1 && depth < ANCESTORS_MAX; depth++) {
		address = argument_of(stat.parent_pid, "--control-port", text, sizeof(text));
		if (!address && !process_stat_read(stat.parent_pid, &stat))
			break;
	}
	if (address)
		snprintf(ret, size, "hydra:%s", address);
	else
		snprintf(ret, size, "hydra:%s:%.8s:%d", run->host, run->boot, (int)getppid());
	return true;
}

static bool take_rank(struct run *run, const char *name)
{
	const char *value = getenv(name);

	if (!value || !*value || strlen(value) >= sizeof(run->rank) || strspn(value, "0123456789") != strlen(value))
		return false;
	strcpy(run->rank, value);
	return true;
}

void step_find(struct run *run)
{
	const struct step *step = NULL;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !step; i++)
		step = step_key(&steps[i], run->key, sizeof(run->key)) ? &steps[i] : NULL;
	if (!step && !hydra_key(run, run->key, sizeof(run->key))) {
		run->key[0] = '\0';
		return;
	}
	for (char *c = run->key; *c; c++) {
		if ((unsigned char)*c < ' ')
			*c = '_';
	}
	if (step && step->rank && take_rank(run, step->rank))
		return;
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]) && !take_rank(run, ranks[i]); i++)
		;
}

/* Searches one index for the "launch" line of this rank. */
static bool index_has_rank(const struct run *run, int directory, const char *name)
{
	char buffer[4096], *line = NULL;
	struct index_writer wanted;
	size_t size = 0;
	bool has = false;
	FILE *f;
	int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	index_begin(&wanted, buffer, sizeof(buffer), "");
	index_text(&wanted, "rank", run->rank);
	index_text(&wanted, "key", run->key);
	buffer[wanted.used] = '\0';
	while (!has && getline(&line, &size, f) > 0)
		has = !strncmp(line, "launch\t", 7) && strstr(line, buffer);
	free(line);
	fclose(f);
	return has;
}

bool step_has_rank(const struct run *run, const char *directory)
{
	const char *restarts = getenv("TORCHELASTIC_RESTART_COUNT");
	struct dirent *entry;
	bool has = false;
	DIR *d;

	/* Workers that torchrun restarts belong to the same run. */
	if (!run->key[0] || !run->rank[0] || (restarts && strcmp(restarts, "0") != 0))
		return false;
	d = opendir(directory);
	while (d && !has && (entry = readdir(d))) {
		size_t length = strlen(entry->d_name);

		if (length > 6 && !strcmp(entry->d_name + length - 6, ".index"))
			has = index_has_rank(run, dirfd(d), entry->d_name);
	}
	if (d)
		closedir(d);
	return has;
}
