/* SPDX-License-Identifier: Apache-2.0 */
/* The CUPTI double, libcupti.so.12 and .so.13: settings, enabled kinds, clocks, ids.
 * PILLION_SIMCUPTI is a list of misbehaviours, see the README. As with the real one, correlation ids are visible only
 * in API records, callbacks and external correlation. */
#include "simcupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct simcupti simcupti;
__thread unsigned simcupti_current;

static const struct { const char *name; uint32_t version; } layouts[LAYOUT_COUNT] = {
	[LAYOUT_11_8] = { "11.8", 18 }, [LAYOUT_12_0] = { "12.0", 19 }, [LAYOUT_12_4] = { "12.4", 22 },
	[LAYOUT_12_8] = { "12.8", 26 }, [LAYOUT_13_0] = { "13.0", 130001 }, [LAYOUT_13_3] = { "13.3", 130301 },
	[LAYOUT_13_5] = { "13.5", 130500 },
};

static bool is_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)) != NULL; at += length) {
		if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ',' || word[length - 1] == '='))
			return true;
	}
	return false;
}

/* Enables every known restriction of the real one; with `lenient` in the list, only those that it names. */
static void strictness_read(const char *list)
{
	bool is_strict = !is_word(list, "lenient");

	simcupti.keeps_partial = is_strict || is_word(list, "full");
	simcupti.hands_over_unfinished = is_strict || is_word(list, "unfinished");
	simcupti.needs_buffers = is_strict || is_word(list, "needy");
	simcupti.has_thread_buffers = is_strict || is_word(list, "perthread");
	simcupti.checks_scope = is_strict || is_word(list, "scope");
	simcupti.separates_v2 = is_strict || is_word(list, "v2");
	simcupti.detaches_slowly = is_strict || is_word(list, "detach");
}

__attribute__((constructor)) static void settings_read(void)
{
	const char *list = getenv("PILLION_SIMCUPTI");
	const char *at;

	simcupti.layout = CUDART_MAJOR >= 13 ? LAYOUT_13_0 : LAYOUT_12_8;
	simcupti.version = layouts[simcupti.layout].version;
	simcupti.seed = 1;
	strictness_read(list ? list : "");
	if (!list)
		return;
	simcupti.tells_nested = is_word(list, "nested");
	simcupti.drops = is_word(list, "dropped");
	simcupti.is_late = is_word(list, "late");
	simcupti.reorders = is_word(list, "reorder");
	simcupti.has_thread = is_word(list, "thread");
	simcupti.refuses_subscribers = is_word(list, "error39");
	simcupti.is_not_initialized = is_word(list, "notinit");
	simcupti.has_old_clock = is_word(list, "oldclock");
	simcupti.is_odd = is_word(list, "odd");
	simcupti.is_broken = is_word(list, "broken");
	simcupti.is_blackwell = is_word(list, "blackwell");
	simcupti.has_old_driver = is_word(list, "olddriver");
	simcupti.waits_for_cpu = is_word(list, "busy");
	simcupti.traces_once = is_word(list, "once");
	simcupti.is_mute = is_word(list, "mute");
	simcupti.is_silent = simcupti.is_mute || is_word(list, "silent");
	at = strstr(list, "slow=");
	simcupti.slow_ms = at ? (unsigned)strtoul(at + 5, NULL, 10) : 0;
	at = strstr(list, "layout=");
	for (int i = 0; at && i < LAYOUT_COUNT; i++) {
		if (strncmp(at + 7, layouts[i].name, strlen(layouts[i].name)) == 0)
			simcupti.layout = (enum cupti_layout)i;
	}
	at = strstr(list, "version=");
	simcupti.version = at ? (uint32_t)strtoul(at + 8, NULL, 10) : layouts[simcupti.layout].version;
	at = strstr(list, "seed=");
	if (at)
		simcupti.seed = strtoull(at + 5, NULL, 10) + 1;
}

