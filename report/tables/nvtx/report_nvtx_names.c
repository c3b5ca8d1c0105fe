/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_names: what a program named by NVTX, apart from ranges. */
#include <inttypes.h>

#include "report/events/nvtx/nvtx_define.h"
#include "report/tables/report.h"

static const char *kind_of(const struct tf_nvtx *n)
{
	static const char *const kinds[] = {
		[TF_NVTX_CATEGORY] = "category", [TF_NVTX_RESOURCE] = "resource", [TF_NVTX_SCHEMA] = "payload schema",
		[TF_NVTX_ENUM] = "payload enum", [TF_NVTX_SCOPE] = "scope", [TF_NVTX_COUNTER] = "counter"};

	if (n->kind >= sizeof(kinds) / sizeof(*kinds) || !kinds[n->kind])
		return "?";
	if (n->kind != TF_NVTX_RESOURCE)
		return kinds[n->kind];
	switch (n->type) {
	case TF_NVTX_OS_THREAD:
		return "thread";
	case TF_NVTX_CUDA_DEVICE:
	case TF_NVTX_CUDART_DEVICE:
		return "CUDA device";
	case TF_NVTX_CUDA_CONTEXT:
		return "CUDA context";
	case TF_NVTX_CUDA_STREAM:
	case TF_NVTX_CUDART_STREAM:
		return "CUDA stream";
	case TF_NVTX_CUDA_EVENT:
	case TF_NVTX_CUDART_EVENT:
		return "CUDA event";
	}
	return kinds[TF_NVTX_RESOURCE];
}

/* Handles are shown in hexadecimal if they are larger than any number that a program would choose. */
static void add_id(struct table *table, uint64_t id)
{
	SCOPED(buffer) text = {0};

	buffer_print(&text, id >> 32 ? "0x%" PRIx64 : "%" PRIu64, id);
	table_text(table, text.data);
}

static void nvtx_names_add_image(const struct image *image, struct table *table)
{
	SCOPED(nvtx_definitions) d = {0};

	nvtx_definitions_make(&d, image->trace);
	list_each(const struct nvtx_definition, n, &d) {
		SCOPED(buffer) name = {0};

		if (n->head.domain)
			trace_definition_text(image->trace, TF_BLOB_DOMAIN, n->head.domain, &name);
		table_cells(table, image->pid, buffer_string(&name), kind_of(&n->head));
		add_id(table, n->head.id);
		table_text(table, n->name);
	}
}

void report_nvtx_names(const struct report_context *c, struct table *table)
{
	table_has(table, COL_PID, COL_DOMAIN, COL_KIND, COL_NVTX_ID, COL_NAME);
	for (size_t i = 0; i < c->model->image_count; i++)
		if (c->model->images[i].trace)
			nvtx_names_add_image(&c->model->images[i], table);
}
