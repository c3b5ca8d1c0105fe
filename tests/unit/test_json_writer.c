/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "report/base/table/json_writer.h"

Test(json_writer, commas_stand_between_values_only)
{
	struct buffer b = {0};
	struct json_writer w = {.to = &b};

	json_begin(&w, '{');
	json_member_string(&w, "name", "a\"b");
	json_name(&w, "empty");
	json_begin(&w, '[');
	json_end(&w, ']');
	json_name(&w, "values");
	json_begin(&w, '[');
	json_number(&w, UINT64_MAX);
	json_signed(&w, -7);
	json_begin(&w, '{');
	json_end(&w, '}');
	json_ready(&w, "true");
	json_null(&w);
	json_end(&w, ']');
	json_member_string(&w, "none", NULL);
	json_name(&w, "ready");
	json_ready(&w, "[1,2]");
	json_end(&w, '}');
	cr_assert_str_eq(b.data, "{\"name\":\"a\\\"b\",\"empty\":[],"
				 "\"values\":[18446744073709551615,-7,{},true,null],\"none\":null,\"ready\":[1,2]}");
	buffer_done(&b);
}

Test(json_writer, white_space_follows_the_comma_and_is_written_once)
{
	struct buffer b = {0};
	struct json_writer w = {.to = &b};

	json_begin(&w, '[');
	for (int i = 0; i < 2; i++) {
		json_space(&w, "\n ");
		json_begin(&w, '{');
		json_member_number(&w, "n", 1);
		json_member_number(&w, "m", 2);
		json_end(&w, '}');
	}
	json_space(&w, "\n");
	json_end(&w, ']');
	cr_assert_str_eq(b.data, "[\n {\"n\":1,\"m\":2},\n {\"n\":1,\"m\":2}\n]");
	buffer_done(&b);
}

Test(json_writer, texts_are_escaped_and_are_utf8)
{
	struct buffer b = {0};

	json_add(&b, "plain \\ \x01\x7f \xc3\xa4 \xff \xe2\x80\xa8 end");
	cr_assert_str_eq(b.data, "\"plain \\\\ \\u0001\\u007f \xc3\xa4 \xef\xbf\xbd \\u2028 end\"");
	buffer_clear(&b);
	json_add(&b, "");
	cr_assert_str_eq(b.data, "\"\"");
	buffer_done(&b);
}
