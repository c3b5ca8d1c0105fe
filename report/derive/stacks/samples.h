/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples: the CPU time that each represents, and whether there are any. */
#ifndef PILLION_SAMPLES_H
#define PILLION_SAMPLES_H

#include "report/derive/events/scan.h"

/* The CPU time that a sample represents. */
uint64_t samples_ns(const struct event *e);
bool samples_any(const struct model *m);

#endif
