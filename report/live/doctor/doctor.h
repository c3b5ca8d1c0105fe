/* SPDX-License-Identifier: Apache-2.0 */
/* What can be recorded on this machine: each check adds one row, or one for each thing of its kind. */
#pragma once

#include "report/base/util.h"

enum check_state { CHECK_OK, CHECK_LIMITED, CHECK_MISSING, CHECK_STATES };

struct check {
	const char *name;
	enum check_state state;
	struct buffer found, advice; /* advice: empty where nothing is to be changed */
};

struct doctor {
	struct check *checks;
	size_t count, capacity;
	const char *directory; /* where a capture would be written */
	bool is_recording;     /* the trial recording has all that it should have */
	struct buffer cupti;   /* paths of libcupti that Pythons have, one in each line */
};

extern const char *const check_state_names[CHECK_STATES];

/* Adds a row; the state of a row only grows worse. */
struct check *check_add(struct doctor *d, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void check_worse(struct check *c, enum check_state state, const char *advice);

/* ---- the checks, in the order of their rows ---- */

void doctor_trial(struct doctor *d);  /* a recording of `true`: recorder, launcher, scheduler, file system */
void doctor_system(struct doctor *d); /* kernel, glibc, what it permits, limits, container */
void doctor_python(struct doctor *d);
void doctor_cuda(struct doctor *d);   /* driver, CUPTI, NVML; after doctor_python */
/* Who may read the counters of a GPU, by the driver's file of its parameters; no row without it. */
void doctor_counters(struct doctor *d, const char *params);

/* ---- shared by them ---- */

/* Calls act(context) in a child process, whose standard output becomes `ret`; what it prints on standard error, too, if
 * takes_errors. A child that does not end in time is killed. Returns its exit status, or -1. */
int doctor_child(void (*act)(void *context), void *context, bool takes_errors, struct buffer *ret);

/* Likewise executes a program; words[0] is its path. */
int doctor_execute(char *const *words, bool takes_errors, struct buffer *ret);
