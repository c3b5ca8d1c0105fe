/* SPDX-License-Identifier: Apache-2.0 */
/* process_transfer: Python processes that serialize much data and send it to each other: multiprocessing,
 * concurrent.futures and joblib through pipes and sockets; the methods of mpi4py that take any object, as messages.
 * Derived from the stacks of recorded calls and of CPU samples. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"
#include "report/base/text.h"
#include "report/events/stacks/samples.h"
#include "report/names/python.h"

/* PIECE: shorter reads and writes are of headers and small messages. COPY_NS: of a KiB; a call that takes longer waits
 * for the other process. */
enum { ROWS = 20, FOUND_PERCENT = 5, PIECE = 16384, COPY_NS = 2048, NATIVE_FRAMES = 64 };
#define SENT_BYTES 1000000ull

/* IS_MESSAGE: within mpi4py, IS_PICKLE: within that, in pickle; IS_USERS: the line of a user's file is known. */
enum { IS_TRANSFER = 1, IS_USERS = 2, IS_MESSAGE = 4, IS_PICKLE = 8 };

/* Of one process. */
struct transfer_sum {
	uint64_t ns, users_ns, bytes, pieces; /* the last two: sent */
	uint64_t messages_ns, pickle_ns; /* pickle_ns is a part of messages_ns, the rest of which is waiting */
	const struct trace_thread *sender;
};

struct transfers {
	struct rules *rules;
	struct aggregate aggregate;
	struct map known; /* (stack, image) -> 1 + flags */
	struct map named; /* likewise, whose function is in `functions` */
	struct removed_functions functions; /* of libraries, that serialize what is sent, or read it */
	struct transfer_sum *sums; /* by process */
};

static bool is_transfer_file(const char *file)
{
	return text_any(text_has, file, "/multiprocessing/queues.py", "/multiprocessing/connection.py",
			"/multiprocessing/reduction.py", "/cloudpickle/cloudpickle.py", "/loky/backend/queues.py",
			"/loky/backend/reduction.py");
}

/* Of a file of is_transfer_file(), with its folder: a file of the user's may have the same name. */
static char *file_in_folder(const char *file)
{
	const char *from = path_name(file) - 1;

	while (*--from != '/')
		;
	return mem_copy_text(from, strlen(from));
}

/* Frames of serialization, inside of which there is none of the user's code. */
struct transfer_reading {
	bool is_transfer, is_users, is_other; /* is_other: an import, or waits */
	struct own_function *named; /* NULL, or the innermost function of serialization */
};

static void read_transfer(void *context, const char *file, const char *function)
{
	struct transfer_reading *r = context;

	r->is_other |= attribution_is_import(file, function) || function_awaits_connections(file, function);
	if (r->named && !r->is_users && !r->is_transfer && is_transfer_file(file))
		*r->named = (struct own_function){mem_copy_text(function, strlen(function)), file_in_folder(file)};
	r->is_transfer |= !r->is_users && is_transfer_file(file);
	r->is_users |= !attribution_is_library(file);
}

static unsigned message_flags(struct transfers *t, const struct image *image, uint32_t stack)
{
	struct symbol_frame frames[NATIVE_FRAMES];
	size_t count = symbols_native(t->rules->context->symbols, image, stack, frames, NATIVE_FRAMES);
	unsigned flags = 0;

	for (size_t i = 0; i < count; i++) {
		if (strstr(frames[i].module, "/_pickle."))
			flags |= IS_PICKLE;
		if (strstr(frames[i].module, "/mpi4py/MPI."))
			return flags | IS_MESSAGE;
	}
	return 0;
}

static unsigned transfer_flags(struct transfers *t, const struct image *image, uint32_t stack)
{
	uint64_t *known = map_put(&t->known, stack, (uint64_t)(image - t->rules->context->model->images), NULL);
	struct transfer_reading reading = {0};

	if (!*known) {
		python_frames(image->trace, stack, &reading, read_transfer);
		*known = 1 + (reading.is_users ? IS_USERS : 0);
		if (trace_definition(image->trace, TF_BLOB_PYTHON_STACK, stack) && !reading.is_other)
			*known += reading.is_transfer ? IS_TRANSFER : message_flags(t, image, stack);
	}
	return (unsigned)(*known - 1);
}

