/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/rule_list.h"

#include <string.h>

#include "report/answers/rule.h"

#define ROW(name, alias, title, flags, advice) {#name, alias, title, advice, flags, rule_##name},
const struct rule rule_list[] = {RULES(ROW)};
const size_t rule_count = sizeof(rule_list) / sizeof(*rule_list);

const struct rule *rule_find(const char *name)
{
	for (size_t i = 0; i < rule_count; i++)
		if (!strcmp(rule_list[i].name, name) || (rule_list[i].alias && !strcmp(rule_list[i].alias, name)))
			return &rule_list[i];
	return NULL;
}
