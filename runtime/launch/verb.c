/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs: `pillion stats CAPTURE` and the others are handed over to pillion-report. A word that is nearly a verb, with
 * captures as its only operands, is an error rather than a program of that name. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/base/nearest.h"
#include "runtime/shared/base/option.h"
#include "runtime/shared/base/verb_list.h"
#include "runtime/shared/format/trace_format.h"

/* A word at this edit distance from a verb is taken for it if its operands are captures. */
enum { NEAR = 2 };

static const struct {
	const char *name;
	enum verb_use use;
} verbs[] = {
#define VERB_ROW(NAME, name, use) {#name, use},
	VERBS(VERB_ROW)
#undef VERB_ROW
};
enum { VERB_COUNT = sizeof(verbs) / sizeof(*verbs) };

static const char *verb_name(const void *list, size_t i)
{
	(void)list;
	return verbs[i].name;
}

static bool ends_with(const char *text, const char *ending)
{
	size_t length = strlen(text), size = strlen(ending);

	return length > size && !strcmp(text + length - size, ending);
}

static bool is_capture_directory(DIR *directory)
{
	bool ret = false;

	for (struct dirent *e; !ret && (e = readdir(directory));)
		ret = !strcmp(e->d_name, "capture") || ends_with(e->d_name, ".trace") ||
		      ends_with(e->d_name, ".index");
	return ret;
}

/* Whether what is at the path is a capture, by its content; -1: nothing is there, or it cannot be read. */
static int path_is_capture(const char *path)
{
	uint64_t magic = 0;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret = -1;
	DIR *directory;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st))
		ret = S_ISREG(st.st_mode) && read(fd, &magic, sizeof(magic)) == sizeof(magic) &&
		      magic == TF_PACK_MAGIC;
	directory = ret >= 0 && S_ISDIR(st.st_mode) ? fdopendir(fd) : NULL;
	if (!directory) {
		close(fd);
		return ret;
	}
	ret = is_capture_directory(directory);
	closedir(directory);
	return ret;
}

/* NAME stands for NAME.pillion or NAME.pillpack where there is no NAME, or, if `is_beside`, where NAME is no capture.
 * A word with such an ending at which nothing can be read counts, too: the verb says why. */
static bool is_capture(const char *word, bool is_beside)
{
	static const char *const endings[] = {"", ".pillion", ".pillpack"};
	char path[PATH_MAX];
	size_t length = strlen(word);
	int found = -1, is_there;

	while (length > 1 && word[length - 1] == '/')
		length--;
	for (size_t i = 0; i < 3 && found < (is_beside ? 1 : 0); i++) {
		snprintf(path, sizeof(path), "%.*s%s", (int)length, word, endings[i]);
		is_there = path_is_capture(path);
		found = is_there > found ? is_there : found;
	}
	snprintf(path, sizeof(path), "%.*s", (int)length, word);
	return found < 0 ? ends_with(path, ".pillion") || ends_with(path, ".pillpack") : found;
}

/* Whether there are operands and all are captures. A word after an option may be its value. */
static bool are_captures(char **words, bool is_beside)
{
	bool may_be_value = false, has_capture = false;

	for (; *words; words++) {
		if (option_is_word(*words)) {
			may_be_value = !strchr(*words, '=') && strcmp(*words, "--") != 0;
			continue;
		}
		if (is_capture(*words, is_beside))
			has_capture = true;
		else if (!may_be_value)
			return false;
		may_be_value = false;
	}
	return has_capture;
}

/* Whether pillion-report finds operands among the words. It knows which options take a value; where the words are not
 * valid for the verb, they may be those of a program. */
