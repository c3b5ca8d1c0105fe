/* SPDX-License-Identifier: Apache-2.0 */
/* The place of the image in the range file of its run, see struct tf_images. It has the chunk of the first thread until
 * the image needs a trace file. A place is in memory that is mapped shared, so its contents survive the process however
 * it ends. A forked child inherits the mapping and takes its place by one atomic add, without a system call. Under a
 * guard (signals blocked). */
#pragma once

#include <stdbool.h>

#include "runtime/shared/format/trace_format.h"

/* Takes a place for the image that begins and describes the image there: process.image, NULL if there is none. Before
 * the image's first thread is attached. */
void image_begin(bool is_fork);

/* Makes the image known to readers, once its first thread has a page. */
void image_publish(void);

/* Before a fork. image_expects_block: will the child's place be in a block that is not mapped yet? image_map_block maps
 * this block. */
bool image_expects_block(void);
void image_map_block(void);

/* Records how the image ended, from process.end. */
void image_end(void);

static inline struct tf_thread *image_page(const struct tf_image *image)
{
	return (struct tf_thread *)(image + 1);
}
