/* SPDX-License-Identifier: Apache-2.0 */
/* A part of trace_format.h: what NVTX domains have. */
#ifndef PILLION_TRACE_NVTX_H
#define PILLION_TRACE_NVTX_H

#include <stdint.h>

/* A struct tf_nvtx, its name, then `count` entries: of a schema struct tf_nvtx_entry and a name each, of an enum likewise
 * (type = its value, flags = 1: a bit of several), of a counter names alone: unit, description; of a function likewise: its qualified
 * name, its file. A name is a uint16_t, its length, and its bytes. Nothing is aligned. */
enum tf_nvtx_kind {
	TF_NVTX_CATEGORY = 1, /* id = its number */
	TF_NVTX_RESOURCE = 2, /* id = its handle, type as nvtxResourceAttributes_t has it */
	TF_NVTX_SCHEMA = 3,   /* id = what payloads call it; type, flags as nvtxPayloadSchemaAttr_t has them */
	TF_NVTX_ENUM = 4,     /* likewise; size = of a value */
	TF_NVTX_SCOPE = 5,    /* type = its parent */
	TF_NVTX_COUNTER = 6,  /* type = the schema of its values, flags = its scope */
	TF_NVTX_FUNCTION = 7, /* each push of its name is a call of one Python function; id = the function's first line */
};

enum tf_nvtx_resource { TF_NVTX_OS_THREAD = 0x10003 };
enum tf_nvtx_cuda { TF_NVTX_CUDA_DEVICE = 0x40001, TF_NVTX_CUDA_CONTEXT, TF_NVTX_CUDA_STREAM, TF_NVTX_CUDA_EVENT };
enum tf_nvtx_cudart { TF_NVTX_CUDART_DEVICE = 0x50000, TF_NVTX_CUDART_STREAM, TF_NVTX_CUDART_EVENT };

struct tf_nvtx {
	uint32_t kind, domain;
	uint64_t id, type, flags;
	uint64_t size; /* of a payload in bytes; 0: it varies */
	uint32_t count, reserved;
};

/* As nvtxPayloadSchemaEntry_t has them, but that the offset is worked out: bytes, or where the entry before ends, aligned. */
struct tf_nvtx_entry { uint64_t flags, type, detail, offset; };
#define TF_NVTX_FOLLOWS UINT64_MAX

/* `count` payloads, each a struct tf_payload, its bytes as the program gave them, and `texts` texts: what stood behind the addresses
 * and handles among the bytes, each a uint32_t, its offset there, and a name. */
struct tf_payloads { uint32_t domain, count; };
struct tf_payload { uint64_t schema; uint32_t size, texts; };

#endif
