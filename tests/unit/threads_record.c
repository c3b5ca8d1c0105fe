/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads record concurrently with the whole recorder: its chunks and its table of strings. */
#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "recorder.h"
#include "threads.h"

enum { CALLS = 60000, TEXTS = 500 };

RECORDER_FUNCTIONS({"work", TF_GROUP_OSRT});

static char path[512];

static void *record(void *number)
{
	(void)number;
	for (unsigned i = 0; i < CALLS; i++) {
		struct call e;
		uint64_t argument = tf_arg(TF_ARG_VALUE, 0, i);
		char text[16] = "";

		snprintf(text, sizeof(text), "text %u", i % TEXTS);
		if (call_begin(&e, 0) && call_end(&e, 0, 0))
			call_record(&e, 0, OPTION_NEVER, &argument, 1);
		event_instant(TF_MARK, 0, event_intern(TF_BLOB_STRING, text, strlen(text)), NULL, 0);
	}
	return NULL;
}

static bool find_trace(void)
{
	DIR *d = opendir(recorder_directory);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (dot && !strcmp(dot, ".trace"))
			snprintf(path, sizeof(path), "%s/%s", recorder_directory, entry->d_name);
	}
	if (d)
		closedir(d);
	return path[0];
}

struct found {
	unsigned chunks, calls, marks, texts;
};

static void count_slots(const struct tf_chunk *w, void *found)
{
	const uint64_t *slot = (const uint64_t *)((const char *)w + tf_slots_offset(w));
	const uint64_t *end = (const uint64_t *)((const char *)w + w->size_bytes);
	struct found *f = found;

	f->chunks++;
	for (; slot < end; slot++) {
		f->calls += tf_kind(*slot) == TF_CALL;
		f->marks += tf_kind(*slot) == TF_MARK;
		f->texts += tf_kind(*slot) == TF_BLOB && tf_blob_kind(*slot) == TF_BLOB_STRING;
	}
}

int main(int argc, char **argv)
{
	struct found f = {0};

	(void)argc;
	ok(recording_begin(), "a directory");
	recorder_set_arguments(1, argv, environ);
	ok(hook_attached(), "the recorder starts");
	ok(in_threads(record), "threads ran");
	ok(find_trace() && recording_each_chunk(path, count_slots, &f), "a trace file is there");
	ok(f.calls == THREADS * CALLS, "%u calls of %d, in %u chunks", f.calls, THREADS * CALLS, f.chunks);
	ok(f.marks == THREADS * CALLS, "%u marks", f.marks);
	ok(f.texts == TEXTS, "%u texts are defined once each", f.texts);
	ok(recording_end(), "tidied up");
	return done();
}