uint32_t simcupti_random(uint32_t below)
{
	simcupti.seed = simcupti.seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(simcupti.seed >> 33) % below;
}

/* ---- clocks ---- */

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The offset is measured once, so that the order and distance of records stay the same. The real CUPTI reads the clock
 * for each record; this takes the closest of many readings, because an interrupted one would shift all records. */
static void clock_take(struct simcupti_client *client)
{
	uint64_t closest = UINT64_MAX;

	for (int i = 0; i < 100; i++) {
		uint64_t before = simcupti.interface->now_ns();
		uint64_t outside = client->timestamp ? client->timestamp() : wall_ns();
		uint64_t after = simcupti.interface->now_ns();

		if (after - before >= closest)
			continue;
		closest = after - before;
		client->clock_offset_ns = (int64_t)(outside - (before + (after - before) / 2));
	}
}

uint64_t simcupti_time(uint64_t ns)
{
	return ns ? ns + (uint64_t)simcupti_client()->clock_offset_ns : 0;	/* 0: not known */
}

/* Initialises on the first call, as the real one does. */
void simcupti_take_time(void)
{
	struct timespec pause = {.tv_sec = simcupti.slow_ms / 1000, .tv_nsec = simcupti.slow_ms % 1000 * 1000000l};

	if (simcupti.slow_ms)
		nanosleep(&pause, NULL);
}

/* After cuptiFinalize. */
#define DETACH_NS 200000000u
static uint64_t detached_ns;

void simcupti_touch(void)
{
	if (simcupti.detaches_slowly && detached_ns && sim_now_ns() < detached_ns)
		raise(SIGSEGV);
}

CUptiResult simcupti_ready(void)
{
	static const CUuuid id = SIM_EXPORT_ID;
	__typeof__(cuGetExportTable) *export_table;
	const void *table = NULL;
	void *driver;

	simcupti_touch();
	if (simcupti.is_not_initialized)
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (simcupti.interface)		/* a forked child gets nothing from its parent's device */
		return simcupti.interface->is_forked() ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_SUCCESS;
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver)
		return CUPTI_ERROR_UNKNOWN;
	*(void **)&export_table = dlsym(driver, "cuGetExportTable");
	if (!export_table || export_table(&table, &id) != CUDA_SUCCESS)
		return CUPTI_ERROR_UNKNOWN;
	simcupti.interface = table;
	for (int i = 0; i < CLIENTS; i++)
		clock_take(&simcupti.clients[i]);
	simcupti.interface->set_tool(&simcupti_tool);
	return CUPTI_SUCCESS;
}

uint32_t simcupti_thread_id(void)
{
	if (simcupti_client()->thread_id_type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
		return (uint32_t)sim_tid();
	return (uint32_t)(uintptr_t)pthread_self();
}

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = simcupti.version;
	return CUPTI_SUCCESS;
}

