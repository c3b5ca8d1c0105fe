/* SPDX-License-Identifier: Apache-2.0 */
/* process_transfer: Python processes that serialize much data and send it to each other, or many small messages:
 * multiprocessing, concurrent.futures and joblib through pipes and sockets; the methods of mpi4py that take any object,
 * as messages. Derived from the stacks of recorded calls and of CPU samples. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"
#include "report/base/text.h"
#include "report/events/stacks/samples.h"
#include "report/events/traffic.h"
#include "report/names/python.h"

/* PIECE: shorter reads and writes are of headers and small messages. COPY_NS: of a KiB; a call that takes longer waits
 * for the other process. */
enum { ROWS = 20, FOUND_PERCENT = 5, PIECE = 16384, COPY_NS = 2048, NATIVE_FRAMES = 64 };
#define SENT_BYTES 1000000ull

/* Small messages are looked at from this number on, and if they take this part of a process's time. */
enum { SMALL_MESSAGES = 1000, SMALL_PERCENT = 10 };

/* IS_MESSAGE: within mpi4py, IS_PICKLE: within that, in pickle; IS_USERS: the line of a user's file is known;
 * IS_EXCHANGE: hands messages to other processes, or waits for them. */
enum { IS_TRANSFER = 1, IS_USERS = 2, IS_MESSAGE = 4, IS_PICKLE = 8, IS_EXCHANGE = 16 };

/* Of one process. */
struct transfer_sum {
	uint64_t ns, users_ns, bytes, pieces; /* the last two: sent */
	uint64_t messages_ns, pickle_ns; /* pickle_ns is a part of messages_ns, the rest of which is waiting */
	const struct trace_thread *sender;
	uint64_t exchange_ns, exchange_users_ns; /* on a CPU, for messages of any size */
	uint64_t small;				 /* sent, shorter than PIECE */
	uint64_t most_small;			 /* of these, through one descriptor of one thread */
	const struct trace_thread *small_sender;
};

struct transfers {
	struct rules *rules;
	struct aggregate aggregate, exchanges;
	struct map known; /* (stack, image) -> 1 + flags */
	struct map named; /* likewise, whose function is in `functions` */
	/* Of libraries: that serialize what is sent, or read it; the outermost that exchange messages. */
	struct removed_functions functions, exchanging;
	struct descriptor_search descriptors; /* of `image` */
	const struct image *image;
	struct transfer_sum *sums; /* by process */
};

static bool is_transfer_file(const char *file)
{
	return text_any(text_has, file, "/multiprocessing/queues.py", "/multiprocessing/connection.py",
			"/multiprocessing/reduction.py", "/cloudpickle/cloudpickle.py", "/loky/backend/queues.py",
			"/loky/backend/reduction.py");
}

/* With what hands out tasks and collects results, and calls the functions of the user's for that. */
static bool is_exchange_file(const char *file)
{
	return is_transfer_file(file) ||
	       text_any(text_has, file, "/multiprocessing/pool.py", "/multiprocessing/managers.py",
			"/multiprocessing/synchronize.py", "/concurrent/futures/process.py",
			"/loky/process_executor.py");
}

/* Of a file of is_exchange_file(), with its folder: a file of the user's may have the same name. */
static char *file_in_folder(const char *file)
{
	const char *from = path_name(file) - 1;

	while (*--from != '/')
		;
	return mem_copy_text(from, strlen(from));
}

/* Frames of serialization, inside of which there is none of the user's code. */
struct transfer_reading {
	bool is_transfer, is_exchange, is_users, is_import, waits;
	bool is_over; /* the other frames are of the process that forked this one */
	struct own_function *inner, *outer; /* NULL, or the innermost function of serialization, the outermost one of
					     * an exchange */
};

static void set_function(struct own_function *ret, const char *file, const char *function)
{
	own_function_done(ret);
	*ret = (struct own_function){mem_copy_text(function, strlen(function)), file_in_folder(file)};
}

static void read_transfer(void *context, const char *file, const char *function)
{
	struct transfer_reading *r = context;
	bool is_transfer = !r->is_users && is_transfer_file(file), is_exchange = !r->is_users && is_exchange_file(file);

	r->is_over |= attribution_begins_process(file, function);
	if (r->is_over)
		return;
	r->is_import |= attribution_is_import(file, function);
	r->waits |= function_awaits_connections(file, function);
	if (r->inner && is_transfer && !r->is_transfer)
		set_function(r->inner, file, function);
	if (r->outer && is_exchange)
		set_function(r->outer, file, function);
	r->is_transfer |= is_transfer;
	r->is_exchange |= is_exchange;
	r->is_users |= !attribution_is_library(file) && !attribution_is_generated(file);
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
		if (trace_definition(image->trace, TF_BLOB_PYTHON_STACK, stack) && !reading.is_import)
			*known += (reading.is_exchange ? IS_EXCHANGE : 0) +
				  (reading.waits	 ? 0
				   : reading.is_transfer ? IS_TRANSFER
							 : message_flags(t, image, stack));
	}
	return (unsigned)(*known - 1);
}

