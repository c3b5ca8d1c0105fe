/* SPDX-License-Identifier: Apache-2.0 */
/* The line of the summary about JAX: what was compiled for longest, against its runs. */
#ifndef PILLION_SUMMARY_JAX_H
#define PILLION_SUMMARY_JAX_H

#include "report/events/scan.h"

/* Appends nothing if nothing was compiled. */
void summary_jax(const struct report_context *context, struct buffer *out);

#endif
