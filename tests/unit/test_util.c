/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text.h"
#include "report/base/util.h"

static int by_last_digit(size_t a, size_t b, const void *context)
{
	const unsigned *numbers = context;

	return order_of(numbers[a] % 10, numbers[b] % 10);
}

Test(util, a_number_that_does_not_fit_is_the_largest)
{
	cr_assert_eq(whole_of(1.9), 1);
	cr_assert_eq(whole_of(-1), 0);
	cr_assert_eq(whole_of(0.0 / 0.0), 0);
	cr_assert_eq(whole_of(0x1p64), UINT64_MAX);
	cr_assert_eq(whole_of(1e300), UINT64_MAX);
	cr_assert_eq(whole_of(0x1p63), (uint64_t)1 << 63);
	cr_assert_eq(smaller_of(3, 5), 3);
	cr_assert_eq(smaller_of(5, 3), 3);
	cr_assert_eq(larger_of(3, 5), 5);
	cr_assert_eq(larger_of(5, 3), 5);
	cr_assert_eq(larger_of(UINT64_MAX, 0), UINT64_MAX);
}

Test(util, places_are_in_order_and_equal_ones_as_they_were)
{
	static const unsigned numbers[] = {19, 5, 29, 15, 0, 9, 25, 10}, wanted[] = {0, 10, 5, 15, 25, 19, 29, 9};
	size_t *places = places_in_order(8, by_last_digit, numbers);

	for (size_t i = 0; i < 8; i++)
		cr_assert_eq(numbers[places[i]], wanted[i], "%zu: %u", i, numbers[places[i]]);
	free(places);
	free(places_in_order(0, by_last_digit, NULL));
}

Test(util, a_map_knows_what_was_put_and_not_removed)
{
	struct map m = {0};
	bool is_new;

	for (uint64_t i = 0; i < 1000; i++)
		*map_put(&m, i % 10, i, NULL) = i;
	for (uint64_t i = 0; i < 1000; i += 3)
		map_remove(&m, i % 10, i);
	for (uint64_t i = 0; i < 1000; i++) {
		const uint64_t *place = map_find(&m, i % 10, i);

		cr_assert_eq(place != NULL, i % 3 != 0);
		cr_assert(!place || *place == i);
	}
	map_put(&m, 0, 0, &is_new);
	cr_assert(is_new);
	map_put(&m, 1, 1, &is_new);
	cr_assert(!is_new);
	map_done(&m);
	cr_assert_null(map_find(&m, 1, 1));
}

Test(util, a_text_is_set_in_place_of_another_one)
{
	SCOPED(buffer) text = {0};

	buffer_set(&text, "%s %d", "first", 1);
	cr_expect_str_eq(text.data, "first 1");
	buffer_set(&text, "2");
	cr_expect_str_eq(text.data, "2");
	cr_expect_eq(text.size, 1);
}

Test(util, a_place_is_made_once_for_what_identifies_it)
{
	static const uint64_t keys[] = {8, 3, 8, 5, 3}, places[] = {0, 1, 0, 2, 1};
	struct map m = {0};
	struct texts t = {0};

	for (size_t i = 0; i < 5; i++)
		cr_expect_eq(map_place(&m, keys[i], 1, t.items, t.count, t.capacity, mem_copy_text("new", 3)),
			     places[i], "%zu", i);
	cr_expect_eq(t.count, 3);
	cr_expect_eq(*map_find(&m, 5, 1), 2);
	texts_done(&t);
	map_done(&m);
}

struct sized {
	const char *name;
	size_t size;
};

PLACE_COMPARATOR(longer_first, struct sized, order_of(b->size, a->size))

Test(util, places_of_items_are_in_order)
{
	static const struct sized items[] = {{"a", 1}, {"ccc", 3}, {"b", 1}};
	size_t *order = places_in_order(3, longer_first, items);

	cr_expect(order[0] == 1 && order[1] == 0 && order[2] == 2);
	free(order);
}

