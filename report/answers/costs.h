/* SPDX-License-Identifier: Apache-2.0 */
/* What repairs would save: the edits that stand for them, and their prices (report/causes/price.h). */
#pragma once

#include "report/answers/roles/role.h"
#include "report/causes/function.h"
#include "report/causes/path.h"
#include "report/causes/price.h"

struct costs;

/* Never NULL; without a graph everything costs nothing. */
struct costs *costs_new(struct causality *causes);
void costs_free(struct costs *k);

/* What a line does for most of its time. */
enum line_does { DOES_CALL, DOES_COMPUTE, DOES_AWAIT_DEVICE, DOES_KINDS };
enum line_does costs_line_does(struct costs *k, const struct code_line *line);

/* What an edit saves. False: it cannot be computed. */
bool costs_of_edit(struct costs *k, const char *edit, struct saving *ret);

/* What `whatif --rank` has. Owned by the costs. */
const struct prices *costs_prices(struct costs *k);

/* The time on the critical path that passes through any of these functions, which is not more than the run's; and
 * what a change of them saves, at most that. */
uint64_t costs_below(struct costs *k, struct own_stacks *own, const uint32_t *functions, size_t count,
		     struct saving *ret_saves);

/* Likewise of what is imported at a line of the program's own. */
uint64_t costs_of_import(struct costs *k, struct own_stacks *own, struct own_frame at, struct saving *ret_saves);

/* How many processes the line has started and awaited, which are a part of it. */
size_t costs_started(struct costs *k, const struct code_line *line);

/* What an actor of the graph did itself. */
double costs_work(const struct costs *k, uint32_t actor);

/* Which line made most calls of a function by their time on the critical path; NULL: not known. */
const struct code_line *costs_line_of_calls(struct costs *k, const char *function);

/* Which actor has most of the line's time on the critical path; NULL: none. */
const struct actor *costs_actor(struct costs *k, const struct code_line *line, const char *function);

struct causality *costs_causes(struct costs *k); /* NULL: nothing was recorded, or it was not replayed */
