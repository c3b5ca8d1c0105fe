/* SPDX-License-Identifier: Apache-2.0 */
/* --python-calls: a range for each call of a Python function, and of a C function that one calls, as cProfile counts
 * them. From 3.12 on the events are those of sys.monitoring, before that those of a profile function. */
#pragma once

/* Adds to the namespace of annotate.py:
 *	python_calls: the option's value, or None
 *	calls_open(describe_c, disable, missing, head, setprofile, wants_c) -> bool: before the others; head: how many
 *		bytes an object has more than with a GIL; setprofile: that of sys; wants_c: record functions in C
 *	calls_hide(code): calls of this function are not recorded
 *	calls_here(): record the calling thread, before 3.12
 *	calls_enter, calls_leave, calls_throw, calls_unwind, calls_c_enter, calls_c_leave: for sys.monitoring */
void annotate_calls_offer(void *space);
