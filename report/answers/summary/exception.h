/* SPDX-License-Identifier: Apache-2.0 */
/* The exception that ended a Python program, or one of its threads. */
#pragma once

#include "report/read/job/model.h"

struct exception {
	const struct image *image; /* NULL: none was recorded */
	uint64_t at_ns;		   /* CLOCK_REALTIME */
	uint32_t tid;
	char *text; /* "ValueError: message", masked as command lines are */
	char *file; /* of the innermost line of the program, NULL: not known; with the function, "": not known */
	char *function;
	uint32_t line;
	bool is_last;	 /* no frame of the program was left, or what started its thread or worker wrote it */
	bool is_of_loop; /* of asyncio, which has logged what ended a task or a callback */
	bool is_of_connection; /* raised by a pipe or a socket of multiprocessing itself */
};

/* The last one of the main thread that nothing caught, else the last one of another thread: of its last image. False:
 * there is none. The caller frees it by exception_done() in either case. */
bool exception_find(const struct model *m, const struct process *p, struct exception *ret);
/* Likewise, the last one that ended a task or a callback of an event loop and that asyncio has logged. */
bool exception_of_loop(const struct model *m, const struct process *p, struct exception *ret);
/* Appends "ValueError: message at job.py:3 parse". */
void exception_print(const struct exception *e, struct buffer *out);
void exception_done(struct exception *e);

/* Whether its class says that a worker, or what one had to send, is gone. */
bool exception_is_of_loss(const struct exception *e);

/* Whether its text has the number as that of a process: "worker (pid 4711)", "pid(s) 4710, 4711". */
bool exception_names(const struct exception *e, uint32_t pid);
