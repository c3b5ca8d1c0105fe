/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/common/sys.h"

bool sys_is_silent;
