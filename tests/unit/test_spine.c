/* SPDX-License-Identifier: Apache-2.0 */
/* Spines of stacks built by hand: "main.f.g" is g called by f called by main; a letter is a function of that line. */
#include <criterion/criterion.h>

#include <stdio.h>

#include "report/answers/spine.h"

static struct own_stacks own;
static struct spine_time times[32];
static size_t count;
static struct spine found[SPINES];

static void setup(void)
{
	own_stacks_init(&own, NULL);
	count = 0;
}

static void teardown(void)
{
	own_stacks_done(&own);
}

TestSuite(spine, .init = setup, .fini = teardown);

static uint32_t function_of(const char *name, size_t length)
{
	for (uint32_t i = 0; i < own.function_count; i++)
		if (strlen(own.functions[i].name) == length && !strncmp(own.functions[i].name, name, length))
			return i;
	own.functions = mem_grow(own.functions, own.function_count, &own.function_capacity, sizeof(*own.functions));
	own.functions[own.function_count] = (struct own_function){mem_copy_text(name, length), mem_copy_text("", 0)};
	return (uint32_t)own.function_count++;
}

/* "main:3.f:7" took so much. */
static void sample(const char *stack, uint64_t ns)
{
	struct own_stack now = {.first = own.frame_count};
	const char *end = stack + strlen(stack);

	for (const char *at = end; end > stack; end = at > stack ? at - 1 : stack) {
		size_t name;

		for (at = end; at > stack && at[-1] != '.'; at--)
			;
		name = strcspn(at, ":.");
		own.frames = mem_grow(own.frames, own.frame_count, &own.frame_capacity, sizeof(*own.frames));
		own.frames[own.frame_count++] = (struct own_frame){
			function_of(at, name), at[name] == ':' ? (uint32_t)strtoul(at + name + 1, NULL, 10) : 1};
		now.count++;
	}
	own.stacks = mem_grow(own.stacks, own.stack_count, &own.stack_capacity, sizeof(*own.stacks));
	own.stacks[own.stack_count] = now;
	times[count++] = (struct spine_time){(uint32_t)own.stack_count++, ns};
}

/* "main:3 f:7", the outermost first. */
static const char *spine_text(size_t at)
{
	static char text[256];

	*text = '\0';
	for (size_t i = 0; i < found[at].count; i++)
		sprintf(text + strlen(text), "%s%s:%u", i ? " " : "",
			own.functions[found[at].frames[i].function].name, found[at].frames[i].line);
	return text;
}

static size_t find(uint64_t least_ns)
{
	return spines_find(&own, times, count, false, least_ns, 0, found);
}

Test(spine, place_has_the_largest_drop)
{
	/* f branches into what is small, each: it is the place, and not the line with most time of its own */
	sample("main:2.f:7.a", 30);
	sample("main:2.f:8.b", 30);
	sample("main:2.f:8.c", 30);
	sample("main:2.hot", 40);
	cr_assert(find(0) >= 2);
	cr_assert_str_eq(spine_text(0), "main:2 f:8");
	cr_expect_eq(found[0].drop_ns, 60);
	cr_expect_eq(found[0].frames[1].own_ns, 0);
	cr_assert_str_eq(spine_text(1), "hot:1");
}

/* By samples of 10: 50 and 40 are 5 and 4, of which the difference has a standard error of 3. */
Test(spine, of_equal_drops_the_one_with_most_time_below)
{
	sample("main:2.f:7", 40);
	sample("main:2.f:8.g", 50);
	cr_assert(find(0));
	cr_assert_str_eq(spine_text(0), "main:2 f:8 g:1");
	cr_assert_eq(spines_find(&own, times, count, false, 0, 10, found), 2);
	cr_expect_str_eq(spine_text(0), "main:2 f:8");
	cr_expect_str_eq(spine_text(1), "g:1");
	cr_assert(spines_find(&own, times, count, false, 0, 1, found));
	cr_expect_str_eq(spine_text(0), "main:2 f:8 g:1");
}

