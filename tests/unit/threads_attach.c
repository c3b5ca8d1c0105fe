/* SPDX-License-Identifier: Apache-2.0 */
/* Short threads attach and end concurrently: each has its own chunk, whichever thread maps and unmaps the areas. */
#include <stdlib.h>

#include "recorder.h"
#include "threads.h"

enum { SHORT_THREADS = 400 };

RECORDER_FUNCTIONS({"work", TF_GROUP_OSRT});

static void *record_one(void *number)
{
	uint64_t argument = tf_arg(TF_ARG_VALUE, 0, (uintptr_t)number);
	struct call e;

	if (call_begin(&e, 0) && call_end(&e, 0, 0))
		call_record(&e, 0, OPTION_NEVER, &argument, 1);
	return NULL;
}

static void *start_threads(void *number)
{
	for (uintptr_t i = 0; i < SHORT_THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, record_one, (void *)((uintptr_t)number * SHORT_THREADS + i)))
			return NULL;
		pthread_join(thread, NULL);
	}
	return NULL;
}

struct found {
	unsigned chunks, calls, numbers[THREADS * SHORT_THREADS];
};

static void count_slots(const struct tf_chunk *w, void *found)
{
	const uint64_t *slot = (const uint64_t *)((const char *)w + tf_slots_offset(w));
	const uint64_t *end = (const uint64_t *)((const char *)w + w->size_bytes);
	struct found *f = found;

	if (!w->thread)
		return; /* the main thread's page: it makes no call */
	f->chunks++;
	for (; slot < end; slot++) {
		f->calls += tf_kind(*slot) == TF_CALL;
		if (tf_kind(*slot) == TF_ARG && tf_arg_value(*slot) < THREADS * SHORT_THREADS)
			f->numbers[tf_arg_value(*slot)]++;
	}
}

int main(int argc, char **argv)
{
	static struct found f;
	unsigned once = 0;

	(void)argc;
	ok(recording_begin(), "a directory");
	recorder_set_arguments(1, argv, environ);
	ok(hook_attached(), "the recorder starts");
	ok(in_threads(start_threads), "threads ran");
	ok(recording_each_chunk(process.path, count_slots, &f), "a trace file is there");
	for (unsigned i = 0; i < THREADS * SHORT_THREADS; i++)
		once += f.numbers[i] == 1;
	ok(f.chunks == THREADS * SHORT_THREADS, "%u chunks", f.chunks);
	ok(f.calls == THREADS * SHORT_THREADS && once == f.calls, "%u calls, %u of them once", f.calls, once);
	ok(recording_end(), "tidied up");
	return done();
}
