/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks, their waits, the lines of these, and the groups of waits. */
#include "report/causes/ranks/rank_build.h"

uint32_t delays_lane(struct delays *d, const struct image *image)
{
	return (uint32_t)map_place(&d->lane_of, (uint64_t)(image - d->context->model->images), 0, d->lanes,
				   d->lane_count, d->lane_capacity, (struct rank_lane){.image = image});
}

const struct code_line *delays_line(struct delays *d, const struct image *image, uint32_t stack)
{
	bool is_new;
	uint64_t *known = map_put(&d->stacks, (uint64_t)(image - d->context->model->images), stack, &is_new);

	if (is_new)
		*known = (uintptr_t)attribution_line(&d->attribution, image, stack);
	return (const struct code_line *)(uintptr_t)*known;
}

uint32_t delays_group_of(struct delays *d, const char *name, const struct code_line *line, bool is_collective)
{
	uint32_t number = interner_text_number(&d->texts, name);

	return (uint32_t)map_place(&d->group_of, number, code_line_number(line), d->groups, d->group_count,
				   d->group_capacity,
				   (struct wait_group){.name = number, .line = line, .is_collective = is_collective});
}

uint32_t delays_group(struct delays *d, const struct image *image, uint32_t function, uint32_t stack)
{
	const struct function *f = trace_function(image->trace, function);
	bool is_collective = f && (f->group == TF_GROUP_NCCL ||
				   (f->group == TF_GROUP_MPI && f->kind.match >= MPI_ALL_TO_ALL));

	return delays_group_of(d, f ? f->name : "", delays_line(d, image, stack), is_collective);
}

bool delays_has_group(const struct delays *d, uint32_t name, const struct code_line *line)
{
	return map_find(&d->group_of, name, code_line_number(line)) != NULL;
}

void delays_wait(struct delays *d, const struct rank_wait *w)
{
	mem_append(d->waits, d->wait_count, d->wait_capacity, *w);
}
