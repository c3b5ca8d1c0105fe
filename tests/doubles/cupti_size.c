/* SPDX-License-Identifier: Apache-2.0 */
/* The CUPTI double: the sizes of activity records in each imitated release. */
#include "simcupti.h"

/* Sizes in 11.8, 12.0, 12.4, 12.8, 13.0, 13.3, 13.5. That of 13.0 is checked against the headers. */
#define RECORDS(X) \
	X(KERNEL, CUpti_ActivityKernel10, 200, 208, 208, 208, 216, 232, 248) \
	X(CONCURRENT_KERNEL, CUpti_ActivityKernel10, 200, 208, 208, 208, 216, 232, 248) \
	X(MEMCPY, CUpti_ActivityMemcpy6, 88, 88, 88, 96, 96, 96, 112) \
	X(MEMCPY2, CUpti_ActivityMemcpyPtoP4, 96, 96, 96, 96, 96, 96, 96) \
	X(MEMSET, CUpti_ActivityMemset4, 88, 88, 88, 88, 88, 88, 104) \
	X(MEMORY2, CUpti_ActivityMemory4, 120, 120, 120, 128, 128, 128, 128) \
	X(SYNCHRONIZATION, CUpti_ActivitySynchronization2, 40, 40, 40, 56, 56, 56, 56) \
	X(UNIFIED_MEMORY_COUNTER, CUpti_ActivityUnifiedMemoryCounter3, 64, 64, 64, 64, 104, 104, 104) \
	X(RUNTIME, CUpti_ActivityAPI, 40, 40, 40, 40, 40, 40, 40) \
	X(DRIVER, CUpti_ActivityAPI, 40, 40, 40, 40, 40, 40, 40) \
	X(EXTERNAL_CORRELATION, CUpti_ActivityExternalCorrelation, 24, 24, 24, 24, 24, 24, 24) \
	X(OVERHEAD, CUpti_ActivityOverhead3, 40, 40, 56, 56, 56, 56, 56) \
	X(CONTEXT, CUpti_ActivityContext3, 16, 16, 24, 32, 32, 40, 40) \
	X(DEVICE, CUpti_ActivityDevice5, 176, 176, 184, 184, 184, 192, 192) \
	X(STREAM, CUpti_ActivityStream, 24, 24, 24, 24, 24, 24, 24) \
	X(GRAPH_TRACE, CUpti_ActivityGraphTrace2, 48, 48, 48, 56, 56, 56, 56) \
	X(MEM_DECOMPRESS, CUpti_ActivityMemDecompress, 0, 0, 0, 64, 64, 64, 64)

#define RECORD_CHECK(kind, type, a, b, c, d, known, ...) \
	_Static_assert(sizeof(type) == (known), #type " is not the record that is documented here");
RECORDS(RECORD_CHECK)

size_t simcupti_record_size(CUpti_ActivityKind kind)
{
	static const uint16_t sizes[CUPTI_ACTIVITY_KIND_COUNT][LAYOUT_COUNT] = {
#define RECORD_SIZES(kind, type, ...) [CUPTI_ACTIVITY_KIND_##kind] = { __VA_ARGS__ },
		RECORDS(RECORD_SIZES)
	};

	return (unsigned)kind < CUPTI_ACTIVITY_KIND_COUNT ? sizes[kind][simcupti.layout] : 0;
}

size_t simcupti_record_known(CUpti_ActivityKind kind)
{
	static const uint16_t sizes[CUPTI_ACTIVITY_KIND_COUNT] = {
#define RECORD_KNOWN(kind, type, ...) [CUPTI_ACTIVITY_KIND_##kind] = sizeof(type),
		RECORDS(RECORD_KNOWN)
	};

	return (unsigned)kind < CUPTI_ACTIVITY_KIND_COUNT ? sizes[kind] : 0;
}
