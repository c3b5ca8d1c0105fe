/* SPDX-License-Identifier: Apache-2.0 */
/* Reads GPUs by NVML. Its functions are declared here after NVIDIA's documentation; its header is not needed. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "runtime/shared/common/clock.h"
#include "runtime/shared/outside/energy_nvml.h"

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2, NVML_TEMPERATURE_GPU = 0, NVML_PROCESSES = 256 };

struct nvml_pci {
	char bus_legacy[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_process {
	unsigned pid;
	unsigned long long used; /* all ones: not known */
	unsigned gpu_instance, compute_instance;
};

struct nvml_process_sample {
	unsigned pid;
	unsigned long long us;
	unsigned sm, memory, encoder, decoder;
};

struct nvml_utilization {
	unsigned gpu, memory;
};

/* Each returns 0 or an error. The functions up to `uuid` are needed. */
static struct {
	int (*init)(void);
	int (*count)(unsigned *ret);
	int (*handle)(unsigned index, void **ret);
	int (*name)(void *device, char *ret, unsigned size);
	int (*uuid)(void *device, char *ret, unsigned size);
	int (*pci)(void *device, struct nvml_pci *ret);
	int (*limit)(void *device, unsigned *ret_mw);
	int (*energy)(void *device, unsigned long long *ret_mj);
	int (*power)(void *device, unsigned *ret_mw);
	int (*clock)(void *device, int kind, unsigned *ret_mhz);
	int (*reasons)(void *device, unsigned long long *ret);
	int (*old_reasons)(void *device, unsigned long long *ret);
	int (*memory)(void *device, struct nvml_memory *ret);
	int (*utilization)(void *device, struct nvml_utilization *ret);
	int (*temperature)(void *device, int kind, unsigned *ret_celsius);
	int (*processes)(void *device, unsigned *count, struct nvml_process *ret);
	int (*samples)(void *device, struct nvml_process_sample *ret, unsigned *count, unsigned long long since_us);
	const char *(*error_text)(int error);
} nvml;

static const struct {
	const char *symbol;
	size_t place;
} functions[] = {
#define FUNCTION(field, symbol) {symbol, offsetof(__typeof__(nvml), field)}
	FUNCTION(init, "nvmlInit_v2"),
	FUNCTION(count, "nvmlDeviceGetCount_v2"),
	FUNCTION(handle, "nvmlDeviceGetHandleByIndex_v2"),
	FUNCTION(name, "nvmlDeviceGetName"),
	FUNCTION(uuid, "nvmlDeviceGetUUID"),
	FUNCTION(pci, "nvmlDeviceGetPciInfo_v3"),
	FUNCTION(limit, "nvmlDeviceGetEnforcedPowerLimit"),
	FUNCTION(energy, "nvmlDeviceGetTotalEnergyConsumption"),
	FUNCTION(power, "nvmlDeviceGetPowerUsage"),
	FUNCTION(clock, "nvmlDeviceGetClockInfo"),
	FUNCTION(reasons, "nvmlDeviceGetCurrentClocksEventReasons"),
	FUNCTION(old_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons"),
	FUNCTION(memory, "nvmlDeviceGetMemoryInfo"),
	FUNCTION(utilization, "nvmlDeviceGetUtilizationRates"),
	FUNCTION(temperature, "nvmlDeviceGetTemperature"),
	FUNCTION(processes, "nvmlDeviceGetComputeRunningProcesses_v3"),
	FUNCTION(samples, "nvmlDeviceGetProcessUtilization"),
	FUNCTION(error_text, "nvmlErrorString"),
#undef FUNCTION
};

static bool nvml_load(char *ret_why, size_t size)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	const char *why = library ? NULL : dlerror();
	int error;

	for (size_t i = 0; library && i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(library, functions[i].symbol);

		memcpy((char *)&nvml + functions[i].place, &function, sizeof(function));
	}
	if (library && (!nvml.init || !nvml.count || !nvml.handle || !nvml.name || !nvml.uuid))
		why = "libnvidia-ml.so.1 lacks functions that are needed";
	if (!why && (error = nvml.init()))
		why = nvml.error_text ? nvml.error_text(error) : "nvmlInit failed";
	snprintf(ret_why, size, "%s", why ? why : "");
	return !why;
}

static bool gpu_describe(unsigned index, struct energy_meter *ret)
{
	struct nvml_pci pci = {0};

	*ret = (struct energy_meter){.kind = TF_ENERGY_GPU, .counter = -1};
	if (nvml.handle(index, &ret->device) || nvml.uuid(ret->device, ret->id, sizeof(ret->id)))
		return false;
	if (nvml.name(ret->device, ret->name, sizeof(ret->name)))
		strcpy(ret->name, "GPU");
	if (nvml.pci && !nvml.pci(ret->device, &pci))
		snprintf(ret->bus, sizeof(ret->bus), "%.31s", pci.bus_id);
	if (nvml.limit && nvml.limit(ret->device, &ret->fixed.limit_mw))
		ret->fixed.limit_mw = 0;
	return true;
}