static void add_function(struct removed_functions *all, struct own_function *f)
{
	if (!f->name || list_find(known, all, !strcmp(known->name, f->name) && !strcmp(known->file, f->file)))
		own_function_done(f);
	else
		list_add(all, *f);
}

/* What is sent need not be serialized by the one, nor read by the other. */
static void add_functions(struct transfers *t, const struct image *image, uint32_t stack)
{
	struct own_function inner = {0}, outer = {0};
	struct transfer_reading reading = {.inner = &inner, .outer = &outer};
	bool is_new;

	map_put(&t->named, stack, (uint64_t)(image - t->rules->context->model->images), &is_new);
	if (!is_new)
		return;
	python_frames(image->trace, stack, &reading, read_transfer);
	if (reading.waits)
		own_function_done(&inner);
	else
		add_function(&t->functions, &inner);
	add_function(&t->exchanging, &outer);
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

static void transfer_add(struct transfers *t, struct aggregate *to, const struct scan *s, const struct event *e,
			 const struct function *f, uint64_t ns)
{
	uint32_t row = rule_call_row(t->rules, to, s->image, f ? e->id : UINT16_MAX, 0,
				     f ? f->name : "(computing)", event_stack(e));

	aggregate_add(to, row, ns);
}

static bool is_sending(const struct function *f)
{
	return f && f->kind.role == ROLE_WRITE &&
	       (f->kind.waits == BLOCKED_SOCKET || f->kind.does & FUNCTION_MOVES);
}

static void small_add(struct transfer_sum *sum, const struct trace_thread *thread, uint64_t count)
{
	sum->small += count;
	if (count > sum->most_small) {
		sum->most_small = count;
		sum->small_sender = thread;
	}
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
		transfer_add(t, &t->aggregate, s, e, f, ns);
	}
	if (!f && flags & (IS_TRANSFER | IS_EXCHANGE))
		add_functions(t, s->image, stack);
	if (!f && flags & IS_EXCHANGE) {
		sum->exchange_ns += ns;
		sum->exchange_users_ns += flags & IS_USERS ? ns : 0;
		transfer_add(t, &t->exchanges, s, e, f, ns);
	}
	bytes = f ? bytes_moved(f, e) : 0;
	if (flags & IS_EXCHANGE && bytes && bytes < PIECE && is_sending(f))
		small_add(sum, s->thread, 1);
	if (!(flags & IS_TRANSFER) || (f && bytes < PIECE))
		return;
	if (f && ns > bytes / 1024 * COPY_NS)
		ns = bytes / 1024 * COPY_NS;
	sum->ns += ns;
	sum->users_ns += flags & IS_USERS ? ns : 0;
	if (is_sending(f)) {
		sum->bytes += bytes;
		sum->pieces++;
		sum->sender = s->thread;
	}
	transfer_add(t, &t->aggregate, s, e, f, ns);
}

/* Those below the threshold, through pipes and sockets: how many a thread has sent. */
static void visit_small(void *context, const struct traffic *traffic)
{
	struct transfers *t = context;
	const struct descriptor *d = traffic_descriptor(&t->descriptors, traffic);

	if (d && (d->is_pipe || d->kind == TF_DESCRIPTOR_SOCKET) && traffic->calls &&
	    traffic->bytes / traffic->calls < PIECE &&
	    is_sending(trace_function(t->image->trace, traffic->function)))
		small_add(&t->sums[t->image->process], traffic->thread, traffic->calls);
}

