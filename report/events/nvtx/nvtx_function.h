/* SPDX-License-Identifier: Apache-2.0 */
/* Python functions whose calls are ranges, as --python-functions-trace records them. */
#pragma once

#include "report/events/nvtx/nvtx_define.h"

enum { NVTX_FUNCTION_TEXT = 4096 };

struct nvtx_function {
	char name[NVTX_FUNCTION_TEXT]; /* qualified */
	char file[NVTX_FUNCTION_TEXT];
	uint32_t first_line;
};

struct nvtx_functions {
	struct nvtx_definitions definitions;
	struct map named; /* domain, hash of the text -> position of the definition */
};

/* Those of an image. `t` may be NULL. The caller frees them with nvtx_functions_done. */
void nvtx_functions_make(struct nvtx_functions *f, const struct trace *t);
void nvtx_functions_done(struct nvtx_functions *f);

static inline bool nvtx_functions_any(const struct nvtx_functions *f)
{
	return f->named.count;
}

/* The function of which a range with this text is a call. False: it is a range of another kind. */
bool nvtx_function_find(const struct nvtx_functions *f, uint32_t domain, uint32_t text, struct nvtx_function *ret);
