/* SPDX-License-Identifier: Apache-2.0 */
/* The values of options about PyTorch's operators: --columns, --group-by, --sort. Private to command_line.c. */
#ifndef PILLION_COMMAND_LINE_OPERATORS_H
#define PILLION_COMMAND_LINE_OPERATORS_H

#include "report/command_line.h"

const char *command_line_sort(size_t i);
const char *command_line_ops_column(size_t i);
int command_line_set_group(const struct option *row, void *settings, const char *value, struct text *why);
int command_line_set_columns(const struct option *row, void *settings, const char *value, struct text *why);

#endif
