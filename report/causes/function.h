/* SPDX-License-Identifier: Apache-2.0 */
/* What is below a function, in any of its callees: of each editable the part of its time whose stacks pass through it,
 * and what the run would be without. The end of a program, which frees what its functions have made, is shared out to
 * them by their CPU time in it. */
#pragma once

#include "report/causes/saving.h"
#include "report/names/own_stack.h"

/* Of a change of functions that compute: it saves at least the first part of what is below the last one of them,
 * without what a model takes; or the second part of what is below any, with that; or what passes through the heaviest
 * line of the innermost of them, if that is less: the change may be of one line. Linear algebra is left out of
 * either. The highest is all that is below any. docs/decisions/spine.md */
#define FUNCTION_LEAST 0.3
#define FUNCTION_LEAST_ALL 0.1

/* end: of the CPU time below functions, their part of the program's end. least: of what is beside that, the part that
 * a change saves at least. line: of all time below them, what passes through the heaviest line of the innermost of
 * them. */
struct function_part {
	double end, least, line;
};

/* By editable: the part below any of these own functions, of which the last one is the place of a change; of the top of
 * a file without its imports. The caller frees it. */
float *function_shares(struct causality *s, struct own_stacks *own, const uint32_t *functions, size_t count,
		       struct function_part *ret_part);

/* Likewise what is imported at a line of the program's own, which may do other things, too. */
float *function_import_shares(struct causality *s, struct own_stacks *own, struct own_frame at,
			      struct function_part *ret_part);

/* Likewise below the functions that a person names: NAME, CLASS.NAME, FILE:NAME, or several with | between them; own
 * ones, else those of libraries; by_frames: any. NULL: no stack has any. */
float *function_shares_named(struct causality *s, const char *name, bool by_frames, struct function_part *ret_part);

/* With what others do for the functions: between a request, through a pipe or a socket, and the answer that is waited
 * for below them. The caller frees it. */
float *function_with_served(const struct causality *s, const float *shares);

/* Multiplies the times of these parts. */
void function_edit(const struct causality *s, const float *shares, double factor, struct edit *edit);

/* What a change of code that computes for so long on the critical path saves. */
void function_interval(uint64_t ns, struct saving *ret);

/* By editable: its time in all actors, that of waits whose cause is not known included. The caller frees it. */
double *function_totals(const struct causality *s);

/* What changes of a function save: an interval whose upper end is the run without what is below it, longer by the error
 * of its samples, but no more than the time on the critical path that is below it. Returns that time. On a busy machine
 * the time of what computes is as much longer than its CPU time as that of the whole job: how long each function waited
 * for a CPU is chance. `by_what`: of the critical path. A change may leave the program's end as it is: that is not in
 * the lowest. */
uint64_t function_saving(struct causality *s, const float *shares, const struct function_part *part,
			 const double *by_what, const double *totals, struct saving *ret);

/* The same of "function~NAME=0" and "frames~NAME=0". False: it is another edit, or no stack has that function. */
bool function_saving_named(struct causality *s, const char *text, struct saving *ret);
