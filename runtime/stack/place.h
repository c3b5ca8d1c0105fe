/* SPDX-License-Identifier: Apache-2.0 */
/* Where a signal interrupted a thread: what a walk of that stack starts with. */
#ifndef PILLION_PLACE_H
#define PILLION_PLACE_H

#include <stdint.h>

struct stack_place {
	uintptr_t pc, sp, fp, lr; /* lr: the link register of aarch64 */
};

#endif
