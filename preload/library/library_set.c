/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of attributes and kinds: cublasLt.h of CUDA 13, cudnn_graph.h of cuDNN 9; they have not changed since their
 * first release. */
#include "preload/library/library_set.h"

#include <string.h>

/* ---- cuBLASLt: (descriptor, attribute, address, bytes) ---- */

/* The field of an attribute; 0: not recorded. */
static const uint8_t layout_fields[] = {TF_FIELD_TYPE,  0, TF_FIELD_M, TF_FIELD_N, TF_FIELD_LEADING, TF_FIELD_BATCH,
					TF_FIELD_STRIDE};
static const uint8_t descriptor_fields[] = {TF_FIELD_COMPUTE,
					    0,
					    0,
					    TF_FIELD_TRANSPOSE | TF_ROLE_A,
					    TF_FIELD_TRANSPOSE | TF_ROLE_B,
					    TF_FIELD_TRANSPOSE | TF_ROLE_C,
					    0,
					    TF_FIELD_MODE /* epilogue */};

static void set_attribute(const uintptr_t *words, const uint8_t *fields, size_t count)
{
	size_t attribute = (unsigned)words[2], bytes = words[4];
	const void *at = (const void *)words[3];
	int64_t wide;
	int32_t narrow;

	if (attribute >= count || !fields[attribute] || !at || (bytes != 4 && bytes != 8))
		return;
	memcpy(&wide, at, bytes == 8 ? 8 : 4);
	memcpy(&narrow, at, 4);
	library_note_field(words[1], fields[attribute], bytes == 8 ? wide : narrow);
}

static void set_lt_layout(const uintptr_t *words)
{
	set_attribute(words, layout_fields, sizeof(layout_fields));
}
const struct library_body library_set_lt_layout = {.note = set_lt_layout};

static void set_lt_descriptor(const uintptr_t *words)
{
	set_attribute(words, descriptor_fields, sizeof(descriptor_fields));
}
const struct library_body library_set_lt_descriptor = {.note = set_lt_descriptor};

/* ---- cuDNN ---- */

static void set_dnn_groups(const uintptr_t *words)
{
	library_note_field(words[1], TF_FIELD_GROUPS, (int)words[2]);
}
const struct library_body library_set_dnn_groups = {.note = set_dnn_groups};

/* The backend: (descriptor, attribute, type, count, address). A descriptor copies the notes of the descriptors that it
 * contains, so that a plan has the operations of its graph. */
enum {
	DNN_DATA_TYPE = 1,
	DNN_INT64 = 3,
	DNN_DESCRIPTOR = 15,
	DNN_KIND_GRAPH = 15,
	DNN_KIND_TENSOR = 17,
	DNN_LISTED = 8
};

static const struct {
	uint16_t attribute;
	uint8_t field; /* or the role of a descriptor */
} backend_attributes[] = {
	{100, TF_FIELD_COMPUTE},
	{102, TF_FIELD_DILATION},
	{103, TF_FIELD_STEP},
	{105, TF_FIELD_PADDING},
	{901, TF_FIELD_TYPE},
	{902, TF_FIELD_DIMENSION},
	{1301, TF_FIELD_ENGINE},
	/* operands of convolutions: forward, by data, by filter; of pointwise operations, products and reductions */
	{703, TF_ROLE_B},
	{704, TF_ROLE_A},
	{705, TF_ROLE_C},
	{709, TF_ROLE_B},
	{710, TF_ROLE_A},
	{711, TF_ROLE_C},
	{715, TF_ROLE_B},
	{716, TF_ROLE_A},
	{717, TF_ROLE_C},
	{751, TF_ROLE_A},
	{752, TF_ROLE_B},
	{753, TF_ROLE_C},
	{1520, TF_ROLE_A},
	{1521, TF_ROLE_B},
	{1522, TF_ROLE_C},
	{1610, TF_ROLE_A},
	{1611, TF_ROLE_C},
	/* a convolution's description; a graph's operations, an engine's graph, a configuration's engine, a plan's
	   configuration */
	{702, TF_ROLE_NONE},
	{708, TF_ROLE_NONE},
	{714, TF_ROLE_NONE},
	{801, TF_ROLE_NONE},
	{1300, TF_ROLE_NONE},
	{300, TF_ROLE_NONE},
	{401, TF_ROLE_NONE},
};

/* The kind of the handle itself is first in its note. */
static void drop_kind(struct tf_operation *op)
{
	if (!op->count || op->fields[0] != TF_FIELD_KIND)
		return;
	op->count--;
	memmove(op->fields, op->fields + 1, op->count);
	memmove(op->values, op->values + 1, op->count * sizeof(op->values[0]));
}

/* `role` may be none. Of several operations only the first is copied with its operands. Of descriptors that only group
 * others, the contents are copied. */
static void take_over(struct tf_operation *parent, uintptr_t child, uint8_t role, bool is_first)
{
	struct tf_operation op = {0};
	int64_t kind;

	library_append(&op, child, 0);
	kind = op.count && op.fields[0] == TF_FIELD_KIND ? op.values[0] : -1;
	if (kind < 10 || kind == DNN_KIND_GRAPH || kind == DNN_KIND_TENSOR || kind == 18)
		drop_kind(&op);
	else if (!is_first)
		op.count = op.count ? 1 : 0;
	for (unsigned i = 0; i < op.count; i++)
		library_field(parent, op.fields[i] | role, op.values[i]);
}

static void set_backend(uintptr_t descriptor, uint8_t field, unsigned type, const uintptr_t *words)
{
	const int64_t *values = (const int64_t *)words[5];
	int64_t count = (int64_t)words[4] < DNN_LISTED ? (int64_t)words[4] : DNN_LISTED;
	struct tf_operation op = {0};

	library_append(&op, descriptor, 0);
	for (int64_t i = 0; i < count; i++) {
		if (type == DNN_DESCRIPTOR)
			take_over(&op, (uintptr_t)values[i], field, i == 0);
		else if (type == DNN_INT64)
			library_field(&op, field, values[i]);
		else if (type == DNN_DATA_TYPE)
			library_field(&op, field, ((const int32_t *)values)[i]);
	}
	library_note_all(descriptor, &op);
}

static void set_dnn_backend(const uintptr_t *words)
{
	unsigned attribute = (unsigned)words[2], type = (unsigned)words[3];

	if (!words[5] || (type != DNN_DESCRIPTOR && type != DNN_INT64 && type != DNN_DATA_TYPE))
		return;
	for (size_t i = 0; i < sizeof(backend_attributes) / sizeof(backend_attributes[0]); i++)
		if (backend_attributes[i].attribute == attribute)
			set_backend(words[1], backend_attributes[i].field, type, words);
}
const struct library_body library_set_dnn_backend = {.note = set_dnn_backend};
