/* SPDX-License-Identifier: Apache-2.0 */
/* process_transfer: Python processes that serialize much data and send it to each other through pipes and sockets:
 * multiprocessing, concurrent.futures, joblib. Derived from the stacks of recorded calls and of CPU samples. */
#include <stdlib.h>
#include <string.h>

#include "report/analyze/rule.h"
#include "report/derive/stacks/samples.h"
#include "report/derive/symbols/python.h"

/* PIECE: shorter reads and writes are of headers and small messages. COPY_NS: of a KiB; a call that takes longer waits
 * for the other process. */
enum { ROWS = 20, FOUND_PERCENT = 5, PIECE = 16384, COPY_NS = 2048 };
#define SENT_BYTES 1000000ull

enum { IS_TRANSFER = 1, IS_USERS = 2 }; /* IS_USERS: the line of a user's file is known */

/* Of one process. */
struct transfer_sum {
	uint64_t ns, users_ns, bytes, pieces; /* the last two: sent */
	const struct trace_thread *sender;
};

struct transfers {
	struct rules *rules;
	struct aggregate aggregate;
	struct map known; /* (stack, image) -> 1 + flags */
	struct transfer_sum *sums; /* by process */
	bool has_python;
};

static bool is_transfer_file(const char *file)
{
	static const char *const parts[] = {"/multiprocessing/queues.py", "/multiprocessing/connection.py",
					    "/multiprocessing/reduction.py", "/cloudpickle/cloudpickle.py",
					    "/loky/backend/queues.py", "/loky/backend/reduction.py"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(file, parts[i]))
			return true;
	return false;
}

/* Frames of serialization, inside of which there is none of the user's code. */
struct transfer_reading {
	bool is_transfer, is_users, is_import;
};

static void read_transfer(void *context, const char *file)
{
	struct transfer_reading *r = context;

	r->is_import |= attribution_is_import(file);
	r->is_transfer |= !r->is_users && is_transfer_file(file);
	r->is_users |= !attribution_is_library(file);
}

static unsigned transfer_flags(struct transfers *t, const struct image *image, uint32_t stack)
{
	uint64_t *known = map_put(&t->known, stack, (uint64_t)(image - t->rules->context->model->images), NULL);
	struct transfer_reading reading = {0};

	if (!*known) {
		python_files(image->trace, stack, &reading, read_transfer);
		t->has_python |= trace_definition(image->trace, TF_BLOB_PYTHON_STACK, stack) != NULL;
		*known = 1 + (reading.is_transfer && !reading.is_import ? IS_TRANSFER : 0) +
			 (reading.is_users ? IS_USERS : 0);
	}
	return (unsigned)(*known - 1);
}

/* The bytes that a read or a write moved; 0: another call. */
static uint64_t bytes_moved(const struct function *f, const struct event *e)
{
	enum blocked_kind kind = blocked_kind_of(f);
	uint64_t value = e->args_count ? event_arg(e, TF_ARG_FD) : 0;
	int32_t result = (int32_t)(tf_arg_value(value) >> 16);

	if (!value || (kind != BLOCKED_READ && kind != BLOCKED_WRITE && kind != BLOCKED_SOCKET))
		return 0;
	return result > 0 ? (uint64_t)result : 0;
}

static void visit_transfer(struct scan *s, const struct event *e)
{
	struct transfers *t = s->more;
	const struct function *f = e->kind == TF_CALL ? trace_function(s->image->trace, e->id) : NULL;
	uint32_t stack = e->kind == TF_SAMPLE || (f && f->group == TF_GROUP_OSRT) ? rule_stack(e) : 0;
	unsigned flags = stack ? transfer_flags(t, s->image, stack) : 0;
	struct transfer_sum *sum = &t->sums[s->image->process];
	uint64_t ns, bytes = 0;

	if (!(flags & IS_TRANSFER))
		return;
	if (f && (bytes = bytes_moved(f, e)) < PIECE)
		return;
	ns = f ? clock_map_duration(s->clock, e->duration) : samples_ns(e);
	if (f && ns > bytes / 1024 * COPY_NS)
		ns = bytes / 1024 * COPY_NS;
	sum->ns += ns;
	sum->users_ns += flags & IS_USERS ? ns : 0;
	if (f && (!strncmp(f->name, "write", 5) || !strncmp(f->name, "send", 4))) {
		sum->bytes += bytes;
		sum->pieces++;
		sum->sender = s->thread;
	}
	aggregate_add(&t->aggregate,
		      rule_call_row(t->rules, &t->aggregate, s->image, f ? e->id : UINT16_MAX, 0,
				    f ? f->name : "(computing)", stack),
		      ns);
}

/* The line for which a thread without a line of its own sends. */
static void add_work_line(struct rules *r, size_t process, const struct trace_thread *sender, struct buffer *ret)
{
	const struct job_time *t = rules_time(r);

	for (size_t i = 0; i < t->partition.count; i++)
		if (t->partition.threads[i].process == process && t->partition.threads[i].thread == sender &&
		    t->roles.role_of[i]) {
			role_work_line(r->context, &t->roles, &t->roles.items[t->roles.role_of[i] - 1], ret);
			return;
		}
}

static void transfer_conclude(struct transfers *t, struct finding *f, size_t worst)
{
	const struct process *process = &t->rules->context->model->processes[worst];
	const struct transfer_sum *sum = &t->sums[worst];

	aggregate_sort(&t->aggregate);
	for (size_t i = 0, rows = 0; i < t->aggregate.count && rows < ROWS; i++)
		if (rule_call_process(&t->aggregate.rows[i]) == worst) {
			rule_call_add_row(&t->aggregate.rows[i], f);
			rows++;
		}
	buffer_print(&f->text, "process %u serializes %.0f MB and sends them to other processes in %llu pieces, ",
		     process->pid, (double)sum->bytes / 1e6, (unsigned long long)sum->pieces);
	rule_time(&f->text, f->cost_ns);
	if (sum->users_ns * 2 < sum->ns) {
		buffer_clear(&f->line);
		add_work_line(t->rules, worst, sum->sender, &f->text);
	}
}

void rule_process_transfer(struct rules *r, struct finding *f)
{
	const struct model *m = r->context->model;
	struct transfers t = {.rules = r, .sums = mem_alloc((m->process_count + 1) * sizeof(*t.sums))};
	size_t worst = 0;

	rule_call_columns(f);
	scan_events(&(struct scan){.context = r->context, .more = &t}, visit_transfer);
	for (size_t i = 0; i < m->process_count; i++) {
		uint64_t wall = rule_wall(&m->processes[i]), cost = t.sums[i].ns < wall ? t.sums[i].ns : wall;

		worst = t.sums[i].bytes > t.sums[worst].bytes ? i : worst;
		if (cost * 100 >= wall * FOUND_PERCENT && cost > f->cost_ns)
			f->cost_ns = cost;
	}
	if (t.sums[worst].bytes >= SENT_BYTES && f->cost_ns)
		transfer_conclude(&t, f, worst);
	else
		f->cost_ns = 0;
	if (t.sums[worst].bytes >= SENT_BYTES && !samples_any(m))
		rule_unchecked(f, "how long it takes to serialize what is sent is known from CPU samples: record with "
				  "--sample=cpu");
	if (!t.has_python)
		rule_unchecked(f, "no Python stacks were recorded");
	aggregate_done(&t.aggregate);
	map_done(&t.known);
	free(t.sums);
}
