/* SPDX-License-Identifier: Apache-2.0 */
/* The part of NVTX's binary interface that we use, for versions 2 and 3. The build does not need NVIDIA's headers;
 * where they are installed, a unit test compares them with this. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { NVTX_EXPORT_CALLBACKS = 1 };
enum nvtx_module { NVTX_CORE = 1, NVTX_CUDA = 2, NVTX_CUDART = 4, NVTX_CORE2 = 5, NVTX_MODULES };
enum { NVTX_ARGB = 1 };
enum nvtx_message { NVTX_ASCII = 1, NVTX_UNICODE = 2, NVTX_REGISTERED = 3 };

/* Slots in the table of module CORE. */
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

/* Those of CORE2. */
enum nvtx_domain_slot {
	NVTX_DOMAIN_MARK_EX = 1,
	NVTX_DOMAIN_START_EX,
	NVTX_DOMAIN_END,
	NVTX_DOMAIN_PUSH_EX,
	NVTX_DOMAIN_POP,
	NVTX_DOMAIN_RESOURCE_CREATE,
	NVTX_DOMAIN_RESOURCE_DESTROY,
	NVTX_DOMAIN_NAME_CATEGORY_A,
	NVTX_DOMAIN_NAME_CATEGORY_W,
	NVTX_DOMAIN_REGISTER_A,
	NVTX_DOMAIN_REGISTER_W,
	NVTX_DOMAIN_CREATE_A,
	NVTX_DOMAIN_CREATE_W,
	NVTX_DOMAIN_DESTROY,
	NVTX_DOMAIN_INITIALIZE,
};

/* Those of CUDA, for the driver's handles, and of CUDART, for the runtime's, which are the same handles. */
enum nvtx_cuda_slot {
	NVTX_NAME_CU_DEVICE_A = 1,
	NVTX_NAME_CU_DEVICE_W,
	NVTX_NAME_CU_CONTEXT_A,
	NVTX_NAME_CU_CONTEXT_W,
	NVTX_NAME_CU_STREAM_A,
	NVTX_NAME_CU_STREAM_W,
	NVTX_NAME_CU_EVENT_A,
	NVTX_NAME_CU_EVENT_W,
};
enum nvtx_cudart_slot {
	NVTX_NAME_CUDA_DEVICE_A = 1,
	NVTX_NAME_CUDA_DEVICE_W,
	NVTX_NAME_CUDA_STREAM_A,
	NVTX_NAME_CUDA_STREAM_W,
	NVTX_NAME_CUDA_EVENT_A,
	NVTX_NAME_CUDA_EVENT_W,
};

struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved; /* reserved: the count of extended payloads */
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

struct nvtx_callbacks {
	size_t size;
	int (*module_table)(int module, void (****ret_table)(void), unsigned *ret_size);
};

struct nvtx_resource {
	uint16_t version, size;
	int32_t type;
	uint64_t identifier;
	int32_t message_type;
	const void *message;
};

/* ---- extensions: payloads and counters, NVTX 3.1 and newer ---- */

/* In payload_type: `payload` is the address of a struct nvtx_payload[reserved]. */
#define NVTX_PAYLOAD_EXTENDED ((int32_t)0xDFBD0009)
#define NVTX_UNKNOWN_SIZE SIZE_MAX

struct nvtx_payload {
	uint64_t schema;
	size_t size;
	const void *bytes;
};

struct nvtx_schema_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset;
	const void *semantics, *reserved;
};

enum {
	NVTX_FIELD_NAME = 1 << 1,
	NVTX_FIELD_TYPE = 1 << 2,
	NVTX_FIELD_FLAGS = 1 << 3,
	NVTX_FIELD_ENTRIES = 1 << 4,
	NVTX_FIELD_COUNT = 1 << 5,
	NVTX_FIELD_SIZE = 1 << 6,
	NVTX_FIELD_ALIGNMENT = 1 << 7,
	NVTX_FIELD_ID = 1 << 8,
	NVTX_ENUM_FIELD_NAME = 1 << 1,
	NVTX_ENUM_FIELD_ENTRIES = 1 << 2,
	NVTX_ENUM_FIELD_COUNT = 1 << 3,
	NVTX_ENUM_FIELD_SIZE = 1 << 4,
	NVTX_ENUM_FIELD_ID = 1 << 5,
};

struct nvtx_schema {
	uint64_t fields; /* those that are set */
	const char *name;
	uint64_t type, flags;
	const struct nvtx_schema_entry *entries;
	size_t count, size, alignment;
	uint64_t id;
	void *extension;
};

struct nvtx_enum_entry {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};

struct nvtx_enum {
	uint64_t fields;
	const char *name;
	const struct nvtx_enum_entry *entries;
	size_t count, size;
	uint64_t id;
	void *extension;
};

struct nvtx_scope {
	size_t size;
	const char *path;
	uint64_t parent, id;
};

struct nvtx_counter {
	size_t size;
	uint64_t schema;
	const char *name, *description;
	uint64_t scope;
	const struct nvtx_semantics *semantics;
	uint64_t id;
};

struct nvtx_semantics {
	uint32_t size;
	uint16_t id, version;
	const struct nvtx_semantics *next;
};

enum { NVTX_SEMANTICS_COUNTER = 5 };
struct nvtx_counter_semantics {
	struct nvtx_semantics head;
	uint64_t flags;
	const char *unit;
};

struct nvtx_counter_batch {
	uint64_t counter;
	const void *values;
	size_t size;
	uint64_t flags;
	const int64_t *times;
	size_t times_size;
};

enum nvtx_extension { NVTX_EXTENSION_PAYLOAD = 2, NVTX_EXTENSION_COUNTER = 4 };
enum nvtx_payload_slot {
	NVTX_SCHEMA_REGISTER,
	NVTX_ENUM_REGISTER,
	NVTX_PAYLOAD_MARK,
	NVTX_PAYLOAD_PUSH,
	NVTX_PAYLOAD_POP,
	NVTX_PAYLOAD_START,
	NVTX_PAYLOAD_END,
	NVTX_DOMAIN_IS_ENABLED,
	NVTX_TIMESTAMP_GET,
	NVTX_TIME_DOMAIN_REGISTER,
	NVTX_TIMER_SOURCE,
	NVTX_TIMER_SOURCE_DATA,
	NVTX_SCOPE_REGISTER,
	NVTX_TIME_SYNC_POINT,
	NVTX_TIME_SYNC_TABLE,
	NVTX_TIME_CONVERSION,
	NVTX_EVENT_SUBMIT,
	NVTX_EVENT_BATCH_SUBMIT,
};
enum nvtx_counter_slot {
	NVTX_COUNTER_REGISTER,
	NVTX_COUNTER_INT64,
	NVTX_COUNTER_FLOAT64,
	NVTX_COUNTER_VALUES,
	NVTX_COUNTER_NO_VALUE,
	NVTX_COUNTER_BATCH,
};

struct nvtx_segment {
	size_t id, count;
	intptr_t *slots;
};

struct nvtx_extension_module {
	uint16_t version, size, module, compatible;
	size_t segment_count;
	struct nvtx_segment *segments;
	intptr_t (*export_function)(uint32_t id);
	const void *info;
};

/* Called once by an extension in a program, with its table. */
int InitializeInjectionNvtxExtension(struct nvtx_extension_module *module);

/* Called once by a copy of NVTX in a program, with the function that returns its tables. 1: we are its tool. */
int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id));
