/* SPDX-License-Identifier: Apache-2.0 */
/* The text is what the interpreter has written. Whether something caught the exception before is known by the stack of
 * the thread that wrote it. */
#include "report/answers/summary/exception.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text.h"
#include "report/base/util.h"
#include "report/names/attribution.h"
#include "report/names/python.h"
#include "report/read/job/command.h"
#include "runtime/shared/format/trace_python.h"

enum { NAME_WIDTH = 40, TEXT_WIDTH = 100 };

/* ---- whether it was caught ---- */

struct writer {
	bool is_found, is_bootstrap; /* of the innermost frame that does not merely print */
	bool has_module, is_loop;
};

static void visit_writer(void *context, const char *file, const char *function)
{
	struct writer *w = context;

	if (!w->is_found && /* those print */
	    text_any(text_ends_with, file, "/traceback.py", "/contextlib.py", "/codecs.py", "/_colorize.py"))
		return;
	if (!w->is_found)
		w->is_bootstrap = text_any(text_ends_with, file, "/threading.py", "/multiprocessing/process.py");
	w->is_found = true;
	w->has_module |= function_is_module(function);
	w->is_loop |= function_reports_for_loop(file, function);
}

/* It was, if the program's own frames are still there: threads and workers write what left them, the interpreter when
 * its last frame is gone, and a sys.excepthook when that of the main program is. */
static bool has_escaped(const struct image *image, const struct tf_exception *head, struct exception *ret)
{
	struct writer w = {0};

	if (!head->stack)
		return false;
	python_frames(image->trace, head->stack, &w, visit_writer);
	ret->is_last = w.is_bootstrap || !w.is_found;
	ret->is_of_loop = w.is_loop;
	return w.is_bootstrap || w.is_loop || !w.has_module;
}

/* ---- its text ---- */

/* What Ctrl-C raises was asked for. */
static bool is_wanted(const char *raised)
{
	return !text_begins_with(raised, "KeyboardInterrupt");
}

/* In ascending order. What was given to exec() or `python -c` is "<string>". */
enum exception_file { LIBRARY, GIVEN, PROGRAM };

static enum exception_file file_kind(const char *file)
{
	return attribution_is_library(file) ? LIBRARY : !strcmp(file, "<string>") ? GIVEN : PROGRAM;
}

/* `  File "NAME", line N, in FUNCTION`: the innermost one of those with the highest of these counts. */
static void parse_file(const char *line, struct exception *e)
{
	static const char begin[] = "  File \"", middle[] = "\", line ";
	const char *name = line + sizeof(begin) - 1, *end = strstr(name, middle), *function;
	char *file;

	if (!end)
		return;
	file = mem_copy_text(name, (size_t)(end - name));
	e->is_of_connection = text_any(text_ends_with, file, "/multiprocessing/connection.py",
				       "/multiprocessing/reduction.py", "/multiprocess/connection.py",
				       "/multiprocess/reduction.py");
	if (e->file && file_kind(file) < file_kind(e->file)) {
		free(file);
		return;
	}
	free(e->file);
	free(e->function);
	e->file = file;
	e->line = (uint32_t)strtoul(end + sizeof(middle) - 1, NULL, 10);
	function = strstr(end, ", in ");
	function = function ? function + strlen(", in ") : "";
	e->function = mem_copy_text(function, strlen(function));
}

static void clear_place(struct exception *e)
{
	free(e->file);
	free(e->function);
	e->file = e->function = NULL;
}

/* Of a worker's traceback that was sent the place is the cause; what was raised by the last one is its text. */
static void parse(char *text, struct exception *e)
{
	bool is_sent = false;

	for (char *line = strtok_r(text, "\n", &text); line; line = strtok_r(NULL, "\n", &text)) {
		if (!strcmp(line, "\"\"\"")) {
			is_sent = e->file;
		} else if (text_begins_with(line, "Traceback ")) {
			if (!is_sent)
				clear_place(e);
		} else if (*line == ' ') {
			if (!is_sent)
				parse_file(line, e);
		} else {
			free(e->text);
			e->text = mem_copy_text(line, strlen(line));
		}
	}
}

