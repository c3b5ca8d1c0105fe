/* SPDX-License-Identifier: Apache-2.0 */
/* Names that a program gave to its CUDA streams by NVTX. NVTX names handles, device records have numbers: a call
 * that recorded the handle and caused a device record connects the two. */
#pragma once

#include "report/events/nvtx/nvtx_define.h"
#include "report/events/scan.h"

struct stream_names {
	const struct nvtx_definitions *definitions; /* borrowed */
	struct map streams; /* (context, stream) -> position in definitions */
};

/* Reads the image's device records if one of its streams has a name. The caller frees *ret with stream_names_done. */
void stream_names_make(struct stream_names *n, const struct report_context *c, const struct image *image,
		       const struct nvtx_definitions *definitions);
void stream_names_done(struct stream_names *n);

/* Borrowed; NULL: the stream has no name. */
const char *stream_name(const struct stream_names *n, const struct tf_device_operation *operation);

/* Appends "stream 7", followed by its name if it has one. */
void stream_label(const struct stream_names *n, const struct tf_device_operation *operation, struct buffer *ret);