/* What the GPUs do not tell, in words; "": nothing. */
static void missing_describe(const struct energy_meter *s, char *ret, size_t size)
{
	unsigned long long energy;
	unsigned power;
	bool has_energy = nvml.energy && !nvml.energy(s->device, &energy);
	bool has_power = nvml.power && !nvml.power(s->device, &power);

	if (!has_energy)
		snprintf(ret, size, "%s has no energy counter, %s", s->name,
			 has_power ? "its energy is computed from sampled power" : "and does not tell its power");
}

size_t energy_nvml_find(struct energy_meter *list, size_t room, char *ret_why, size_t size)
{
	unsigned count = 0;
	size_t found = 0;
	int error;

	if (!nvml_load(ret_why, size))
		return 0;
	error = nvml.count(&count);
	for (unsigned i = 0; !error && i < count && found < room; i++)
		found += gpu_describe(i, &list[found]);
	if (found)
		missing_describe(&list[0], ret_why, size);
	else
		snprintf(ret_why, size, "%s",
			 error && nvml.error_text ? nvml.error_text(error) : "NVML shows none that it may read");
	return found;
}

static unsigned ask_clock(void *device, int kind)
{
	unsigned mhz;

	return nvml.clock && !nvml.clock(device, kind, &mhz) && mhz < UINT16_MAX ? mhz : UINT16_MAX;
}

void energy_nvml_read(const struct energy_meter *s, struct tf_energy_sample *ret)
{
	struct nvml_utilization utilization;
	struct nvml_memory memory;
	unsigned long long number;
	uint64_t before = clock_now();
	unsigned value;

	if (nvml.energy && !nvml.energy(s->device, &number))
		ret->energy_uj = number * 1000;
	ret->ticks = before + (clock_now() - before) / 2;
	if (nvml.power && !nvml.power(s->device, &value))
		ret->power_mw = value;
	if ((nvml.reasons && !nvml.reasons(s->device, &number)) ||
	    (nvml.old_reasons && !nvml.old_reasons(s->device, &number)))
		ret->reasons = number;
	ret->sm_mhz = (uint16_t)ask_clock(s->device, NVML_CLOCK_SM);
	ret->memory_mhz = (uint16_t)ask_clock(s->device, NVML_CLOCK_MEMORY);
	if (nvml.memory && !nvml.memory(s->device, &memory))
		ret->memory_bytes = memory.used;
	if (nvml.utilization && !nvml.utilization(s->device, &utilization)) {
		ret->busy_percent = (uint8_t)utilization.gpu;
		ret->memory_percent = (uint8_t)utilization.memory;
	}
	if (nvml.temperature && !nvml.temperature(s->device, NVML_TEMPERATURE_GPU, &value))
		ret->celsius = (uint8_t)value;
}

static struct energy_process *process_of(struct energy_process *list, size_t *count, size_t room, uint32_t pid)
{
	for (size_t i = 0; i < *count; i++)
		if (list[i].pid == pid)
			return &list[i];
	if (*count == room)
		return NULL;
	list[*count] = (struct energy_process){.pid = pid, .busy_percent = -1, .bytes = UINT64_MAX};
	return &list[(*count)++];
}

size_t energy_nvml_processes(const struct energy_meter *s, struct energy_process *ret, size_t room, uint64_t *ret_bytes)
{
	static struct nvml_process list[NVML_PROCESSES];
	static struct nvml_process_sample samples[NVML_PROCESSES];
	unsigned long long newest[NVML_PROCESSES] = {0};
	unsigned listed = NVML_PROCESSES, sampled = NVML_PROCESSES;
	struct nvml_memory memory;
	size_t count = 0;

	room = room < NVML_PROCESSES ? room : NVML_PROCESSES;
	*ret_bytes = nvml.memory && !nvml.memory(s->device, &memory) ? memory.total : 0;
	if (!nvml.processes || nvml.processes(s->device, &listed, list))
		listed = 0;
	if (!nvml.samples || nvml.samples(s->device, samples, &sampled, 0))
		sampled = 0;
	for (unsigned i = 0; i < listed && i < NVML_PROCESSES; i++) {
		struct energy_process *p = process_of(ret, &count, room, list[i].pid);

		if (p)
			p->bytes = list[i].used;
	}
	for (unsigned i = 0; i < sampled && i < NVML_PROCESSES; i++) {
		struct energy_process *p = process_of(ret, &count, room, samples[i].pid);

		if (!p || samples[i].us < newest[p - ret])
			continue;
		newest[p - ret] = samples[i].us;
		p->busy_percent = samples[i].sm <= 100 ? (int)samples[i].sm : -1;
	}
	return count;
}
