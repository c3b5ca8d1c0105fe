/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the recorder inside a test: creates a directory for its capture, sets the environment that starts a capture,
 * and reads what the recorder has written so far. */
#ifndef PILLION_TEST_RECORDER_H
#define PILLION_TEST_RECORDER_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/hook/call.h"
#include "runtime/recorder/record/file.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/recorder/recorder.h"

/* Tests read the trace file, which an image creates only when its place in the range file is full. */
static inline bool recorder_use_file(struct thread *t)
{
	struct thread_guard guard;

	thread_guard_enter(t, &guard);
	thread_settle(t);
	thread_guard_leave(t, &guard);
	return true;
}

/* The hook table of a test. */
#define RECORDER_FUNCTIONS(...)                                                                                        \
	static const struct {                                                                                          \
		char name[32];                                                                                         \
		uint8_t group;                                                                                         \
	} recorder_functions[] = {__VA_ARGS__};                                                                        \
	enum { RECORDER_FUNCTION_COUNT = sizeof(recorder_functions) / sizeof(*recorder_functions) };                   \
	static struct function_name recorder_names[RECORDER_FUNCTION_COUNT];                                           \
	__attribute__((constructor)) static void recorder_names_init(void)                                             \
	{                                                                                                              \
		for (uint16_t i = 0; i < RECORDER_FUNCTION_COUNT; i++)                                                 \
			recorder_names[i] = (struct function_name){                                                    \
				(uint16_t)(i * sizeof(*recorder_functions)), recorder_functions[i].group};             \
	}                                                                                                              \
	bool hook_attach(struct thread *t)                                                                             \
	{                                                                                                              \
		static const struct function_table table = {recorder_functions[0].name, recorder_names,                \
							    RECORDER_FUNCTION_COUNT, RECORDER_FUNCTION_COUNT};         \
                                                                                                                       \
		return recorder_attach(t, &table) && recorder_use_file(t);                                             \
	}                                                                                                              \
	_Static_assert(RECORDER_FUNCTION_COUNT, "a test's table has a function")

static char recorder_directory[] = "/tmp/pillion-unit.XXXXXX/c";

/* The capture begins with the first event: a test sets other environment variables before that. */
static inline bool recording_begin(void)
{
	char *slash = strrchr(recorder_directory, '/');

	*slash = '\0';
	if (!mkdtemp(recorder_directory))
		return false;
	*slash = '/';
	setenv("PILLION_OUTPUT", recorder_directory, 1);
	setenv("PILLION_SAMPLE", "none", 0); /* samples come at moments that a test does not choose */
	thread_init();
	return true;
}

static inline bool recording_end(void)
{
	char command[64];

	*strrchr(recorder_directory, '/') = '\0';
	snprintf(command, sizeof(command), "rm -rf '%s'", recorder_directory);
	return system(command) == 0;
}

/* Calls visit for each chunk of slots in the trace file, including chunks that threads have already replaced. */
static inline bool recording_each_chunk(const char *path, void (*visit)(const struct tf_chunk *w, void *context),
					 void *context)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *bytes =
	    fd < 0 || fstat(fd, &st) ? MAP_FAILED : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		return false;
	for (off_t at = TF_PAGE; at + TF_PAGE <= st.st_size;) {
		const struct tf_chunk *w = (const struct tf_chunk *)(bytes + at);
		bool is_chunk = w->magic == TF_CHUNK_MAGIC && w->offset == (uint64_t)at && w->size_bytes;

		if (is_chunk && (w->kind == TF_CHUNK_SLOTS || w->kind == TF_CHUNK_FIRST))
			visit(w, context);
		at += is_chunk ? w->size_bytes : TF_PAGE;
	}
	munmap(bytes, (size_t)st.st_size);
	return true;
}

/* Likewise for the chunks in the range file that have not been moved to trace files. */
static inline void recording_each_image(void (*visit)(const struct tf_chunk *w, void *context), void *context)
{
	for (uint64_t number = 0; process_images && number < process_images->next; number++) {
		char path[PROCESS_NAME_BYTES], place[TF_IMAGE_BYTES] __attribute__((aligned(8)));
		const struct tf_chunk *w = (const struct tf_chunk *)(place + sizeof(struct tf_image));
		int fd = range_path(path, sizeof(path), process_inherited.directory, process_inherited.identity.host,
				    process_inherited.run)
			     ? open(path, O_RDONLY | O_CLOEXEC)
			     : -1;

		if (pread(fd, place, sizeof(place), (off_t)(TF_IMAGES_FIRST + number * TF_IMAGE_BYTES)) ==
			    (ssize_t)sizeof(place) &&
		    w->magic == TF_CHUNK_MAGIC)
			visit(w, context);
		close(fd);
	}
}

#endif