/* What is sent need not be serialized by the one, nor read by the other. */
static void add_function(struct transfers *t, const struct image *image, uint32_t stack)
{
	struct own_function named = {0};
	struct transfer_reading reading = {.named = &named};
	bool is_new;

	map_put(&t->named, stack, (uint64_t)(image - t->rules->context->model->images), &is_new);
	if (!is_new)
		return;
	python_frames(image->trace, stack, &reading, read_transfer);
	if (list_find(f, &t->functions, !strcmp(f->name, named.name) && !strcmp(f->file, named.file)))
		own_function_done(&named);
	else
		list_add(&t->functions, named);
}

/* The bytes that a read or a write moved; 0: another call. */
static uint64_t bytes_moved(const struct function *f, const struct event *e)
{
	uint64_t value = e->args_count ? event_arg(e, TF_ARG_FD) : 0;
	int32_t result = (int32_t)(tf_arg_value(value) >> 16);
	enum blocked_kind kind = value ? f->kind.waits : BLOCKED_OTHER;

	if (!value || (kind != BLOCKED_READ && kind != BLOCKED_WRITE && kind != BLOCKED_SOCKET))
		return 0;
	return result > 0 ? (uint64_t)result : 0;
}

static void transfer_add(struct transfers *t, const struct scan *s, const struct event *e, const struct function *f,
			 uint64_t ns)
{
	uint32_t row = rule_call_row(t->rules, &t->aggregate, s->image, f ? e->id : UINT16_MAX, 0,
				     f ? f->name : "(computing)", event_stack(e));

	aggregate_add(&t->aggregate, row, ns);
}

