/* SPDX-License-Identifier: Apache-2.0 */
/* The line of the summary about JAX: what was compiled for longest, against its runs. */
#pragma once

#include "report/events/scan.h"

/* Appends nothing if nothing was compiled. */
void summary_jax(const struct report_context *context, struct buffer *out);
