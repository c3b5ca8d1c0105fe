/* SPDX-License-Identifier: Apache-2.0 */
/* Finds our own files, and builds COMMAND's environment: the user's, --env-var, LD_PRELOAD, LD_AUDIT and PILLION_*. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/foreign_profiler.h"
#include "runtime/shared/common/sys.h"

struct environment {
	char **list; /* NULL-terminated; entries are borrowed or never freed */
	size_t count;
};

static void memory_check(const void *pointer)
{
	if (pointer)
		return;
	say("out of memory");
	exit(EXIT_USAGE);
}

static char *text_join(const char *a, const char *b, const char *c, const char *d)
{
	char *s = NULL;

	if (asprintf(&s, "%s%s%s%s", a, b, c, d) < 0)
		s = NULL;
	memory_check(s);
	return s;
}

/* ---- our own files ---- */

static bool take_file(const char *directory, const char *below, char ret[PATH_MAX])
{
	char *path = text_join(directory, "/", below, "");
	bool is_there = !access(path, R_OK) && realpath(path, ret);

	free(path);
	if (!is_there)
		ret[0] = '\0';
	return is_there;
}

/* Searches PREFIX/lib*, and one level below for multiarch directories. */
static bool library_find(const char *prefix, int depth, char ret[PATH_MAX])
{
	DIR *d = opendir(prefix);
	struct dirent *entry;
	bool is_found = false;

	while (d && !is_found && (entry = readdir(d))) {
		char *below;

		if (entry->d_name[0] == '.' || (!depth && strncmp(entry->d_name, "lib", 3) != 0))
			continue;
		below = text_join(prefix, "/", entry->d_name, "");
		is_found = take_file(below, "pillion/libpillion.so", ret) ||
			   (!depth && strcmp(entry->d_name, "libexec") != 0 && library_find(below, depth + 1, ret));
		free(below);
	}
	if (d)
		closedir(d);
	return is_found;
}

/* We are BUILD/runtime/pillion-launch or PREFIX/libexec/pillion/pillion-launch. */
void environment_paths(struct run *run)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *prefix;

	if (n < 0)
		return;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	if (!take_file(self, "../preload/libpillion.so", run->library) &&
	    !take_file(self, "../../lib/pillion/libpillion.so", run->library)) {
		prefix = text_join(self, "/../..", "", "");
		library_find(prefix, 0, run->library);
		free(prefix);
	}
	if (!take_file(self, "../report/pillion-report", run->report))
		take_file(self, "../../bin/pillion-report", run->report);
}

static uint64_t path_hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return h;
}

/* The path of another file in the directory of the library. */
static char *beside(const char *library, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%.*s%s", (int)(strrchr(library, '/') + 1 - library), library, name) < 0)
		path = NULL;
	memory_check(path);
	return path;
}

/* Other libraries have malloc and functions of PyTorch, OpenMP, and lines of Python. False:
 * the one that is needed is not installed. */
static bool library_choose(struct run *run)
{
	bool has_memory = run->options.memory & (MEMORY_NATIVE | MEMORY_TORCH);
	bool has_openmp = run->options.trace & TRACE_OPENMP;
	char *other = beside(run->library, has_memory	? PRELOADABLE_MEMORY
					   : has_openmp ? PRELOADABLE_OPENMP
							: PRELOADABLE_LINES);
	bool is_wanted = has_memory || has_openmp || run->options.lines_of,
	     is_there = !is_wanted || !access(other, R_OK);

	if (!is_there)
		say("%s: %s: %s", has_memory ? "--memory" : has_openmp ? "--trace=openmp" : "--lines-of", other,
		    strerror(errno));
	else if (is_wanted)
		snprintf(run->library, sizeof(run->library), "%s", other);
	free(other);
	return is_there;
}

static bool link_one(const char *file, const char *link)
{
	char there[PATH_MAX];
	ssize_t n;

	if (symlink(file, link) && errno != EEXIST)
		return false;
	n = readlink(link, there, sizeof(there) - 1);
	there[n > 0 ? n : 0] = '\0';
	return !strcmp(there, file);
}

