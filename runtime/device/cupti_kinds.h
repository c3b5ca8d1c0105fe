/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of records that are switched on, by the options and by CUPTI's version. */
#ifndef PILLION_CUPTI_KINDS_H
#define PILLION_CUPTI_KINDS_H

/* Returns what CUPTI returned for kernels. */
int cupti_kinds_enable(void);
void cupti_kinds_disable(void);

#endif
