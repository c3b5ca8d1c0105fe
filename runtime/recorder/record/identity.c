/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of the process, from /proc, uname and the environment. */
#include "runtime/recorder/record/identity.h"
#include "runtime/shared/common/foreign_profiler.h"
#include "runtime/shared/common/hot.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "runtime/shared/common/index.h"
#include "runtime/shared/common/sys.h"
#include "runtime/shared/base/text.h"
#include "runtime/shared/format/trace_switches.h"

#define KEPT_SWITCH(name, effect) name,
/* The only variables of an environment that are recorded, in addition to PILLION_*. */
static const char *const kept_variables[] = {
	TF_RANK_VARIABLES,
	"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_NTASKS", "SLURM_RESTART_COUNT",
	"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALRANKID",
	"LOCAL_RANK", "WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT", "CUDA_VISIBLE_DEVICES",
	TF_SWITCHES(KEPT_SWITCH)
};

enum { EXPORTED = 64, EXPORTED_BYTES = 15 << 10 };

static int given_argc;
static char **given_argv;

LARGE static char exported_bytes[EXPORTED_BYTES];
static char *exported[EXPORTED + 1];

void identity_set_arguments(int argc, char **argv)
{
	given_argc = argc;
	given_argv = argv;
}

const char *identity_variable(char *const *environment, const char *name)
{
	size_t length = strlen(name);

	for (; environment && *environment; environment++)
		if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

const char *identity_rank(char *const *environment)
{
	static const char *const variables[] = {TF_RANK_VARIABLES};
	const char *rank = NULL;

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables) && !rank; i++)
		rank = identity_variable(environment, variables[i]);
	return rank;
}

uint64_t identity_number(const char *digits)
{
	uint64_t number = 0;

	for (; digits && *digits >= '0' && *digits <= '9'; digits++)
		number = number * 10 + (uint64_t)(*digits - '0');
	return number;
}

/* The second field is the program's name in parentheses and may contain any character. */
uint64_t identity_stat(uint32_t tid, int number)
{
	char path[64], stat[1024], *at;
	struct text t = text_init(path, sizeof(path));

	text_add(&t, "/proc/self/");
	if (tid) {
		text_add(&t, "task/");
		text_number(&t, tid);
		text_char(&t, '/');
	}
	text_add(&t, "stat");
	if (sys_read_file(path, stat, sizeof(stat)) <= 0)
		return 0;
	at = strrchr(stat, ')');
	for (int field = 2; at && field < number; field++)
		if ((at = strchr(at, ' ')))
			at++;
	return identity_number(at);
}

static void identity_add_item(struct text *t, const char *item)
{
	if (t->cut)
		return;
	text_add(t, item);
	text_bytes(t, "", 1);
}

static void identity_read_arguments(struct identity *id)
{
	struct text t = text_init(id->arguments, sizeof(id->arguments));
	long size;

	if (given_argv) {
		for (int i = 0; i < given_argc && given_argv[i]; i++)
			identity_add_item(&t, given_argv[i]);
		id->arguments_size = text_length(&t);
		return;
	}
	size = sys_read_file("/proc/self/cmdline", id->arguments, sizeof(id->arguments));
	id->arguments_size = size > 0 ? (size_t)size : 0;
}

/* No option of ours is named like this. */
__attribute__((cold)) static bool is_named_like_a_secret(const char *variable)
{
	static const char parts[][9] = {"TOKEN", "SECRET", "KEY", "PASSWORD"};
	const char *end = strchr(variable, '=');

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const char *at = strstr(variable, parts[i]);

		if (at && end && at < end)
			return true;
	}
	return false;
}

static bool is_kept_variable(const char *variable)
{
	if (!strncmp(variable, "PILLION_", 8)) /* --env-var has values for COMMAND, maybe secret ones */
		return strncmp(variable, "PILLION_ENV_VAR=", 16) != 0 && !is_named_like_a_secret(variable);
	for (size_t i = 0; i < sizeof(kept_variables) / sizeof(*kept_variables); i++) {
		size_t length = strlen(kept_variables[i]);

		if (!strncmp(variable, kept_variables[i], length) && variable[length] == '=')
			return true;
	}
	return false;
}

void identity_forked(struct identity *id)
{
	id->parent_pid = (uint32_t)sys_getppid();
	id->start = identity_stat(0, IDENTITY_STAT_START);
}

void identity_read_host(struct identity *id)
{
	struct utsname name = {0};

	sys_call(SYS_uname, &name, 0, 0, 0);
	index_host(id->host, sizeof(id->host), name.nodename);
}

__attribute__((cold)) void identity_read(struct identity *id, char *const *environment)
{
	struct text variables = text_init(id->variables, sizeof(id->variables));
	long length;

	if (!id->boot[0] && sys_read_file("/proc/sys/kernel/random/boot_id", id->boot, 37) < 36)
		memcpy(id->boot, "00000000", 9);
	length = sys_readlink("/proc/self/exe", id->executable, sizeof(id->executable) - 1);
	id->executable[length < 0 ? 0 : length] = '\0';
	for (; environment && *environment; environment++)
		if (is_kept_variable(*environment))
			identity_add_item(&variables, *environment);
	id->variables_size = text_length(&variables);
	identity_read_arguments(id);
	identity_forked(id);
}