static void visit_transfer(struct scan *s, const struct event *e)
{
	struct transfers *t = s->more;
	const struct function *f = event_function(s->image->trace, e);
	uint32_t stack = e->kind == TF_SAMPLE || (f && f->group == TF_GROUP_OSRT) ? event_stack(e) : 0;
	unsigned flags = stack ? transfer_flags(t, s->image, stack) : 0;
	struct transfer_sum *sum = &t->sums[s->image->process];
	uint64_t ns = f ? clock_map_duration(s->clock, e->duration) : samples_ns(e), bytes = 0;

	if (flags & IS_MESSAGE && !f) {
		sum->messages_ns += ns;
		sum->pickle_ns += flags & IS_PICKLE ? ns : 0;
		transfer_add(t, s, e, f, ns);
	}
	if (!(flags & IS_TRANSFER) || (f && (bytes = bytes_moved(f, e)) < PIECE))
		return;
	if (!f)
		add_function(t, s->image, stack);
	if (f && ns > bytes / 1024 * COPY_NS)
		ns = bytes / 1024 * COPY_NS;
	sum->ns += ns;
	sum->users_ns += flags & IS_USERS ? ns : 0;
	if (f && f->kind.role == ROLE_WRITE && (f->kind.waits == BLOCKED_SOCKET || f->kind.does & FUNCTION_MOVES)) {
		sum->bytes += bytes;
		sum->pieces++;
		sum->sender = s->thread;
	}
	transfer_add(t, s, e, f, ns);
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

static void add_rows(struct transfers *t, struct finding *f, size_t process)
{
	aggregate_sort(&t->aggregate);
	for (size_t i = 0, rows = 0; i < t->aggregate.count && rows < ROWS; i++)
		if (rule_call_process(&t->aggregate.rows[i]) == process) {
			rule_call_add_row(t->rules, &t->aggregate.rows[i], f);
			rows++;
		}
}

/* Without the time for which the thread waited for a CPU that did so for longest: samples have no such time. */
static uint64_t undelayed_wall(struct rules *r, size_t process)
{
	const struct partition *p = &rules_time(r)->partition;
	uint64_t wall = recorded_wall(r->context->model, &r->context->model->processes[process]), delay_ns = 0;

	for (size_t i = 0; i < p->count; i++)
		if (p->threads[i].process == process && p->threads[i].delay_is_known)
			delay_ns = p->threads[i].delay_ns > delay_ns ? p->threads[i].delay_ns : delay_ns;
	return delay_ns < wall ? wall - delay_ns : wall;
}

static uint64_t cost_of(uint64_t ns, uint64_t wall)
{
	return ns * 100 >= wall * FOUND_PERCENT ? (ns < wall ? ns : wall) : 0;
}

/* Through pipes and sockets: what it costs any process, and who sent most. */
static void judge_pieces(struct transfers *t, struct finding *f)
{
	const struct model *m = t->rules->context->model;
	const struct transfer_sum *sum;
	uint64_t most = 0;
	size_t worst = 0;

	for (size_t i = 0; i < m->process_count; i++) {
		uint64_t cost = t->sums[i].ns ? cost_of(t->sums[i].ns, undelayed_wall(t->rules, i)) : 0;

		worst = t->sums[i].bytes > t->sums[worst].bytes ? i : worst;
		most = cost > most ? cost : most;
	}
	sum = &t->sums[worst];
	if (sum->bytes < SENT_BYTES)
		return;
	if (!samples_any(m))
		rule_unchecked(f, "how long it takes to serialize what is sent is known from CPU samples: record with "
				  "--sample=cpu");
	if (!most)
		return;
	add_rows(t, f, worst);
	f->cost_ns = most;
	f->removed = t->functions;
	t->functions = (struct removed_functions){0};
	list_each(const struct own_function, removed, &f->removed)
		buffer_print(&f->edit, "%s%s:%s", f->edit.size ? "|" : "frames~", removed->file + 1, removed->name);
	buffer_text(&f->edit, f->removed.count ? "=0" : "");
	buffer_set(&f->text, "process %u serializes %.0f MB and sends them to other processes in %llu pieces, ",
		   m->processes[worst].pid, (double)sum->bytes / 1e6, (unsigned long long)sum->pieces);
	rule_time(&f->text, most);
	if (sum->users_ns * 2 < sum->ns) {
		f->line = NULL;
		add_work_line(t->rules, worst, sum->sender, &f->text);
	}
}

/* By mpi4py: if pickle alone is worth it, then so are the waits for the messages. */
static void judge_messages(struct transfers *t, struct finding *f)
{
	const struct model *m = t->rules->context->model;
	size_t worst = 0;
	uint64_t wall;

	for (size_t i = 0; i < m->process_count; i++)
		worst = t->sums[i].pickle_ns > t->sums[worst].pickle_ns ? i : worst;
	wall = m->process_count ? recorded_wall(m, &m->processes[worst]) : 0;
	if (!t->sums[worst].pickle_ns || !cost_of(t->sums[worst].pickle_ns, wall))
		return;
	add_rows(t, f, worst);
	f->cost_ns = cost_of(t->sums[worst].messages_ns, wall);
	buffer_print(&f->text, "process %u serializes Python objects for messages (mpi4py with pickle), ",
		     m->processes[worst].pid);
	rule_time(&f->text, f->cost_ns);
	buffer_text(&f->text, " with the waits for them");
}

void rule_process_transfer(struct rules *r, struct finding *f)
{
	struct transfers t = {.rules = r,
			      .sums = mem_alloc((r->context->model->process_count + 1) * sizeof(*t.sums))};

	rule_call_columns(f);
	scan_events(&(struct scan){.context = r->context, .call_args = 1u << TF_ARG_STACK, .code = python_any_file,
				   .more = &t}, visit_transfer);
	judge_messages(&t, f);
	if (!f->cost_ns)
		judge_pieces(&t, f);
	rule_needs_python(r, f);
	aggregate_done(&t.aggregate);
	map_done(&t.known);
	map_done(&t.named);
	array_free(one, t.functions.items, t.functions.count, own_function_done(one));
	free(t.sums);
}
