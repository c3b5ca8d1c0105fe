/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel a launch means, and the calls that say so; the capture range's Start and Stop.
 *
 * Programs name kernels when they load (PyTorch 100,000 of them), long before most are launched, if ever: all that is kept
 * then is where the name lies. It goes into the trace with the first launch. */
#include <string.h>

#include "names.h"
#include "wrap_cudart.h"

#define OWN_COPY (1ull << 63) /* of a name's address: it lies in our room, not in a library that may go */

static struct table name_of; /* host function or handle -> address of the kernel's name */
static uint64_t renamed;     /* rises when a known address gets another name */

static void know(uintptr_t function, uint64_t name)
{
	struct table_entry *e;
	uint32_t number;
	uint64_t old;
	bool is_new;

	if (!function || !name || !(process_gate.groups & 1u << TF_GROUP_CUDA))
		return;
	e = table_add(&name_of, function, &number, &is_new);
	old = e ? __atomic_exchange_n(&e->value, name, __ATOMIC_ACQ_REL) : 0;
	if (old && old != name)
		__atomic_fetch_add(&renamed, 1, __ATOMIC_RELAXED);
}

static void know_as(uintptr_t handle, uintptr_t function)
{
	know(handle, table_get(&name_of, function));
}

static void know_copy(uintptr_t handle, const char *name)
{
	size_t length = strnlen(name, EVENT_TEXT);
	char *copy;
	uint64_t old = table_get(&name_of, handle);

	if (old & OWN_COPY && !strncmp((const char *)(old & ~OWN_COPY), name, length + 1))
		return;
	copy = names_take(length + 1);
	if (copy) {
		memcpy(copy, name, length);
		know(handle, (uint64_t)copy | OWN_COPY);
	}
}

/* ---- into the trace ---- */

static uint32_t intern_name(uintptr_t function)
{
	uint64_t value = table_get(&name_of, function);
	const char *name = (const char *)(value & ~OWN_COPY);
	int64_t length = !value ? -1 : value & OWN_COPY ? (int64_t)strlen(name) : caller_text_length(name);

	if (length <= 0)
		return 0;
	return event_intern(TF_BLOB_KERNEL, name, length < EVENT_TEXT ? (size_t)length : EVENT_TEXT);
}

/* Once per function and image: the entry's value is the id. */
static uint32_t kernel_id(uintptr_t function, uint64_t salt)
{
	struct table_entry *e;
	uint32_t number, id;
	bool is_new;

	e = table_add(&process.interned, table_hash(salt ^ 0x6b, &function, sizeof(function)), &number, &is_new);
	if (!e)
		return 0;
	id = (uint32_t)__atomic_load_n(&e->value, __ATOMIC_RELAXED);
	if (!id) {
		id = intern_name(function);
		__atomic_store_n(&e->value, id, __ATOMIC_RELAXED);
	}
	return id;
}

unsigned cudart_launch(uint64_t *words, uintptr_t function, const dim3 *grid, const dim3 *block, size_t shared, uintptr_t stream)
{
	uint64_t salt = (__atomic_load_n(&renamed, __ATOMIC_RELAXED) + __atomic_load_n(&caller_epoch, __ATOMIC_RELAXED)) << 8;
	struct tf_launch launch = {.shared_bytes = (uint32_t)shared, .stream = stream, .function = function};
	uint32_t id;
	bool is_new;

	if (grid && block) {
		memcpy(launch.grid, &(uint32_t[]){grid->x, grid->y, grid->z}, sizeof(launch.grid));
		memcpy(launch.block, &(uint32_t[]){block->x, block->y, block->z}, sizeof(launch.block));
	}
	/* The kernel's id follows from the function, so the launch is known without looking that up. */
	if (!table_add(&process.interned, table_hash(salt ^ TF_BLOB_LAUNCH, &launch, sizeof(launch)), &id, &is_new))
		return 0;
	if (is_new) {
		launch.kernel = grid ? kernel_id(function, salt) : 0;
		event_blob(TF_BLOB_LAUNCH, id, &launch, sizeof(launch));
	}
	words[0] = tf_arg(TF_ARG_LAUNCH, 0, id);
	return 1;
}

