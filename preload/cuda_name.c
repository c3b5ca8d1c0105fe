/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel a launch means.
 *
 * Programs name kernels when they load (PyTorch 100,000 of them), long before most are launched, if ever: all that is kept
 * then is where the name lies. It goes into the trace with the first launch. */
#include <string.h>

#include "../runtime/loaded.h"
#include "cuda_call.h"
#include "names.h"

#define OWN_COPY (1ull << 63) /* of a name's address: it lies in our room, not in a library that may go */

static struct table name_of; /* host function or handle -> address of the kernel's name */
static uint64_t renamed;     /* rises when a known address gets another name */

static void know(uintptr_t function, uint64_t name)
{
	struct table_entry *e;
	uint32_t number;
	uint64_t old;
	bool is_new;

	if (!function || !name || !(process_gate.groups & (1u << TF_GROUP_CUDA | 1u << TF_GROUP_CUDA_DRIVER)))
		return;
	e = table_add(&name_of, function, &number, &is_new);
	old = e ? __atomic_exchange_n(&e->value, name, __ATOMIC_ACQ_REL) : 0;
	if (old && old != name)
		__atomic_fetch_add(&renamed, 1, __ATOMIC_RELAXED);
}

void cuda_name_know(uintptr_t function, const char *name)
{
	know(function, (uint64_t)name);
}

void cuda_name_know_as(uintptr_t handle, uintptr_t function)
{
	know(handle, table_get(&name_of, function));
}

void cuda_name_know_copy(uintptr_t handle, const char *name)
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

/* A handle that came another way (cuModuleEnumerateFunctions, a look-up before us): the driver knows, from CUDA 12.3 on. It
 * has just launched it, so the handle is a good one; which of the two kinds the driver can tell. */
static void ask(uintptr_t function, void *namer)
{
	static const char *const questions[] = {"cuFuncGetName", "cuKernelGetName"};
	struct thread_guard guard;
	const char *name = NULL;

	thread_guard_enter(&thread_self, &guard);
	for (size_t i = 0; i < 2 && !name; i++) {
		CUresult (*get_name)(const char **, uintptr_t) = loaded_beside(namer, questions[i]);

		if (!get_name)
			get_name = loaded_in("libcuda.so", questions[i]);
		if (!get_name || get_name(&name, function))
			name = NULL;
	}
	thread_guard_leave(&thread_self, &guard);
	if (name)
		cuda_name_know_copy(function, name);
}

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

/* Known names change when libraries come and go. */
static uint64_t salt_now(void)
{
	return (__atomic_load_n(&renamed, __ATOMIC_RELAXED) + __atomic_load_n(&caller_epoch, __ATOMIC_RELAXED)) << 8;
}

uint32_t cuda_name_id(uintptr_t function)
{
	return kernel_id(function, salt_now());
}

unsigned cuda_launch(uint64_t *words, uintptr_t function, const dim3 *grid, const dim3 *block, size_t shared, uintptr_t stream,
		     void *namer)
{
	uint64_t salt = salt_now();
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
		if (namer && grid && !table_get(&name_of, function))
			ask(function, namer);
		launch.kernel = grid ? kernel_id(function, salt) : 0;
		event_blob(TF_BLOB_LAUNCH, id, &launch, sizeof(launch));
	}
	words[0] = tf_arg(TF_ARG_LAUNCH, 0, id);
	return 1;
}
