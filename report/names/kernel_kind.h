/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel of the GPU does, by its name. */
#pragma once

#include <stdbool.h>

#include "report/read/number_type.h"

/* The type that the name has, of what it multiplies: names of products have it first. */
enum number_type kernel_type(const char *kernel);
unsigned number_size(enum number_type type); /* in bytes */

/* By its family and types. */
bool kernel_uses_tensor_cores(const char *kernel);
/* Which gradient of a convolution it computes: 1 or 2; 0: its name does not tell. */
unsigned kernel_gradient(const char *kernel);
bool kernel_is_product(const char *kernel);
bool kernel_is_of_nccl(const char *kernel);
/* A product, a convolution, attention as a whole, or one of NCCL: no other kernel does its work beside its own. */
bool kernel_is_tuned(const char *kernel);
