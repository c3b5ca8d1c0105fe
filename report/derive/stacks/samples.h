/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples: the time that each stands for, and whether there are any. */
#ifndef PILLION_SAMPLES_H
#define PILLION_SAMPLES_H

#include "report/derive/events/scan.h"

/* The CPU time that a sample stands for. */
uint64_t samples_ns(const struct event *e);
bool samples_any(const struct model *m);

#endif
