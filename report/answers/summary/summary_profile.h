/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a capture of --mode=profile: what there is instead of events. */
#pragma once

#include "report/events/scan.h"

void summary_profile(const struct report_context *c, struct buffer *ret);