static bool read_exception(const struct image *image, const struct blob *b, struct exception *ret)
{
	struct tf_exception head;
	SCOPED_MEMORY char *bytes = mem_alloc(b->length + 1);
	size_t size = trace_blob(image->trace, b, bytes, b->length);
	SCOPED_MEMORY char *raised = NULL;

	*ret = (struct exception){0};
	if (size > sizeof(head)) {
		memcpy(&head, bytes, sizeof(head));
		bytes[size] = '\0';
		if (has_escaped(image, &head, ret))
			parse(bytes + sizeof(head), ret);
		ret->tid = head.tid;
		ret->at_ns = head.ticks;
	}
	raised = ret->text;
	ret->text = raised ? command_mask(raised) : NULL;
	ret->image = image;
	if (!ret->text)
		exception_done(ret);
	return ret->image;
}

/* at_ns: still in ticks */
static bool comes_after(const struct process *p, const struct exception *a, const struct exception *b)
{
	bool a_is_main = a->tid == p->pid, b_is_main = b->tid == p->pid;

	return a_is_main != b_is_main ? b_is_main : b->at_ns > a->at_ns;
}

/* Of those of event loops, or of the others. */
static bool find_last(const struct model *m, const struct process *p, bool is_of_loop, struct exception *ret)
{
	const struct image *image = &m->images[p->first_image + p->image_count - 1];
	const struct trace *t = image->trace;
	struct exception found;

	*ret = (struct exception){0};
	blobs_each(b, t, TF_BLOB_EXCEPTION) {
		if (!read_exception(image, b, &found))
			continue;
		if (found.is_of_loop != is_of_loop || (ret->image && !comes_after(p, ret, &found))) {
			exception_done(&found);
			continue;
		}
		exception_done(ret);
		*ret = found;
	}
	if (ret->image && !is_wanted(ret->text))
		exception_done(ret); /* and what was raised before it */
	if (ret->image)
		ret->at_ns = clock_map_ns(&m->machines[p->machine].clock, ret->at_ns);
	return ret->image;
}

bool exception_find(const struct model *m, const struct process *p, struct exception *ret)
{
	return find_last(m, p, false, ret);
}

bool exception_of_loop(const struct model *m, const struct process *p, struct exception *ret)
{
	return find_last(m, p, true, ret);
}

void exception_print(const struct exception *e, struct buffer *out)
{
	text_fit(out, e->text, TEXT_WIDTH);
	if (!e->file)
		return;
	buffer_text(out, " at ");
	text_fit(out, code_line_file(e->file), NAME_WIDTH);
	buffer_print(out, ":%" PRIu32, e->line);
	if (*e->function && *e->function != '<') {
		buffer_text(out, " ");
		text_shorten(out, e->function, NAME_WIDTH);
	}
}

/* ---- what it says of workers ---- */

static bool is_of_class(const char *text, const char *class)
{
	size_t length = strcspn(text, ":"), its = strlen(class);

	return length >= its && !memcmp(text + length - its, class, its) &&
	       (length == its || text[length - its - 1] == '.');
}

/* Files, sockets and terminals raise the last three classes, too. */
bool exception_is_of_loss(const struct exception *e)
{
	return text_any(is_of_class, e->text, "BrokenProcessPool", "TerminatedWorkerError", "ProcessExitedException") ||
	       (e->is_of_connection &&
		text_any(is_of_class, e->text, "EOFError", "BrokenPipeError", "ConnectionResetError"));
}

bool exception_names(const struct exception *e, uint32_t pid)
{
	char pattern[120];
	regex_t named;
	bool is_found;

	snprintf(pattern, sizeof(pattern),
		 "(^|[^a-z])(pid|process|worker)(s|es|\\(s\\))?[^a-z0-9]*([0-9]+[, ]+)*%" PRIu32 "([^0-9]|$)", pid);
	if (regcomp(&named, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB))
		return false;
	is_found = !regexec(&named, e->text, 0, NULL, 0);
	regfree(&named);
	return is_found;
}

void exception_done(struct exception *e)
{
	free(e->text);
	free(e->file);
	free(e->function);
	*e = (struct exception){0};
}
