/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/rule_list.h"

#include <string.h>

#include "report/answers/rule.h"

#define ROW(name, alias, title, flags, advice) {#name, alias, title, advice, flags, rule_##name},
const struct rule rule_list[] = {RULES(ROW)};
const size_t rule_count = sizeof(rule_list) / sizeof(*rule_list);

const struct rule *rule_find(const char *name)
{
	return array_find(rule, rule_list, rule_count,
			  !strcmp(rule->name, name) || (rule->alias && !strcmp(rule->alias, name)));
}
