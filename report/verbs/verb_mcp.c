/* SPDX-License-Identifier: Apache-2.0 */
/* mcp: a server of the Model Context Protocol, which is a Python program: see recipes/README.md. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "report/base/python.h"
#include "report/verbs/verb.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "unknown"
#endif

enum { CALL_SECONDS = 60 };

static int run_mcp(const struct command_line *l)
{
	char self[PATH_MAX], server[PYTHON_PROGRAM_MAX], seconds[16];
	SCOPED_MEMORY char **words = mem_alloc((l->source_roots.count + 7) * sizeof(*words));

	if (l->capture_count) {
		say("takes no operands: the client names the captures");
		return EXIT_UNUSABLE;
	}
	if (!python_find("mcp.py", self, server)) {
		say("its program, recipes/mcp.py, is not installed beside %s", self);
		return EXIT_UNUSABLE;
	}
	snprintf(seconds, sizeof(seconds), "%" PRIu32, l->time_limit == TIME_LIMIT_DEFAULT ? CALL_SECONDS
												 : l->time_limit);
	memcpy(words, (char *[]){python_name(), "-I", server, self, PILLION_VERSION, seconds}, 6 * sizeof(*words));
	memcpy(words + 6, l->source_roots.items, l->source_roots.count * sizeof(*words));
	execvp(words[0], words);
	say("%s: %s", words[0], strerror(errno));
	return EXIT_UNUSABLE;
}

static void more_help(struct text *ret)
{
	text_add(ret, "\nA client starts it and speaks the Model Context Protocol with it, for example:\n"
		      "  {\"mcpServers\": {\"pillion\": {\"command\": \"pillion\", \"args\": [\"mcp\"]}}}\n"
		      "\nTools: summary, findings, table, query, lines, source and diff only read, and\n"
		      "only what the user who starts it can read; try executes two shell commands of the\n"
		      "client with the rights of that user, several times each, and judges by their wall\n"
		      "times whether the second one is slower. The text of a source is shown only if it is\n"
		      "below a --source-root (the directory in which mcp was started, unless that is /)\n"
		      "and is what the run has recorded. Answers are those of --json; they\n"
		      "have 50 rows of a table and 60 kB of rows at most, and state what was left out.\n"
		      "A call that takes longer than --time-limit is ended, as is one that the client\n"
		      "cancels, or that is left when the client has closed the connection for 10 s: with\n"
		      "SIGKILL, and with what the command of try has started in its process group.\n"
		      "It needs python3, or the Python that PILLION_PYTHON names.\n");
}

const struct verb verb_mcp = {
	"mcp", "", "a server of the Model Context Protocol, for language models that read captures",
	VERB_MCP, run_mcp, more_help, "0 the client has ended it, 2 wrong usage, or no Python was found",
};
