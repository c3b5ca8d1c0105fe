/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics in the format of OpenMetrics, which Prometheus's textfile collector reads, too. */
#include <string.h>

#include "report/base/text.h"
#include "report/events/energy/energy.h"
#include "report/live/top/top.h"

enum { COMMAND_BYTES = 200 };

/* A text as the value of a label: backslashes, quotes and newlines are escaped. */
static void label_add(struct buffer *b, const char *name, const char *value)
{
	SCOPED(buffer) safe = {0}, cut = {0};

	text_escape(&safe, value ? value : "", "\n");
	text_shorten(&cut, buffer_string(&safe), COMMAND_BYTES);
	buffer_print(b, "%s=\"", name);
	for (const char *at = buffer_string(&cut); *at; at++) {
		if (*at == '"' || *at == '\\' || *at == '\n')
			buffer_text(b, "\\");
		buffer_add(b, *at == '\n' ? "n" : at, 1);
	}
	buffer_text(b, "\"");
}

/* ---- of processes: false if it is not known ---- */

static bool known(uint64_t number, double scale, double *ret)
{
	*ret = (double)number * scale;
	return number != TOP_UNKNOWN;
}

static bool known_share(double percent, double *ret)
{
	*ret = percent / 100;
	return percent >= 0;
}

static bool cpu_seconds(const struct top_process *p, double *ret)
{
	return known(p->now.cpu_ns, 1e-9, ret) && p->now.at_ns;
}

static bool resident(const struct top_process *p, double *ret)
{
	return known(p->now.resident_bytes, 1, ret) && p->now.at_ns;
}

static bool read_bytes(const struct top_process *p, double *ret)
{
	return known(p->now.read_bytes, 1, ret) && p->now.at_ns;
}

static bool written_bytes(const struct top_process *p, double *ret)
{
	return known(p->now.written_bytes, 1, ret) && p->now.at_ns;
}

static bool waiting(const struct top_process *p, double *ret)
{
	return known_share(p->wait_percent, ret);
}

static bool device_bytes(const struct top_process *p, double *ret)
{
	return known(p->device_bytes, 1, ret);
}

static bool device_share(const struct top_process *p, double *ret)
{
	return known_share(p->gpu_percent, ret);
}

static const struct {
	const char *name, *type, *help;
	bool (*value)(const struct top_process *p, double *ret);
} of_processes[] = {
	{"pillion_process_cpu_seconds_total", "counter", "CPU time of the process.", cpu_seconds},
	{"pillion_process_resident_memory_bytes", "gauge", "Resident memory of the process.", resident},
	{"pillion_process_read_bytes_total", "counter", "Bytes that the process has read by system calls.", read_bytes},
	{"pillion_process_written_bytes_total", "counter", "Bytes that the process has written by system calls.",
	 written_bytes},
	{"pillion_process_wait_ratio", "gauge", "Share of the time in which the busiest thread neither ran nor waited "
						"for a CPU.", waiting},
	{"pillion_process_device_memory_bytes", "gauge", "GPU memory of the process.", device_bytes},
	{"pillion_process_device_utilization_ratio", "gauge", "GPU time of the process, of one GPU.", device_share},
};

/* ---- of GPUs ---- */

static bool utilization(const struct top_device *d, double *ret)
{
	*ret = d->sample.busy_percent / 100.0;
	return d->sample.busy_percent != UINT8_MAX;
}

static bool memory_used(const struct top_device *d, double *ret)
{
	return known(d->sample.memory_bytes, 1, ret);
}

static bool memory_size(const struct top_device *d, double *ret)
{
	return known(d->memory_bytes, 1, ret) && d->memory_bytes;
}

static bool power(const struct top_device *d, double *ret)
{
	*ret = d->sample.power_mw / 1e3;
	return d->sample.power_mw != UINT32_MAX;
}

static bool clock_rate(const struct top_device *d, double *ret)
{
	*ret = d->sample.sm_mhz * 1e6;
	return d->sample.sm_mhz != UINT16_MAX;
}

static bool temperature(const struct top_device *d, double *ret)
{
	*ret = d->sample.celsius;
	return d->sample.celsius != UINT8_MAX;
}

static bool throttled(const struct top_device *d, double *ret)
{
	*ret = (d->sample.reasons & ENERGY_SLOWDOWNS) != 0;
	return d->sample.reasons != UINT64_MAX;
}

static const struct {
	const char *name, *help;
	bool (*value)(const struct top_device *d, double *ret);
} of_devices[] = {
	{"pillion_device_utilization_ratio", "Share of the time in which the GPU ran any kernel.", utilization},
	{"pillion_device_memory_used_bytes", "Memory of the GPU that is in use.", memory_used},
	{"pillion_device_memory_size_bytes", "Memory of the GPU.", memory_size},
	{"pillion_device_power_watts", "Power that the GPU draws.", power},
	{"pillion_device_clock_hertz", "Clock of the GPU's multiprocessors.", clock_rate},
	{"pillion_device_temperature_celsius", "Temperature of the GPU.", temperature},
	{"pillion_device_throttled", "1 if power, heat or the hardware lower the clocks.", throttled},
};

/* ---- the text ---- */

/* The family has the name of its samples, without the ending of a counter. */
static void head_add(struct buffer *b, bool *has_head, const char *name, const char *type, const char *help)
{
	const char *total = strstr(name, "_total");
	int length = (int)(total ? (size_t)(total - name) : strlen(name));

	if (!*has_head)
		buffer_print(b, "# TYPE %.*s %s\n# HELP %.*s %s\n", length, name, type, length, name, help);
	*has_head = true;
}

void top_metrics(const struct top *l, struct buffer *ret)
{
	double value;

	for (size_t i = 0; i < sizeof(of_processes) / sizeof(*of_processes); i++) {
		bool has_head = false;

		array_each(const struct top_process, p, l->processes, l->count) {
			if (!of_processes[i].value(p, &value))
				continue;
			head_add(ret, &has_head, of_processes[i].name, of_processes[i].type, of_processes[i].help);
			buffer_print(ret, "%s{pid=\"%u\",", of_processes[i].name, p->pid);
			label_add(ret, "rank", p->rank);
			buffer_text(ret, ",");
			label_add(ret, "host", *p->host ? p->host : l->machine);
			buffer_text(ret, ",");
			label_add(ret, "command", p->command);
			buffer_print(ret, "} %.17g\n", value);
		}
	}
	for (size_t i = 0; i < sizeof(of_devices) / sizeof(*of_devices); i++) {
		bool has_head = false;

		for (size_t k = 0; k < l->device_count; k++) {
			const struct energy_meter *g = l->devices[k].meter;

			if (!of_devices[i].value(&l->devices[k], &value))
				continue;
			head_add(ret, &has_head, of_devices[i].name, "gauge", of_devices[i].help);
			buffer_print(ret, "%s{device=\"%zu\",", of_devices[i].name, k);
			label_add(ret, "name", g->name);
			buffer_text(ret, ",");
			label_add(ret, "uuid", g->id);
			buffer_text(ret, ",");
			label_add(ret, "host", l->machine);
			buffer_print(ret, "} %.17g\n", value);
		}
	}
	buffer_text(ret, "# EOF\n");
}
