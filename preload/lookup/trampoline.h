/* SPDX-License-Identifier: Apache-2.0 */
/* Trampolines: 16 bytes of code each, which call the wrapper of one slot and pass it the slot's real function. */
#pragma once

#define TRAMPOLINES 2048

#ifndef __ASSEMBLER__
/* Written before the slot's trampoline is published, and never again. */
struct trampoline_slot {
	void *real, *wrapper;
};
extern struct trampoline_slot trampoline_slots[TRAMPOLINES] __attribute__((visibility("hidden")));
extern const char trampoline_code[TRAMPOLINES][16] __attribute__((visibility("hidden")));
#endif
