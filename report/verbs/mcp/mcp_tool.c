/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verbs/mcp/mcp_tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


/* What an answer has at most: rows of a table if the caller does not say it, and if it does; bytes of rows. */
enum { TOP_DEFAULT = 50, TOP_MOST = 1000 };
#define BYTES "--json-bytes=60000"

enum argument_kind { CAPTURE, CAPTURES, SQL, COMMAND, TEXT, SOURCE, TOP };

struct tool_argument {
	const char *name, *help;
	enum argument_kind kind;
	bool is_required;
	const char *option; /* with its '='; NULL: an operand */
	const char *before; /* an operand to put before it; NULL: none */
};

#define CAPTURE_ARGUMENT {"capture", "path of the capture (NAME.pillion or NAME.pillpack)", CAPTURE, true}
#define TOP_ARGUMENT {"top", "rows of each table at most, 1 to 1000; default 50", TOP, false, "--top="}
#define RANGE_ARGUMENT                                                                                              \
	{"range", "only during the NVTX ranges of this name: RANGE[@DOMAIN][/INDEX]", TEXT, false, "--filter-nvtx="}

static const struct tool {
	const char *name, *help, *words[4]; /* the verb and what is always said to it */
	struct tool_argument arguments[8];
	bool runs_commands; /* else it only reads */
} tools[] = {
	{"summary",
	 "What a recorded run spent its time on, as a few tables, with what to fix first. Call this first.",
	 {"stats", "--summary"},
	 {CAPTURE_ARGUMENT}},
	{"findings",
	 "Performance problems by rules, the costliest first: what, at which line, what to change. A rule that could "
	 "not be checked is not clean.",
	 {"analyze"},
	 {CAPTURE_ARGUMENT, {"rule", "only this rule", TEXT, false, "--rule="}, TOP_ARGUMENT}},
	{"table",
	 "A report as rows, such as osrt_sum, cuda_api_sum, cuda_gpu_kern_sum, nvtx_sum, time_sum, processes, mpi_sum, "
	 "sample_sum, ledger. Times are in ns.",
	 {"stats"},
	 {CAPTURE_ARGUMENT,
	  {"report", "name of the report", TEXT, true, "--report="},
	  {"by", "one row for each process, rank, host, thread, device or range", TEXT, false, "--by="},
	  RANGE_ARGUMENT,
	  {"time", "only this interval since the start: START/END with ns, us, ms or s", TEXT, false,
	   "--filter-time="},
	  TOP_ARGUMENT}},
	{"query",
	 "A SELECT over the events, in the tables of Nsight Systems' database (OSRT_API, StringIds, NVTX_EVENTS, "
	 "CUPTI_ACTIVITY_KIND_KERNEL, ...) and the reports. '.tables' lists them, '.schema TABLE' has the columns.",
	 {"query"},
	 {CAPTURE_ARGUMENT, {"sql", "the statement", SQL, true}, TOP_ARGUMENT}},
	{"lines",
	 "The source lines that cost the most time on the CPU, waiting and on the GPU.",
	 {"stats", "--report=lines"},
	 {CAPTURE_ARGUMENT, RANGE_ARGUMENT, TOP_ARGUMENT}},
	{"source",
	 "The text of a source file with the cost of each line.",
	 {"stats"},
	 {CAPTURE_ARGUMENT,
	  {"file", "path of the file; its end is enough", SOURCE, true, "--source="},
	  TOP_ARGUMENT}},
	{"diff",
	 "What has become slower between captures, and whether noise explains it. Several captures of each side find "
	 "smaller changes.",
	 {"diff"},
	 {{"before", "paths of the captures before the change", CAPTURES, true},
	  {"after", "paths of those after it", CAPTURES, true, NULL, "--"},
	  {"by", "rows: kernel, api, line, range, op or rank", TEXT, false, "--by="},
	  {"gate", "what counts as worse, such as 3%", TEXT, false, "--gate="},
	  {"over", "compare the mean of a step: an NVTX range", TEXT, false, "--over="},
	  TOP_ARGUMENT}},
	{"try",
	 "Executes two shell commands in turn, several times, and judges by their wall times whether the second one is "
	 "slower. Nothing is recorded.",
	 {"try"},
	 {{"a", "the first command, for /bin/sh", COMMAND, true},
	  {"b", "the second command", COMMAND, true},
	  {"runs", "runs of each, at least 3; default 10", TEXT, false, "--runs="},
	  {"gate", "what counts as slower, such as 3%", TEXT, false, "--gate="},
	  TOP_ARGUMENT},
	 .runs_commands = true},
};

enum { TOOLS = sizeof(tools) / sizeof(*tools), ARGUMENTS = sizeof(tools->arguments) / sizeof(*tools->arguments) };

/* ---- descriptions ---- */

static void describe_argument(struct json_writer *w, const struct tool_argument *a)
{
	json_name(w, a->name);
	json_begin(w, '{');
	json_member_string(w, "type", a->kind == TOP ? "integer" : a->kind == CAPTURES ? "array" : "string");
	if (a->kind == CAPTURES) {
		json_member_ready(w, "items", "{\"type\":\"string\"}");
		json_member_number(w, "minItems", 1);
	} else if (a->kind == TOP) {
		json_member_number(w, "minimum", 1);
		json_member_number(w, "maximum", TOP_MOST);
	}
	json_member_string(w, "description", a->help);
	json_end(w, '}');
}

