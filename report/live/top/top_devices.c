/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs of this machine, as NVML tells of them. It is opened by this program only, once. */
#include <string.h>

#include "report/events/energy/energy.h"
#include "report/live/top/top.h"

enum { PROCESSES = 256 };

static void gpus_open(struct top *l)
{
	static struct energy_meter meters[ENERGY_SOURCES];
	static size_t count;
	static bool is_open;
	char why[256];

	if (!is_open)
		count = energy_nvml_find(meters, ENERGY_SOURCES, why, sizeof(why));
	is_open = true;
	l->devices = mem_alloc((count + 1) * sizeof(*l->devices));
	l->device_count = count;
	for (size_t i = 0; i < count; i++)
		l->devices[i].meter = &meters[i];
}

static void use_add(struct top_process *p, const struct energy_process *u)
{
	if (u->busy_percent >= 0)
		p->gpu_percent = (p->gpu_percent < 0 ? 0 : p->gpu_percent) + u->busy_percent;
	if (u->bytes != UINT64_MAX)
		p->device_bytes = (p->device_bytes == TOP_UNKNOWN ? 0 : p->device_bytes) + u->bytes;
}

void top_devices_read(struct top *l)
{
	if (!l->devices)
		gpus_open(l);
	array_each(struct top_device, d, l->devices, l->device_count) {
		struct energy_process used[PROCESSES];
		size_t count = energy_nvml_processes(d->meter, used, PROCESSES, &d->memory_bytes);

		memset(&d->sample, 0xff, sizeof(d->sample));
		energy_nvml_read(d->meter, &d->sample);
		for (size_t k = 0; k < count; k++)
			for (size_t n = 0; n < l->count; n++)
				if (l->processes[n].is_here && l->processes[n].pid == used[k].pid)
					use_add(&l->processes[n], &used[k]);
	}
}

static void reasons_cell(uint64_t reasons, struct table *t)
{
	SCOPED(buffer) text = {0};

	for (int i = 0; i < ENERGY_REASONS; i++)
		if (reasons != UINT64_MAX && reasons & energy_reasons[i].bit)
			buffer_print(&text, "%s%s", text.size ? ", " : "", energy_reasons[i].name);
	table_text(t, buffer_string(&text));
}

void top_devices_table(struct top *l, struct table *t)
{
	table_has(t, COL_DEVICE_NUMBER, COL_NAME, COL_HOST, COL_GPU_PERCENT, COL_DEVICE_MEMORY_BYTES,
		  COL_MEMORY_SIZE_BYTES, COL_POWER_W, COL_LIMIT_W, COL_SM_CLOCK_MHZ, COL_MEMORY_CLOCK_MHZ,
		  COL_TEMPERATURE_C, COL_REASONS);
	for (size_t i = 0; i < l->device_count; i++) {
		const struct energy_meter *g = l->devices[i].meter;
		const struct tf_energy_sample s = l->devices[i].sample;
		uint64_t total = l->devices[i].memory_bytes;

		table_cells(t, i, g->name, l->machine, cell_if(s.busy_percent != UINT8_MAX, s.busy_percent),
			    cell_if(s.memory_bytes != UINT64_MAX, s.memory_bytes), cell_if(total, total),
			    cell_if(s.power_mw != UINT32_MAX, s.power_mw / 1e3),
			    cell_if(g->fixed.limit_mw, g->fixed.limit_mw / 1e3),
			    cell_if(s.sm_mhz != UINT16_MAX, s.sm_mhz),
			    cell_if(s.memory_mhz != UINT16_MAX, s.memory_mhz),
			    cell_if(s.celsius != UINT8_MAX, s.celsius));
		reasons_cell(s.reasons, t);
	}
}
