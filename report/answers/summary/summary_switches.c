/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/summary/summary_switches.h"

#include <string.h>

#include "report/answers/summary/summary_time.h"
#include "report/base/text.h"
#include "report/names/attribution.h"
#include "runtime/shared/format/trace_switches.h"

enum { VALUE_WIDTH = 20 };

static const struct {
	const char *name, *effect;
} variables[] = {
#define VARIABLE(name, effect) {name, effect},
	TF_SWITCHES(VARIABLE)
#undef VARIABLE
};

/* Libraries that check what a program does, by the beginning of their names. */
static const struct {
	const char *library, *name;
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
	static const char *const off[] = {"", "0", "OFF", "off", "False", "false", "NONE", "VERSION", "WARN"};

	for (size_t i = 0; i < sizeof(off) / sizeof(*off); i++)
		if (!strcmp(value, off[i]))
			return true;
	return false;
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
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	return !strncmp(base, wanted, strlen(wanted));
}

static void find_checkers(const struct model *m, struct buffer *ret)
{
	for (size_t k = 0; k < sizeof(checkers) / sizeof(*checkers); k++)
		for (size_t i = 0; i < m->image_count; i++) {
			wanted = checkers[k].library;
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

void summary_switches(const struct model *m, struct buffer *ret)
{
	struct buffer on = {0};

	find_variables(m, &on);
	find_python_option(m, &on);
	find_checkers(m, &on);
	if (on.size)
		buffer_print(ret, "%-*s %s\n", SUMMARY_LABEL, "switched", on.data);
	buffer_done(&on);
}
