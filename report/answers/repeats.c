/* SPDX-License-Identifier: Apache-2.0 */
/* What the process of a place does again and again, by its calls on files: it reads the same file anew, and makes one
 * query of a database after another. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/fix_first_build.h"
#include "report/events/file_calls.h"

/* So many opens of one file are worth a word, or so many locks; so much of each open must be read; so much of the
 * place's time must be in the database. */
enum { REPEAT_OPENS = 10, REPEAT_LOCKS = 400, READ_BYTES = 1024, DATABASE_PERCENT = 10, MODULES = 64 };
/* The place is about other things if it takes longer than this for each byte read, or for each lock: parsers written in
 * Python take some 50 us for a byte. */
enum { BYTE_NS = 100000, LOCK_NS = 5000000 };

/* Calls on one file. */
struct file_uses {
	uint64_t opens, read_bytes, locks;
	uint64_t written_bytes; /* by any process */
	bool has_stack, is_of_place; /* of some read; of a read below the place */
};

struct repeats {
	struct choice *choice;
	const struct process *process;
	uint32_t place; /* function of the own stacks */
	struct file_uses *files; /* by row of the paths */
	size_t count, capacity;
};

static bool passes(struct own_stacks *own, const struct image *image, uint32_t stack, uint32_t function)
{
	uint32_t number = own_stack_of(own, image, stack);
	const struct own_frame *frames = own_frames(own, number);

	return array_find(frame, frames, own->stacks[number].count, frame->function == function) != NULL;
}

static void visit_file(struct file_calls *f, const struct file_call *call)
{
	struct repeats *r = f->more;
	struct file_uses *file;

	if (call->file == FILE_UNKNOWN)
		return;
	while (call->file >= r->count)
		mem_append(r->files, r->count, r->capacity, (struct file_uses){0});
	file = &r->files[call->file];
	file->written_bytes += call->role == ROLE_WRITE ? call->bytes : 0;
	if (&r->choice->context->model->processes[call->image->process] != r->process)
		return;
	file->opens += call->role == ROLE_OPEN ? call->calls - call->failed : 0;
	file->read_bytes += call->role == ROLE_READ || call->role == ROLE_MAP ? call->bytes : 0;
	file->locks += call->locks;
	if (call->stack && (call->role == ROLE_READ || call->role == ROLE_MAP)) {
		file->has_stack = true;
		file->is_of_place |= passes(&r->choice->own, call->image, call->stack, r->place);
	}
}

/* Of an interpreter, a library or the system, which nobody changes. */
static bool is_systems_file(const char *path)
{
	return attribution_is_library(path) ||
	       text_any(text_begins_with, path, "/proc/", "/sys/", "/dev/", "/usr/", "/etc/", "/lib");
}

/* What is written anew each time is read again because it changes. */
static bool is_read_again(const struct file_uses *file)
{
	return file->opens >= REPEAT_OPENS && file->read_bytes >= file->opens * READ_BYTES &&
	       file->written_bytes <= file->read_bytes / 2 && (file->is_of_place || !file->has_stack);
}

/* CPU time of the place. SQLite's files are locked for each query: of other databases, the place waits in calls, which
 * are counted. */
struct place_time {
	uint64_t all_ns, sqlite_ns;
};

static struct place_time place_time(struct choice *k, const struct role *role, uint32_t place)
{
	struct place_time ret = {0};

	array_each(const struct role_stack, s, role->stacks, role->stack_count) {
		struct symbol_frame frames[MODULES];
		size_t count;

		if (!passes(&k->own, s->image, s->stack, place))
			continue;
		count = symbols_native(k->context->symbols, s->image, s->stack, frames, MODULES);
		ret.all_ns += s->ns;
		if (array_find(frame, frames, count, attribution_is_sqlite(frame->module)))
			ret.sqlite_ns += s->ns;
	}
	return ret;
}

static void repeats_words(struct repeats *r, const struct file_calls *f, const struct place_time *time,
			  struct buffer *ret)
{
	bool is_in_database = time->sqlite_ns && time->sqlite_ns * 100 >= time->all_ns * DATABASE_PERCENT;
	size_t again = r->count, locked = r->count;

	for (size_t i = 0; i < r->count; i++) {
		const struct file_uses *file = &r->files[i];

		if (is_read_again(file) && file->read_bytes >= time->all_ns / BYTE_NS &&
		    !is_systems_file(file_path(f, (uint32_t)i)) &&
		    (again == r->count || file->read_bytes > r->files[again].read_bytes))
			again = i;
		if (file->locks >= REPEAT_LOCKS && file->locks >= time->all_ns / LOCK_NS &&
		    (locked == r->count || file->locks > r->files[locked].locks))
			locked = i;
	}
	if (is_in_database && locked < r->count)
		buffer_print(ret, "; its process makes a query in a loop: %s is locked %llu times",
			     path_name(file_path(f, (uint32_t)locked)), (unsigned long long)r->files[locked].locks);
	else if (again < r->count)
		buffer_print(ret, "; its process reads the same file again: %s is opened %llu times",
			     path_name(file_path(f, (uint32_t)again)), (unsigned long long)r->files[again].opens);
}

void fix_first_repeats(struct choice *k, struct fix_first_cause *cause)
{
	struct repeats r = {.choice = k, .place = cause->place};
	struct file_calls files = {.visit = visit_file, .more = &r};
	SCOPED(buffer) words = {0};
	struct place_time time;

	/* what calls nothing of a library reads no file, and queries no database */
	if (!cause->role || !cause->callee || !*cause->callee)
		return;
	r.process = cause->role->process;
	time = place_time(k, cause->role, cause->place);
	file_calls_read(&files, k->context);
	repeats_words(&r, &files, &time, &words);
	buffer_text(&cause->text, buffer_string(&words));
	buffer_text(&cause->rest, buffer_string(&words));
	file_calls_done(&files);
	free(r.files);
}
