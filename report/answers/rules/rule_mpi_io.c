/* SPDX-License-Identifier: Apache-2.0 */
/* small_mpi_io: many small writes to files by MPI, each by one rank on its own, by function and source line. Collective
 * writes are not among them: MPI combines those of all ranks. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"
#include "report/read/operation.h"

enum { ROWS = 50, SMALL_PERCENT = 2, SMALL_CALLS = 1000, SMALL_BYTES = 65536 };

/* The writes at one line in one function. */
struct small_writes {
	uint64_t calls, bytes, ns, ranks;
	size_t last; /* the process of the last one */
	uint32_t function;
	const struct code_line *line; /* NULL: short calls have no stack */
};

struct mpi_io {
	struct rules *rules;
	struct interner functions;
	struct map by_stack;  /* (stack and function, image) -> its place + 1 */
	struct map by_line;   /* (function, line) -> the same */
	struct small_writes *places;
	size_t count, capacity;
	uint64_t *ns_of; /* by process */
	struct small_writes all;
	const uint8_t *classes; /* by function of the current image */
};

static uint8_t classify_write(const struct function *f)
{
	return (f->kind.parallel & PARALLEL_WRITES) != 0;
}

static struct small_writes *place_of(struct mpi_io *io, const struct image *image, uint32_t function, uint32_t stack)
{
	uint64_t *known = map_put(&io->by_stack, (uint64_t)function << 32 | stack,
				  (uint64_t)(image - io->rules->context->model->images), NULL);

	if (!*known) {
		struct small_writes new = {
			.function = interner_text_number(&io->functions, trace_function(image->trace, function)->name),
			.line = rule_line(io->rules, image, stack)};

		*known = 1 + map_place(&io->by_line, new.function, code_line_number(new.line), io->places, io->count,
				       io->capacity, new);
	}
	return &io->places[*known - 1];
}

static void add_write(struct small_writes *w, size_t process, uint64_t bytes, uint64_t ns)
{
	w->ranks += !w->calls || w->last != process;
	w->last = process;
	w->calls++;
	w->bytes += bytes;
	w->ns += ns;
}

static void visit_write(struct scan *s, const struct event *e)
{
	struct mpi_io *io = s->more;
	struct tf_operation op;
	int64_t count;
	double bytes;
	uint64_t ns;

	if (e->kind != TF_CALL || e->id >= s->image->trace->functions->count || !io->classes[e->id] ||
	    !operation_of(s->image->trace, e, &op) || !operation_field(&op, TF_FIELD_COUNT, &count))
		return;
	bytes = operation_bytes(trace_function(s->image->trace, e->id), &op);
	if (bytes >= SMALL_BYTES)
		return;
	ns = clock_map_duration(s->clock, e->duration);
	add_write(place_of(io, s->image, e->id, event_stack(e)), s->image->process, (uint64_t)bytes, ns);
	add_write(&io->all, s->image->process, (uint64_t)bytes, ns);
	io->ns_of[s->image->process] += ns;
}

PLACE_COMPARATOR(writes_by_time, struct small_writes, order_of(b->ns, a->ns))

static void add_rows(const struct mpi_io *io, struct finding *f)
{
	SCOPED_MEMORY size_t *order = places_in_order(io->count, writes_by_time, io->places);

	for (size_t i = 0; i < io->count && i < ROWS; i++) {
		const struct small_writes *w = &io->places[order[i]];

		rule_row(f);
		table_cells(&f->table, w->ns, w->calls, w->bytes, w->bytes / w->calls, w->ranks,
			    interner_field(&io->functions, w->function, 0));
		rule_line_cell(f, w->line);
		f->line = f->line ? f->line : w->line;
	}
}

/* The time of the rank that wrote for longest. */
static void conclude(const struct mpi_io *io, struct finding *f)
{
	const struct model *m = io->rules->context->model;
	size_t worst = 0;

	for (size_t i = 1; i < m->process_count; i++)
		if (io->ns_of[i] > io->ns_of[worst])
			worst = i;
	if (io->all.calls < SMALL_CALLS ||
	    io->ns_of[worst] * 100 < recorded_wall(m, &m->processes[worst]) * SMALL_PERCENT)
		return;
	f->cost_ns = io->ns_of[worst];
	add_rows(io, f);
	buffer_print(&f->text, "%llu writes of MPI with %llu bytes on average, by %llu rank%s, ",
		     (unsigned long long)io->all.calls, (unsigned long long)(io->all.bytes / io->all.calls),
		     (unsigned long long)io->all.ranks, io->all.ranks > 1 ? "s, each on its own" : "");
	rule_time(&f->text, f->cost_ns);
	buffer_print(&f->text, " in process %u", m->processes[worst].pid);
}

void rule_small_mpi_io(struct rules *r, struct finding *f)
{
	const struct model *m = r->context->model;
	struct mpi_io io = {.rules = r, .ns_of = mem_alloc((m->process_count + 1) * sizeof(*io.ns_of))};

	rule_has(f, COL_TOTAL_TIME_NS, COL_NUM_CALLS, COL_BYTES, COL_AVG_SIZE_BYTES, COL_RANKS, COL_NAME, COL_LINE);
	for (size_t i = 0; i < m->image_count; i++) {
		struct scan scan = {.context = r->context, .image = &m->images[i], .groups = 1u << TF_GROUP_MPI,
				    .more = &io};

		if (!m->images[i].trace)
			continue;
		io.classes = functions_classes(m->images[i].trace->functions, classify_write);
		scan_image(&scan, visit_write);
	}
	conclude(&io, f);
	if (!(model_bits(m).groups & 1u << TF_GROUP_MPI))
		rule_unchecked(f, "no calls of MPI were recorded: -t mpi records them");
	interner_done(&io.functions);
	map_done(&io.by_stack);
	map_done(&io.by_line);
	free(io.places);
	free(io.ns_of);
}
