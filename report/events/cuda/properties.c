/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/cuda/properties.h"

#include <string.h>

#include "report/events/cuda/device.h"

/* The driver reports half the rate of a pin for every kind of memory (HBM, GDDR): H100's HBM3 2619 MHz, T4's GDDR6 5001
 * MHz, RTX 3090's GDDR6X 9751 MHz. */
static double bandwidth_of(const struct device_properties *p)
{
	double rate = 1e3 * p->values[TF_ATTRIBUTE_MEMORY_CLOCK] * p->values[TF_ATTRIBUTE_MEMORY_BUS_BITS] / 8;

	return rate > 0 ? 2 * rate : 0;
}

struct device_properties device_properties(const struct trace *t, uint32_t device)
{
	const struct blob *b = trace_definition(t, TF_BLOB_DEVICE_FACTS, device);
	struct device_properties ret = {0};
	struct {
		struct tf_device_facts facts;
		struct tf_attribute_value values[DEVICE_ATTRIBUTES];
	} blob;
	size_t size = b ? trace_blob(t, b, &blob, sizeof(blob)) : 0;

	if (size < sizeof(blob.facts))
		return ret;
	ret.is_known = true;
	ret.memory_bytes = blob.facts.memory_bytes;
	memcpy(ret.uuid, blob.facts.uuid, sizeof(ret.uuid));
	for (size_t i = 0; i < (size - sizeof(blob.facts)) / sizeof(*blob.values); i++) {
		const struct tf_attribute_value *v = &blob.values[i];

		if (v->attribute >= DEVICE_ATTRIBUTES)
			continue;
		ret.values[v->attribute] = v->value;
		ret.has[v->attribute] = true;
	}
	ret.bandwidth = bandwidth_of(&ret);
	return ret;
}

void device_bus(const struct device_properties *p, struct buffer *ret)
{
	if (p->has[TF_ATTRIBUTE_PCI_BUS] && p->has[TF_ATTRIBUTE_PCI_DEVICE])
		buffer_print(ret, "%04x:%02x:%02x.0", (unsigned)p->values[TF_ATTRIBUTE_PCI_DOMAIN],
			     (unsigned)p->values[TF_ATTRIBUTE_PCI_BUS], (unsigned)p->values[TF_ATTRIBUTE_PCI_DEVICE]);
}

void device_uuid(const struct device_properties *p, struct buffer *ret)
{
	static const uint8_t none[sizeof(p->uuid)];

	if (!memcmp(p->uuid, none, sizeof(none)))
		return;
	for (size_t i = 0; i < sizeof(p->uuid); i++)
		buffer_print(ret, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", p->uuid[i]);
}

/* ---- peak rates ---- */

/* Operations per clock of an SM by compute capability; a fused multiply-add is two; without sparsity. 0: not published,
 * the sources disagree, or there is none.
 *
 * Without tensor cores: "Throughput of Native Arithmetic Instructions" in the CUDA C++ Programming Guide (up to 12.9)
 * and in the Best Practices Guide (from 13.0), two operations per result. For fp16 on 10.x the two disagree.
 * With tensor cores: rates per SM in the white papers, or their peak rates by SMs and boost clock:
 *   7.0  V100: 8 tensor cores, each 64 FMAs           7.5  Turing: twice that for int8
 *   8.0  A100: 1024 FMAs of fp16, 512 tf32, 64 fp64   8.6  GA102: A40, A10; with fp32 sums GeForce has half of it
 *   8.9  AD102: L40S, RTX 6000; GeForce likewise      9.0  H100: twice the A100's
 *   10.0 Blackwell technical brief: twice the H100's, but fp64 is that of the other cores
 *   12.0 RTX Blackwell: RTX PRO 6000; GeForce likewise has half of it with fp32 sums */
struct peak {
	uint8_t major, minor;
	uint16_t plain[NUMBER_TYPES - 1], tensor[NUMBER_TYPES - 1]; /* by type - 1 */
};

static const struct peak peaks[] = {
	/*          fp64 fp32 tf32 fp16 bf16 fp8 int8 */
	{5, 0, {8, 256}, {0}},
	{5, 2, {8, 256}, {0}},
	{5, 3, {8, 256, 0, 512}, {0}},
	{6, 0, {64, 128, 0, 256}, {0}},
	{6, 1, {8, 256, 0, 4}, {0}},
	{6, 2, {8, 256, 0, 512}, {0}},
	{7, 0, {64, 128, 0, 256}, {0, 0, 0, 1024}},
	{7, 5, {4, 128, 0, 256}, {0, 0, 0, 1024, 0, 0, 2048}},
	{8, 0, {64, 128, 0, 512, 256}, {128, 0, 1024, 2048, 2048, 0, 4096}},
	{8, 6, {4, 256, 0, 256, 256}, {0, 0, 512, 1024, 1024, 0, 2048}},
	{8, 9, {4, 256, 0, 256, 256}, {0, 0, 512, 1024, 1024, 2048, 2048}},
	{9, 0, {128, 256, 0, 512, 512}, {256, 0, 2048, 4096, 4096, 8192, 8192}},
	{10, 0, {128, 256}, {128, 0, 4096, 8192, 8192, 16384, 16384}},
	{12, 0, {4, 256, 0, 256, 256}, {0, 0, 512, 1024, 1024, 2048, 2048}},
};

static const struct peak *peak_of(const struct device_properties *p)
{
	return array_find(peak, peaks, sizeof(peaks) / sizeof(*peaks),
			  peak->major == p->values[TF_ATTRIBUTE_MAJOR] && peak->minor == p->values[TF_ATTRIBUTE_MINOR]);
}

double device_peak(const struct device_properties *p, enum number_type type, bool on_tensor_cores)
{
	double clocks = 1e3 * p->values[TF_ATTRIBUTE_CLOCK] * p->values[TF_ATTRIBUTE_SM_COUNT];

	const struct peak *of = type == NUMBER_UNKNOWN ? NULL : peak_of(p);

	return of && clocks > 0 ? clocks * (on_tensor_cores ? of->tensor : of->plain)[type - 1] : 0;
}

static void remark_device(const struct trace *t, uint32_t device, struct buffer *ret)
{
	struct device_properties p = device_properties(t, device);

	if (p.is_known && peak_of(&p))
		return;
	buffer_text(ret, ret->size ? ", " : "no peak rates are known of ");
	device_name(t, device, ret);
	if (p.is_known)
		buffer_print(ret, " with compute capability %d.%d", p.values[TF_ATTRIBUTE_MAJOR],
			     p.values[TF_ATTRIBUTE_MINOR]);
	else
		buffer_text(ret, ", whose attributes were not recorded");
}

void device_peak_remark(const struct model *m, struct buffer *ret)
{
	SCOPED(buffer) unknown = {0};
	SCOPED(map) seen = {0};

	for (size_t i = 0; i < m->image_count; i++) {
		const struct trace *t = m->images[i].trace;

		blobs_each(b, t, TF_BLOB_DEVICE_NAME) {
			bool is_new;

			map_put(&seen, m->images[i].machine, b->id, &is_new);
			if (is_new)
				remark_device(t, b->id, &unknown);
		}
	}
	buffer_text(ret, "FLOPs and bytes are those of operators and library calls, bytes an estimate of inputs and "
			 "results; peak rates are at the clocks that the driver reports");
	if (unknown.size)
		buffer_print(ret, "; %s", unknown.data);
}
