/* SPDX-License-Identifier: Apache-2.0 */
/* How calls of an API group are shown in timelines. */
#pragma once

#include "runtime/shared/format/trace_format.h"

struct group_style {
	const char *category, *title; /* in the files of timelines, and for people */
	int hue, saturation;	      /* in degrees and %, as in CSS */
};

extern const struct group_style group_styles[TF_GROUP_COUNT];
