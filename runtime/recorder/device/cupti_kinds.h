/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of records that are enabled, depending on the options and on CUPTI's version. */
#pragma once

#include <stdbool.h>

/* Requests device times by the hardware event system, before the first context: within cuInit (is_early). It cannot be
 * switched off. A note says what is used. */
void cupti_kinds_request_hardware(bool is_early);

/* Returns the result of CUPTI for kernels. */
int cupti_kinds_enable(void);
/* Managed memory's, which CUPTI does not take within cuInit. */
void cupti_kinds_enable_managed(void);
void cupti_kinds_disable(void);
