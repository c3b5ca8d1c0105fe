/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's communicators: the bodies of its OWN rows. */
#pragma once

#include "preload/library/library.h"

extern const struct library_body library_nccl_init HIDDEN;
extern const struct library_body library_nccl_init_scalable HIDDEN;
extern const struct library_body library_nccl_init_all HIDDEN;
extern const struct library_body library_nccl_split HIDDEN;
extern const struct library_body library_nccl_shrink HIDDEN;
extern const struct library_body library_nccl_grow HIDDEN;
