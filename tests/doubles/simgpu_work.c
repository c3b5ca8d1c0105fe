/* SPDX-License-Identifier: Apache-2.0 */
/* The effect and the duration of an operation.
 *
 * The model, in simulated nanoseconds: a kernel 2000 + one for each 64 threads; a copy 1500 + one for each
 * 16 bytes over the bus, 64 bytes between devices, 512 bytes inside a device; a memset 1000 + one for each 512
 * bytes; everything else nothing. Kernels that are timed end when their bodies return, if that is later.
 * PILLION_SIMGPU_SLOWDOWN multiplies it; with PILLION_SIMGPU_SEED, the times of kernels are drawn. Work on different
 * streams does not slow each other down. */
#include "simgpu.h"
#include "simgpu_kernel.h"

#include <stdlib.h>
#include <string.h>

#define FATBIN_WRAPPER_MAGIC 0x466243b1u

static uint64_t slowdown(void)
{
	static uint64_t factor;

	if (!factor) {
		const char *text = getenv("PILLION_SIMGPU_SLOWDOWN");
		long long value = text ? strtoll(text, NULL, 10) : 1;

		factor = value > 0 ? (uint64_t)value : 1;
	}
	return factor;
}

/* ---- chance ---- */

static uint64_t seed(void)
{
	static uint64_t value;
	const char *text = value ? NULL : getenv("PILLION_SIMGPU_SEED");

	if (text)
		value = strtoull(text, NULL, 10);
	return value;
}

bool sim_has_seed(void)
{
	return seed() != 0;
}

uint64_t sim_draw(uint64_t below)
{
	static uint64_t state;

	if (!state)
		state = seed();
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

/* In thousandths. A kernel whose name contains "bimodal" takes either a third or five thirds of its time. */
static uint64_t chance(const char *name)
{
	if (!sim_has_seed())
		return 1000;
	return strstr(name, "bimodal") ? 333 + 1334 * sim_draw(2) : 900 + sim_draw(201);
}

static uint64_t copy_ns(const struct sim_copy *copy)
{
	size_t bytes = sim_copy_bytes(copy);

	if (copy->is_peer && copy->src_device != copy->dst_device)
		return 1500 + bytes / 64;
	if (sim_is_host(copy->src_place) || sim_is_host(copy->dst_place))
		return 1500 + bytes / 16;
	return 1500 + bytes / 512;
}

uint64_t sim_work_ns(const struct sim_work *work)
{
	uint64_t ns = 0;

	switch (work->kind) {
	case SIM_KERNEL: {
		const unsigned *grid = work->kernel.grid, *block = work->kernel.block;

		ns = 2000 + (uint64_t)grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2] / 64;
		ns = ns * chance(work->kernel.function->name) / 1000;
		break;
	}
	case SIM_COPY:
		ns = copy_ns(&work->copy);
		break;
	case SIM_SET:
		ns = 1000 + (uint64_t)work->set.width * work->set.element_bytes * work->set.height / 512;
		break;
	default:
		break;
	}
	return ns * slowdown();
}

/* The kind of memory is derived from the address, so that the caller of a copy need not state it. */
void sim_copy_places(struct sim_copy *copy)
{
	struct sim_allocation found;

	copy->src_device = copy->dst_device = -1;
	copy->src_place = copy->dst_place = SIM_PAGEABLE;
	if (sim_find(copy->src, &found)) {
		copy->src_place = found.place;
		copy->src_device = found.place == SIM_PINNED ? -1 : found.device;
	}
	if (sim_find(copy->dst, &found)) {
		copy->dst_place = found.place;
		copy->dst_device = found.place == SIM_PINNED ? -1 : found.device;
	}
}

static void copy_do(const struct sim_copy *copy)
{
	const char *source = copy->staged ? copy->staged : (const char *)copy->src;
	size_t row_step = copy->staged ? copy->width : copy->src_pitch;
	size_t slice_step = copy->staged ? copy->width * copy->height : copy->src_slice;

	for (size_t slice = 0; slice < copy->depth; slice++) {
		for (size_t row = 0; row < copy->height; row++) {
			memmove((char *)copy->dst + slice * copy->dst_slice + row * copy->dst_pitch,
				source + slice * slice_step + row * row_step, copy->width);
		}
	}
}

