/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads of every kind, counters, categories and names of resources. 1 and a line on stderr if NVTX gives back
 * what it should not.
 * 77: built without the headers of CUDA and of NVTX's extensions. */
#if __has_include(                                                                                                     \
    <nvtx3/nvToolsExtPayload.h>) && __has_include(<nvtx3/nvToolsExtCounters.h>) && __has_include(<cuda_runtime_api.h>)
#include <math.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { SHAPE_ID = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 7 };

struct point {
	int16_t x, y;
};

struct message {
	uint8_t kind;
	uint64_t bytes;
	float ratio;
	const char *peer;
	nvtxStringHandle_t phase;
	uint32_t flags;
	int32_t dims[3];
	struct point at;
	char tag[6];
};

static nvtxDomainHandle_t domain;
static uint64_t message_schema, list_schema, kind_enum, flag_enum;

static uint64_t enum_register(const char *name, const nvtxPayloadEnum_t *entries, size_t count, size_t size)
{
	nvtxPayloadEnumAttr_t a = {
		.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE,
		.name = name, .entries = entries, .numEntries = count, .sizeOfEnum = size};

	return nvtxPayloadEnumRegister(domain, &a);
}

static uint64_t schema_register(const char *name, uint64_t type, const nvtxPayloadSchemaEntry_t *entries, size_t count,
				size_t size, uint64_t id)
{
	nvtxPayloadSchemaAttr_t a = {
	    .fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			 NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			 NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
			 (id ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID : 0),
	    .name = name,
	    .type = type,
	    .entries = entries,
	    .numEntries = count,
	    .payloadStaticSize = size,
	    .schemaId = id};

	return nvtxPayloadSchemaRegister(domain, &a);
}

static void register_all(void)
{
	static const nvtxPayloadEnum_t kinds[] = {{"SEND", 1, 0}, {"RECEIVE", 2, 0}},
				       bits[] = {{"EAGER", 1, 1}, {"PINNED", 4, 1}};
	static const nvtxPayloadSchemaEntry_t point[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_INT16, "x"},
							 {0, NVTX_PAYLOAD_ENTRY_TYPE_INT16, "y"}};
	nvtxPayloadSchemaEntry_t message[] = {
	    {0, 0, "kind"},
	    {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes"},
	    {0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "ratio"},
	    {NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING,
	     "peer"},
	    {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "phase"},
	    {0, 0, "flags"},
	    {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "dims", NULL, 3},
	    {0, SHAPE_ID, "at"},
	    {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "tag", NULL, 6},
	};
	static const nvtxPayloadSchemaEntry_t list[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "count"},
		{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "values", NULL, 0},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT8, "last"},
	};

	kind_enum = enum_register("kind", kinds, 2, 1);
	flag_enum = enum_register("flags", bits, 2, 4);
	CHECK(kind_enum && flag_enum && kind_enum != flag_enum);
	CHECK(schema_register("point", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, point, 2, sizeof(struct point), SHAPE_ID) ==
	      SHAPE_ID);
	message[0].type = kind_enum;
	message[5].type = flag_enum;
	message_schema =
	    schema_register("message", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, message, 9, sizeof(struct message), 0);
	list_schema = schema_register("list", NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, list, 3, 0, 0);
	CHECK(message_schema && list_schema && message_schema != list_schema);
}

static void payloads(void)
{
	struct message m = {2, 1ull << 40, 0.5f,    "node \"seven\"", nvtxDomainRegisterStringA(domain, "exchange"),
			    5, {3, -4, 5}, {-1, 2}, "tagged"};
	struct {
		uint32_t count, unused;
		double values[2];
		int8_t last;
	} list = {2, 0, {1.5, -0.25}, -9};
	uint64_t raw = 0x1122;
	nvtxPayloadData_t data[] = {{message_schema, sizeof(m), &m}},
			  end = {NVTX_PAYLOAD_ENTRY_TYPE_UINT64, sizeof(raw), &raw};
	nvtxPayloadData_t several[] = {{list_schema, 25, &list}, {NVTX_TYPE_PAYLOAD_SCHEMA_RAW, 2, &raw}};
	nvtxEventAttributes_t a = {.version = NVTX_VERSION,
				   .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
				   .category = 7,
				   .colorType = NVTX_COLOR_ARGB,
				   .color = 0xff102030};
	nvtxRangeId_t id;

	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = "with a list";
	a.payloadType = NVTX_PAYLOAD_TYPE_EXT; /* NVTX_PAYLOAD_EVTATTR_SET_MULTIPLE is no C in some versions */
	a.reserved0 = 2;
	a.payload.ullValue = (uint64_t)(uintptr_t)several;
	CHECK(nvtxRangePushPayload(domain, data, 1) == 0);
	CHECK(nvtxDomainRangePushEx(domain, &a) == 1);
	CHECK(nvtxDomainRangePop(domain) == 1);
	CHECK(nvtxRangePopPayload(domain, &end, 1) == 0);
	nvtxMarkPayload(domain, data, 1);
	id = nvtxRangeStartPayload(domain, data, 1);
	CHECK(id);
	nvtxRangeEndPayload(domain, id, &end, 1);
	m.peer = (const char *)16; /* an error of the program must not crash the recorder */
	nvtxMarkPayload(domain, data, 1);
}