static void describe_arguments(struct json_writer *w, const struct tool_argument *arguments)
{
	json_begin(w, '{');
	json_member_string(w, "type", "object");
	json_name(w, "properties");
	json_begin(w, '{');
	for (size_t i = 0; i < ARGUMENTS && arguments[i].name; i++)
		describe_argument(w, &arguments[i]);
	json_end(w, '}');
	json_name(w, "required");
	json_begin(w, '[');
	for (size_t i = 0; i < ARGUMENTS && arguments[i].name; i++)
		if (arguments[i].is_required)
			json_string(w, arguments[i].name);
	json_end(w, ']');
	json_member_bool(w, "additionalProperties", false);
	json_end(w, '}');
}

void mcp_tools_describe(struct json_writer *w)
{
	json_begin(w, '[');
	for (size_t i = 0; i < TOOLS; i++) {
		json_begin(w, '{');
		json_member_string(w, "name", tools[i].name);
		json_member_string(w, "description", tools[i].help);
		json_member_ready(w, "annotations",
				  tools[i].runs_commands ? "{\"readOnlyHint\":false,\"openWorldHint\":true}"
							 : "{\"readOnlyHint\":true,\"openWorldHint\":false}");
		json_name(w, "inputSchema");
		describe_arguments(w, tools[i].arguments);
		json_end(w, '}');
	}
	json_end(w, ']');
}

/* ---- arguments ---- */

/* An operand that looks like an option would be taken for one. */
static void add_operand(enum argument_kind kind, const char *text, struct texts *ret)
{
	texts_add(ret, "%s%s", *text != '-' ? "" : kind == SQL || kind == COMMAND ? " " : "./", text);
}

static int add_top(const char *type, const char *text, struct texts *ret, struct err *err)
{
	long top = *type ? strtol(text, NULL, 10) : TOP_DEFAULT;

	if ((*type && strcmp(type, "integer") != 0) || top < 1 || top > TOP_MOST)
		return err_set(err, -EINVAL, "top must be an integer from 1 to %d", TOP_MOST);
	texts_add(ret, "--top=%ld", top);
	return 0;
}

/* The options of an argument go to `options`, its operands to `operands`. */
static int add_argument(struct json_reader *r, const struct tool_argument *a, struct texts *options,
			struct texts *operands, struct err *err)
{
	SCOPED(texts) list = {0};
	char path[128], type[16];
	int code = 0;

	snprintf(path, sizeof(path), "$.params.arguments.%s", a->name);
	snprintf(type, sizeof(type), "%s", json_type(r, path));
	if (!strcmp(type, "null"))
		*type = 0;
	if (a->kind == TOP)
		return add_top(type, json_text(r, path), options, err);
	if (!*type)
		return a->is_required ? err_set(err, -EINVAL, "'%s' is missing: %s", a->name, a->help) : 0;
	if (a->kind == CAPTURES && !strcmp(type, "array"))
		code = json_texts(r, path, &list);
	else if (!strcmp(type, "text"))
		texts_add(&list, "%s", json_text(r, path));
	else
		code = -EINVAL;
	if (code || !list.count || !*list.items[0])
		code = err_set(err, -EINVAL, "'%s' must be %s: %s", a->name,
			       a->kind == CAPTURES ? "a list of texts" : "a text", a->help);
	if (!code && a->before)
		texts_add(operands, "%s", a->before);
	for (size_t i = 0; i < list.count && !code; i++)
		if (a->option)
			texts_add(options, "%s%s", a->option, list.items[i]);
		else
			add_operand(a->kind, list.items[i], operands);
	return code;
}

/* ---- calls ---- */

static const struct tool *find_tool(const char *name)
{
	for (size_t i = 0; i < TOOLS; i++)
		if (!strcmp(tools[i].name, name))
			return &tools[i];
	return NULL;
}

int mcp_tool_call(struct json_reader *request, const char *name, const struct texts *roots, struct mcp_call *ret,
		  struct err *err)
{
	const struct tool *t = find_tool(name);
	struct texts operands = {0}, *words = &ret->words;
	int code = 0;

	if (!t)
		return err_set(err, -ENOENT, "unknown tool: %s", name);
	ret->help = t->help;
	texts_add(words, "pillion-report");
	for (size_t i = 0; i < sizeof(t->words) / sizeof(*t->words) && t->words[i]; i++)
		texts_add(words, "%s", t->words[i]);
	texts_add(words, "--json");
	texts_add(words, BYTES);
	for (size_t i = 0; i < ARGUMENTS && t->arguments[i].name && !code; i++)
		code = add_argument(request, &t->arguments[i], words, &operands, err);
	for (size_t i = 0; i < roots->count; i++)
		if (t->arguments[1].kind == SOURCE)
			texts_add(words, "--source-root=%s", roots->items[i]);
	for (size_t i = 0; i < operands.count; i++)
		texts_add(words, "%s", operands.items[i]);
	texts_done(&operands);
	return code;
}

void mcp_tool_failed(const struct mcp_call *c, const struct err *err, struct buffer *ret)
{
	struct json_writer w = {.to = ret};

	json_begin(&w, '{');
	json_member_string(&w, "error", err->text);
	json_member_string(&w, "hint", c->help);
	json_end(&w, '}');
}
