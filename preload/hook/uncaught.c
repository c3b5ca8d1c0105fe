/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter writes a traceback line by line or in larger pieces. One thread at a time is followed. */
#include "preload/hook/uncaught.h"

#include <stdbool.h>
#include <string.h>

#include "preload/hook/call.h"
#include "preload/hook/caller.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/python/pystack.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/recorder/stack/object.h"
#include "runtime/recorder/stack/stack.h"
#include "runtime/shared/common/sys.h"

/* MOST_AFTER: lines of the message, after which no chained traceback is expected any more. */
enum { LINE_BYTES = 1024, TEXT_BYTES = 6144, MOST_WRITTEN = 64 << 10, MOST_RECORDED = 100, MOST_AFTER = 200 };
enum { PREFIX_BYTES = 32 };
/* NOTICE: a line that may announce what __del__ or the like has raised, which ends nothing; IGNORED: its traceback */
enum uncaught_part { IDLE, FRAMES, AFTER, NOTICE, IGNORED };

#define BEGIN "Traceback (most recent call last):"
static const char begin[] = BEGIN, file[] = "  File \"", ignored[] = "Exception ignored ";

HOT const void *uncaught_caller;

LARGE static struct {
	uint32_t busy; /* the process that is in it: a forked child may have its parent's; 0: none */
	uint32_t recorded, lines_after;
	const struct thread *writer;
	enum uncaught_part state;
	size_t indent; /* of the traceback, in a group of exceptions */
	char prefix[PREFIX_BYTES]; /* of each line: "[rank2]: " in a worker of PyTorch */
	bool is_chained;
	size_t line_used, used;
	char line[LINE_BYTES];
	struct tf_exception head;
	char text[TEXT_BYTES]; /* lines of files, and of what was raised */
} uncaught;

/* The first lines make room for the last ones. */
static void add_line(const char *line, size_t length)
{
	if (uncaught.used + length + 1 > TEXT_BYTES) {
		uncaught.used /= 2;
		memmove(uncaught.text, uncaught.text + TEXT_BYTES / 2, uncaught.used);
	}
	memcpy(uncaught.text + uncaught.used, line, length);
	uncaught.used += length;
	uncaught.text[uncaught.used++] = '\n';
}

/* A first stack has no Python frames, because it finds the interpreter. */
static void record(uintptr_t frame)
{
	struct thread *t = &thread_self;
	bool had_interpreter = pystack_has_interpreter();
	struct thread_guard guard;

	if (uncaught.recorded == MOST_RECORDED || !hook_attached())
		return;
	uncaught.recorded++;
	thread_guard_enter(t, &guard);
	uncaught.head.stack = stack_take(t, frame);
	if (!had_interpreter)
		uncaught.head.stack = stack_take(t, frame);
	uncaught.head.ticks = clock_now();
	uncaught.head.tid = t->page->chunk.tid;
	if (pystack_is_readable())
		event_blob_of_two(TF_BLOB_EXCEPTION, t->number, &uncaught.head, sizeof(uncaught.head), uncaught.text,
				  uncaught.used);
	thread_guard_leave(t, &guard);
}

/* "Original Traceback ..." is in the message of an exception that a worker has sent. */
static void begin_traceback(bool is_whole_line)
{
	if (uncaught.state == IDLE || (uncaught.state == AFTER && is_whole_line && !uncaught.is_chained))
		uncaught.used = 0;
	uncaught.state = FRAMES;
	uncaught.indent = 0;
	add_line(begin, sizeof(begin) - 1);
}

/* A line of a group of exceptions begins with a margin: "  |   File ...". */
static bool is_file_line(const char *line)
{
	const char *found = strstr(line, file);

	if (!found || strspn(line, " |") < (size_t)(found - line))
		return false;
	uncaught.indent = (size_t)(found - line);
	return true;
}

/* The line without the prefix that the first line of the traceback has. */
static char *without_prefix(char *line)
{
	const char *found = strstr(line, begin);
	size_t length = strlen(uncaught.prefix);

	if (found && found - line > 2 && found - line < PREFIX_BYTES && found[-1] == ' ' && found[-2] == ':') {
		length = (size_t)(found - line);
		memcpy(uncaught.prefix, line, length);
		uncaught.prefix[length] = '\0';
	}
	return line + (strncmp(line, uncaught.prefix, length) ? 0 : length);
}

/* As CPython 3.8 to 3.14 write it: "Exception ignored in: <function O.__del__ at 0x...>". A program may log words that
 * look alike before what ends it; and "in thread started by" is what has ended a thread. */
static bool is_notice(const char *line)
{
	static const char *const after[] = {"in: <", "in atexit callback", "on calling ctypes callback", "while "};

	if (strncmp(line, ignored, sizeof(ignored) - 1) || !strstr(line, " at 0x"))
		return false;
	for (size_t i = 0; i < sizeof(after) / sizeof(*after); i++)
		if (!strncmp(line + sizeof(ignored) - 1, after[i], strlen(after[i])))
			return true;
	return false;
}

