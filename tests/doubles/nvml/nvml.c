/* SPDX-License-Identifier: Apache-2.0 */
/* A double of NVIDIA's management library: the GPUs of the simulated GPU, with power and energy that follow from
 * CLOCK_MONOTONIC alone, so that all processes see one counter. Environment, besides PILLION_SIMGPU_DEVICES:
 *   PILLION_SIMNVML_POWER=LOW:HIGH:MS  in mW: LOW for MS, then HIGH for MS, and so on; by default 100000:300000:50.
 *                                      Device N has N times 10 W more
 *   PILLION_SIMNVML_LOG=FILE           a line "PID DEVICE MJ" for each reading of an energy counter
 *   PILLION_SIMNVML_PROCESSES=PID:BYTES:PERCENT,...  that use device 0, and how much of it
 *   PILLION_SIMNVML=WORD,...           noenergy, nopower, nothing: the functions are not supported; denied: no
 *                                      permission; uninit: there is no driver; old: only the older names of functions
 *                                      work; capped, hot: the clocks are lowered; hang=N, crash=N: in the Nth reading
 *                                      of an energy counter */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4, DRIVER_NOT_LOADED = 9 };
enum { DEVICES = 8 };

static char devices[DEVICES]; /* their addresses are the handles */

static const char *word(const char *name)
{
	const char *words = getenv("PILLION_SIMNVML");
	size_t length = strlen(name);

	for (; words; words = (words = strchr(words, ',')) ? words + 1 : NULL)
		if (!strncmp(words, name, length) && (!words[length] || words[length] == ',' || words[length] == '='))
			return words + length;
	return NULL;
}

static unsigned number_of(const char *word)
{
	return word && *word == '=' ? (unsigned)strtoul(word + 1, NULL, 10) : 0;
}

static int index_of(const void *device)
{
	return (int)((const char *)device - devices);
}

static unsigned device_count(void)
{
	const char *count = getenv("PILLION_SIMGPU_DEVICES");
	unsigned n = count ? (unsigned)strtoul(count, NULL, 10) : 1;

	return n < DEVICES ? n : DEVICES;
}

/* ---- power and energy ---- */

struct wave {
	uint64_t low_mw, high_mw, half_ns;
};

static struct wave wave_of(const void *device)
{
	const char *text = getenv("PILLION_SIMNVML_POWER");
	unsigned long long low = 100000, high = 300000, ms = 50;
	uint64_t more = (uint64_t)index_of(device) * 10000;

	if (text)
		sscanf(text, "%llu:%llu:%llu", &low, &high, &ms);
	return (struct wave){low + more, high + more, (ms ? ms : 1) * 1000000};
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t energy_mj(const void *device, uint64_t now)
{
	struct wave w = wave_of(device);
	uint64_t waves = now / (2 * w.half_ns), rest = now % (2 * w.half_ns);
	uint64_t low_ns = waves * w.half_ns + (rest < w.half_ns ? rest : w.half_ns);
	uint64_t high_ns = waves * w.half_ns + (rest < w.half_ns ? 0 : rest - w.half_ns);

	return (uint64_t)(((__uint128_t)low_ns * w.low_mw + (__uint128_t)high_ns * w.high_mw) / 1000000000u);
}

static void energy_log(const void *device, uint64_t mj)
{
	const char *path = getenv("PILLION_SIMNVML_LOG");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%d %d %llu\n", (int)getpid(), index_of(device), (unsigned long long)mj);
	close(fd);
}

/* ---- processes ---- */

enum { NO_ROOM = 7 };

struct process {
	unsigned pid;
	unsigned long long used;
	unsigned gpu_instance, compute_instance;
};

struct process_sample {
	unsigned pid;
	unsigned long long us;
	unsigned sm, memory, encoder, decoder;
};

/* The next process of the list. False: there is none. */
static bool next_process(const void *device, const char **at, unsigned *pid, unsigned long long *bytes,
			 unsigned *percent)
{
	int length = 0;

	if (!*at && !index_of(device))
		*at = getenv("PILLION_SIMNVML_PROCESSES");
	if (!*at || sscanf(*at, "%u:%llu:%u%n", pid, bytes, percent, &length) != 3)
		return false;
	*at += length + ((*at)[length] == ',');
	return true;
}

/* ---- the library ---- */

int nvmlInit_v2(void);
int nvmlDeviceGetCount_v2(unsigned *ret);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret);
int nvmlDeviceGetName(void *device, char *ret, unsigned size);
int nvmlDeviceGetUUID(void *device, char *ret, unsigned size);
int nvmlDeviceGetPciInfo_v3(void *device, void *ret);
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *ret);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *ret);
int nvmlDeviceGetPowerUsage(void *device, unsigned *ret);
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *ret);
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *ret);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *ret);
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3]);
int nvmlDeviceGetUtilizationRates(void *device, unsigned ret[2]);
int nvmlDeviceGetTemperature(void *device, int kind, unsigned *ret);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *ret);
int nvmlDeviceGetProcessUtilization(void *device, struct process_sample *ret, unsigned *count,
				    unsigned long long since);
