/* SPDX-License-Identifier: Apache-2.0 */
/* Reports in several threads: nothing is shared without a lock, and the tables are those of one thread. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/base/table/emit.h"
#include "report/tables/report.h"
#include "report/tables/report_list.h"
#include "threads.h"
#include "trace_writer.h"

static char *report_text(const char *capture, const char *name, enum by by)
{
	char *text = NULL, *paths[] = {(char *)capture};
	size_t size;
	struct model m;
	struct err err;
	struct table table = {0};
	struct report_context context = {.model = &m, .by = by};
	struct emit emit = {.format = FORMAT_CSV, .file = open_memstream(&text, &size)};

	if (!model_open(&m, paths, 1, &err)) {
		report_find(name)->run(&context, &table);
		emit_table(&emit, name, name, &table);
	}
	fclose(emit.file);
	table_done(&table);
	model_done(&m);
	return text;
}

static void compare(const char *capture, const char *name, enum by by)
{
	char *several = report_text(capture, name, by), *one;
	cpu_set_t all, first = {0};

	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&first); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &first);
	sched_setaffinity(0, sizeof(first), &first);
	one = report_text(capture, name, by);
	sched_setaffinity(0, sizeof(all), &all);
	ok(strlen(one) > 100 && !strcmp(one, several), "%s of %s by %s", name, capture, by_names[by]);
	free(several);
	free(one);
}

/* A trace that is large enough for several parts. */
static void open_in_threads(const char *capture)
{
	char *paths[] = {(char *)capture};
	struct trace *t = NULL;
	struct mapping bytes;
	struct model m;
	struct err err;

	if (!model_open(&m, paths, 1, &err) && m.image_count == 1 &&
	    !mapping_open(m.images[0].trace->path, &bytes, &err) &&
	    !reader_open_mapping(m.images[0].trace->path, &bytes, THREADS, &t, &err))
		ok(t->threads[0].events == m.images[0].trace->threads[0].events, "all events of a large trace");
	else
		ok(false, "a large trace");
	reader_close(t);
	model_done(&m);
}

int main(void)
{
	char directory[] = "/tmp/pillion-threads-XXXXXX";

	if (!mkdtemp(directory) || chdir(directory))
		return 1;
	capture_large("calls", 400000, 2, 3);
	compare("calls", "osrt_sum", BY_NOTHING);
	compare("calls", "osrt_sum", BY_PROCESS);
	compare("calls", "osrt_sum", BY_THREAD);
	capture_large("large", 1500000, 1, 1);
	open_in_threads("large");
	capture_kind("mpi", "mpi", 20000);
	compare("mpi", "mpi_sum", BY_RANK);
	capture_remove("calls");
	capture_remove("large");
	capture_remove("mpi");
	if (chdir("/") || rmdir(directory))
		return 1;
	return done();
}
