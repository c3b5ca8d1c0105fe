/* SPDX-License-Identifier: Apache-2.0 */
/* The names of kernels, by function or handle.
 *
 * Programs register the names of kernels when they are loaded (PyTorch 100,000 of them), long before most are launched,
 * if ever. Only the address of a name is stored when it is registered. The name is written with the first launch. */
#include <string.h>

#include "preload/cuda/cuda_call.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/names.h"
#include "runtime/recorder/record/ring/ring.h"

#define OWN_COPY (1ull << 63) /* flag in a name's address: it is our copy, not in a library that may be unloaded */

static struct intern_table name_of; /* host function or handle -> address of the kernel's name */
static uint64_t renamed;     /* increases when an address gets another name */

static void set_name(uintptr_t function, uint64_t name)
{
	struct intern_entry *e;
	uint32_t number;
	uint64_t old;
	bool is_new;

	if (!function || !name || !(process_gate.groups & (1u << TF_GROUP_CUDA | 1u << TF_GROUP_CUDA_DRIVER)))
		return;
	e = intern_add(&name_of, function, &number, &is_new);
	old = e ? __atomic_exchange_n(&e->value, name, __ATOMIC_ACQ_REL) : 0;
	if (old && old != name)
		__atomic_fetch_add(&renamed, 1, __ATOMIC_RELAXED);
}

void cuda_name_know(uintptr_t function, const char *name)
{
	set_name(function, (uint64_t)name);
}

void cuda_name_know_as(uintptr_t handle, uintptr_t function)
{
	set_name(handle, intern_get(&name_of, function));
}

void cuda_name_know_copy(uintptr_t handle, const char *name)
{
	size_t length = strnlen(name, EVENT_TEXT);
	char *copy;
	uint64_t old = intern_get(&name_of, handle);

	if (old & OWN_COPY && !strncmp((const char *)(old & ~OWN_COPY), name, length + 1))
		return;
	copy = names_take(length + 1);
	if (copy) {
		memcpy(copy, name, length);
		set_name(handle, (uint64_t)copy | OWN_COPY);
	}
}

/* A failing runtime function sets the last error, which the program must not see: it is cleared again. */
static const char *name_from_runtime(uintptr_t function, void *namer)
{
	cudaError_t (*get_name)(const char **, uintptr_t) = dso_beside(namer, "cudaFuncGetName");
	cudaError_t (*peek)(void) = dso_beside(namer, "cudaPeekAtLastError");
	cudaError_t (*clear_error)(void) = dso_beside(namer, "cudaGetLastError");
	const char *name = NULL;

	if (!get_name || !peek || !clear_error || peek() || !get_name(&name, function))
		return name;
	clear_error();
	return NULL;
}

/* The handle is a CUfunction or a CUkernel, which only the driver can distinguish. */
static const char *name_from_driver(uintptr_t function, void *namer)
{
	static const char *const functions[] = {"cuFuncGetName", "cuKernelGetName"};
	const char *name = NULL;

	for (size_t i = 0; i < 2 && !name; i++) {
		CUresult (*get_name)(const char **, uintptr_t) = dso_beside(namer, functions[i]);

		if (!get_name)
			get_name = dso_library_symbol("libcuda.so", functions[i]);
		if (!get_name || get_name(&name, function))
			name = NULL;
	}
	return name;
}

/* For a handle that the program obtained in another way (cuModuleEnumerateFunctions, a lookup before us), or whose name
 * was not in a library. From CUDA 12.3 on, the library that has just launched it can return the name; the launch
 * succeeded, so the handle is valid. */
static void find_name(uintptr_t function, void *namer, unsigned layer)
{
	struct thread_guard guard;
	const char *name;

	thread_guard_enter(&thread_self, &guard);
	name = layer == TF_GROUP_CUDA ? name_from_runtime(function, namer) : name_from_driver(function, namer);
	thread_guard_leave(&thread_self, &guard);
	if (name)
		cuda_name_know_copy(function, name);
}

