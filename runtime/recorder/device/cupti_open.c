/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the libcupti: the one that is loaded; else the one of the loaded CUDA runtime; else, with a static runtime
 * or none, the newest that the driver supports. A second one is never loaded. */
#include "runtime/recorder/device/cupti_open.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/shared/common/sys.h"
#include "runtime/shared/base/text.h"
#include "runtime/recorder/device/cupti_state.h"

static void *(*dl_open)(const char *, int);

/* The part of the runtime's file name after ".so.": "12", "11.0". */
static const char *runtime_version(const char *path)
{
	const char *name = strrchr(path, '/');

	name = strstr(name ? name : path, ".so.");
	return name ? name + 4 : "";
}

static bool cupti_try_path(const char *directory, size_t length, const char *below, const char *name)
{
	char path[PATH_MAX];
	struct text t = text_init(path, sizeof(path));

	text_bytes(&t, directory, length);
	text_add(&t, below);
	text_add(&t, name);
	return !t.cut && !sys_access(path, R_OK) && dl_open(path, RTLD_NOW);
}

/* Toolkits have CUPTI beside the runtime or under extras; wheels have it in a separate package. */
static bool cupti_try_beside(const char *runtime, const char *name)
{
	static const char *const places[] = {"/", "/../../cuda_cupti/lib/", "/../extras/CUPTI/lib64/",
					     "/../../../extras/CUPTI/lib64/"};
	const char *slash = strrchr(runtime, '/');

	for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++)
		if (cupti_try_path(runtime, (size_t)(slash - runtime), places[i], name))
			return true;
	return dl_open(name, RTLD_NOW);
}

static bool cupti_try_name(const char *runtime, unsigned major, int minor)
{
	char name[64];
	struct text t = text_init(name, sizeof(name));

	text_add(&t, "libcupti.so.");
	text_number(&t, major);
	if (minor >= 0) {
		text_char(&t, '.');
		text_number(&t, (uint64_t)minor);
	}
	return cupti_try_beside(runtime, name);
}

static bool cupti_load_for_driver(void)
{
	int (*get_version)(int *) = dso_library_symbol("libcuda.so", "cuDriverGetVersion"), version;

	if (!get_version || get_version(&version))
		return false;
	for (unsigned major = (unsigned)version / 1000; major >= 12; major--)
		if (cupti_try_name("", major, -1) || cupti_try_name("/usr/local/cuda/lib64/", major, -1))
			return true;
	return false;
}

static bool cupti_load(void)
{
	char runtime[PATH_MAX];
	const char *version;
	unsigned major = 0;

	if (!dso_library("libcudart.so", runtime, sizeof(runtime)))
		return cupti_load_for_driver();
	for (version = runtime_version(runtime); *version >= '0' && *version <= '9'; version++)
		major = major * 10 + (unsigned)(*version - '0');
	if (major != 11)
		return major && cupti_try_name(runtime, major, -1);
	for (int minor = 8; minor >= 0; minor--) /* each release of 11 has its own file name */
		if (cupti_try_name(runtime, major, minor))
			return true;
	return false;
}

/* Opening it again waits for a thread that is loading it, and keeps it loaded. */
static bool cupti_keep_loaded(char *ret_path, size_t size)
{
	return dso_library("libcupti.so", ret_path, size) && dl_open(ret_path, RTLD_NOW | RTLD_NOLOAD);
}

const char *cupti_open(struct cupti_api *api, char *ret_path, size_t size)
{
	dl_open = dso_next("dlopen");
	if (!dl_open || !(cupti_keep_loaded(ret_path, size) || (cupti_load() && cupti_keep_loaded(ret_path, size))))
		return "there is no libcupti";
#define FIND(field, symbol) api->field = dso_library_symbol("libcupti.so", symbol)
	FIND(get_version, "cuptiGetVersion");
	FIND(get_timestamp, "cuptiGetTimestamp");
	FIND(register_timestamp, "cuptiActivityRegisterTimestampCallback");
	FIND(register_callbacks, "cuptiActivityRegisterCallbacks");
	FIND(enable, "cuptiActivityEnable");
	FIND(disable, "cuptiActivityDisable");
	FIND(enable_runtime_call, "cuptiActivityEnableRuntimeApi");
	FIND(enable_driver_call, "cuptiActivityEnableDriverApi");
	FIND(name_threads, "cuptiSetThreadIdType");
	FIND(configure_managed, "cuptiActivityConfigureUnifiedMemoryCounter");
	FIND(next_record, "cuptiActivityGetNextRecord");
	FIND(get_dropped, "cuptiActivityGetNumDroppedRecords");
	FIND(flush_all, "cuptiActivityFlushAll");
	FIND(flush_period, "cuptiActivityFlushPeriod");
	FIND(enable_hardware, "cuptiActivityEnableHWTrace");
	FIND(subscribe, "cuptiSubscribe_v2");
	FIND(unsubscribe, "cuptiUnsubscribe");
	FIND(register_callbacks_v2, "cuptiActivityRegisterCallbacks_v2");
	FIND(enable_v2, "cuptiActivityEnable_v2");
	FIND(disable_v2, "cuptiActivityDisable_v2");
	FIND(enable_runtime_call_v2, "cuptiActivityEnableRuntimeApi_v2");
	FIND(enable_driver_call_v2, "cuptiActivityEnableDriverApi_v2");
	FIND(set_attribute_v2, "cuptiActivitySetAttribute_v2");
	FIND(next_record_v2, "cuptiActivityGetNextRecord_v2");
	FIND(get_dropped_v2, "cuptiActivityGetNumDroppedRecords_v2");
	FIND(get_timestamp_v2, "cuptiGetTimestamp_v2");
	FIND(node_id, "cuptiGetGraphNodeId");
	FIND(graph_id, "cuptiGetGraphId");
	FIND(exec_id, "cuptiGetGraphExecId");
#undef FIND
	if (!api->get_version || !api->get_timestamp || !api->register_callbacks || !api->enable || !api->disable ||
	    !api->next_record || !api->get_dropped || !api->flush_all)
		return "libcupti lacks functions";
	return NULL;
}
