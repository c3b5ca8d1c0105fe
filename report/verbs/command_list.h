/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options that are lists: reports, rules, formats, outputs and columns.
 * Each function is the set() of an option. */
#pragma once

#include "runtime/shared/base/option.h"

int command_list_reports(const struct option *row, void *settings, const char *value, struct text *why);
int command_list_rules(const struct option *row, void *settings, const char *value, struct text *why);
int command_list_fail_on(const struct option *row, void *settings, const char *value, struct text *why);
int command_list_formats(const struct option *row, void *settings, const char *value, struct text *why);
int command_list_outputs(const struct option *row, void *settings, const char *value, struct text *why);
int command_list_columns(const struct option *row, void *settings, const char *value, struct text *why);

/* Appends the names of reports or rules, without their aliases, if the option takes them. */
bool command_list_words(const struct option *row, struct text *ret);