Test(spine, callers_carry_four_fifths)
{
	sample("main:2.outer:3.helper:4.leaf:5", 80);
	sample("main:2.other:3.leaf:6", 20);
	sample("main:2.elsewhere:3", 10);
	cr_assert(find(0));
	cr_assert_str_eq(spine_text(0), "main:2 outer:3 helper:4 leaf:5");
	cr_expect_eq(found[0].frames[3].ns, 100);
	cr_expect_eq(found[0].frames[0].ns, 110);
	cr_expect_eq(found[0].frames[2].ns, 80);
}

Test(spine, no_caller_that_carries_less)
{
	sample("main:2.outer:3.leaf:5", 79);
	sample("main:2.other:3.leaf:6", 21);
	cr_assert(find(0));
	cr_assert_str_eq(spine_text(0), "main:2 leaf:5");
}

Test(spine, at_most_four_callers_the_nearest)
{
	sample("a.b.c.d.e.f.g", 100);
	cr_assert_eq(find(0), 1);
	cr_assert_str_eq(spine_text(0), "c:1 d:1 e:1 f:1 g:1");
}

Test(spine, a_recursive_function_counts_once_a_stack)
{
	sample("main:1.walk:2.walk:2.walk:2.visit:9", 60);
	sample("main:1.walk:2.visit:9.walk:2.visit:9", 40);
	cr_assert(find(0));
	cr_expect_eq(found[0].frames[found[0].count - 1].ns, 100);
	cr_assert_str_eq(spine_text(0), "main:1 walk:2 visit:9");
	cr_expect(found[0].frames[1].is_recursive);
}

Test(spine, the_top_of_a_file_is_no_caller)
{
	sample("<module>:30.main:2.f:7", 100);
	cr_assert(find(0));
	cr_assert_str_eq(spine_text(0), "main:2 f:7");
	count = 0;
	sample("<module>:31", 100);
	cr_assert(find(0));
	cr_assert_str_eq(spine_text(0), "<module>:31");
}

Test(spine, the_top_of_a_file_is_a_place_for_its_own_time_only)
{
	sample("<module>:1.a:2", 40);
	sample("<module>:2.b:3", 35);
	sample("<module>:3", 25);
	cr_assert_eq(find(30), 2, "what it calls in turn makes it no place");
	cr_assert_str_eq(spine_text(0), "a:2");
	cr_assert_str_eq(spine_text(1), "b:3");
}

Test(spine, further_places_are_rather_elsewhere)
{
	/* c is in the spine of the first place: no finding of its own; b is below it: the last one */
	sample("main:1.c:2.first:3", 60);
	sample("main:1.c:2.first:4.b:5", 35);
	sample("main:1.second:6", 30);
	cr_assert_eq(find(0), 3);
	cr_assert_str_eq(spine_text(0), "main:1 c:2 first:3");
	cr_assert_str_eq(spine_text(1), "second:6");
	cr_assert_str_eq(spine_text(2), "b:5");
	cr_assert_eq(find(31), 2, "what has a smaller drop is none");
	cr_assert_eq(find(36), 1);
}

Test(spine, what_is_below_is_named_where_nothing_else_is)
{
	sample("main:1.g:4", 60);
	sample("main:2.h:5", 70);
	sample("main:3.i:6", 80);
	cr_assert_eq(find(0), 3);
	cr_assert_str_eq(spine_text(0), "main:3");
	cr_expect_eq(found[0].drop_ns, 130);
	cr_assert_str_eq(spine_text(1), "i:6");
	cr_assert_str_eq(spine_text(2), "h:5");
}

/* What the last sample executes is a model. */
static void of_model(uint32_t callee)
{
	own.stacks[times[count - 1].stack].is_model = true;
	own.stacks[times[count - 1].stack].callee = callee;
}

Test(spine, the_model_is_a_place_if_asked_for)
{
	texts_add(&own.texts, "%s", "adam.Adam.step");
	sample("train:8", 60);
	of_model(1);
	sample("train:9.load:3", 10);
	cr_assert_eq(find(5), 1);
	cr_expect_str_eq(spine_text(0), "train:9 load:3");
	cr_expect_eq(found[0].frames[1].ns, 10);
	cr_assert_eq(find(11), 0);
	cr_assert_eq(spines_find(&own, times, count, true, 11, 0, found), 1);
	cr_expect_str_eq(spine_text(0), "train:8");
	cr_expect_eq(found[0].frames[0].ns, 70);
	cr_expect_str_eq(own.texts.items[found[0].callee], "adam.Adam.step");
}

