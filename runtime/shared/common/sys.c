/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/common/sys.h"

uint32_t sys_is_silent;
struct sys_moved sys_moved;
