/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_devices: the devices that programs used, with their attributes and peak rates. */
#include <stdio.h>

#include "report/events/cuda/properties.h"
#include "report/tables/report.h"
#include "report/time/profile.h"

static struct cell_value attribute(const struct device_properties *p, enum tf_device_attribute attribute)
{
	return cell_if(p->has[attribute], (uint64_t)(uint32_t)p->values[attribute]);
}

static struct cell_value mhz(const struct device_properties *p, enum tf_device_attribute attribute)
{
	return cell_if(p->has[attribute], p->values[attribute] / 1e3);
}

static void text_cell(struct buffer *text, struct table *table)
{
	table_cells(table, cell_if(text->size, text->data));
	buffer_clear(text);
}

/* Processes may have different numbers for one device, and one number for different devices (CUDA_VISIBLE_DEVICES). */
static bool is_seen(struct map *seen, uint64_t host, uint32_t device, const struct device_properties *p)
{
	SCOPED(buffer) uuid = {0};
	bool is_new;

	device_uuid(p, &uuid);
	map_put(seen, host, uuid.size ? hash_bytes(uuid.data, uuid.size) : device, &is_new);
	return !is_new;
}

static void device_row(const struct report_context *c, const struct image *image, const struct blob *b,
		       struct map *seen, struct table *table)
{
	struct device_properties p = device_properties(image->trace, b->id);
	SCOPED(buffer) text = {0};

	if (is_seen(seen, host_number(c->model, image->machine), b->id, &p))
		return;
	table_cells(table, c->model->machines[image->machine].host, b->id);
	trace_text(image->trace, b, &text);
	text_cell(&text, table);
	if (p.has[TF_ATTRIBUTE_MAJOR])
		buffer_print(&text, "%d.%d", p.values[TF_ATTRIBUTE_MAJOR], p.values[TF_ATTRIBUTE_MINOR]);
	text_cell(&text, table);
	table_cells(table, attribute(&p, TF_ATTRIBUTE_SM_COUNT), mhz(&p, TF_ATTRIBUTE_CLOCK),
		    cell_if(p.memory_bytes, (double)p.memory_bytes), mhz(&p, TF_ATTRIBUTE_MEMORY_CLOCK),
		    attribute(&p, TF_ATTRIBUTE_MEMORY_BUS_BITS), cell_if(p.bandwidth > 0, p.bandwidth / 1e9),
		    attribute(&p, TF_ATTRIBUTE_L2_BYTES), attribute(&p, TF_ATTRIBUTE_SM_THREADS),
		    attribute(&p, TF_ATTRIBUTE_SM_SHARED_BYTES));
	if (p.has[TF_ATTRIBUTE_HAS_ECC])
		buffer_text(&text, p.values[TF_ATTRIBUTE_HAS_ECC] ? "on" : "off");
	text_cell(&text, table);
	device_bus(&p, &text);
	text_cell(&text, table);
	device_uuid(&p, &text);
	text_cell(&text, table);
	for (int on_tensor_cores = 0; on_tensor_cores < 2; on_tensor_cores++)
		for (int type = NUMBER_UNKNOWN + 1; type < NUMBER_TYPES; type++) {
			double peak = device_peak(&p, (enum number_type)type, on_tensor_cores);

			table_cells(table, cell_if(peak > 0, peak / 1e12));
		}
}

void report_cuda_devices(const struct report_context *c, struct table *table)
{
	SCOPED(map) seen = {0};

	table_has(table, COL_HOST, COL_DEVICE_NUMBER, COL_NAME, COL_COMPUTE_CAPABILITY, COL_SMS, COL_SM_CLOCK_MHZ,
		  COL_MEMORY_MB, COL_MEMORY_CLOCK_MHZ, COL_MEMORY_BUS_BITS, COL_PEAK_BANDWIDTH_GB_PER_S, COL_L2_MB,
		  COL_THREADS_PER_SM, COL_SHARED_MEMORY_PER_SM_BYTES, COL_ECC, COL_PCI_BUS, COL_UUID);
	for (int on_tensor_cores = 0; on_tensor_cores < 2; on_tensor_cores++)
		for (int type = NUMBER_UNKNOWN + 1; type < NUMBER_TYPES; type++) {
			char title[64];

			snprintf(title, sizeof(title), "%s%s TFLOP/s", number_names[type],
				 on_tensor_cores ? " tensor" : "");
			table_column(table, title, COLUMN_REAL);
		}
	for (size_t i = 0; i < c->model->image_count; i++) {
		const struct trace *t = c->model->images[i].trace;

		blobs_each(b, t, TF_BLOB_DEVICE_NAME)
			device_row(c, &c->model->images[i], b, &seen, table);
	}
	device_none(c->model, table);
}