static bool has_operand(struct run *run, char **words)
{
	size_t count = 0;
	char **asked;
	int status = 1;
	pid_t pid;

	while (words[count])
		count++;
	asked = calloc(count + 2, sizeof(*asked));
	environment_paths(run);
	pid = asked && run->report[0] ? fork() : -1;
	if (!pid) {
		asked[0] = run->report;
		asked[1] = (char *)"--has-operand";
		memcpy(asked + 2, words + 1, (count - 1) * sizeof(*asked));
		execv(run->report, asked);
		_exit(EXIT_NOT_FOUND);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	free(asked);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 1;
}

static bool file_has(const char *path, const char *word)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *bytes = MAP_FAILED;
	bool ret;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	ret = bytes != MAP_FAILED && memmem(bytes, (size_t)st.st_size, word, strlen(word));
	if (bytes != MAP_FAILED)
		munmap(bytes, (size_t)st.st_size);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* A file of another tool that no editor shows: pillion-report says what reads it. */
static bool is_foreign(const char *word)
{
	static const char *const endings[] = {".nsys-rep", ".qdrep", ".sqlite", ".prof", ".pstats"};

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (ends_with(word, endings[i]))
			return true;
	return ends_with(word, ".json") && file_has(word, "\"traceEvents\"");
}

/* A PID or a job. */
static bool is_run(const char *word)
{
	return !strncmp(word, "slurm:", strlen("slurm:")) || (*word && !word[strspn(word, "0123456789")]);
}

/* Whether a word that names a common program, too, is the verb: with no operand, with options only, or if an operand
 * is a capture. A file NAME beside NAME.pillion may be meant itself unless all operands can be captures. `words` begin
 * with the program, then that word. */
static bool is_verb_here(struct run *run, char **words, enum verb_use use)
{
	bool has_word = false, may_be_value = false, is_sure = false;

	for (char **w = words + 2; *w; w++) {
		if (option_is_word(*w)) {
			may_be_value = !strchr(*w, '=') && strcmp(*w, "--") != 0;
			continue;
		}
		if (is_capture(*w, false) || (use == VERB_OF_RUNS && is_run(*w)) ||
		    (!strcmp(words[1], "view") && is_foreign(*w)))
			return true;
		has_word = true;
		is_sure |= !may_be_value;
		may_be_value = false;
	}
	return !has_word || are_captures(words + 2, true) || (!is_sure && !has_operand(run, words));
}

/* ---- words of other tools ---- */

#define NO_SESSIONS "there are no sessions: pillion start and pillion stop take the run itself"

static const struct {
	const char *name, *instead;
	bool is_session; /* a verb of nsys */
} others[] = {
	{"shutdown", NO_SESSIONS, true},
	{"sessions", NO_SESSIONS "; pillion status lists the live runs", true},
	{"service", NO_SESSIONS, true},
	{"attach", "pillion where PID shows the lines of a process that runs; recording begins with pillion COMMAND",
	 false},
	{"record", "pillion COMMAND", false},
	{"run", "pillion COMMAND", false},
	{"collect", "pillion COMMAND", false},
	{"trace", "pillion COMMAND", false},
	{"open", "pillion view CAPTURE", false},
	{"gui", "pillion view CAPTURE", false},
	{"ui", "pillion view CAPTURE", false},
	{"show", "pillion view CAPTURE", false},
	{"flamegraph", "pillion view CAPTURE, or pillion export -t folded CAPTURE", false},
	{"report", "pillion stats CAPTURE", false},
	{"summary", "pillion stats --summary CAPTURE", false},
	{"annotate", "pillion stats --source FILE CAPTURE", false},
	{"script", "pillion stats -r cuda_gpu_trace CAPTURE, or pillion export -t chrome CAPTURE", false},
	{"convert", "pillion export -t TYPE CAPTURE", false},
	{"compare", "pillion diff BEFORE AFTER", false},
	{"merge", "each verb reads several captures as one: pillion stats CAPTURE CAPTURE", false},
};

const char *verb_instead(const char *word)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(word, others[i].name))
			return others[i].instead;
	return NULL;
}

/* A verb of nsys may be the name of a program, too, which does not take these options. */
static bool is_nsys_session(char **words)
{
	bool is_session = false;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		is_session |= others[i].is_session && !strcmp(words[1], others[i].name);
	return is_session && words[2] && (!strncmp(words[2], "--session", 9) || !strncmp(words[2], "--kill", 6));
}

/* ---- our verbs ---- */

/* The environment in PILLION_ENVIRON is that of a command. */
static void environment_forget(void)
{
	const char *path = getenv("PILLION_ENVIRON");

	if (path)
		unlink(path);
	unsetenv("PILLION_ENVIRON");
}

static int report_execute(struct run *run, char **words)
{
	environment_forget();
	environment_paths(run);
	if (!run->report[0]) {
		say("pillion-report was not found in this installation");
		return EXIT_USAGE;
	}
	execv(run->report, words);
	say("%s: %s", run->report, strerror(errno));
	return EXIT_USAGE;
}

static int help_run(struct run *run, char **words)
{
	char *of_verb[] = {words[0], words[2], (char *)"--help", NULL};
	char *of_name[] = {words[0], (char *)"--help-on", words[2], NULL};

	environment_forget();
	if (!words[2] || !strcmp(words[2], "launch") || !strcmp(words[2], "--help") || !strcmp(words[2], "-h"))
		return command_line_help(false);
	if (!strcmp(words[2], "--version"))
		return report_execute(run, words + 1);
	if (!strcmp(words[2], "nsys"))
		return command_line_help(true);
	for (size_t i = 0; i < VERB_COUNT; i++)
		if (!strcmp(words[2], verbs[i].name))
			return report_execute(run, of_verb);
	return report_execute(run, of_name);
}

static int near_refuse(const char *word)
{
	const struct nearest names = {verb_name, NULL, VERB_COUNT};
	bool is_near;
	const char *nearest = nearest_find(&names, word, &is_near);

	if (verb_instead(word)) {
		environment_forget();
		say("'%s' is not a verb: %s; pillion -- %s runs the program of that name", word, verb_instead(word),
		    word);
		return EXIT_USAGE;
	}
	if (nearest_distance(word, nearest) > NEAR)
		return VERB_NONE;
	environment_forget();
	say("'%s' is not a verb; did you mean pillion %s? pillion -- %s runs the program of that name", word, nearest,
	    word);
	return EXIT_USAGE;
}

int verb_run(struct run *run, char **words)
{
	const char *word = words[1];

	if (!word || option_is_word(word))
		return VERB_NONE;
	if (!strcmp(word, "help"))
		return help_run(run, words);
	if (is_nsys_session(words)) {
		environment_forget();
		say("%s: %s", word, verb_instead(word));
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < VERB_COUNT; i++) {
		if (strcmp(word, verbs[i].name) != 0)
			continue;
		if (verbs[i].use == VERB_ALWAYS || is_verb_here(run, words, verbs[i].use))
			return report_execute(run, words);
		say("%s: no operand is a capture, so the program %s runs; pillion %s --help is on the verb", word, word,
		    word);
		return VERB_NONE;
	}
	if (strchr(word, '/') || !strcmp(word, "profile") || !are_captures(words + 2, false))
		return VERB_NONE;
	return near_refuse(word);
}
