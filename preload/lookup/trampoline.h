/* SPDX-License-Identifier: Apache-2.0 */
/* Trampolines: code of 16 bytes each that calls the wrapper of one slot and passes it the slot's real function. */
#ifndef PILLION_TRAMPOLINE_H
#define PILLION_TRAMPOLINE_H

#define TRAMPOLINES 4096

#ifndef __ASSEMBLER__
/* Written before anybody has the slot's trampoline, and never again. */
struct trampoline_slot {
	void *real, *wrapper;
};
extern struct trampoline_slot trampoline_slots[TRAMPOLINES] __attribute__((visibility("hidden")));
extern const char trampoline_code[TRAMPOLINES][16] __attribute__((visibility("hidden")));
#endif

#endif
