/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/reading.h"

#include <string.h>

#include "report/events/host_time.h"

static bool begins_with_any(const char *text, const char *const *starts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(text, starts[i], strlen(starts[i])))
			return true;
	return false;
}

bool reading_is_input(const char *function)
{
	static const char *const names[] = {"read",    "pread",   "recv", "fread", "fgets",
					    "getline", "getdelim", "open", "fopen", "mq_receive", "msgrcv"};
	static const char *const others[] = {"readdir", "readahead", "readlink"};

	return begins_with_any(function, names, sizeof(names) / sizeof(*names)) &&
	       !begins_with_any(function, others, sizeof(others) / sizeof(*others));
}

bool reading_is_wait(const char *function)
{
	static const char *const names[] = {"poll",	 "ppoll",	       "select",
					    "pselect",	 "epoll_wait",	       "epoll_pwait",
					    "futex",	 "sem_wait",	       "sem_timedwait",
					    "sem_clockwait", "pthread_cond_wait", "pthread_cond_timedwait",
					    "pthread_cond_clockwait", "pthread_join"};

	return begins_with_any(function, names, sizeof(names) / sizeof(*names));
}

struct chunk_reading {
	const struct trace *trace;
	uint64_t from, to, ns;
};

static void add_input(void *context, const struct host_span *span)
{
	struct chunk_reading *r = context;
	const struct function *f = trace_function(r->trace, span->function);
	uint64_t start = span->start > r->from ? span->start : r->from, end = span->end < r->to ? span->end : r->to;

	if (f && f->group == TF_GROUP_OSRT && reading_is_input(f->name) && end > start)
		r->ns += end - start;
}

bool reading_by_another(const struct model *m, size_t process, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < m->image_count; i++) {
		const struct image *image = &m->images[i];
		const struct process *p = &m->processes[image->process];
		bool is_wanted = image->process == process || p->parent == process;

		if (!image->trace || !is_wanted || p->start_ns >= to || p->end_ns <= from)
			continue;
		for (size_t k = 0; k < image->trace->thread_count; k++) {
			struct chunk_reading r = {image->trace, from, to, 0};

			host_time(m, image, &image->trace->threads[k], from, to, &r, add_input);
			if (r.ns * 2 >= to - from)
				return true;
		}
	}
	return false;
}
