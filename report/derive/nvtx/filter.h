/* SPDX-License-Identifier: Apache-2.0 */
/* What of a capture is looked at: --filter-time and --filter-nvtx. A filter is a list of spans of time on the axis that all
 * processes share; calls, marks, ranges and device records that overlap none of them are passed over, the others count
 * whole. The ledger, processes and counts of short calls are of the whole run. */
#ifndef PILLION_FILTER_H
#define PILLION_FILTER_H

#include "report/read/model.h"

/* "A/B": from A to B after the capture's start, ns or with a unit (us, ms, s); either may be left out. 0, or -EINVAL. */
int filter_time(struct model *m, const char *spec, struct err *err);

/* A time in ns from its text, with ns, us, ms or s behind it. Returns what follows, NULL: it is none. */
const char *filter_duration(const char *text, double *ret_ns);

/* "RANGE[@DOMAIN][/INDEX]": the NVTX ranges of that text, all of them or the INDEX-th by its start, from 0; @* is any domain;
 * '\' takes the meaning from an '@' or '/'. 0, -EINVAL, or -ENODATA: there is none, err names some that are there. */
int filter_nvtx(struct model *m, const char *spec, struct err *err);

#endif
