/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, times and words of options, and the option that a wrong one may have meant. */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/shared/base/nearest.h"
#include "runtime/shared/base/option.h"
#include "runtime/shared/base/value.h"

#define UNREAD 77

static uint64_t number(const char *s)
{
	uint64_t n = UNREAD;

	cr_expect_eq(value_number(s, strlen(s), &n), n != UNREAD, "%s", s);
	return n;
}

Test(value, numbers)
{
	cr_expect_eq(number("0"), 0);
	cr_expect_eq(number("0019"), 19);
	cr_expect_eq(number("18446744073709551615"), UINT64_MAX);
	cr_expect_eq(number("18446744073709551616"), UNREAD);
	cr_expect_eq(number("184467440737095516150"), UNREAD);
	cr_expect_eq(number(""), UNREAD);
	cr_expect_eq(number("1/"), UNREAD);
	cr_expect_eq(number("1:"), UNREAD);
	cr_expect_eq(number("-1"), UNREAD);
}

static double seconds(const char *s)
{
	double ret;

	return value_seconds(s, &ret) ? ret : -1;
}

Test(value, seconds)
{
	cr_expect_eq(seconds("2"), 2);
	cr_expect_eq(seconds("2s"), 2);
	cr_expect_float_eq(seconds("2.25s"), 2.25, 1e-12);
	cr_expect_float_eq(seconds(".5"), 0.5, 1e-12);
	cr_expect_eq(seconds("3."), 3);
	cr_expect_eq(seconds("999999999"), 999999999);
	cr_expect_eq(seconds("1000000000"), -1);
	cr_expect_eq(seconds(""), -1);
	cr_expect_eq(seconds("."), -1);
	cr_expect_eq(seconds("s"), -1);
	cr_expect_eq(seconds("1x"), -1);
	cr_expect_eq(seconds("1.5m"), -1);
	cr_expect_eq(seconds("x1"), -1);
}

static const char *printed(double value)
{
	static char bytes[64];
	struct text t = text_init(bytes, sizeof(bytes));

	value_seconds_print(value, &t);
	return bytes;
}

Test(value, seconds_are_printed_as_short_as_they_are)
{
	cr_expect_str_eq(printed(0), "0");
	cr_expect_str_eq(printed(12), "12");
	cr_expect_str_eq(printed(0.5), "0.5");
	cr_expect_str_eq(printed(1.000000001), "1.000000001");
	cr_expect_str_eq(printed(0.1 + 0.2), "0.3");
	cr_expect_str_eq(printed(2.9999999999), "3", "rounded up to the next second");
}

Test(value, words)
{
	bool is_true;

	cr_expect(value_bool("true", &is_true) && is_true);
	cr_expect(value_bool("yes", &is_true) && is_true);
	cr_expect(value_bool("False", &is_true) && !is_true);
	cr_expect_not(value_bool("tru", &is_true));
	cr_expect_not(value_bool("", &is_true));
	cr_expect(value_is("abc", 2, "ab"));
	cr_expect_not(value_is("abc", 3, "ab"));
	cr_expect_not(value_is("abc", 2, "ac"));
	cr_expect(value_is_listed(",one,two,", "two", 3));
	cr_expect_not(value_is_listed(",one,two,", "tw", 2));
	cr_expect_not(value_is_listed(",one,two,", "three", 5));
	cr_expect_not(value_is_listed(",", "", 0));
}

static uint64_t duration(const char *s)
{
	uint64_t ns = UNREAD;

	cr_expect_eq(value_duration(s, &ns), ns != UNREAD, "%s", s);
	return ns;
}

Test(value, durations_are_an_hour_at_most)
{
	cr_expect_eq(duration("5ns"), 5);
	cr_expect_eq(duration("5us"), 5000);
	cr_expect_eq(duration("5ms"), 5000000);
	cr_expect_eq(duration("3600s"), 3600000000000);
	cr_expect_eq(duration("3601s"), UNREAD);
	cr_expect_eq(duration("3600000ms"), 3600000000000);
	cr_expect_eq(duration("3600001ms"), UNREAD);
	cr_expect_eq(duration("5"), UNREAD);
	cr_expect_eq(duration("ms"), UNREAD);
	cr_expect_eq(duration("5m"), UNREAD);
}

Test(value, the_variable_of_an_option)
{
	char bytes[64];
	struct text t = text_init(bytes, sizeof(bytes));

	option_variable(&(struct option){.name = "az-09-By"}, &t);
	cr_expect_str_eq(bytes, "PILLION_AZ_09_BY");
}

/* ---- what may have been meant ---- */

Test(nearest, distances_are_those_of_levenshtein)
{
	char longest[NEAREST_BYTES + 1];

	cr_expect_eq(nearest_distance("", ""), 0);
	cr_expect_eq(nearest_distance("abc", ""), 3);
	cr_expect_eq(nearest_distance("", "ab"), 2);
	cr_expect_eq(nearest_distance("kitten", "sitting"), 3);
	cr_expect_eq(nearest_distance("sitting", "kitten"), 3);
	cr_expect_eq(nearest_distance("trace", "trcae"), 2, "two letters that are exchanged");
	cr_expect_eq(nearest_distance("abc", "abcd"), 1);
	memset(longest, 'a', NEAREST_BYTES);
	longest[NEAREST_BYTES] = '\0';
	cr_expect_eq(nearest_distance(longest, "a"), NEAREST_BYTES, "too long to be compared");
	longest[NEAREST_BYTES - 1] = '\0';
	cr_expect_eq(nearest_distance(longest, "a"), NEAREST_BYTES - 2);
	cr_expect_eq(nearest_distance("a", longest), NEAREST_BYTES - 2);
}

static const char *name_of(const void *list, size_t i)
{
	return ((const char *const *)list)[i];
}

static const char *suggested(const char *word, bool is_short)
{
	static const char *const names[] = {"trace", NULL, "output", "to"};
	const struct nearest n = {.name = name_of, .list = names, .count = 4, .is_short = is_short};
	static char bytes[128];
	struct text t = text_init(bytes, sizeof(bytes));

	nearest_suggest(&n, word, "--", "--help", &t);
	return bytes;
}

Test(nearest, is_suggested_where_it_is_near)
{
	cr_expect_str_eq(suggested("trcae", false), "; did you mean --trace?");
	cr_expect_str_eq(suggested("outputs", false), "; did you mean --output?");
	cr_expect_str_eq(suggested("tt", false), "; did you mean --to?", "half of it");
	cr_expect_str_eq(suggested("x", false), "; see --help");
	cr_expect_str_eq(suggested("zzzzzz", false), "; see --help");
	cr_expect_str_eq(suggested("outputxxx", false), "; did you mean --output?", "a third of it");
	cr_expect_str_eq(suggested("xxxtput", false), "; see --help", "three of seven");
	cr_expect_str_eq(suggested("zzz", true), "; the nearest is --to; see --help");
}
