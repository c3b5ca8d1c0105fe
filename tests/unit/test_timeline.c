/* SPDX-License-Identifier: Apache-2.0 */
/* What the visitor yields of the example capture, and when it stops. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/time/timeline/timeline.h"
#include "opened.h"

struct seen {
	struct timeline timeline;
	size_t events[TIMELINE_ACTIVITY + 1], begun, ended, flows, counters, repeated;
	size_t arguments[ARGUMENT_IDS];
	uint64_t called, executed; /* sums of the correlation numbers of calls and of operations that have a call */
	bool is_untyped, is_unordered;
	enum timeline_part last_part;
	int failed;
};

static void begin(void *printer)
{
	((struct seen *)printer)->begun++;
}

static void end(void *printer)
{
	((struct seen *)printer)->ended++;
}

static void see(void *printer, const struct timeline_event *e)
{
	struct seen *s = printer;
	uint64_t *slot = timeline_slot(&s->timeline, TEXT_FUNCTION, e->name);

	s->events[e->kind]++;
	s->is_unordered |= e->start_ns > e->end_ns;
	for (size_t i = 0; i < e->argument_count; i++) {
		s->is_untyped |= e->arguments[i].id >= ARGUMENT_IDS;
		s->arguments[e->arguments[i].id]++;
	}
	if (e->kind == TIMELINE_CALL) {
		s->called += e->correlation;
		s->repeated += *slot != 0;
		*slot = 1;
	}
}

static void see_flow(void *printer, const struct timeline_flow *f)
{
	struct seen *s = printer;

	s->flows += f->record_count;
	s->executed += correlation_number(s->timeline.model, s->timeline.image, f->records);
}

static void see_counter(void *printer, const struct timeline_counter *c)
{
	((struct seen *)printer)->counters++;
}

static void part_end(void *printer, enum timeline_part part)
{
	((struct seen *)printer)->last_part = part;
}

static void fail(void *printer, const struct timeline_event *e)
{
	struct seen *s = printer;

	s->events[e->kind]++;
	s->failed = 1;
}

static void visit_example(struct seen *s, void (*event)(void *, const struct timeline_event *))
{
	char directory[] = "/tmp/pillion-timeline-XXXXXX", command[64];
	struct timeline_printer printer = {
		.parts = {PART_THREADS, PART_RANGES, PART_OPERATIONS, PART_ACTIVITIES, PART_FLOWS, PART_COUNTERS},
		.wants_correlations = true,
		.begin = begin,
		.event = event,
		.flow = see_flow,
		.counter = see_counter,
		.part_end = part_end,
		.end = end,
		.failed = &s->failed,
	};
	struct model model;
	struct report_context context = {.model = &model};

	cr_assert_not_null(mkdtemp(directory));
	capture_example(directory);
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	timeline_visit(&s->timeline, &context, &printer, s);
	if (!s->failed)
		cr_assert_eq(s->begun, model.image_count);
	symbols_free(context.symbols);
	model_done(&model);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	cr_assert_eq(system(command), 0);
}

Test(timeline, each_program_has_all_its_parts)
{
	struct seen s = {0};

	visit_example(&s, see);
	cr_assert_eq(s.begun, s.ended);
	cr_assert_eq(s.last_part, PART_COUNTERS);
	cr_assert_gt(s.events[TIMELINE_CALL], 0);
	cr_assert_gt(s.events[TIMELINE_MARK], 0);
	cr_assert_gt(s.events[TIMELINE_RANGE], 0);
	cr_assert_gt(s.events[TIMELINE_OPERATION], 0);
	cr_assert_gt(s.events[TIMELINE_ACTIVITY], 0);
	cr_assert_gt(s.counters, 0);
	cr_assert_not(s.is_unordered);
}

Test(timeline, arguments_are_typed_and_slots_last_through_a_program)
{
	struct seen s = {0};

	visit_example(&s, see);
	cr_assert_not(s.is_untyped);
	cr_assert_gt(s.arguments[ARGUMENT_STACK], 0);
	cr_assert_gt(s.arguments[ARGUMENT_LAUNCH], 0);
	cr_assert_gt(s.arguments[ARGUMENT_BYTES], 0);
	cr_assert_gt(s.repeated, 0, "a function that is called twice has one slot");
}

Test(timeline, a_call_has_the_number_of_what_it_made_the_device_do)
{
	struct seen s = {0};

	visit_example(&s, see);
	cr_assert_gt(s.flows, 0);
	cr_assert_gt(s.called, 0);
	cr_assert_eq(s.called, s.executed);
}

Test(timeline, nothing_more_is_visited_after_a_failure)
{
	struct seen s = {0};
	size_t events = 0;

	visit_example(&s, fail);
	for (size_t i = 0; i <= TIMELINE_ACTIVITY; i++)
		events += s.events[i];
	cr_assert_eq(events, 1);
}

Test(timeline, each_group_has_a_style)
{
	for (size_t i = 0; i < TF_GROUP_COUNT; i++)
		cr_assert(group_styles[i].category && group_styles[i].title, "group %zu", i);
}