static CUptiResult tell_time(unsigned client, uint64_t *timestamp)
{
	int64_t offset_ns = simcupti.clients[client].clock_offset_ns;

	if (!timestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*timestamp = simcupti.interface ? simcupti.interface->now_ns() + (uint64_t)offset_ns : wall_ns();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t *timestamp)
{
	if (simcupti.layout >= LAYOUT_13_3 && simcupti.separates_v2 && simcupti_has_v2())
		return CUPTI_ERROR_NOT_COMPATIBLE;
	return tell_time(CLIENT_V1, timestamp);
}

/* From CUDA 13.3; the headers of 13.0 lack it. */
CUptiResult CUPTIAPI cuptiGetTimestamp_v2(CUpti_SubscriberHandle handle, uint64_t *timestamp)
{
	unsigned client = simcupti_client_of(handle);

	return client ? tell_time(client, timestamp) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp)
{
	CUptiResult result = simcupti_ready();

	if (result != CUPTI_SUCCESS)
		return result;
	if (simcupti.has_old_clock)
		return CUPTI_ERROR_NOT_SUPPORTED;
	simcupti.clients[CLIENT_V1].timestamp = funcTimestamp;
	clock_take(&simcupti.clients[CLIENT_V1]);
	return CUPTI_SUCCESS;
}

#define RESULTS(X) \
	X(CUPTI_SUCCESS) X(CUPTI_ERROR_INVALID_PARAMETER) X(CUPTI_ERROR_INVALID_DEVICE) \
	X(CUPTI_ERROR_INVALID_CONTEXT) X(CUPTI_ERROR_INVALID_OPERATION) X(CUPTI_ERROR_OUT_OF_MEMORY) \
	X(CUPTI_ERROR_MAX_LIMIT_REACHED) X(CUPTI_ERROR_NOT_READY) X(CUPTI_ERROR_NOT_COMPATIBLE) \
	X(CUPTI_ERROR_NOT_INITIALIZED) X(CUPTI_ERROR_QUEUE_EMPTY) X(CUPTI_ERROR_INVALID_KIND) \
	X(CUPTI_ERROR_NOT_SUPPORTED) X(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES) \
	X(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) X(CUPTI_ERROR_UNKNOWN)

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char **str)
{
	if (!str)
		return CUPTI_ERROR_INVALID_PARAMETER;
	switch (result) {
#define RESULT_NAME(code) case code: *str = #code; return CUPTI_SUCCESS;
	RESULTS(RESULT_NAME)
	default:
		return CUPTI_ERROR_INVALID_PARAMETER;
	}
}

CUptiResult CUPTIAPI cuptiGetErrorMessage(CUptiResult result, const char **str)
{
	return cuptiGetResultString(result, str);
}

/* ---- what is recorded ---- */

/* With several subscribers, graphs are recorded as a whole for all of them or for none. */
static bool traces_graphs;

/* For the functions without _v2, `client` is CLIENT_V1. */
static CUptiResult kind_set(CUpti_ActivityKind kind, bool is_on, unsigned client)
{
	struct simcupti_client *to = &simcupti.clients[client];
	CUptiResult result = simcupti_ready();
	unsigned before = simcupti_current;

	simcupti_take_time();
	if (result != CUPTI_SUCCESS)
		return result;
	if (!client && simcupti_has_v2() && simcupti.separates_v2)
		return CUPTI_ERROR_NOT_COMPATIBLE;
	/* Nobody asked for it before the first kind was enabled, and all subscribers would lose their nodes. */
	if (client && is_on && kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && simcupti_has_several() && !traces_graphs)
		return CUPTI_ERROR_NOT_COMPATIBLE;
	if ((unsigned)kind >= CUPTI_ACTIVITY_KIND_COUNT || !simcupti_record_size(kind))
		return CUPTI_ERROR_INVALID_KIND;
	to->enabled[kind] = is_on;
	if (kind == CUPTI_ACTIVITY_KIND_RUNTIME)
		memset(to->api_enabled[SIM_RUNTIME], is_on, CBID_COUNT);
	if (kind == CUPTI_ACTIVITY_KIND_DRIVER)
		memset(to->api_enabled[SIM_DRIVER], is_on, CBID_COUNT);
	simcupti_current = client;
	if (is_on)
		simcupti_tell_existing(kind);
	simcupti_current = before;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
	return kind_set(kind, true, CLIENT_V1);
}

CUptiResult CUPTIAPI cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
	return kind_set(kind, true, CLIENT_V1);
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
	simcupti.graph_disabled += kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
	return kind_set(kind, false, CLIENT_V1);
}

/* Its configurations select fields; the double always has all fields. */
CUptiResult CUPTIAPI cuptiActivityEnable_v2(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind,
					    CUpti_ActivityConfig *config)
{
	(void)config;
	unsigned client = simcupti_client_of(handle);

	return client ? kind_set(kind, true, client) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityDisable_v2(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind,
					     CUpti_ActivityConfig *config)
{
	(void)config;
	unsigned client = simcupti_client_of(handle);

	return client ? kind_set(kind, false, client) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
	return context ? kind_set(kind, true, CLIENT_V1) : CUPTI_ERROR_INVALID_CONTEXT;
}

CUptiResult CUPTIAPI cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind)
{
	return context ? kind_set(kind, false, CLIENT_V1) : CUPTI_ERROR_INVALID_CONTEXT;
}