/* Creates links in a directory that no other user can write to. False: it exists and is not ours. All libraries are
 * there, because an inner pillion replaces the one by the other. */
static bool link_make(const char *directory, const char *library, char ret[PATH_MAX])
{
	static const char *const names[] = {PRELOADABLE_LIBRARIES, PRELOADABLE_AUDITOR};
	struct stat st;
	bool is_linked = true;

	if (mkdir(directory, 0700) && errno != EEXIST)
		return false;
	if (lstat(directory, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return false;
	if ((st.st_mode & 07777) != 0700 && ((st.st_mode & 022) || chmod(directory, 0700)))
		return false;
	snprintf(ret, PATH_MAX, "%s%s", directory, strrchr(library, '/'));
	for (size_t i = 0; is_linked && i < sizeof(names) / sizeof(*names); i++) {
		char *file = beside(library, names[i]), *link = beside(ret, names[i]);

		is_linked = link_one(file, link);
		free(file);
		free(link);
	}
	return is_linked;
}

/* ld.so splits LD_PRELOAD at spaces and colons and expands '$', so such a path is replaced by a link. */
static bool library_make_safe(struct run *run)
{
	char directory[64], link[PATH_MAX], *folder;
	uint64_t hash;

	if (!strpbrk(run->library, " :$"))
		return true;
	folder = beside(run->library, "");
	hash = path_hash(folder);
	free(folder);
	for (int i = 0; i < 16; i++) {
		snprintf(directory, sizeof(directory), "/tmp/pillion-%u-%016llx", (unsigned)geteuid(),
			 (unsigned long long)(hash + (unsigned)i));
		if (link_make(directory, run->library, link)) {
			strcpy(run->library, link);
			return true;
		}
	}
	say("LD_PRELOAD cannot contain %s, and a link to it could not be created in /tmp", run->library);
	return false;
}

/* ---- COMMAND's environment ---- */

static size_t variable_find(const struct environment *e, const char *name)
{
	size_t length = strlen(name), i;

	for (i = 0; i < e->count; i++) {
		if (!strncmp(e->list[i], name, length) && e->list[i][length] == '=')
			break;
	}
	return i;
}

static const char *value_get(const struct environment *e, const char *name)
{
	size_t i = variable_find(e, name);

	return i < e->count ? e->list[i] + strlen(name) + 1 : NULL;
}

static void value_unset(struct environment *e, const char *name)
{
	size_t i;

	while ((i = variable_find(e, name)) < e->count) {
		memmove(e->list + i, e->list + i + 1, (e->count - i) * sizeof(*e->list));
		e->count--;
	}
}

static void variable_append(struct environment *e, char *entry)
{
	e->list = realloc(e->list, (e->count + 2) * sizeof(*e->list));
	memory_check(e->list);
	e->list[e->count++] = entry;
	e->list[e->count] = NULL;
}

static void value_set(struct environment *e, const char *name, const char *value)
{
	value_unset(e, name);
	variable_append(e, text_join(name, "=", value, ""));
}

/* Whether NAME= begins here; otherwise a comma is part of a value (CUDA_VISIBLE_DEVICES=0,1). */
static bool is_assignment(const char *s)
{
	size_t length = strcspn(s, "=,");

	return length && s[length] == '=' && (s[0] < '0' || s[0] > '9');
}

static void assignments_take(struct environment *e, const char *list)
{
	char *text = text_join(list, "", "", ""), *at = text, *end;

	for (; at; at = end) {
		char *equals = strchr(at, '=');

		for (end = strchr(at, ','); end && !is_assignment(end + 1); end = strchr(end + 1, ','))
			;
		if (end)
			*end++ = '\0';
		if (!equals)
			break;
		*equals = '\0';
		value_set(e, at, equals + 1);
	}
	free(text);
}

static bool is_listed(char *const *list, const char *word)
{
	while (*list && strcmp(*list, word) != 0)
		list++;
	return *list;
}

/* The user's list without `ours`, which an outer pillion may have added. */
static char *list_others(const char *list, char *const *ours, const char *separators)
{
	char *others = text_join("", "", "", ""), *text = text_join(list ? list : "", "", "", ""), *next, *word;

	for (word = strtok_r(text, separators, &next); word; word = strtok_r(NULL, separators, &next)) {
		char *more;

		if (is_listed(ours, word))
			continue;
		more = text_join(others, *others ? ":" : "", word, "");
		free(others);
		others = more;
	}
	free(text);
	return others;
}

static bool has_any(const char *list, char *const *words)
{
	while (*words && !strstr(list, *words))
		words++;
	return *words;
}

/* Puts `front`, if any, before the other entries and removes `ours`, a list that ends with NULL. A list that needs
 * neither is not changed. */
static void list_set(struct environment *e, const char *name, const char *separators, const char *front,
		     char *const *ours)
{
	const char *now = value_get(e, name);
	char *others, *list;

	if (!*front && (!now || !has_any(now, ours)))
		return;
	others = list_others(now, ours, separators);
	list = text_join(front, *front && *others ? ":" : "", others, "");
	if (*list)
		value_set(e, name, list);
	else
		value_unset(e, name);
	free(others);
	free(list);
}

static void preload_set(const struct run *run, struct environment *e)
{
	const char *runtime = run->preloadable.runtime, *injection = value_get(e, "CUDA_INJECTION64_PATH");
	bool is_harm = run->preloadable.kind == PRELOADABLE_HARM;
	static const char *const names[] = {PRELOADABLE_LIBRARIES};
	char *front, *ours[sizeof(names) / sizeof(*names) + 1] = {NULL};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		ours[i] = beside(run->library, names[i]);
	if (is_harm && injection && !strcmp(injection, run->library))
		value_unset(e, "CUDA_INJECTION64_PATH");
	front = is_harm ? text_join("", "", "", "") : text_join(runtime, *runtime ? ":" : "", run->library, "");
	list_set(e, "LD_PRELOAD", ": ", front, ours);
	free(front);
	for (char **one = ours; *one; one++)
		free(*one);
}

static bool auditor_is_wanted(const struct run *run)
{
	return run->options.ld_audit && run->preloadable.kind != PRELOADABLE_HARM;
}

/* False: the auditor does not exist, and ld.so would report that in the program's name. */
static bool auditor_check(const struct run *run)
{
	char *auditor = beside(run->library, PRELOADABLE_AUDITOR);
	bool is_there = !auditor_is_wanted(run) || !access(auditor, R_OK);

	if (!is_there)
		say("--ld-audit: %s: %s", auditor, strerror(errno));
	free(auditor);
	return is_there;
}

/* Of the thread-local memory that the loader lays out at start, libraries that are loaded under an auditor get 1 to 2
 * KB in all, which jemalloc alone exceeds; 4 KB more are enough for it and for ours. A user's own setting is kept. */
static void static_tls_set(struct environment *e)
{
	static const char tunable[] = "glibc.rtld.optional_static_tls=";
	const char *now = value_get(e, "GLIBC_TUNABLES");
	char *list;

	if (now && strstr(now, tunable))
		return;
	list = text_join(now ? now : "", now && *now ? ":" : "", tunable, "4096");
	value_set(e, "GLIBC_TUNABLES", list);
	free(list);
}

static void audit_set(const struct run *run, struct environment *e)
{
	char *auditor = beside(run->library, PRELOADABLE_AUDITOR);

	list_set(e, "LD_AUDIT", ":", auditor_is_wanted(run) ? auditor : "", (char *[]){auditor, NULL});
	if (auditor_is_wanted(run))
		static_tls_set(e);
	free(auditor);
}

/* Passes the options on to the recorder. Older spellings are removed: their effect is in the options that they set. */
static void options_pass_on(const struct run *run, struct environment *e)
{
	const struct option *row;
	struct options initial;

	options_init(&initial);
	for (size_t i = 0; (row = option_row(&options_table, i)); i++) {
		char bytes[OPTION_NAME_BYTES], now[PATH_MAX];
		struct text name = text_init(bytes, sizeof(bytes)), value = text_init(now, sizeof(now));

		if (!row->is_recorded)
			continue;
		option_variable(row, &name);
		value_unset(e, bytes);
		if (option_is_changed(row, &run->options, &initial, &value))
			value_set(e, bytes, now);
	}
}

/* A sysctl since Linux 5.14, off by default. */
static bool has_block_delays(void)
{
	char text[8];

	return sys_read_file("/proc/sys/kernel/task_delayacct", text, sizeof(text)) > 0 && text[0] == '1';
}

static void run_pass_on(const struct run *run, struct environment *e)
{
	char number[24];

	value_set(e, "PILLION_OUTPUT", run->directory);
	snprintf(number, sizeof(number), "%016llx", (unsigned long long)run->id);
	value_set(e, "PILLION_RUN", number);
	if (run->spool[0])
		value_set(e, "PILLION_SPOOL", run->spool);
	else
		value_unset(e, "PILLION_SPOOL");
	value_unset(e, "PILLION_CLOCK_HZ");
	if (clock_hz()) {
		snprintf(number, sizeof(number), "%llu", (unsigned long long)clock_hz());
		value_set(e, "PILLION_CLOCK_HZ", number);
	}
	snprintf(number, sizeof(number), "%u", filters_that_permit_samples());
	value_set(e, "PILLION_SECCOMP_FILTERS", number);
	value_unset(e, "PILLION_BLOCK_DELAYS");
	if (has_block_delays())
		value_set(e, "PILLION_BLOCK_DELAYS", "1");
	if ((run->options.trace & TRACE_NVTX || run->options.capture_range == CAPTURE_NVTX) &&
	    !value_get(e, "NVTX_INJECTION64_PATH"))
		value_set(e, "NVTX_INJECTION64_PATH", run->library);
	if ((run->options.trace & TRACE_CUDA) && !value_get(e, "CUDA_INJECTION64_PATH") &&
	    !foreign_profiler_is_named(e->list))
		value_set(e, "CUDA_INJECTION64_PATH", run->library);
}

/* Takes the variables that the script's shell could not pass on, from the file of NUL-terminated entries that it
 * wrote. */
static void odd_take(struct environment *e)
{
	const char *path = value_get(e, "PILLION_ENVIRON");
	char *entry = NULL;
	size_t size = 0;
	struct stat st;
	FILE *f;
	int fd;

	if (!path)
		return;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	f = fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ? NULL : fdopen(fd, "r");
	if (f && strstr(path, "/pillion-env."))
		unlink(path);
	while (f && getdelim(&entry, &size, '\0', f) > 0 && strchr(entry, '=')) {
		variable_append(e, entry);
		entry = NULL;
		size = 0;
	}
	free(entry);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	value_unset(e, "PILLION_ENVIRON");
}

/* The user's, and --env-var. */
char **environment_bare(const struct run *run)
{
	extern char **environ;
	struct environment e = {.list = calloc(1, sizeof(*e.list))};

	memory_check(e.list);
	for (char **entry = environ; *entry; entry++)
		variable_append(&e, *entry);
	odd_take(&e);
	if (!run->options.inherit_environment) {
		e.count = 0;
		e.list[0] = NULL;
	}
	for (char **list = run->variables; *list; list++)
		assignments_take(&e, *list);
	return e.list;
}

char **environment_build(struct run *run)
{
	struct environment e = {0};

	e.list = environment_bare(run);
	preloadable_check_listing(run->command, e.list, &run->preloadable);
	if (!library_choose(run) || !library_make_safe(run) || !auditor_check(run))
		return NULL;
	while (e.list[e.count])
		e.count++;
	options_pass_on(run, &e);
	run_pass_on(run, &e);
	preload_set(run, &e);
	audit_set(run, &e);
	return e.list;
}
