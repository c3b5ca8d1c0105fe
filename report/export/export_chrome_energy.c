/* SPDX-License-Identifier: Apache-2.0 */
/* Power, energy, clocks and so on of GPUs and CPUs as counters, in a group of their own. */
#include <inttypes.h>

#include "report/derive/energy/energy_counter.h"
#include "report/export/export_chrome.h"

/* PID: that group's, in the file. */
enum { PID = 4000000 };

static void counter_add(struct chrome *w, uint32_t pid, const struct energy_source *s, const struct energy_counter *c)
{
	struct buffer head = {0}, name = {0};
	double value;

	buffer_print(&name, "%s, ", c->name);
	energy_source_name(w->model, s, &name);
	buffer_text(&head, "{\"ph\":\"C\",\"name\":");
	json_add(&head, buffer_string(&name));
	buffer_print(&head, ",\"pid\":%" PRIu32 ",\"ts\":", pid);
	for (size_t i = 0; i < s->count; i++) {
		if (!c->value(s, i, &value))
			continue;
		chrome_begin(w);
		sink_text(w->out, buffer_string(&head));
		sink_us(w->out, (int64_t)(s->points[i].ns - w->model->origin_ns));
		buffer_clear(&name);
		buffer_print(&name, ",\"args\":{\"%s\":%.6g}}", *c->unit ? c->unit : "value", value);
		sink_text(w->out, buffer_string(&name));
	}
	buffer_done(&head);
	buffer_done(&name);
}

void chrome_energy(struct chrome *w)
{
	const struct energies *e = energies_of(w->model);
	uint32_t pid;
	bool is_new;

	if (!e->count)
		return;
	pid = chrome_pid(w, PID, UINT64_MAX, &is_new);
	chrome_meta(w, pid, 0, "process_name", "name", "\"Power and energy\"");
	for (size_t i = 0; i < e->count; i++)
		for (size_t k = 0; k < ENERGY_COUNTERS; k++)
			counter_add(w, pid, &e->items[i], &energy_counters[k]);
}
