/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/shared/common/functions.h"

/* Returns all functions of `json` as "domain|module|name|color\n", or the error. The input is in memory of its exact
 * size, so that AddressSanitizer sees a read past its end. */
static const char *all_of(const char *json)
{
	static char text[4096];
	size_t size = strlen(json), used = 0;
	char *bytes = malloc(size + 1), why[128] = "";
	struct functions_entry e;
	struct functions_parser f;
	int rc;

	memcpy(bytes, json, size);
	functions_begin(&f, bytes, size);
	text[0] = '\0';
	while ((rc = functions_next(&f, &e, why, sizeof(why))) > 0)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s|%s|%s|%x\n", e.domain, e.module, e.name,
					 e.color);
	cr_assert(rc == 0 || rc == -EINVAL);
	if (rc)
		snprintf(text, sizeof(text), "%s", why);
	free(bytes);
	return text;
}

Test(functions, are_those_of_each_module_in_order)
{
	cr_assert_str_eq(
	    all_of("[{\"domain\": \"D\", \"color\": \"red\", \"module\": \"m\", \"functions\": [\"f\", \"C.g\"]},\n"
		   "{\"module\": \"n\", \"functions\": []}, {\"module\": \"o\", \"functions\": [\"h\"]}]\n"),
	    "D|m|f|ffff0000\nD|m|C.g|ffff0000\n|o|h|0\n");
	cr_assert_str_eq(all_of(" [ ] "), "");
}

Test(functions, keys_come_in_any_order_and_others_are_stepped_over)
{
	cr_assert_str_eq(all_of("[{\"functions\":[\"f\",{\"function\":\"g\",\"color\":255,\"x\":[1,{}]}],\"y\":{\"a\":["
				"\"]}\\\"\"],\"b\":-1.5e3},"
				"\"color\":\"#010203\",\"z\":null,\"module\":\"m\"}]"),
			 "|m|f|ff010203\n|m|g|ff0000ff\n");
}

Test(functions, names_are_unescaped)
{
	cr_assert_str_eq(all_of("[{\"module\":\"a\\/\\u00e9\\ud83d\\ude00\\\\\",\"functions\":[\"\\u0066\"]}]"),
			 "|a/é😀\\|f|0\n");
}

Test(functions, colors_are_names_or_numbers_and_an_unknown_one_is_none)
{
	cr_assert_str_eq(all_of("[{\"module\":\"m\",\"color\":\"no such\",\"functions\":[\"f\"]}, "
				"{\"module\":\"m\",\"color\":\"0x8001ff02\","
				"\"functions\":[\"g\"]}]"),
			 "|m|f|0\n|m|g|8001ff02\n");
}

Test(functions, what_is_wrong_is_told_with_its_line)
{
	static const struct {
		const char *json, *why;
	} cases[] = {
		{"", "line 1: expected '[', the beginning of a list"},
		{"{}", "line 1: expected '[', the beginning of a list"},
		{"[", "line 1: expected '{', the beginning of {\"module\": ..., \"functions\": [...]}"},
		{"[{", "line 1: expected a key, as \"module\""},
		{"[\n\n{}]", "line 3: no \"module\" here"},
		{"[{\"module\":\"m\"}]", "line 1: no list of \"functions\" here"},
		{"[{\"module\":\"m\",\"functions\":\"f\"}]", "line 1: no list of \"functions\" here"},
		{"[{\"module\":5,\"functions\":[\"f\"]}]", "line 1: \"module\" is a text"},
		{"[{\"module\" \"m\"}]", "line 1: expected ':'"},
		{"[{\"module\":\"m\" \"x\":1}]", "line 1: expected ',' or '}'"},
		{"[{\"module\":\"m\",\n\"functions\":[\"f\"\n\"g\"]}]", "line 3: expected ',' or ']'"},
		{"[{\"module\":\"m\",\"functions\":[5]}]", "line 1: expected a function's name in quotes"},
		{"[{\"module\":\"m\",\"functions\":[{}]}]", "line 1: a function without a name"},
		{"[{\"module\":\"m\",\"functions\":[\"\"]}]", "line 1: a function without a name"},
		{"[{\"module\":\"m\",\"functions\":[\"f\"]}] x", "line 1: something after the end of the list"},
		{"[{\"module\":\"m\",\"functions\":[\"f\"]}", "line 1: expected ',' or ']'"},
		{"[{\"module\":\"m", "line 1: a string without its end"},
		{"[{\"module\":\"a\nb\"", "line 2: a control character in a name"},
		{"[{\"module\":\"\\ud83d\"", "line 1: this escape is not for a name"},
		{"[{\"module\":\"\\u0000\"", "line 1: a control character in a name"},
		{"[{\"module\":\"m\",\"color\":true", "line 1: \"color\" is a name, \"#rrggbb\" or a number"},
		{"[{\"x\":", "line 1: expected a value"},
		{"[{\"x\":[[{\"", "line 1: expected a value"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(all_of(cases[i].json), cases[i].why, "%s: %s", cases[i].json, all_of(cases[i].json));
}

/* Parses each prefix of a valid file, and the file with each byte replaced: the parser must return and must not read
 * outside the buffer. */
Test(functions, a_torn_file_is_no_harm)
{
	static const char good[] = "[{\"functions\":[\"f\",{\"function\":\"\\u00e9\",\"color\":7}],\"y\":[{}],"
				   "\"color\":\"#fff\",\"module\":\"m\"}]";
	static const char strange[] = "\"\\{}[],:0x\n\x80";
	char copy[sizeof(good)];

	for (size_t i = 0; i < sizeof(good); i++) {
		memcpy(copy, good, sizeof(good));
		copy[i] = '\0';
		all_of(copy);
		for (const char *c = strange; *c && i + 1 < sizeof(good); c++) {
			memcpy(copy, good, sizeof(good));
			copy[i] = *c;
			all_of(copy);
		}
	}
}
