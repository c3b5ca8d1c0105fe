/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/summary/summary_parts.h"

#include <string.h>

#include "report/answers/summary/summary_time.h"
#include "report/base/text.h"
#include "report/names/attribution.h"
#include "report/names/code_line.h"
#include "report/names/python.h"
#include "runtime/shared/format/trace_switches.h"

/* LINE_PERCENT: of the run, what a line must compute for its compiler's options to matter. */
enum { VALUE_WIDTH = 20, LINE_PERCENT = 10 };

static const struct {
	const char *name, *effect;
} variables[] = {
#define VARIABLE(name, effect) {name, effect},
	TF_SWITCHES(VARIABLE)
#undef VARIABLE
};

/* Libraries that check what a program does, by the beginning of their names. */
static const struct {
	const char *file, *name;
} checkers[] = {
	{"libsanitizer-collection.so", "compute-sanitizer"},
	{"libasan.so", "AddressSanitizer"},
	{"libtsan.so", "ThreadSanitizer"},
	{"libubsan.so", "UndefinedBehaviorSanitizer"},
	{"libc_malloc_debug.so", "glibc's checks of malloc"},
};

/* Of NCCL_DEBUG also the levels at which it only warns. */
static bool is_off(const char *value)
{
	return text_any(text_is, value, "", "0", "OFF", "off", "False", "false", "NONE", "VERSION", "WARN");
}

static void add_separator(struct buffer *ret)
{
	buffer_text(ret, ret->size ? ", " : "");
}

static void find_variables(const struct model *m, struct buffer *ret)
{
	for (size_t k = 0; k < sizeof(variables) / sizeof(*variables); k++)
		for (size_t i = 0; i < m->image_count; i++) {
			const char *value = image_variable(&m->images[i], variables[k].name);

			if (!value || is_off(value))
				continue;
			add_separator(ret);
			buffer_print(ret, "%s=", variables[k].name);
			text_fit(ret, value, VALUE_WIDTH);
			buffer_print(ret, " (%s)", variables[k].effect);
			break;
		}
}

static const char *wanted;

static bool is_wanted_library(const char *path)
{
	return text_begins_with(path_name(path), wanted);
}

static void find_checkers(const struct model *m, struct buffer *ret)
{
	for (size_t k = 0; k < sizeof(checkers) / sizeof(*checkers); k++)
		for (size_t i = 0; i < m->image_count; i++) {
			wanted = checkers[k].file;
			if (!attribution_uses_module(&m->images[i], is_wanted_library))
				continue;
			add_separator(ret);
			buffer_text(ret, checkers[k].name);
			break;
		}
}

/* "python3 -X dev job.py": of the words before the program. */
static void find_python_option(const struct model *m, struct buffer *ret)
{
	for (size_t i = 0; i < m->process_count; i++)
		if (m->processes[i].command && (strstr(m->processes[i].command, " -X dev ") ||
						strstr(m->processes[i].command, " -Xdev "))) {
			add_separator(ret);
			buffer_text(ret, "-X dev (Python checks itself)");
			return;
		}
}

/* ---- PyTorch's anomaly mode: each operator keeps the stack that called it ---- */

struct stack_keeper {
	bool was_inside; /* the frame before was that of what keeps stacks */
	bool found;
};

/* torch.fx keeps stacks, too, when it compiles. */
static void visit_frame(void *context, const char *file, const char *function)
{
	struct stack_keeper *k = context;

	k->found |= k->was_inside && !strstr(file, "/torch/fx/") && !strstr(file, "/torch/_");
	k->was_inside = function_keeps_stack(file, function);
}

static bool keeps_stacks(const struct trace *t)
{
	struct stack_keeper k = {0};

	blobs_each(b, t, TF_BLOB_PYTHON_STACK) {
		k.was_inside = false;
		python_frames(t, b->id, &k, visit_frame);
		if (k.found)
			return true;
	}
	return false;
}

/* It is installed wherever its modules are mapped; the stacks of other programs are not read. */
static void find_anomaly_mode(const struct model *m, struct buffer *ret)
{
	wanted = "libtorch_python";
	for (size_t i = 0; i < m->image_count; i++)
		if (attribution_uses_module(&m->images[i], is_wanted_library) && keeps_stacks(m->images[i].trace)) {
			add_separator(ret);
			buffer_text(ret, "anomaly mode of PyTorch (each operator keeps its stack)");
			return;
		}
}

/* ---- builds ---- */

/* GCC tells its options, of which the last -O holds; without any it does not optimize. Go's -N is the same. */
static bool is_unoptimized(const char *compiler)
{
	const char *level = NULL;

	for (const char *at = compiler; (at = strstr(at, " -O")); at++)
		level = at;
	if (text_begins_with(compiler, "Go "))
		return strstr(compiler, " -N");
	return text_begins_with(compiler, "GNU ") && (!level || level[3] == '0');
}

static void find_builds(const struct report_context *c, const struct roles *roles, struct buffer *ret)
{
	for (size_t i = 0; i < roles->count; i++) {
		const struct role_call *hot = roles->items[i].lines.items;
		const char *compiler, *file;
		uint32_t line;

		if (!roles->items[i].lines.count || !hot->is_users || hot->frame.is_python ||
		    hot->ns * 100 < roles->wall_ns * LINE_PERCENT)
			continue;
		compiler = symbols_compiler(c->symbols, &hot->frame);
		file = symbols_source(c->symbols, &hot->frame, &line);
		if (!compiler || !is_unoptimized(compiler))
			continue;
		add_separator(ret);
		buffer_print(ret, "-O0 (%s is compiled without optimization)", code_line_file(file));
		return;
	}
}

void summary_switches(const struct report_context *c, const struct roles *roles, struct buffer *ret)
{
	const struct model *m = c->model;
	SCOPED(buffer) on = {0};

	find_variables(m, &on);
	find_python_option(m, &on);
	find_anomaly_mode(m, &on);
	find_builds(c, roles, &on);
	find_checkers(m, &on);
	if (on.size)
		buffer_print(ret, "%-*s %s\n", SUMMARY_LABEL, "switched", on.data);
}