/* The first and the last code of each length, and what is one beyond them: too long a form, a surrogate, too large. */
Test(util, codes_of_utf8_are_valid_up_to_their_limits)
{
	static const struct {
		const char *bytes;
		uint32_t code;
	} cases[] = {
	    {"\x7f", 0x7f},
	    {"\xc2\x80", 0x80},
	    {"\xdf\xbf", 0x7ff},
	    {"\xe0\xa0\x80", 0x800},
	    {"\xed\x9f\xbf", 0xd7ff},
	    {"\xee\x80\x80", 0xe000},
	    {"\xef\xbf\xbf", 0xffff},
	    {"\xf0\x90\x80\x80", 0x10000},
	    {"\xf4\x8f\xbf\xbf", 0x10ffff},
	    {"\xc1\xbf", 0xfffd},
	    {"\xe0\x9f\xbf", 0xfffd},
	    {"\xed\xa0\x80", 0xfffd},
	    {"\xed\xbf\xbf", 0xfffd},
	    {"\xf0\x8f\xbf\xbf", 0xfffd},
	    {"\xf4\x90\x80\x80", 0xfffd},
	    {"\xf8\x88\x80\x80\x80", 0xfffd},
	    {"\xc2", 0xfffd},
	    {"\x80", 0xfffd},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *at = cases[i].bytes;

		cr_expect_eq(text_next(&at), cases[i].code, "case %zu", i);
		cr_expect_eq(at - cases[i].bytes, cases[i].code == 0xfffd ? 1 : (ptrdiff_t)strlen(cases[i].bytes),
			     "case %zu", i);
	}
}

static int compare_numbers(const void *left, const void *right)
{
	return order_of(*(const uint64_t *)left, *(const uint64_t *)right);
}

/* Numbers that differ in no byte, in one, in all of them. */
Test(util, numbers_are_sorted_as_by_comparing_them)
{
	static const uint64_t masks[] = {0, 0xff, 0xff00, 0xff000000ff, UINT64_MAX};
	uint64_t numbers[1000], expected[1000], state = 1;

	for (size_t m = 0; m < sizeof(masks) / sizeof(*masks); m++)
		for (size_t count = 0; count <= 1000; count = count * 3 + 1) {
			for (size_t i = 0; i < count; i++) {
				state = state * 6364136223846793005u + 1442695040888963407u;
				numbers[i] = expected[i] = (state ^ state >> 32) & masks[m];
			}
			qsort(expected, count, sizeof(*expected), compare_numbers);
			sort_numbers(numbers, count);
			cr_assert_arr_eq(numbers, expected, count * sizeof(*numbers), "mask %zu, count %zu", m, count);
		}
}

/* Items of each size, with equal numbers in each run of three. */
Test(util, items_with_equal_numbers_stay_in_order)
{
	for (size_t words = 2; words <= 4; words++) {
		uint64_t items[3000] = {0};
		size_t count = 3000 / words;

		for (size_t i = 0; i < count; i++) {
			items[i * words] = (uint64_t)(count - i) / 3 * 0x100000001;
			items[i * words + words - 1] = i;
		}
		sort_by_number(items, count, words * sizeof(*items));
		for (size_t i = 1; i < count; i++) {
			const uint64_t *a = &items[(i - 1) * words], *b = a + words;

			cr_assert(*a < *b || (*a == *b && a[words - 1] < b[words - 1]), "%zu words, item %zu", words,
				  i);
		}
	}
}

struct numbers {
	size_t *items;
	size_t count, capacity;
};

static int freed;

static void numbers_done(struct numbers *n)
{
	freed++;
	free(n->items);
}

COMPARATOR(larger_first, size_t, order_of(*b, *a))

Test(util, lists_grow_are_visited_and_end_with_their_block)
{
	size_t sum = 0, visited = 0;

	freed = 0;
	for (int round = 0; round < 2; round++) {
		SCOPED(numbers) list = {0};

		list_each(size_t, none, &list)
			visited += *none + 1;
		for (size_t i = 0; i < 100; i++)
			list_add(&list, list.count * 2); /* the count of before */
		qsort(list.items, list.count, sizeof(*list.items), larger_first);
		cr_expect_eq(list.items[0], 198);
		list_each(const size_t, number, &list)
			sum += *number;
		cr_expect_eq(freed, round, "not before the end of the block");
	}
	cr_expect_eq(visited, 0, "an empty list has no array");
	cr_expect_eq(sum, 2 * 9900);
	cr_expect_eq(freed, 2);
}