bool identity_has_proc(const struct identity *id)
{
	return id->start;
}

void identity_describe(const struct identity *id, struct tf_header *h)
{
	h->parent_pid = id->parent_pid;
	h->process_start = id->start;
	memcpy(h->host, id->host, sizeof(h->host));
	memcpy(h->boot, id->boot, sizeof(h->boot));
	memcpy(h->executable, id->executable, sizeof(h->executable));
	memcpy(h->arguments, id->arguments, sizeof(h->arguments));
	memcpy(h->variables, id->variables, sizeof(h->variables));
}

/* Expands one %x; returns the length of the pattern that it consumed. */
static size_t identity_expand(struct text *t, const char *pattern, char *const *environment, const struct identity *id)
{
	const char *end = strchr(pattern, '}');

	if (pattern[1] == 'p') {
		text_number(t, (uint64_t)sys_getpid());
	} else if (pattern[1] == 'h') {
		text_add(t, id->host);
	} else if (pattern[1] == '%') {
		text_char(t, '%');
	} else if (pattern[1] == 'q' && pattern[2] == '{' && end && end - pattern < 128) {
		char name[128] = {0};
		const char *value;

		memcpy(name, pattern + 3, (size_t)(end - pattern - 3));
		value = identity_variable(environment, name);
		text_add(t, value ? value : "");
		return (size_t)(end - pattern) + 1;
	} else {
		text_char(t, '%');
		return 1;
	}
	return 2;
}

bool identity_capture(char *ret, size_t size, char *const *environment, const struct identity *id)
{
	const char *output = identity_variable(environment, "PILLION_SPOOL");
	bool is_final = identity_variable(environment, "PILLION_RUN");
	struct text t = text_init(ret, size);

	if (!output || !is_final)
		output = identity_variable(environment, "PILLION_OUTPUT");
	if (output[0] != '/') {
		if (sys_call(SYS_getcwd, ret, size, 0, 0) < 0)
			return false;
		t.at += strlen(ret);
		text_char(&t, '/');
	}
	if (is_final)
		text_add(&t, output);
	for (const char *p = output; !is_final && *p;) {
		if (*p == '%')
			p += identity_expand(&t, p, environment, id);
		else
			text_char(&t, *p++);
	}
	return !t.cut && text_length(&t) + 128 < size;
}

char *const *identity_exported(void)
{
	return exported;
}

static void identity_keep(struct text *room, int *count, const char *name, const char *value)
{
	char *start = room->at;

	if (*count == EXPORTED)
		return;
	text_add(room, name);
	text_add(room, value);
	if (room->cut)
		return;
	room->at++; /* keep the NUL */
	exported[(*count)++] = start;
}

/* Adds every exported variable that the environment lacks to a copy of it. */
static void identity_complete_environment(char *const *environment)
{
	size_t count = 0, added = 0;
	char **replaced = NULL;

	for (; environment[count]; count++)
		;
	for (int i = 0; exported[i]; i++) {
		char name[128];
		size_t length = strcspn(exported[i], "=");

		if (length >= sizeof(name))
			continue;
		memcpy(name, exported[i], length);
		name[length] = '\0';
		if (identity_variable(environment, name))
			continue;
		if (!replaced)
			replaced = sys_mmap(NULL, (count + EXPORTED + 1) * sizeof(*replaced), PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!replaced)
			return;
		replaced[count + added++] = exported[i];
	}
	if (!added)
		return;
	memcpy(replaced, environment, count * sizeof(*environment));
	environ = replaced;
}

/* NVTX and the CUDA driver load the library that these variables name into every process. They name ours, unless
 * they are set already; the latter does not under nsys or ncu. */
static const char *const injections[] = {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"};

void identity_export(char *const *environment, const char *directory, uint64_t run, const char *library)
{
	struct text room = text_init(exported_bytes, sizeof(exported_bytes));
	bool has_launcher = identity_variable(environment, "PILLION_RUN"),
	     is_audited = identity_variable(environment, "PILLION_LD_AUDIT");
	char digits[17];
	struct text hex = text_init(digits, sizeof(digits));
	int count = 0;

	text_hex(&hex, run, 16);
	for (char *const *e = environment; *e; e++)
		if ((!strncmp(*e, "PILLION_", 8) && strncmp(*e, "PILLION_RUN=", 12) != 0 &&
		     (has_launcher || strncmp(*e, "PILLION_OUTPUT=", 15) != 0)) ||
		    (is_audited && !strncmp(*e, "GLIBC_TUNABLES=", 15)))
			identity_keep(&room, &count, *e, "");
	identity_keep(&room, &count, "PILLION_RUN=", digits);
	if (!has_launcher)
		identity_keep(&room, &count, "PILLION_OUTPUT=", directory);
	for (int i = 0; i < (foreign_profiler_is_named(environment) ? 1 : 2); i++) {
		const char *value = identity_variable(environment, injections[i]);
		char name[32];
		struct text t = text_init(name, sizeof(name));

		text_add(&t, injections[i]);
		text_char(&t, '=');
		identity_keep(&room, &count, name, value ? value : library);
	}
	exported[count] = NULL;
	identity_complete_environment(environment);
}
