/* SPDX-License-Identifier: Apache-2.0 */
/* What the operators of an image are grouped by, besides their names: a text for each range. */
#pragma once

#include "report/base/interner.h"
#include "report/events/nvtx/nvtx_tree.h"
#include "report/names/attribution.h"

struct operator_groups {
	const struct report_context *context;
	struct attribution attribution;
	struct interner texts; /* of all images */
	uint32_t *numbers;     /* of the ranges of one image: numbers of texts */
};

/* Sets `numbers` for the ranges of an image. Texts that a range does not have are "(not attributed)". */
void operator_groups_of(struct operator_groups *g, const struct nvtx_tree *tree);

void operator_groups_done(struct operator_groups *g);