const char *nvmlErrorString(int error);

int nvmlInit_v2(void)
{
	return word("uninit") ? DRIVER_NOT_LOADED : SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *ret)
{
	*ret = device_count();
	return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret)
{
	if (index >= device_count())
		return INVALID_ARGUMENT;
	*ret = &devices[index];
	return word("denied") ? NO_PERMISSION : SUCCESS;
}

int nvmlDeviceGetName(void *device, char *ret, unsigned size)
{
	(void)device;
	snprintf(ret, size, "NVIDIA Simulated GPU");
	return SUCCESS;
}

/* The bytes "simulated-gpu-0N", as cuDeviceGetUuid has them. */
int nvmlDeviceGetUUID(void *device, char *ret, unsigned size)
{
	snprintf(ret, size, "GPU-73696d75-6c61-7465-642d-6770752d303%d", index_of(device));
	return SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(void *device, void *ret)
{
	struct {
		char bus_legacy[16];
		unsigned domain, bus, device, device_id, subsystem_id;
		char bus_id[32];
	} info = {.bus = (unsigned)index_of(device) + 1};

	snprintf(info.bus_id, sizeof(info.bus_id), "00000000:%02X:00.0", info.bus);
	memcpy(ret, &info, sizeof(info));
	return SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *ret)
{
	(void)device;
	*ret = 700000;
	return SUCCESS;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *ret)
{
	static unsigned readings;

	readings++;
	if (readings == number_of(word("hang")))
		while (true)
			pause();
	if (readings == number_of(word("crash")))
		abort();
	if (word("noenergy") || word("nothing"))
		return NOT_SUPPORTED;
	*ret = energy_mj(device, now_ns());
	energy_log(device, *ret);
	return SUCCESS;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *ret)
{
	struct wave w = wave_of(device);

	if (word("nopower") || word("nothing"))
		return NOT_SUPPORTED;
	*ret = (unsigned)(now_ns() % (2 * w.half_ns) < w.half_ns ? w.low_mw : w.high_mw);
	return SUCCESS;
}

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *ret)
{
	(void)device;
	*ret = kind == 2 ? 2619 : word("capped") || word("hot") ? 1200 : 1980;
	return word("nothing") ? NOT_SUPPORTED : SUCCESS;
}

static int reasons(unsigned long long *ret)
{
	*ret = word("capped") ? 0x4 : word("hot") ? 0x20 : 0;
	return word("nothing") ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *ret)
{
	(void)device;
	return word("old") ? NOT_SUPPORTED : reasons(ret);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *ret)
{
	(void)device;
	return reasons(ret);
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3])
{
	(void)device;
	ret[0] = 8ull << 30;
	ret[1] = 7ull << 30;
	ret[2] = 1ull << 30;
	return word("nothing") ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned ret[2])
{
	(void)device;
	ret[0] = 70;
	ret[1] = 30;
	return word("nothing") ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetTemperature(void *device, int kind, unsigned *ret)
{
	(void)device;
	(void)kind;
	*ret = word("hot") ? 88 : 51;
	return word("nothing") ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *ret)
{
	unsigned room = *count, pid, percent;
	unsigned long long bytes;
	const char *at = NULL;

	for (*count = 0; next_process(device, &at, &pid, &bytes, &percent); ++*count)
		if (*count < room)
			ret[*count] = (struct process){pid, bytes, ~0u, ~0u};
	return word("nothing") ? NOT_SUPPORTED : *count > room ? NO_ROOM : SUCCESS;
}

int nvmlDeviceGetProcessUtilization(void *device, struct process_sample *ret, unsigned *count,
				    unsigned long long since)
{
	unsigned room = *count, pid, percent;
	unsigned long long bytes;
	const char *at = NULL;

	for (*count = 0; next_process(device, &at, &pid, &bytes, &percent); ++*count)
		if (*count < room)
			ret[*count] = (struct process_sample){.pid = pid, .us = since + 1, .sm = percent};
	return word("nothing") ? NOT_SUPPORTED : *count > room ? NO_ROOM : SUCCESS;
}

const char *nvmlErrorString(int error)
{
	switch (error) {
	case NOT_SUPPORTED:
		return "Not Supported";
	case NO_PERMISSION:
		return "Insufficient Permissions";
	case DRIVER_NOT_LOADED:
		return "Driver Not Loaded";
	default:
		return "Unknown Error";
	}
}
