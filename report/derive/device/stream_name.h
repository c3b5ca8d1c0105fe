/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a program gave its CUDA streams by NVTX. It names handles, and devices tell of numbers: a call that had the
 * one and made the other says which is which. */
#ifndef PILLION_STREAM_NAME_H
#define PILLION_STREAM_NAME_H

#include "report/derive/nvtx/nvtx_define.h"
#include "report/derive/events/scan.h"

struct stream_names {
	const struct nvtx_definitions *definitions; /* borrowed */
	struct map streams; /* (context, stream) -> position in definitions */
};

/* Goes through the image's device records if a stream of it has a name. To be freed with stream_names_done. */
void stream_names_make(struct stream_names *n, const struct report_context *c, const struct image *image, const struct nvtx_definitions *definitions);
void stream_names_done(struct stream_names *n);

/* Borrowed; NULL: it has none. */
const char *stream_name(const struct stream_names *n, const struct tf_work *operation);

/* Appends "stream 7", and its name behind it if it has one. */
void stream_label(const struct stream_names *n, const struct tf_work *operation, struct buffer *ret);

#endif