Test(util, an_item_is_found_by_what_holds_of_it)
{
	static const struct {
		int number;
		size_t count, found; /* the place, or the count: there is none */
	} cases[] = {{7, 0, 0}, {7, 1, 1}, {5, 1, 0}, {7, 3, 1}, {9, 3, 3}, {9, 4, 3}, {8, 4, 4}};
	struct {
		int *items;
		size_t count;
	} none = {0};
	int numbers[] = {5, 7, 7, 9};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t asked = 0;
		const int *found = array_find(one, numbers, cases[i].count, (asked++, *one == cases[i].number));
		bool is_there = cases[i].found < cases[i].count;

		cr_expect_eq(found, is_there ? &numbers[cases[i].found] : NULL, "case %zu", i);
		cr_expect_eq(asked, cases[i].found + is_there, "case %zu: %zu items are asked", i, asked);
	}
	cr_expect_null(list_find(one, &none, true), "an empty list has no array");
}

static void count_item(int *item, int *count)
{
	*count = *count * 10 + *item;
}

Test(util, what_items_own_is_freed_before_the_array)
{
	int *items = mem_alloc(3 * sizeof(*items)), *none = NULL, order = 0;

	for (int i = 0; i < 3; i++)
		items[i] = i + 1;
	array_free(item, items, 3, count_item(item, &order));
	array_free(item, none, 0, count_item(item, &order));
	cr_expect_eq(order, 123, "each item once, in order");
}

Test(util, items_are_summed_and_counted)
{
	static const uint32_t numbers[] = {UINT32_MAX, 1, 0, 7};
	static const double halves[] = {0.5, 0.25};
	const uint32_t *none = NULL;

	cr_expect_eq(array_sum(one, numbers, 4, *one), (1ull << 32) + 7, "in 64 bits");
	cr_expect_eq(array_sum(one, numbers, 1, *one), UINT32_MAX, "no more than that many");
	cr_expect_eq(array_sum(one, numbers, 4, *one != 0), 3, "what holds counts as one");
	cr_expect_eq(array_sum(one, halves, 2, *one), 0.75);
	cr_expect_eq(array_sum(one, none, 0, *one), 0);
}

Test(util, texts_begin_end_and_have)
{
	cr_expect(text_begins_with("pipe:[7]", "pipe:"));
	cr_expect(text_begins_with("pipe:", "pipe:"));
	cr_expect_not(text_begins_with("pipe", "pipe:"));
	cr_expect(text_ends_with("a.trace", ".trace"));
	cr_expect_not(text_ends_with(".trace", ".trace"), "there is nothing before it");
	cr_expect(text_any(text_is, "nice", "sh", "nice"));
	cr_expect_not(text_any(text_is, "nicer", "sh", "nice"));
	cr_expect(text_any(text_has, "/a/site-packages/b.py", "/dist-packages/", "/site-packages/"));
	cr_expect_not(text_any(text_begins_with, "/opt/lib/x.so", "/lib/", "/usr/lib/"));
}

Test(util, a_word_is_quoted_unless_a_shell_takes_it_as_it_is)
{
	static const char *const quoted[][2] = {
		{"a b", "'a b'"}, {"it's", "'it'\\''s'"}, {"a[1]", "'a[1]'"},
		{"#x", "'#x'"},	  {"", "''"},		  {"~", "'~'"},		{"a\n", "'a\n'"},
	};
	static const char plain[] = "azAZ09_./:@%+,=-\xc3\xa4";

	for (size_t i = 0; i < sizeof(quoted) / sizeof(*quoted); i++) {
		SCOPED(buffer) b = {0};

		text_add_word(&b, quoted[i][0]);
		cr_expect_str_eq(buffer_string(&b), quoted[i][1], "%s", quoted[i][0]);
	}
	for (char c = 1; c > 0 && c < 0x7f; c++) {
		SCOPED(buffer) b = {0};

		text_add_word(&b, (char[]){c, 0});
		cr_expect_eq(b.size == 1, isalnum(c) || strchr("_./:@%+,=-", c), "%c", c);
	}
	SCOPED(buffer) same = {0};
	text_add_word(&same, plain);
	cr_expect_str_eq(buffer_string(&same), plain);
}

Test(util, a_field_has_its_nul)
{
	SCOPED(buffer) key = {0};

	buffer_field(&key, "ab");
	buffer_field(&key, "");
	buffer_field(&key, "c");
	cr_assert_eq(key.size, 6);
	cr_assert_eq(memcmp(key.data, "ab\0\0c", 6), 0);
}

Test(util, the_name_of_a_path_follows_its_last_slash)
{
	cr_expect_str_eq(path_name("/usr/bin/python3"), "python3");
	cr_expect_str_eq(path_name("python3"), "python3");
	cr_expect_str_eq(path_name("/usr/bin/"), "");
}

