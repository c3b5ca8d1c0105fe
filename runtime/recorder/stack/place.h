/* SPDX-License-Identifier: Apache-2.0 */
/* The registers at which a signal interrupted a thread: the start of a walk of its stack. */
#pragma once

#include <stdint.h>

struct stack_place {
	uintptr_t pc, sp, fp, lr; /* lr: the link register of aarch64 */
};
