/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of an image's NVTX domains (categories, names of resources, schemas, enums, counters), and extended
 * payloads as JSON. All of it comes from the program: lengths and ids are checked, texts are copied unchanged. */
#pragma once

#include "report/events/nvtx/nvtx.h"

struct nvtx_definition {
	struct tf_nvtx head;
	char *name;	      /* NUL-terminated */
	const uint8_t *more;  /* its entries */
	size_t more_size;
	uint8_t *bytes;
};

struct nvtx_definitions {
	const struct trace *trace;
	struct nvtx_definition *items;
	size_t count, capacity;
	struct map by_id; /* (kind << 32 | domain, id) -> position */
};

/* `t` may be NULL: then there are none. The caller frees *ret with nvtx_definitions_done. */
void nvtx_definitions_make(struct nvtx_definitions *d, const struct trace *t);
void nvtx_definitions_done(struct nvtx_definitions *d);

/* NULL: not defined. Borrowed. */
const struct nvtx_definition *nvtx_definition_find(const struct nvtx_definitions *d, enum tf_nvtx_kind kind,
						   uint32_t domain, uint64_t id);

/* Entry `i` of a schema or enum, with its name (NUL-terminated, truncated) in `name`; or of a counter or a function,
 * whose entries are only names (`ret` NULL). False: there is no such entry. */
bool nvtx_definition_entry(const struct nvtx_definition *n, uint32_t i, struct tf_nvtx_entry *ret, char *name,
			   size_t size);

/* Appends the event's payloads as JSON: a single one as it is, several as an array. `payload` as in struct event. */
void nvtx_payload_json(const struct nvtx_definitions *d, const uint64_t *payload, struct buffer *ret);

/* Appends a basic payload (TF_ARG_PAYLOAD and its high part) as a number. */
void nvtx_payload_plain(const uint64_t *args, uint32_t count, struct buffer *ret);

/* Other attributes of a range or mark. Each function appends the attribute and returns true, or returns false if
 * there is none. A category by its name, a color as #aarrggbb, a payload of either kind as JSON. */
bool nvtx_category(const struct nvtx_definitions *d, uint32_t domain, const uint64_t *args, uint32_t count,
		   struct buffer *ret);
bool nvtx_color(const uint64_t *args, uint32_t count, struct buffer *ret);
bool nvtx_payload_any(const struct nvtx_definitions *d, const uint64_t *args, uint32_t count, const uint64_t *payload,
		      struct buffer *ret);