static CUptiResult api_set(unsigned client, enum sim_layer layer, CUpti_CallbackId cbid, bool is_on)
{
	CUptiResult result = simcupti_ready();

	if (result != CUPTI_SUCCESS)
		return result;
	if (cbid >= CBID_COUNT)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (simcupti.layout < LAYOUT_12_8)	/* older releases do not have these two functions */
		return CUPTI_ERROR_NOT_SUPPORTED;
	simcupti.clients[client].api_enabled[layer][cbid] = is_on;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
	return api_set(CLIENT_V1, SIM_DRIVER, cbid, enable);
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
	return api_set(CLIENT_V1, SIM_RUNTIME, cbid, enable);
}

/* From CUDA 13.3; the headers of 13.0 lack them. */
CUptiResult CUPTIAPI cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle handle, CUpti_CallbackId cbid,
						     uint8_t enable)
{
	unsigned client = simcupti_client_of(handle);

	return client ? api_set(client, SIM_DRIVER, cbid, enable) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi_v2(CUpti_SubscriberHandle handle, CUpti_CallbackId cbid,
						      uint8_t enable)
{
	unsigned client = simcupti_client_of(handle);

	return client ? api_set(client, SIM_RUNTIME, cbid, enable) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	simcupti.wants_latency_times = enable;
	return simcupti_ready();
}

CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	if ((unsigned)type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	simcupti.clients[CLIENT_V1].thread_id_type = type;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
	if (!type)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*type = simcupti.clients[CLIENT_V1].thread_id_type;
	return CUPTI_SUCCESS;
}

/* From CUDA 13.2; the headers of 13.0 lack them: attributes that the double implements. */
enum { ATTRIBUTE_USER_DEFINED = 11, ATTRIBUTE_HES = 13, ATTRIBUTE_GRAPHS = 20, ATTRIBUTE_THREADS = 21,
       ATTRIBUTE_TIMESTAMP = 22, ATTRIBUTE_COUNT = 25 };

static bool is_any_enabled(void)
{
	for (int i = 0; i < CLIENTS; i++)
		for (int kind = 0; kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
			if (simcupti.clients[i].enabled[kind])
				return true;
	return false;
}

/* Buffer sizes and pools of the real one: without effect. */
CUptiResult CUPTIAPI cuptiActivityGetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
	if ((unsigned)attr > CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED || !valueSize || !value)
		return CUPTI_ERROR_INVALID_PARAMETER;
	memset(value, 0, *valueSize);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
	if ((int)attr == ATTRIBUTE_USER_DEFINED && simcupti.layout >= LAYOUT_13_3 && value) {
		if (is_any_enabled())
			return CUPTI_ERROR_INVALID_OPERATION;
		simcupti.has_defined_records = *(uint8_t *)value;
		return CUPTI_SUCCESS;
	}
	if ((unsigned)attr > CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED || !valueSize || !value)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle handle, CUpti_ActivityAttribute attr,
						  size_t *valueSize, void *value)
{
	struct simcupti_client *client = &simcupti.clients[simcupti_client_of(handle)];

	if (client == simcupti.clients || (unsigned)attr >= ATTRIBUTE_COUNT || !valueSize || !value)
		return CUPTI_ERROR_INVALID_PARAMETER;
	switch ((int)attr) {
	case ATTRIBUTE_HES:
		return *(uint8_t *)value ? CUPTI_ERROR_NOT_SUPPORTED : CUPTI_SUCCESS;
	case ATTRIBUTE_USER_DEFINED:
	case ATTRIBUTE_GRAPHS:
		if (is_any_enabled())
			return CUPTI_ERROR_INVALID_OPERATION;
		traces_graphs |= (int)attr == ATTRIBUTE_GRAPHS && *(uint8_t *)value;
		return CUPTI_SUCCESS;
	case ATTRIBUTE_THREADS:
		client->thread_id_type = *(CUpti_ActivityThreadIdType *)value;
		return CUPTI_SUCCESS;
	case ATTRIBUTE_TIMESTAMP:
		if (simcupti.has_old_clock)
			return CUPTI_ERROR_NOT_SUPPORTED;
		client->timestamp = *(CUpti_TimestampCallbackFunc *)value;
		clock_take(client);
		return CUPTI_SUCCESS;
	default:
		return CUPTI_SUCCESS;
	}
}

CUptiResult CUPTIAPI cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig *config,
								uint32_t count)
{
	CUptiResult result = simcupti_ready();

	if (result != CUPTI_SUCCESS)
		return result;
	if (!config || !count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (simcupti.checks_scope && !simcupti.interface->is_up())
		return CUPTI_ERROR_NOT_INITIALIZED;
	for (uint32_t i = 0; i < count; i++) {
		if ((unsigned)config[i].kind >= CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT)
			return CUPTI_ERROR_INVALID_PARAMETER;
		if (simcupti.checks_scope &&
		    (config[i].scope == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_UNKNOWN ||
		     (unsigned)config[i].scope >= CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_COUNT))
			return CUPTI_ERROR_INVALID_PARAMETER;
		simcupti.counts_managed[config[i].kind] = config[i].enable != 0;
	}
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableHWTrace(uint8_t enable)
{
	CUptiResult result = simcupti_ready();

	if (result != CUPTI_SUCCESS || !enable)
		return result;
	if (!simcupti.is_blackwell || simcupti.layout < LAYOUT_12_8)
		return CUPTI_ERROR_NOT_SUPPORTED;
	return simcupti.interface->first_context() ? CUPTI_ERROR_INVALID_OPERATION : CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiFinalize(void)
{
	CUptiResult result = simcupti_ready();

	if (result != CUPTI_SUCCESS)
		return result;
	simcupti_flush(true);
	simcupti_unsubscribe_all();
	memset(simcupti.clients, 0, sizeof(simcupti.clients));
	traces_graphs = false;
	simcupti.interface->set_tool(NULL);
	simcupti.interface = NULL;
	detached_ns = sim_now_ns() + DETACH_NS;
	return CUPTI_SUCCESS;
}

/* ---- ids ---- */

CUptiResult CUPTIAPI cuptiGetContextId(CUcontext context, uint32_t *contextId)
{
	if (!context || !contextId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*contextId = ((const struct sim_context *)context)->id;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext context, uint32_t *deviceId)
{
	if (!context || !deviceId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*deviceId = (uint32_t)((const struct sim_context *)context)->device;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t perThreadStream,
					uint32_t *streamId)
{
	const struct sim_stream *found;

	if (simcupti_ready() != CUPTI_SUCCESS)
		return CUPTI_ERROR_NOT_INITIALIZED;
	found = simcupti.interface->stream_find(stream, perThreadStream);
	if (!found || !streamId || (context && (CUcontext)found->context != context))
		return CUPTI_ERROR_INVALID_STREAM;
	*streamId = found->id;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *streamId)
{
	return cuptiGetStreamIdEx(context, stream, 0, streamId);
}

CUptiResult CUPTIAPI cuptiGetGraphId(CUgraph graph, uint32_t *pId)
{
	if (!graph || !pId || !simcupti.interface)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*pId = simcupti.interface->graph_id(graph);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetGraphExecId(CUgraphExec graphExec, uint32_t *pId)
{
	if (!graphExec || !pId || !simcupti.interface)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*pId = simcupti.interface->exec_id(graphExec);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, uint64_t *nodeId)
{
	if (!node || !nodeId || !simcupti.interface)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*nodeId = simcupti.interface->node_id(node);
	return CUPTI_SUCCESS;
}