/* Appends the code points to a text. */
static const char *text_of(struct buffer *b, const uint32_t *codes, size_t count)
{
	buffer_clear(b);
	for (size_t i = 0; i < count; i++)
		text_add_code(b, codes[i]);
	return buffer_string(b);
}

/* The first and the last code point of each range, and their neighbours. */
Test(util, code_points_have_their_widths_up_to_the_ends_of_ranges)
{
	static const struct {
		uint32_t first, last; /* that have the width; the neighbours of both have another */
		size_t width, before, after;
	} cases[] = {
	    {0x300, 0x36f, 0, 1, 1},	   {0x5bf, 0x5bf, 0, 1, 1},	{0x483, 0x489, 0, 1, 1},
	    {0xe0100, 0xe01ef, 0, 1, 1}, {0x1100, 0x115f, 2, 1, 0},	{0x2e80, 0x3029, 2, 1, 0},
	    {0x303f, 0x303f, 1, 2, 2},	   {0x3040, 0x3098, 2, 1, 0},	{0xac00, 0xd7a3, 2, 1, 1},
	    {0xf900, 0xfaff, 2, 1, 1},	   {0xfe30, 0xfe6f, 2, 0, 1},	{0xff00, 0xff60, 2, 0, 1},
	    {0xffe0, 0xffe6, 2, 1, 1},	   {0x1f300, 0x1faff, 2, 1, 1}, {0x20000, 0x3fffd, 2, 1, 1},
	    {0x9fff, 0xa4cf, 2, 2, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint32_t codes[] = {cases[i].first - 1, cases[i].first, cases[i].last, cases[i].last + 1};
		const size_t widths[] = {cases[i].before, cases[i].width, cases[i].width, cases[i].after};
		SCOPED(buffer) b = {0};

		for (size_t k = 0; k < 4; k++)
			cr_expect_eq(text_width(text_of(&b, &codes[k], 1)), widths[k], "U+%04X", codes[k]);
	}
	cr_expect_eq(text_width(""), 0);
	cr_expect_eq(text_width("a\xcc\x80z"), 2, "a letter with an accent");
}

Test(util, control_characters_end_where_printable_ones_begin)
{
	static const uint32_t controls[][2] = {{0x1, 0x1f},	 {0x7f, 0x9f},	   {0x200e, 0x200f},
					      {0x2028, 0x2029}, {0x202a, 0x202e}, {0x2066, 0x2069}};
	static const uint32_t printable[] = {0x20, 0x7e, 0xa0, 0x200d, 0x2010, 0x2027, 0x202f, 0x2065, 0x206a};
	SCOPED(buffer) safe = {0}, b = {0};

	for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++)
		cr_expect(text_is_control(controls[i][0]) && text_is_control(controls[i][1]), "range %zu", i);
	for (size_t i = 0; i < sizeof(printable) / sizeof(*printable); i++)
		cr_expect_not(text_is_control(printable[i]), "U+%04X", printable[i]);
	text_escape(&safe, text_of(&b, (const uint32_t[]){'a', 0x1f, '\n', '\t', 0x7f, 0x80, 0x202e, 0xa0}, 8), "\n");
	cr_expect_str_eq(buffer_string(&safe), "a\\x1f\n\\x09\\x7f\\u0080\\u202e\xc2\xa0");
}

