/* SPDX-License-Identifier: Apache-2.0 */
/* A part of trace_format.h: registered objects of NVTX domains, payloads, and what XLA's ranges refer to. */
#pragma once

#include <stdint.h>

/* The data of a TF_BLOB_NVTX: a struct tf_nvtx, its name, then `count` entries, by kind:
 *   schema    each a struct tf_nvtx_entry and a name
 *   enum      likewise; type = the value, flags = 1: a bit that may be combined with others
 *   counter   names only: unit, description
 *   function  names only: qualified name, file
 * A name is a uint16_t, its length, and that many bytes. Nothing is aligned. */
enum tf_nvtx_kind {
	TF_NVTX_CATEGORY = 1, /* id = its number */
	TF_NVTX_RESOURCE = 2, /* id = its handle, type as nvtxResourceAttributes_t has it */
	TF_NVTX_SCHEMA = 3,   /* id = the id that payloads refer to; type, flags as in nvtxPayloadSchemaAttr_t */
	TF_NVTX_ENUM = 4,     /* as TF_NVTX_SCHEMA; size = bytes of a value */
	TF_NVTX_SCOPE = 5,    /* type = its parent */
	TF_NVTX_COUNTER = 6,  /* type = the schema of its values, flags = its scope */
	/* each push of its name is a call of one Python function; id = the first line of the function */
	TF_NVTX_FUNCTION = 7,
};

enum tf_nvtx_resource { TF_NVTX_OS_THREAD = 0x10003 };
enum tf_nvtx_cuda { TF_NVTX_CUDA_DEVICE = 0x40001, TF_NVTX_CUDA_CONTEXT, TF_NVTX_CUDA_STREAM, TF_NVTX_CUDA_EVENT };
enum tf_nvtx_cudart { TF_NVTX_CUDART_DEVICE = 0x50000, TF_NVTX_CUDART_STREAM, TF_NVTX_CUDART_EVENT };

struct tf_nvtx {
	uint32_t kind, domain;
	uint64_t id, type, flags;
	uint64_t size; /* of a payload in bytes; 0: variable */
	uint32_t count, reserved;
};

/* As nvtxPayloadSchemaEntry_t, except that the offset is resolved: in bytes, or TF_NVTX_FOLLOWS for the aligned end of
 * the previous entry. */
struct tf_nvtx_entry { uint64_t flags, type, detail, offset; };
#define TF_NVTX_FOLLOWS UINT64_MAX

/* The data of a TF_BLOB_PAYLOAD: `count` payloads. Each is a struct tf_payload, its bytes as the program passed
 * them, and `texts` texts: the strings that addresses and handles in these bytes refer to, each a uint32_t, the
 * offset of the reference, and a name. */
struct tf_payloads { uint32_t domain, count; };
struct tf_payload { uint64_t schema; uint32_t size, texts; };

/* The data of a TF_BLOB_XLA_MODULE: lines of the text (HLO) of a module that XLA compiled, each with its newline:
 *   "HloModule name"
 *   "%name {", "ENTRY %name {"                          a computation; its instructions follow
 *   "  ROOT %name, calls=%computation, metadata={...}"  an instruction; "ROOT " and what follows the name may be absent
 *   further ones, as the tables of source lines, unchanged
 * The blobs with one id are the parts of one module, in this order. */