/* ---- calls that name kernels ---- */

HOOK_EXPORT void __cudaRegisterFunction(void **binary, const char *function, char *device, const char *name, int limit, void *tid,
					void *bid, void *block, void *grid, int *warp)
{
	void (*real)(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *) =
		CUDART_REAL(__cudaRegisterFunction);

	know((uintptr_t)function, (uintptr_t)name);
	if (real)
		real(binary, function, device, name, limit, tid, bid, block, grid, warp);
}

/* `time` gives the result of the real call. __cudaGetKernel is of nvcc's own making, so it is not shown. */
#define HANDLE_OF_FUNCTION(symbol, time)                                                                               \
	HOOK_EXPORT cudaError_t words_##symbol(void **handle, const void *function) __asm__(#symbol);                  \
	HOOK_EXPORT cudaError_t words_##symbol(void **handle, const void *function)                                    \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		cudaError_t (*real)(void **, const void *) = CUDART_REAL(symbol), result;                              \
                                                                                                                       \
		if (!real)                                                                                             \
			return CUDART_NONE;                                                                            \
		time;                                                                                                  \
		if (!result && handle)                                                                                 \
			know_as((uintptr_t)*handle, (uintptr_t)function);                                              \
		return result;                                                                                         \
	}
HANDLE_OF_FUNCTION(__cudaGetKernel, result = real(handle, function))
HANDLE_OF_FUNCTION(cudaGetKernel, CUDART_TIME(real(handle, function), OTHER, NOTHING))
HANDLE_OF_FUNCTION(cudaGetFuncBySymbol, CUDART_TIME(real(handle, function), OTHER, NOTHING))

HOOK_EXPORT cudaError_t words_cudaLibraryGetKernel(void **kernel, void *library, const char *name) __asm__("cudaLibraryGetKernel");
HOOK_EXPORT cudaError_t words_cudaLibraryGetKernel(void **kernel, void *library, const char *name)
{
	enum { HOOK_CURRENT = HOOK_cudaLibraryGetKernel };
	cudaError_t (*real)(void **, void *, const char *) = CUDART_REAL(cudaLibraryGetKernel), result;

	if (!real)
		return CUDART_NONE;
	CUDART_TIME(real(kernel, library, name), OTHER, NOTHING);
	if (!result && kernel && name)
		know_copy((uintptr_t)*kernel, name);
	return result;
}

/* ---- the capture range ---- */

/* Also where recording is off just now, and where there is no CUDA: scripts call these wherever they run. */
static void move_range(void (*move)(struct tf_range_page *page, uint32_t pid, uint64_t ticks))
{
	int error = errno;

	if (process_gate.groups && event_enter() && process_range && process_range->mode == TF_RANGE_PROFILER_API) {
		struct thread_guard guard;

		thread_guard_enter(&thread_self, &guard);
		move(process_range, process.pid, clock_now());
		thread_guard_leave(&thread_self, &guard);
	}
	cupti_follow(event_wanted(TF_GROUP_CUDA));
	errno = error;
}

HOOK_EXPORT cudaError_t cudaProfilerStart(void)
{
	enum { HOOK_CURRENT = HOOK_cudaProfilerStart };
	cudaError_t (*real)(void) = CUDART_REAL(cudaProfilerStart), result = CUDART_NONE;

	if (real)
		CUDART_TIME(real(), OTHER, NOTHING);
	move_range(range_start);
	return result;
}

HOOK_EXPORT cudaError_t cudaProfilerStop(void)
{
	enum { HOOK_CURRENT = HOOK_cudaProfilerStop };
	cudaError_t (*real)(void) = CUDART_REAL(cudaProfilerStop), result = CUDART_NONE;

	if (real)
		CUDART_TIME(real(), OTHER, NOTHING);
	move_range(range_stop);
	return result;
}
