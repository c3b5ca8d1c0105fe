/* SPDX-License-Identifier: Apache-2.0 */
/* The exception for which libstdc++.so.6 calls abort(): its type, and what() if that is a function of the library
 * itself, which has no effects. */
#pragma once

#include "runtime/shared/common/hot.h"

/* At the call of abort() that returns to `caller`. errno is preserved. */
__attribute__((cold)) ALIGNS_STACK void terminated_note(const void *caller);
