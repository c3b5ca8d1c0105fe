/* SPDX-License-Identifier: Apache-2.0 */
/* TF_TENSOR: a block of PyTorch's allocators, with --memory=torch. Its id is the type of the device as c10::DeviceType
 * numbers it. An address of 0 tells that blocks are being recorded. docs/decisions/host-memory.md
 *
 *   the last 24 bits   0..7 number of the device   8 TF_TENSOR_FREED   9..23 bits 0..14 of the size
 *   TF_ARG_VALUE       small: bits 15..20 of the size   value: the address
 *   TF_ARG_BYTES       the size, if it does not fit above; before 1.15 any size. A free of the CPU's has none */
#pragma once

#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

enum { TF_TENSOR_FREED = 1 << 8, TF_TENSOR_DEVICE = 0xff, TF_TENSOR_CPU = 0 };
enum { TF_TENSOR_LOW_BITS = 15, TF_TENSOR_LOW = (1 << TF_TENSOR_LOW_BITS) - 1, TF_TENSOR_LOW_AT = 9 };
#define TF_TENSOR_SHORT (1ull << (TF_TENSOR_LOW_BITS + 6)) /* sizes below this need no TF_ARG_BYTES */

static inline uint64_t tf_tensor_low(uint64_t short_size)
{
	return (short_size & TF_TENSOR_LOW) << TF_TENSOR_LOW_AT;
}

static inline uint64_t tf_tensor_address(uint64_t address, uint64_t short_size)
{
	return tf_arg(TF_ARG_VALUE, (unsigned)(short_size >> TF_TENSOR_LOW_BITS), address);
}

static inline uint64_t tf_tensor_short_size(uint32_t last24, uint64_t address_slot)
{
	return last24 >> TF_TENSOR_LOW_AT | (uint64_t)tf_arg_small(address_slot) << TF_TENSOR_LOW_BITS;
}