static void set_do(const struct sim_work *work)
{
	for (size_t row = 0; row < work->set.height; row++) {
		char *at = (char *)work->set.dst + row * work->set.pitch;

		if (work->set.element_bytes == 1) {
			memset(at, (int)work->set.value, work->set.width);
			continue;
		}
		for (size_t i = 0; i < work->set.width; i++)
			memcpy(at + i * work->set.element_bytes, &work->set.value, work->set.element_bytes);
	}
}

/* ---- kernels with a body ----
 * A program may contain, in place of machine code, a table of kernel bodies. No other kernel is run. */
struct host_args {
	const struct simgpu_kernel *kernel;
	void *params[SIMGPU_KERNEL_PARAMS];
	_Alignas(16) char bytes[];
};

/* Returns NULL for machine code. Unwraps nvcc's wrapper around a fat binary; stops reading at the first difference. */
const struct simgpu_image *sim_image_find(const void *image)
{
	const struct { unsigned magic, version; const void *data; } *wrapper = image;

	if (image && memcmp(image, &(unsigned){ FATBIN_WRAPPER_MAGIC }, sizeof(unsigned)) == 0)
		image = wrapper->data;
	if (!image || strncmp(image, SIMGPU_IMAGE_MAGIC, sizeof(SIMGPU_IMAGE_MAGIC)) != 0)
		return NULL;
	return image;
}

static const struct simgpu_kernel *kernel_find(const struct sim_function *function)
{
	const struct simgpu_image *image = function->module->image;

	if (!image)
		return NULL;
	for (size_t i = 0; i < image->count; i++) {
		if (strcmp(image->kernels[i].name, function->name) == 0)
			return &image->kernels[i];
	}
	return NULL;
}

/* Parameters are read at the launch, as the real driver does: the caller's copies may not exist when it runs. */
CUresult sim_kernel_prepare(struct sim_work *work, void **params, void **extra)
{
	const struct simgpu_kernel *kernel = kernel_find(work->kernel.function);
	struct host_args *args;
	size_t used = 0;

	work->kernel.host_args = NULL;
	if (!kernel || extra || (!params && kernel->param_count))
		return CUDA_SUCCESS;
	args = calloc(1, sizeof(*args) + 16 * SIMGPU_KERNEL_PARAMS);
	if (!args)
		return CUDA_ERROR_OUT_OF_MEMORY;
	args->kernel = kernel;
	for (unsigned i = 0; i < kernel->param_count; i++, used += 16) {
		args->params[i] = args->bytes + used;
		memcpy(args->params[i], params[i], kernel->param_bytes[i] < 16 ? kernel->param_bytes[i] : 16);
	}
	work->kernel.host_args = args;
	return CUDA_SUCCESS;
}

bool sim_work_is_timed(const struct sim_work *work)
{
	return work->kind == SIM_KERNEL && work->kernel.host_args && work->kernel.function->module->image->are_timed;
}

void sim_work_do(const struct sim_work *work)
{
	switch (work->kind) {
	case SIM_KERNEL:
		if (work->kernel.host_args) {
			struct host_args *args = work->kernel.host_args;

			args->kernel->run(work->kernel.grid, work->kernel.block, args->params);
		}
		break;
	case SIM_COPY:
		copy_do(&work->copy);
		break;
	case SIM_SET:
		set_do(work);
		break;
	case SIM_FREE:
		sim_pages_free((void *)work->free.address, work->free.bytes);
		break;
	case SIM_STORE:
		memcpy((void *)work->store.address, &work->store.value, work->store.bytes);
		break;
	default:
		break;
	}
}

/* Makes a copy with its own host arguments. It gets no staged bytes, because graphs never stage. */
CUresult sim_work_copy(struct sim_work *to, const struct sim_work *from)
{
	size_t bytes = sizeof(struct host_args) + 16 * SIMGPU_KERNEL_PARAMS;
	struct host_args *args;

	*to = *from;
	if (from->kind != SIM_KERNEL || !from->kernel.host_args)
		return CUDA_SUCCESS;
	args = malloc(bytes);
	if (!args)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(args, from->kernel.host_args, bytes);
	for (unsigned i = 0; i < args->kernel->param_count; i++)
		args->params[i] = args->bytes + 16 * (size_t)i;
	to->kernel.host_args = args;
	return CUDA_SUCCESS;
}

void sim_work_done(struct sim_work *work)
{
	if (work->kind == SIM_KERNEL) {
		free(work->kernel.host_args);
		work->kernel.host_args = NULL;
	} else if (work->kind == SIM_COPY) {
		free(work->copy.staged);
		work->copy.staged = NULL;
	}
}