Test(spine, linear_algebra_is_told_apart)
{
	sample("train:8.step:2", 60);
	own.stacks[times[count - 1].stack].is_algebra = true;
	sample("train:9.load:3", 10);
	cr_assert_eq(find(5), 1);
	cr_expect_str_eq(spine_text(0), "train:9 load:3");
	cr_expect_eq(found[0].frames[0].ns, 10);
	cr_expect_eq(found[0].algebra_ns, 60);
	cr_assert_eq(spines_find(&own, times, count, true, 11, 0, found), 1);
	cr_expect_eq(found[0].algebra_ns, 0, "it is in the times of the frames");
}

Test(spine, a_place_has_the_line_of_the_model_if_nearly_all_of_it_is_there)
{
	texts_add(&own.texts, "%s", "adam.Adam.step");
	sample("train:3", 20);
	sample("train:4", 10);
	sample("train:8", 69);
	of_model(1);
	cr_assert_eq(find(0), 1);
	cr_expect_str_eq(spine_text(0), "train:3");
	cr_expect_eq(found[0].callee, 0);
	sample("train:9", 2);
	of_model(0);
	cr_assert_eq(find(0), 1);
	cr_expect_str_eq(spine_text(0), "train:8", "lines 3 and 4 have less than 0.3 of it");
	cr_expect_str_eq(own.texts.items[found[0].callee], "adam.Adam.step");
}

/* Drops of 51 and 50 are equal. That of the caller would have the model's line. */
Test(spine, of_equal_places_one_beside_the_model_is_told)
{
	sample("train:3", 51);
	sample("train:4.collate:7", 50);
	cr_assert_geq(spines_find(&own, times, count, false, 5, 10, found), 1);
	cr_expect_str_eq(spine_text(0), "train:3");
	sample("train:8", 600);
	of_model(0);
	cr_assert_geq(spines_find(&own, times, count, false, 5, 10, found), 1);
	cr_expect_str_eq(spine_text(0), "train:4 collate:7");
}

/* train calls step, and does something else by itself at line 3: that line is told if it has 0.3 of step's time. */
Test(spine, a_caller_has_the_line_where_it_does_much_by_itself)
{
	sample("train:2.step", 60);
	sample("train:2.step", 40);
	sample("train:3", 20);
	sample("train:3", 10);
	sample("train:4", 29);
	cr_assert(find(0));
	cr_assert_str_eq(spine_text(0), "train:2 step:1");
	cr_expect_eq(found[0].frames[0].own_line, 3);
	cr_expect_eq(found[0].frames[0].own_line_ns, 30);
	cr_expect_eq(found[0].frames[1].own_line, 0);
}

Test(spine, a_caller_that_does_little_by_itself_has_no_line)
{
	sample("train:2.step", 100);
	sample("train:3", 29);
	cr_assert(find(0));
	cr_expect_eq(found[0].frames[0].own_line, 0);
}

Test(spine, nothing_of_nothing)
{
	cr_assert_eq(find(0), 0);
}

Test(spine, the_callee_of_most_of_its_own_time)
{
	sample("main:1.step:8", 60);
	sample("main:1.step:8", 30);
	texts_add(&own.texts, "%s", "copy.deepcopy");
	own.stacks[times[0].stack].callee = 1;
	cr_assert(find(0));
	cr_assert_str_eq(own.texts.items[found[0].callee], "copy.deepcopy");
	times[1].ns = 60;
	cr_assert(find(0));
	cr_expect_eq(found[0].callee, 0, "half of it is not most of it");
}

Test(spine, calls_are_made_where_most_of_their_time_is)
{
	sample("main:2.save:7.write:3", 30);
	sample("main:2.save:8.flush:4", 60);
	sample("main:2.flush:5", 10);
	cr_assert(spine_of_calls(&own, times, count, found));
	cr_expect_str_eq(spine_text(0), "main:2 save:8 flush:4");
	cr_expect_not(spine_of_calls(&own, times, 0, found));
}
