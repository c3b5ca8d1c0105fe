/* SPDX-License-Identifier: Apache-2.0 */
/* What stacks tell beyond their line: Python's interpreter collects garbage or waits for its lock, OpenMP polls. */

#include "report/causes/ranks/rank_build.h"

enum { INNERMOST = 12, WHOLE_STACK = 64 };

/* Finalizers run inside of the collector, so an outer frame counts as well. Interpreters without a symbol table have no
 * names of these functions. */
static bool is_collecting(struct symbols *s, const struct image *image, uint32_t stack)
{
	struct symbol_frame frames[INNERMOST];
	size_t count = symbols_native(s, image, stack, frames, INNERMOST);

	for (size_t i = 0; i < count; i++) {
		symbols_name(s, &frames[i]);
		if (function_collects_garbage(frames[i].line->function))
			return true;
	}
	return false;
}

enum rank_cause_kind delays_sample_kind(struct delays *d, const struct image *image, uint32_t stack)
{
	struct symbols *s = d->context->symbols;
	uint64_t *known = map_put(&d->kinds, (uint64_t)(image - d->context->model->images), stack, NULL);

	if (!*known)
		*known = 1 + (!stack				       ? RANK_COMPUTES
			      : attribution_is_interpreter(s, image, stack) && is_collecting(s, image, stack) ? RANK_GC
			      : attribution_is_of_openmp(s, image, stack)      ? RANK_OPENMP
									       : RANK_COMPUTES);
	return (enum rank_cause_kind)(*known - 1);
}

/* A worker of OpenMP was started by its run-time library. */
bool delays_is_worker(struct delays *d, const struct image *image, uint32_t stack)
{
	uint64_t *known = map_put(&d->workers, (uint64_t)(image - d->context->model->images), stack, NULL);
	struct symbol_frame frames[WHOLE_STACK];
	size_t count = *known || !stack ? 0 : symbols_native(d->context->symbols, image, stack, frames, WHOLE_STACK);
	bool is_worker = false;

	for (size_t i = 0; i < count && !is_worker; i++)
		is_worker = attribution_is_openmp(frames[i].module);
	if (!*known)
		*known = 1 + is_worker;
	return *known > 1;
}

/* As docs/decisions/python-gil.md says. */
bool delays_is_gil(struct delays *d, const struct image *image, const struct function *f, uint32_t stack)
{
	return f && f->kind.does & FUNCTION_CONDITION &&
	       attribution_is_interpreter(d->context->symbols, image, stack);
}