static uint32_t intern_kernel_name(uintptr_t function)
{
	uint64_t value = intern_get(&name_of, function);
	const char *name = (const char *)(value & ~OWN_COPY);
	int64_t length = !value ? -1 : value & OWN_COPY ? (int64_t)strlen(name) : caller_text_length(name);

	if (length <= 0)
		return 0;
	return event_intern(TF_BLOB_KERNEL, name, length < EVENT_TEXT ? (size_t)length : EVENT_TEXT);
}

/* The name is looked up once per function and image; the entry's value is its id. */
static uint32_t kernel_id(uintptr_t function, uint64_t salt)
{
	struct intern_entry *e;
	uint32_t number, id;
	bool is_new;

	e = definition_add(intern_hash(salt ^ 0x6b, &function, sizeof(function)), &number, &is_new);
	if (!e)
		return 0;
	id = (uint32_t)__atomic_load_n(&e->value, __ATOMIC_RELAXED);
	if (!id) {
		id = intern_kernel_name(function);
		__atomic_store_n(&e->value, id, __ATOMIC_RELAXED);
	}
	return id;
}

/* Names become invalid when libraries are loaded or unloaded. */
static uint64_t salt_now(void)
{
	return (__atomic_load_n(&renamed, __ATOMIC_RELAXED) + __atomic_load_n(&caller_epoch, __ATOMIC_RELAXED)) << 8;
}

uint32_t cuda_name_id(uintptr_t function)
{
	return kernel_id(function, salt_now());
}

/* Writes the definition of a launch, if it is the first one with these parameters. */
static __attribute__((noinline)) uint32_t launch_define(uint64_t key, uint64_t salt, struct tf_launch *launch,
							bool is_kernel, void *namer, unsigned layer)
{
	uint32_t id;
	bool is_new;

	if (!definition_add(key, &id, &is_new))
		return 0;
	if (is_new) {
		launch->kernel = is_kernel ? kernel_id(launch->function, salt) : 0;
		if (namer && is_kernel && !launch->kernel) {
			find_name(launch->function, namer, layer);
			launch->kernel = kernel_id(launch->function, salt);
		}
		event_blob(TF_BLOB_LAUNCH, id, launch, sizeof(*launch));
	}
	return id;
}

/* x and y were passed in one register and stored as one word: loading them as one word does not stall. */
static inline uint64_t launch_key(uint64_t salt, uintptr_t function, const dim3 *grid, const dim3 *block,
				  size_t shared, uintptr_t stream)
{
	uint64_t grid_xy = ~0ull, block_xy = ~0ull, both_z = ~0ull, key;

	if (grid) {
		memcpy(&grid_xy, grid, sizeof(grid_xy));
		memcpy(&block_xy, block, sizeof(block_xy));
		both_z = grid->z | (uint64_t)block->z << 32;
	}
	key = intern_fold(intern_fold(function, grid_xy) + intern_fold(block_xy, both_z),
			 intern_fold(shared ^ salt, stream));
	return key ? key : 1;
}

unsigned cuda_launch(uint64_t *words, uintptr_t function, const dim3 *grid, const dim3 *block, size_t shared,
		     uintptr_t stream, void *namer, unsigned layer)
{
	/* The hash is of the function, which determines the kernel, so that a known launch is found without looking up
	 * the kernel. */
	uint64_t salt = salt_now(), key = launch_key(salt, function, grid, block, shared, stream);
	uint32_t id = definition_number(key);

	if (grid && namer)
		cupti_launched((void *)stream);
	if (__builtin_expect(!id, 0)) {
		struct tf_launch launch = {.shared_bytes = (uint32_t)shared, .stream = stream, .function = function};

		if (grid) {
			memcpy(launch.grid, &(uint32_t[]){grid->x, grid->y, grid->z}, sizeof(launch.grid));
			memcpy(launch.block, &(uint32_t[]){block->x, block->y, block->z}, sizeof(launch.block));
		}
		id = launch_define(key, salt, &launch, grid, namer, layer);
		if (!id)
			return 0;
	}
	words[0] = tf_arg(TF_ARG_LAUNCH, 0, id);
	return 1;
}
