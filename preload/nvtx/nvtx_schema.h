/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas of NVTX payloads: what the program registers, and at which offsets a payload contains addresses of texts. */
#pragma once

#include "preload/nvtx/nvtx_tool.h"

enum {
	NVTX_PAYLOAD_BYTES = 8192, /* of one event */
	NVTX_SCHEMA_POINTERS = 64, /* of one schema */
};

/* Entry types, as in NVTX's headers. */
enum {
	NVTX_TYPE_TEXT = 75,
	NVTX_TYPE_UTF8,
	NVTX_TYPE_UTF16,
	NVTX_TYPE_UTF32,
	NVTX_TYPE_REGISTERED = 80,
	NVTX_TYPE_TEXT_IN_PLACE = NVTX_TYPE_TEXT - 1, /* ours: the text itself, not its address */
};

struct nvtx_schema_pointer {
	uint32_t offset;
	uint8_t type; /* NVTX_TYPE_* of what it points at */
	bool is_message;
};

/* The part of a schema that is kept. */
struct nvtx_schema_info {
	uint32_t size, alignment; /* size 0: it varies */
	uint32_t pointer_count;
	struct nvtx_schema_pointer pointers[];
};

/* NULL: not registered, or of a type that has no schema. */
const struct nvtx_schema_info *nvtx_schema_find(struct nvtx_domain *d, uint64_t id);

/* Bytes of one value of a predefined type; 0: not known. */
size_t nvtx_schema_type_size(uint64_t type);

/* The calls of the program. They return the id, 0: it cannot be kept. */
uint64_t nvtx_schema_register(struct nvtx_domain *d, const struct nvtx_schema *a);
uint64_t nvtx_schema_register_enum(struct nvtx_domain *d, const struct nvtx_enum *a);
uint64_t nvtx_schema_register_scope(struct nvtx_domain *d, const struct nvtx_scope *a);
