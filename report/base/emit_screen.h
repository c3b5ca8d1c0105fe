/* SPDX-License-Identifier: Apache-2.0 */
/* What a table has on a terminal: names first, then total, share, count, average and maximum, with the unit in each
 * cell. */
#ifndef PILLION_EMIT_SCREEN_H
#define PILLION_EMIT_SCREEN_H

#include "report/base/emit.h"

/* Orders the positions of a table's columns: what matters least is last. */
void screen_order(const struct table *t, size_t *columns, size_t count);

void screen_title(struct buffer *b, const struct emit *e, const struct table *t, size_t column);
void screen_cell(struct buffer *b, const struct emit *e, const struct table *t, size_t at);

#endif