/* A union whose members are a handle and a number; here it is the number, and must not be followed. */
static void unions(void)
{
	static const nvtxPayloadSchemaEntry_t either[] = {
	    {0, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "text"},
	    {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "number"}};
	nvtxPayloadSchemaEntry_t message[] = {{NVTX_PAYLOAD_ENTRY_FLAG_HIDE, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "which"},
					      {0, 0, "either", NULL, 0}};
	struct {
		uint64_t which;
		int64_t number;
	} m = {1, 8};
	uint64_t schema;

	message[1].type = schema_register("either", NVTX_PAYLOAD_SCHEMA_TYPE_UNION, either, 2, 8, 0);
	schema = schema_register("with a union", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, message, 2, sizeof(m), 0);
	CHECK(message[1].type && schema);
	nvtxMarkPayload(domain, &(nvtxPayloadData_t){schema, sizeof(m), &m}, 1);
	message[1].type = enum_register("of an impossible size", &(nvtxPayloadEnum_t){"ONE", 1, 0}, 1, (size_t)1 << 32);
	CHECK(schema_register("of an impossible size", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, message, 2, 0, 0));
}

static void plain_payloads(void)
{
	static const struct {
		int32_t type;
		uint64_t bits;
	} each[] = {{NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, 0xfedcba9876543210},
		    {NVTX_PAYLOAD_TYPE_INT64, (uint64_t)-5},
		    {NVTX_PAYLOAD_TYPE_DOUBLE, 0x3ff8000000000000},
		    {NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, 0xfffffffe},
		    {NVTX_PAYLOAD_TYPE_INT32, 0xfffffff9},
		    {NVTX_PAYLOAD_TYPE_FLOAT, 0x3fa00000}};
	nvtxEventAttributes_t a = {.version = NVTX_VERSION,
				   .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
				   .messageType = NVTX_MESSAGE_TYPE_ASCII,
				   .message.ascii = "plain"};

	for (size_t i = 0; i < 6; i++) {
		a.payloadType = each[i].type;
		a.payload.ullValue = each[i].bits;
		nvtxMarkEx(&a);
	}
}

static void counters(void)
{
	nvtxSemanticsCounter_t unit = {
	    .header = {sizeof(unit), NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_COUNTER_SEMANTIC_VERSION, NULL}, .unit = "MB"};
	nvtxCounterAttr_t a = {.structSize = sizeof(a),
			       .schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64,
			       .name = "queue",
			       .semantics = &unit.header};
	nvtxCounterAttr_t g = {.structSize = sizeof(g), .schemaId = SHAPE_ID, .name = "position"};
	uint64_t queue = nvtxCounterRegister(domain, &a), position = nvtxCounterRegister(domain, &g);
	struct point p = {11, -12};

	CHECK(queue && position && queue != position);
	for (int64_t i = 0; i < 5; i++)
		nvtxCounterSampleInt64(domain, queue, i - 2);
	nvtxCounterSampleFloat64(domain, queue, 2.5);
	nvtxCounterSampleNoValue(domain, queue, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
	nvtxCounterSample(domain, position, &p, sizeof(p));
}

/* Twice: one line in the ledger of each process is enough. */
static void not_recorded(void)
{
	uint64_t number = 5;
	nvtxPayloadData_t data = {NVTX_PAYLOAD_ENTRY_TYPE_UINT64, sizeof(number), &number};

	nvtxEventSubmit(domain, &data, 1);
	nvtxEventSubmit(domain, &data, 1);
	nvtxEventBatchSubmit(domain, &(nvtxEventBatch_t){.eventSchemaId = message_schema});
	CHECK(nvtxTimeDomainRegister(domain, &(nvtxTimeDomainAttr_t){.timestampTypeId = NVTX_TIMESTAMP_TYPE_CPU_TSC}) ==
	      0);
	nvtxTimerSource(domain, 1, 0, NULL);
	nvtxTimeSyncPoint(domain, 1, 2, 3, 4);
	nvtxTimestampConversionFactor(domain, 1, 2, 1.5, 3, 4);
	nvtxCounterBatchSubmit(domain, &(nvtxCounterBatch_t){.counterId = 1});
}

static uint32_t worker_tid;
static pthread_barrier_t barrier;

static void *worker(void *range)
{
	worker_tid = (uint32_t)syscall(SYS_gettid);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	nvtxRangeEnd(*(nvtxRangeId_t *)range);
	return NULL;
}

int main(void)
{
	nvtxResourceAttributes_t resource = {
	    NVTX_VERSION,    NVTX_RESOURCE_ATTRIB_STRUCT_SIZE, NVTX_RESOURCE_TYPE_GENERIC_POINTER,
	    {.ullValue = 1}, NVTX_MESSAGE_TYPE_ASCII,          {.ascii = "the lock"}};
	nvtxResourceHandle_t handle;
	nvtxRangeId_t range;
	pthread_t thread;

	domain = nvtxDomainCreateA("extended");
	nvtxDomainNameCategoryA(domain, 7, "seven here");
	nvtxNameCategoryA(7, "seven there");
	CHECK(nvtxDomainIsEnabled(domain));
	register_all();
	payloads();
	unions();
	plain_payloads();
	counters();
	not_recorded();
	if (!fork()) {
		not_recorded();
		_exit(0);
	}
	wait(NULL);
	handle = nvtxDomainResourceCreate(domain, &resource);
	CHECK(handle);
	nvtxDomainResourceDestroy(handle);
	nvtxNameCudaDeviceA(0, "the first device");
	nvtxNameCudaStreamA((cudaStream_t)0x1234, "copies");
	pthread_barrier_init(&barrier, NULL, 2);
	range = nvtxRangeStartA("across threads");
	pthread_create(&thread, NULL, worker, &range);
	pthread_barrier_wait(&barrier);
	nvtxNameOsThreadA(worker_tid, "named by another");
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "a name of its own that is longer than the kernel's");
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	return failed;
}
#else
int main(void)
{
	return 77;
}
#endif
