/* SPDX-License-Identifier: Apache-2.0 */
/* What a table has on a terminal: names first, then total, share, count, average and maximum, with the unit in each
 * cell. */
#pragma once

#include "report/base/table/emit.h"

/* Orders the positions of a table's columns: what matters least is last. */
void screen_order(const struct table *t, size_t *columns, size_t count);

/* In html and markdown, where shares have no bar; with --nsys as Nsight Systems has them. */
void document_title(struct buffer *b, const struct emit *e, const struct table *t, size_t column);
void document_cell(struct buffer *b, const struct emit *e, const struct table *t, size_t at);

/* "train.py:12" of a place in a file that is not below the working directory, otherwise its path from there; "step
 * (train.py:12)" of a frame. */
void screen_line(struct buffer *ret, const char *text);

void screen_title(struct buffer *b, const struct emit *e, const struct table *t, size_t column);
void screen_cell(struct buffer *b, const struct emit *e, const struct table *t, size_t at);
