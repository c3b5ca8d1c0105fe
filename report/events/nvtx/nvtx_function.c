/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/nvtx/nvtx_function.h"

#include <string.h>

void nvtx_functions_make(struct nvtx_functions *f, const struct trace *t)
{
	*f = (struct nvtx_functions){0};
	nvtx_definitions_make(&f->definitions, t);
	for (size_t i = 0; i < f->definitions.count; i++) {
		const struct nvtx_definition *n = &f->definitions.items[i];

		if (n->head.kind == TF_NVTX_FUNCTION)
			*map_put(&f->named, n->head.domain, hash_bytes(n->name, strlen(n->name)), NULL) = i;
	}
}

void nvtx_functions_done(struct nvtx_functions *f)
{
	map_done(&f->named);
	nvtx_definitions_done(&f->definitions);
}

bool nvtx_function_find(const struct nvtx_functions *f, uint32_t domain, uint32_t text, struct nvtx_function *ret)
{
	const struct trace *t = f->definitions.trace;
	const struct nvtx_definition *n;
	SCOPED(buffer) b = {0};
	const uint64_t *place;
	bool is_found;

	if (!trace_definition_text(t, TF_BLOB_STRING, text, &b))
		return false;
	place = map_find(&f->named, domain, hash_bytes(buffer_string(&b), b.size));
	n = place ? &f->definitions.items[*place] : NULL;
	is_found = n && !strcmp(n->name, buffer_string(&b)) &&
		   nvtx_definition_entry(n, 0, NULL, ret->name, sizeof(ret->name)) &&
		   nvtx_definition_entry(n, 1, NULL, ret->file, sizeof(ret->file));
	if (is_found)
		ret->first_line = (uint32_t)n->head.id;
	return is_found;
}