static void add_small(struct transfers *t)
{
	const struct model *m = t->rules->context->model;

	array_each(const struct image, image, m->images, m->image_count) {
		if (!image->trace)
			continue;
		t->image = image;
		t->descriptors = descriptor_search(image->trace);
		traffic_each(image->trace, visit_small, t);
	}
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

static void add_rows(struct rules *r, struct aggregate *of, struct finding *f, size_t process)
{
	aggregate_sort(of);
	for (size_t i = 0, rows = 0; i < of->count && rows < ROWS; i++)
		if (rule_call_process(&of->rows[i]) == process) {
			rule_call_add_row(r, &of->rows[i], f);
			rows++;
		}
}

/* Takes the functions over. */
static void set_removed(struct removed_functions *functions, struct finding *f)
{
	f->removed = *functions;
	*functions = (struct removed_functions){0};
	list_each(const struct own_function, removed, &f->removed)
		buffer_print(&f->edit, "%s%s:%s", f->edit.size ? "|" : "frames~", removed->file + 1, removed->name);
	buffer_text(&f->edit, f->removed.count ? "=0" : "");
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

static uint64_t cost_of(uint64_t ns, uint64_t wall, unsigned percent)
{
	return ns * 100 >= wall * percent ? (ns < wall ? ns : wall) : 0;
}

/* Through pipes and sockets: what it costs any process, and who sent most. */
static void judge_pieces(struct transfers *t, struct finding *f)
{
	const struct model *m = t->rules->context->model;
	const struct transfer_sum *sum;
	uint64_t most = 0;
	size_t worst = 0;

	for (size_t i = 0; i < m->process_count; i++) {
		uint64_t cost = t->sums[i].ns ? cost_of(t->sums[i].ns, undelayed_wall(t->rules, i), FOUND_PERCENT) : 0;

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
	add_rows(t->rules, &t->aggregate, f, worst);
	f->cost_ns = most;
	set_removed(&t->functions, f);
	buffer_set(&f->text, "process %u serializes %.0f MB and sends them to other processes in %llu pieces, ",
		   m->processes[worst].pid, (double)sum->bytes / 1e6, (unsigned long long)sum->pieces);
	rule_time(&f->text, most);
	if (sum->users_ns * 2 < sum->ns) {
		f->line = NULL;
		add_work_line(t->rules, worst, sum->sender, &f->text);
	}
}

static bool sends_at_lines(const struct transfer_sum *sum)
{
	return sum->exchange_ns && sum->exchange_users_ns * 2 >= sum->exchange_ns;
}

/* Many small messages: what they cost any process. Those are to be changed that lines of the user's send; of pools, by
 * whose threads most are sent, the line waits for them. */
static void judge_exchange(struct transfers *t, struct finding *f)
{
	const struct model *m = t->rules->context->model;
	const struct transfer_sum *sum;
	uint64_t most = 0;
	size_t worst = 0;

	for (size_t i = 0; i < m->process_count; i++) {
		const struct transfer_sum *one = &t->sums[i];
		bool is_lines = sends_at_lines(one) && one->small >= SMALL_MESSAGES;
		bool worst_is_lines = sends_at_lines(&t->sums[worst]) && t->sums[worst].small >= SMALL_MESSAGES;
		uint64_t cost = one->exchange_ns
					? cost_of(one->exchange_ns, undelayed_wall(t->rules, i), SMALL_PERCENT)
					: 0;

		if (is_lines == worst_is_lines ? one->small > t->sums[worst].small : is_lines)
			worst = i;
		most = cost > most ? cost : most;
	}
	sum = &t->sums[worst];
	if (sum->small < SMALL_MESSAGES || !most)
		return;
	add_rows(t->rules, &t->exchanges, f, worst);
	f->cost_ns = most;
	set_removed(&t->exchanging, f);
	buffer_set(&f->text, "process %u sends %llu small messages to other processes, ", m->processes[worst].pid,
		   (unsigned long long)sum->small);
	rule_time(&f->text, most);
	if (!sends_at_lines(sum)) {
		f->line = NULL;
		add_work_line(t->rules, worst, sum->small_sender, &f->text);
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
	if (!t->sums[worst].pickle_ns || !cost_of(t->sums[worst].pickle_ns, wall, FOUND_PERCENT))
		return;
	add_rows(t->rules, &t->aggregate, f, worst);
	f->cost_ns = cost_of(t->sums[worst].messages_ns, wall, FOUND_PERCENT);
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
	add_small(&t);
	judge_messages(&t, f);
	if (!f->cost_ns)
		judge_pieces(&t, f);
	if (!f->cost_ns)
		judge_exchange(&t, f);
	rule_needs_python(r, f);
	aggregate_done(&t.aggregate);
	aggregate_done(&t.exchanges);
	map_done(&t.known);
	map_done(&t.named);
	array_free(one, t.functions.items, t.functions.count, own_function_done(one));
	array_free(one, t.exchanging.items, t.exchanging.count, own_function_done(one));
	free(t.sums);
}
