/* SPDX-License-Identifier: Apache-2.0 */
/* The part of NVTX's binary interface that we meet, for versions 2 and 3. NVIDIA's headers are not needed to build; where
 * they are there, a unit test compares. */
#ifndef PILLION_NVTX_H
#define PILLION_NVTX_H

#include <stddef.h>
#include <stdint.h>

enum { NVTX_EXPORT_CALLBACKS = 1 };
enum nvtx_module { NVTX_CORE = 1, NVTX_CORE2 = 5 };
enum { NVTX_ARGB = 1 };
enum nvtx_message { NVTX_ASCII = 1, NVTX_UNICODE = 2, NVTX_REGISTERED = 3 };

/* Places in the table of module CORE. */
enum nvtx_core_slot {
	NVTX_MARK_EX = 1,
	NVTX_MARK_A,
	NVTX_MARK_W,
	NVTX_START_EX,
	NVTX_START_A,
	NVTX_START_W,
	NVTX_END,
	NVTX_PUSH_EX,
	NVTX_PUSH_A,
	NVTX_PUSH_W,
	NVTX_POP,
	NVTX_NAME_CATEGORY_A,
	NVTX_NAME_CATEGORY_W,
	NVTX_NAME_THREAD_A,
	NVTX_NAME_THREAD_W,
};

/* Those of CORE2; resources are not recorded. */
enum nvtx_domain_slot {
	NVTX_DOMAIN_MARK_EX = 1,
	NVTX_DOMAIN_START_EX,
	NVTX_DOMAIN_END,
	NVTX_DOMAIN_PUSH_EX,
	NVTX_DOMAIN_POP,
	NVTX_DOMAIN_NAME_CATEGORY_A = 8,
	NVTX_DOMAIN_NAME_CATEGORY_W,
	NVTX_DOMAIN_REGISTER_A,
	NVTX_DOMAIN_REGISTER_W,
	NVTX_DOMAIN_CREATE_A,
	NVTX_DOMAIN_CREATE_W,
	NVTX_DOMAIN_DESTROY,
	NVTX_DOMAIN_INITIALIZE,
};

struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

struct nvtx_callbacks {
	size_t size;
	int (*module_table)(int module, void (****ret_table)(void), unsigned *ret_size);
};

/* What a copy of NVTX in a program calls once, with its way to its tables. 1: we are its tool. */
int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id));

#endif
