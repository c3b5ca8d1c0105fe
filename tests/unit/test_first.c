/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the first chunks of threads: their counters, which are allocated as functions are called, and the space that
 * threads share. */
#include <criterion/criterion.h>

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>

#include "recorder.h"
#include "runtime/recorder/record/first_chunk.h"

#define FOUR(name)                                                                                                     \
	{name "0", TF_GROUP_OSRT}, {name "1", TF_GROUP_OSRT}, {name "2", TF_GROUP_OSRT}, {name "3", TF_GROUP_OSRT}
#define SIXTEEN(name) FOUR(name "0"), FOUR(name "1"), FOUR(name "2"), FOUR(name "3")
RECORDER_FUNCTIONS(SIXTEEN("a"), SIXTEEN("b"), SIXTEEN("c"), SIXTEEN("d"));

enum { FUNCTIONS = RECORDER_FUNCTION_COUNT, ROUNDS = 100 };

static void start(void)
{
	cr_assert(recording_begin());
	cr_assert(hook_attached());
}

static void clean(void)
{
	cr_assert(recording_end());
}

TestSuite(first, .init = start, .fini = clean);

static void call(unsigned function, uint64_t threshold)
{
	struct call e = {0};

	if (call_begin(&e, function) && call_end(&e, function, threshold))
		call_record(&e, function, UINT64_MAX, NULL, 0);
}

/* Calls function f ROUNDS + f times, the highest f first. */
static void *call_all(void *unused)
{
	for (unsigned f = FUNCTIONS; f-- > 0;)
		for (unsigned i = 0; i < ROUNDS + f; i++)
			call(f, UINT64_MAX);
	return unused;
}

static void *record_one(void *unused)
{
	call(0, 0);
	return unused;
}

static void run(void *(*body)(void *))
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, body, NULL), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
}

struct found {
	uint64_t calls[FUNCTIONS], slots;
	unsigned pages;
};

static void add_chunk(const struct tf_chunk *w, void *found)
{
	const struct tf_thread *page = (const struct tf_thread *)w;
	const uint16_t *places = (const uint16_t *)&page->counters[page->counter_count];
	const uint64_t *slot = (const uint64_t *)((const char *)w + tf_slots_offset(w));
	const uint64_t *end = (const uint64_t *)((const char *)w + w->size_bytes);
	struct found *f = found;

	if (!w->thread)
		return; /* the main thread's page has counters for all functions, and it makes no call */
	for (; slot < end; slot++)
		f->slots += tf_kind(*slot) == TF_CALL;
	if (w->kind != TF_CHUNK_FIRST)
		return;
	f->pages++;
	for (unsigned i = 0; i < FUNCTIONS; i++)
		f->calls[i] += places[i] ? page->counters[places[i] - 1].calls : 0;
}

static void read_back(struct found *f)
{
	DIR *d = opendir(recorder_directory);
	struct dirent *entry;
	char path[512] = "";

	*f = (struct found){0};
	cr_assert(d);
	while ((entry = readdir(d)))
		if (strstr(entry->d_name, ".trace"))
			snprintf(path, sizeof(path), "%s/%s", recorder_directory, entry->d_name);
	closedir(d);
	cr_assert(recording_each_chunk(path, add_chunk, f));
}

Test(first, counts_more_functions_than_it_has_counters_for)
{
	struct found f;

	run(call_all);
	read_back(&f);
	cr_assert_eq(f.pages, 2);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		cr_expect_eq(f.calls[i], ROUNDS + i, "function %u: %lu", i, (unsigned long)f.calls[i]);
}

static unsigned mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024];
	unsigned count = 0;

	cr_assert_not_null(maps);
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, ".trace") != NULL;
	fclose(maps);
	return count;
}

Test(first, leaves_no_mapping_of_threads_that_have_ended)
{
	struct found f;

	for (int i = 0; i < 3000; i++)
		run(record_one);
	read_back(&f);
	cr_assert_eq(f.slots, 3000);
	cr_assert_eq(f.pages, 3000);
	/* The header, the main thread's page, and the area that has chunks left. */
	cr_assert_leq(mappings(), 3, "%u", mappings());
}

Test(first, gives_back_at_the_end_what_no_thread_took)
{
	struct stat before, after;
	char path[PROCESS_NAME_BYTES];

	for (int i = 0; i < 5; i++)
		run(record_one);
	snprintf(path, sizeof(path), "%s", process.path);
	cr_assert_eq(stat(path, &before), 0);
	first_chunk_trim();
	cr_assert_eq(stat(path, &after), 0);
	cr_assert_lt(after.st_size, before.st_size);
	cr_assert_leq((uint64_t)after.st_size,
		      file_round(2 * TF_PAGE) + file_round(2 * TF_PAGE) + file_round(5 * TF_PAGE));
	/* Recording continues, as after an exec that failed. */
	run(record_one);
	run(record_one);
	cr_assert_eq(stat(path, &after), 0);
	struct found f;
	read_back(&f);
	cr_assert_eq(f.slots, 7);
}
