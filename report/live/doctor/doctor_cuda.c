/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's driver, CUPTI and NVML. The libraries are loaded in child processes, and only asked for their versions: no
 * GPU is initialised. */
#include "report/live/doctor/doctor.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/shared/base/cuda_hardware.h"

/* Of CUDA: 12.4 is 12040. CUPTI's releases before CUDA 13 have small numbers of their own. */
enum { CUDA_MAJOR = 1000, CUPTI_MAJOR = 10000, OLDEST = 11, NEWEST = 20 };

struct question {
	const char *library, *function;
	bool has_version; /* NVML has none without initialisation */
};

/* In a child: prints the path of the library, and the version that its function stores. */
static void answer(void *context)
{
	const struct question *q = context;
	void *library = dlopen(q->library, RTLD_LAZY | RTLD_LOCAL);
	int version = 0, (*ask)(int *) = NULL;
	Dl_info info;
	void *symbol;

	if (!library)
		_exit(1);
	symbol = dlsym(library, q->function);
	memcpy(&ask, &symbol, sizeof(ask));
	if (!ask || !dladdr(symbol, &info))
		_exit(2);
	if (!q->has_version || ask(&version))
		version = 0;
	printf("%d %s\n", version, info.dli_fname);
}

/* Whether the library can be loaded. ret_version: NULL: it is not asked for. */
static bool is_loaded(const char *library, const char *function, int *ret_version, struct buffer *ret_path)
{
	struct question q = {library, function, ret_version};
	SCOPED(buffer) output = {0};
	char path[PATH_MAX] = "";
	int version = 0;
	bool is_there = !doctor_child(answer, &q, false, &output) &&
			sscanf(buffer_string(&output), "%d %4095[^\n]", ret_version ? ret_version : &version,
			       path) == 2;

	buffer_clear(ret_path);
	buffer_text(ret_path, path);
	return is_there;
}

/* Returns the major version of CUDA that the driver supports; 0: there is no driver. */
static int add_driver(struct doctor *d)
{
	bool has_module = !access("/proc/driver/nvidia/version", R_OK), has_device = !access("/dev/nvidiactl", F_OK);
	SCOPED(buffer) path = {0};
	struct check *c;
	int version = 0;

	if (!is_loaded("libcuda.so.1", "cuDriverGetVersion", &version, &path)) {
		c = check_add(d, "CUDA driver", "no libcuda.so.1%s",
			      has_module ? ", but the kernel has NVIDIA's driver" : "");
		check_worse(c, CHECK_MISSING, has_module
			? "in a container, start it with --gpus=all or --nv; else install the driver's libraries"
			: "needed for programs that use a GPU: install the driver, or run on a node with a GPU");
		return 0;
	}
	c = check_add(d, "CUDA driver", "CUDA %d.%d, %s", version / CUDA_MAJOR, version % CUDA_MAJOR / 10, path.data);
	if (!has_device)
		buffer_text(&c->found, "; there is no /dev/nvidiactl");
	return version / CUDA_MAJOR;
}

/* "libcupti.so.12" has 12, "libcupti.so.2024.3" none. */
static int major_of(const char *path)
{
	const char *name = strstr(path, "libcupti.so.");
	int major = name ? atoi(name + strlen("libcupti.so.")) : 0;

	return major <= NEWEST ? major : 0;
}

static bool add_cupti(struct doctor *d, const char *library, int driver)
{
	SCOPED(buffer) path = {0};
	int version = 0, major = major_of(library);
	bool is_there = is_loaded(library, "cuptiGetVersion", &version, &path);
	struct check *c;

	if (!is_there)
		return false;
	c = check_add(d, "CUPTI", "of CUDA %d", major);
	if (version >= CUPTI_MAJOR)
		buffer_print(&c->found, ".%d", version % CUPTI_MAJOR / 100);
	buffer_print(&c->found, ", %s", path.data);
	if (driver && major > driver)
		check_worse(c, CHECK_LIMITED, "newer than the driver: device times come from CUDA events; "
					      "use a CUDA of the driver's major version, or a newer driver");
	else if (!driver)
		buffer_text(&c->found, "; no driver to compare it with");
	if (version >= CUPTI_HAS_HARDWARE && version < CUPTI_HARDWARE_IS_SAFE)
		buffer_text(&c->found, "; -t cuda-hw refuses it: " CUPTI_HARDWARE_HARM);
	return true;
}

static void add_all_cupti(struct doctor *d, int driver)
{
	static const char *const directories[] = {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"};
	const char *rest = buffer_string(&d->cupti);
	size_t before = d->count;
	struct check *c;

	for (int major = NEWEST; major >= OLDEST; major--) {
		bool is_there = false;

		for (size_t i = 0; i < sizeof(directories) / sizeof(*directories) && !is_there; i++) {
			char path[128];

			snprintf(path, sizeof(path), "%slibcupti.so.%d", directories[i], major);
			is_there = add_cupti(d, path, driver);
		}
	}
	while (*rest) {
		SCOPED(buffer) path = {0};
		size_t length = strcspn(rest, "\n");

		buffer_add(&path, rest, length);
		if (major_of(buffer_string(&path)))
			add_cupti(d, path.data, driver);
		rest += length + (rest[length] == '\n');
	}
	if (d->count > before)
		return;
	c = check_add(d, "CUPTI", "no libcupti on the library path, in /usr/local/cuda or in a Python here");
	check_worse(c, CHECK_MISSING, "device times come from CUDA events unless the program brings its own: "
				      "LD_LIBRARY_PATH, or pip install nvidia-cuda-cupti");
}

void doctor_counters(struct doctor *d, const char *params)
{
	static const char setting[] = "RmProfilingAdminOnly: 1";
	FILE *file = fopen(params, "re");
	SCOPED_MEMORY char *line = NULL;
	size_t room = 0;
	bool is_restricted = false;

	while (file && getline(&line, &room, file) >= 0)
		is_restricted |= !strncmp(line, setting, strlen(setting));
	if (file)
		check_add(d, "GPU counters", "%s", is_restricted
			? "for the administrator only: ncu and nsys --gpu-metrics-devices fail with ERR_NVGPUCTRPERM "
			  "unless the module nvidia has NVreg_RestrictProfilingToAdminUsers=0; recording needs none"
			: "for all users; recording needs none");
	if (file)
		fclose(file);
}

void doctor_cuda(struct doctor *d)
{
	SCOPED(buffer) path = {0};
	int driver = add_driver(d);

	add_all_cupti(d, driver);
	if (is_loaded("libnvidia-ml.so.1", "nvmlInit_v2", NULL, &path))
		check_add(d, "NVML", "%s", path.data);
	else
		check_add(d, "NVML", "no libnvidia-ml.so.1; recording does not need it");
	doctor_counters(d, "/proc/driver/nvidia/params");
}
