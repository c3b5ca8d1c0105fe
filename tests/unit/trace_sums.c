/* SPDX-License-Identifier: Apache-2.0 */
/* A capture of --mode=profile: sums of calls, samples and ranges instead of events, and what its run cost. */
#include <string.h>

#include "trace_writer.h"

#define US 1000ull
#define MS 1000000ull
#define BEGIN (1000 * MS)
#define INDEX "node1." WRITER_BOOT ".index"

enum { STACK = 1, FILE_ONE = 1 };

struct sum {
	uint64_t calls, total, bytes, least, most;
};

static void numbers(struct writer_thread *t, const struct sum *s, uint64_t more, unsigned count)
{
	double squares = s->calls ? (double)s->total * (double)s->total / (double)s->calls : 0;
	uint64_t all[TF_STEPS_NUMBERS] = {0}, bits;

	memcpy(&bits, &squares, sizeof(bits));
	all[TF_SUM_CALLS] = s->calls;
	all[TF_SUM_TOTAL] = s->total;
	all[TF_SUM_BYTES] = s->bytes;
	all[TF_SUM_LEAST] = s->calls ? s->least : ~0ull >> 8;
	all[TF_SUM_MOST] = s->most;
	all[TF_SUM_SQUARES] = bits >> 8;
	if (count > TF_SUM_NUMBERS)
		all[TF_STEPS_CLASSES + tf_steps_class(more)] = s->calls;
	for (unsigned i = 0; i < count; i++)
		writer_slot(t, TF_DATA | all[i] << 8);
}

/* args: slots, 0: none */
static void sum(struct writer_thread *t, uint16_t function, unsigned flags, unsigned size_class, uint64_t a, uint64_t b,
		struct sum s)
{
	writer_slot(t, tf_sum(function, flags, size_class));
	if (a)
		writer_slot(t, a);
	if (b)
		writer_slot(t, b);
	numbers(t, &s, 0, TF_SUM_NUMBERS);
}

static void ranges(struct writer_thread *t, unsigned domain, unsigned flags, uint32_t text, struct sum s)
{
	uint64_t slot = tf_ranges(domain, flags, t->tid);

	writer_slot(t, slot);
	writer_slot(t, tf_arg(TF_ARG_VALUE, 0, text));
	numbers(t, &s, s.calls ? s.total / s.calls : 0, tf_sum_numbers(slot));
}

static void calls(struct writer_thread *t, uint16_t read, uint16_t write, uint16_t usleep)
{
	const uint64_t stack = tf_arg(TF_ARG_STACK, 0, STACK), file = tf_arg(TF_ARG_FILE, 0, FILE_ONE);

	sum(t, read, 0, 13, stack, file, (struct sum){10, 5 * MS, 40960, 100 * US, 2 * MS});
	sum(t, read, 0, 5, stack, file, (struct sum){5, 1 * MS, 100, 50 * US, 500 * US});
	sum(t, write, 0, 13, file, 0, (struct sum){4, 8 * MS, 32000, 1 * MS, 5 * MS});
	sum(t, usleep, 0, 0, stack, 0, (struct sum){3, 60 * MS, 0, 10 * MS, 30 * MS});
	sum(t, usleep, TF_SUM_IS_OTHER, 0, 0, 0, (struct sum){2, 40 * MS, 0, 20 * MS, 20 * MS});
	sum(t, 0, TF_SUM_IS_SAMPLE, 0, stack, 0, (struct sum){90, 90000, 0, 1000, 1000});
	sum(t, 0, TF_SUM_IS_SAMPLE | TF_SUM_IS_OTHER, 0, 0, 0, (struct sum){10, 10000, 0, 1000, 1000});
}

static void all_ranges(struct writer_thread *t)
{
	writer_text(t, TF_BLOB_DOMAIN, 1, "library");
	writer_text(t, TF_BLOB_STRING, 1, "load");
	writer_text(t, TF_BLOB_STRING, 2, "step");
	ranges(t, 0, 0, 1, (struct sum){6, 30 * MS, 6, 4 * MS, 6 * MS});
	ranges(t, 1, TF_RANGES_IS_STARTEND, 1, (struct sum){2, 8 * MS, 3, 3 * MS, 5 * MS});
	ranges(t, 0, TF_RANGES_IS_OTHER, 0, (struct sum){7, 7 * MS, 7, 1 * MS, 1 * MS});
	ranges(t, 0, TF_RANGES_IS_STEPS, 2, (struct sum){8, 160 * MS, 0, 20 * MS, 20 * MS});
}

void capture_sums(const char *directory)
{
	static const uint64_t stack[] = {0x401234};
	struct writer w;
	struct writer_thread t;
	uint16_t f[3];

	capture_remove(directory);
	capture_create(directory);
	capture_line(directory, INDEX,
		     "launch\trun=77\tpid=90\trealtime_ns=1700000000999000000\thost=node1\tboot=" WRITER_BOOT
		     "\tcommand=program\\x00-x\toptions=--mode=profile\tversion=0.1.0");
	capture_line(directory, INDEX,
		     "cost\trun=77\tlauncher_ns=3000000\tshort_ps=20000\tshort_error_ps=1000\trecorded_ps=100000"
		     "\trecorded_error_ps=5000\tpath_ps=30000\tempty_ps=8000\tpage_ps=500000");
	capture_line(directory, INDEX, "child\tpid=500\tstatus=256\tlauncher=1");
	writer_init(&w, 0xf2, 500, 90, BEGIN);
	w.header.run = 0x77;
	w.header.mode = TF_MODE_PROFILE;
	writer_command(&w, "/usr/bin/program", "program\0-x", 11);
	f[0] = writer_function(&w, TF_GROUP_OSRT, "read");
	f[1] = writer_function(&w, TF_GROUP_OSRT, "write");
	f[2] = writer_function(&w, TF_GROUP_OSRT, "usleep");
	writer_thread(&w, &t, 500, "main", 4 * TF_PAGE);
	writer_module(&t, 0x400000, 0x500000, 0x400000, NULL, 0, "/nonexistent/program");
	writer_blob(&t, TF_BLOB_STACK, STACK, stack, sizeof(stack));
	writer_descriptor(&t, FILE_ONE, 0xffff, BEGIN, TF_DESCRIPTOR_FILE, "/data/table");
	calls(&t, f[0], f[1], f[2]);
	all_ranges(&t);
	writer_page(&t)->counters[f[0]] = (struct tf_counter){1000, 3 * MS};
	writer_page(&t)->counters[f[1]] = (struct tf_counter){100, 1 * US};
	writer_end(&w, TF_END_EXIT, 1, BEGIN + 300 * MS);
	writer_save(&w, directory);
	writer_done(&w);
}