Test(util, texts_are_cut_to_a_width)
{
	static const struct {
		const char *text;
		size_t width;
		const char *shortened, *cut;
	} cases[] = {
	    {"", 4, "", ""},
	    {"abcdefghij", 10, "abcdefghij", "abcdefghij"},
	    {"abcdefghijk", 10, "abcde…hijk", "abcdefghi…"},
	    {"abcdefghijkl", 9, "abcd…ijkl", "abcdefgh…"},
	    {"ab", 1, "…", "…"},
	    {"/a/long/file.c:10", 17, "/a/long/file.c:10", "/a/long/file.c:10"},
	    /* the last part is kept with at least four columns before it and an ellipsis */
	    {"/a/long/file.c:10", 15, "/a/l…/file.c:10", "/a/long/file.c…"},
	    {"/a/long/file.c:10", 14, "/a/long…e.c:10", "/a/long/file.…"},
	    /* wide ones take two columns, and none is halved */
	    {"\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 6, "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad",
	     "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad"},
	    {"\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 5, "\xe4\xb8\xad…\xe4\xb8\xad", "\xe4\xb8\xad\xe4\xb8\xad…"},
	    {"\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 4, "\xe4\xb8\xad…", "\xe4\xb8\xad…"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		SCOPED(buffer) shortened = {0}, cut = {0};

		cr_expect_eq(text_shorten(&shortened, cases[i].text, cases[i].width),
			     text_width(cases[i].shortened), "case %zu", i);
		cr_expect_eq(text_cut(&cut, cases[i].text, cases[i].width), text_width(cases[i].cut), "case %zu", i);
		cr_expect_str_eq(buffer_string(&shortened), cases[i].shortened, "case %zu: %s", i,
				 buffer_string(&shortened));
		cr_expect_str_eq(buffer_string(&cut), cases[i].cut, "case %zu: %s", i, buffer_string(&cut));
	}
}

/* -1: there is no place. */
Test(util, the_place_of_a_text_is_its_last_parenthesis)
{
	static const struct {
		const char *text;
		ptrdiff_t place;
	} cases[] = {{"f (a.c:1)", 1},	    {"f(int) (a.c:1)", 6}, {"f (a (b).c:1)", 1}, {"f (a).c:1)", 1},
		     {"f (int) (a.c:1)", 7}, {"f(a.c:1)", -1},	   {"(a.c:1)", -1},	 {" (a.c:1)", 0},
		     {"", -1},		    {"f", -1},		   {"a (b c)", 1}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *place = text_place(cases[i].text, strlen(cases[i].text));

		cr_expect_eq(place ? place - cases[i].text : -1, cases[i].place, "%s", cases[i].text);
	}
}

Test(util, lines_are_wrapped_at_their_width)
{
	static const struct {
		const char *text;
		size_t width, indent;
		const char *wrapped;
	} cases[] = {
	    {"", 7, 2, ""},
	    {"one two three", 0, 2, "one two three"},
	    {"one two three", 13, 2, "one two three"},
	    {"one two three", 12, 2, "one two\n  three"},
	    {"one two three", 7, 2, "one two\n  three"},
	    {"one two three", 6, 0, "one\ntwo\nthree"},
	    {"one two\nthree", 7, 2, "one two\nthree"},
	    {"one\n\ntwo\n", 7, 2, "one\n\ntwo\n"},
	    {"  one two", 5, 2, "  one\n  two"},
	    /* a figure keeps its unit, another word does not stay with a number */
	    {"takes 1.20 s, so", 12, 2, "takes\n  1.20 s, so"},
	    {"takes 1.20 s, so", 13, 2, "takes 1.20 s,\n  so"},
	    {"takes 1.20 ss", 10, 2, "takes 1.20\n  ss"},
	    {"takes 9 GiB", 8, 2, "takes\n  9 GiB"},
	    {"takes 0 %", 8, 2, "takes\n  0 %"},
	    {"takes a s", 8, 2, "takes a\n  s"},
	    /* too long a word */
	    {"abcdefghijkl", 8, 2, "abcd…jkl"},
	    {"ab cdefghijkl", 8, 2, "ab cd…kl"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		SCOPED(buffer) b = {0};

		text_wrap(&b, cases[i].text, cases[i].width, cases[i].indent);
		cr_expect_str_eq(buffer_string(&b), cases[i].wrapped, "case %zu: %s", i, buffer_string(&b));
	}
}

Test(util, words_of_a_sentence_are_shortened_before_it_is)
{
	SCOPED(buffer) b = {0}, name = {0};

	text_fit_sentence(&b, "reads abcdefghijk  twice", 10, 40);
	cr_expect_str_eq(buffer_string(&b), "reads abcde…hijk  twice");
	buffer_clear(&b);
	text_fit_sentence(&b, "reads abcdefghijk twice", 11, 23);
	cr_expect_str_eq(buffer_string(&b), "reads abcdefghijk twice");
	buffer_clear(&b);
	text_fit_sentence(&b, "reads abcdefghijk twice", 11, 22);
	cr_expect_str_eq(buffer_string(&b), "reads abcde…hijk twice");
	text_fit(&name, NULL, 5);
	cr_expect_str_eq(buffer_string(&name), "");
	text_fit(&name, "a\nb", 6);
	cr_expect_str_eq(buffer_string(&name), "a\\x0ab");
}