/* The line is of what ends nothing. Only a traceback that directly follows is. */
static bool is_ignored(const char *line)
{
	if (is_notice(line))
		uncaught.state = NOTICE;
	else if (uncaught.state == NOTICE && !strcmp(line, begin))
		uncaught.state = IGNORED;
	else if (uncaught.state == NOTICE || (uncaught.state == IGNORED && *line != ' '))
		uncaught.state = IDLE;
	return uncaught.state == NOTICE || uncaught.state == IGNORED;
}

static void take_line(uintptr_t frame)
{
	size_t length = uncaught.line_used;
	char *line = uncaught.line;
	const char *found;

	line[length] = '\0';
	line = without_prefix(line);
	length = strlen(line);
	found = strstr(line, begin);
	if (is_ignored(line))
		return;
	if (found && !found[sizeof(begin) - 1]) {
		begin_traceback(found == line);
	} else if (uncaught.state != AFTER && is_file_line(line)) {
		if (uncaught.state == IDLE)
			begin_traceback(true);
		add_line(line + uncaught.indent, length - uncaught.indent);
	} else if (uncaught.state == FRAMES && length > uncaught.indent && line[uncaught.indent] != ' ') {
		add_line(line + uncaught.indent, length - uncaught.indent);
		uncaught.state = AFTER;
		uncaught.lines_after = 0;
		uncaught.is_chained = false;
		record(frame);
	} else if (uncaught.state == AFTER && !strcmp(line, "\"\"\"")) {
		add_line(line, length);
	} else if (uncaught.state == AFTER && ++uncaught.lines_after > MOST_AFTER) {
		uncaught.state = IDLE;
	} else if (uncaught.state == AFTER) {
		uncaught.is_chained |= !strncmp(line, "During handling of the above", 28) ||
				       !strncmp(line, "The above exception was", 23);
	}
}

/* Without the colours that Python 3.13 and later ones write to a terminal. */
static void take(uintptr_t frame, const char *bytes, size_t size)
{
	static bool is_colour;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\033') {
			is_colour = true;
		} else if (is_colour) {
			is_colour = bytes[i] != 'm' && bytes[i] != '\n';
		} else if (bytes[i] == '\n') {
			take_line(frame);
			uncaught.line_used = 0;
		} else if (uncaught.line_used + 1 < LINE_BYTES) {
			uncaught.line[uncaught.line_used++] = bytes[i];
		}
	}
}

/* As in annotate.c, which explains why nothing here takes a lock. */
static bool is_interpreter(const void *caller)
{
	static uint64_t site, stranger;
	uint64_t key = caller_key(0, (uintptr_t)caller);
	struct object object;
	const void *dynamic;
	uintptr_t base;

	if (key == __atomic_load_n(&site, __ATOMIC_RELAXED))
		return true;
	if (key == __atomic_load_n(&stranger, __ATOMIC_RELAXED) ||
	    object_find((uintptr_t)caller, &object) != OBJECT_FOUND)
		return false;
	dynamic = object_dynamic(&object, &base);
	if (dynamic && dso_symbol(base, dynamic, "PyGILState_GetThisThreadState")) {
		__atomic_store_n(&site, key, __ATOMIC_RELAXED);
		__atomic_store_n(&uncaught_caller, caller, __ATOMIC_RELAXED);
		return true;
	}
	__atomic_store_n(&stranger, key, __ATOMIC_RELAXED);
	return false;
}

/* The first byte of the line that begins a traceback, or may precede one that is ignored; NULL: none does. A syntax
 * error in the program's own file has only its place. */
static const char *traceback_line(const char *bytes, size_t size)
{
	const char *found = memmem(bytes, size, begin, sizeof(begin) - 1);
	const char *before = memmem(bytes, found ? (size_t)(found - bytes) : size, ignored, sizeof(ignored) - 1);

	found = before ?: found;
	if (!found && size > sizeof(file) && !memcmp(bytes, file, sizeof(file) - 1) && !memmem(bytes, size, ", in ", 5))
		return bytes;
	while (found && found > bytes && found[-1] != '\n')
		found--;
	return found;
}

static bool enter(void)
{
	uint32_t busy = __atomic_load_n(&uncaught.busy, __ATOMIC_RELAXED), own = (uint32_t)process.pid;

	return busy != own && __atomic_compare_exchange_n(&uncaught.busy, &busy, own, false, __ATOMIC_ACQUIRE,
							  __ATOMIC_RELAXED);
}

void uncaught_write(const void *caller, uintptr_t frame, const char *bytes, size_t size)
{
	const char *from = bytes;
	int error = errno;

	if (size > MOST_WRITTEN || !process_gate.groups || !is_interpreter(caller) || !enter())
		return;
	if (uncaught.state == IDLE || uncaught.writer != &thread_self) {
		from = traceback_line(bytes, size);
		if (from) {
			uncaught.writer = &thread_self;
			/* its line may come in several writes */
			uncaught.state = IDLE;
			if (memmem(from, (size_t)(bytes + size - from), ignored, sizeof(ignored) - 1) == from)
				uncaught.state = NOTICE;
			uncaught.line_used = 0;
		}
	}
	if (from)
		take(frame, from, (size_t)(bytes + size - from));
	__atomic_store_n(&uncaught.busy, 0, __ATOMIC_RELEASE);
	errno = error;
}
