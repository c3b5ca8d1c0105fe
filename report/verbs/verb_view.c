/* SPDX-License-Identifier: Apache-2.0 */
/* view: writes the page of export -t html and opens it in a browser. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/verbs/output/envelope.h"
#include "report/verbs/verb.h"

/* Whether the file was written by export -t html, so that it may be replaced. */
static bool is_own_page(const char *path)
{
	static const char mark[] = "pillion</title>";
	char bytes[4096];
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

	if (file)
		fclose(file);
	return memmem(bytes, n, mark, strlen(mark));
}

/* The program that opens a page; NULL: there is no display. */
static const char *browser(void)
{
	const char *own = getenv("BROWSER");

	if (own && *own)
		return own;
	return getenv("DISPLAY") || getenv("WAYLAND_DISPLAY") ? "xdg-open" : NULL;
}

/* Runs the browser detached from the terminal. Whether it could be started. */
static bool page_open(const char *path)
{
	const char *program = browser();
	int status = 0;
	pid_t pid;

	if (!program)
		return false;
	pid = fork();
	if (!pid) {
		pid = fork();
		if (pid)
			_exit(pid < 0);
		setsid();
		if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout) ||
		    !freopen("/dev/null", "w", stderr))
			_exit(EXIT_UNUSABLE);
		execlp(program, program, path, (char *)NULL);
		_exit(EXIT_UNUSABLE);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static int run_view(const struct command_line *l)
{
	struct command_line exporting = *l;
	SCOPED(buffer) name = {0};
	int status;

	exporting.type = export_find("html");
	if (!l->output && l->capture_count) {
		export_name(l->captures[0], exporting.type, &name);
		exporting.output = name.data;
		exporting.is_forced = l->is_forced || is_own_page(name.data);
	}
	status = verb_export.run(&exporting);
	if (status != EXIT_UNUSABLE && !work_was_refused() && strcmp(exporting.output, "-") != 0) {
		if (!l->quiet && !envelope_is_open())
			say("wrote %s", exporting.output);
		if (!l->is_closed && !page_open(exporting.output) && !l->quiet)
			say("there is no display: open this file in a browser");
	}
	return status;
}

const struct verb verb_view = {
	"view", "[OPTION]... [CAPTURE]...", "the run as a page, in a browser", VERB_VIEW, run_view, NULL,
};
