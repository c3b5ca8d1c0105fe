/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch's profiler reaches NVTX through an object with virtual functions, which a build without CUDA lacks. It is
 * replaced by ours, and emit_nvtx then works as in a build with CUDA, with the same texts.
 *
 * The order of the virtual functions is that of PyTorch 1.12 to 2.13. To verify the order, one operator first runs with
 * a table whose functions only record that they were called. */
#include "preload/python/annotate_parts.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "preload/nvtx/nvtx_tool.h"
#include "preload/python/python_api.h"
#include "runtime/recorder/loader/dso.h"

/* torch::profiler::impl::ProfilerStubs in the Itanium ABI. Its other functions remain PyTorch's. */
enum { PUSH = 3, POP = 4, ENABLED = 5, SLOTS = 10, HEAD = 2 };
typedef void (*slot)(void);
struct stubs {
	const slot *slots;
};

static slot table[HEAD + SLOTS];
static struct stubs ours = {table + HEAD};
static struct stubs *original; /* PyTorch's; NULL: ours has not been offered */
static void (*register_stubs)(struct stubs *);
static uint32_t calls[SLOTS];
static bool is_in_order;

/* The program's own emit_nvtx fails as it does without us. */
static __thread bool is_opening;

/* ---- functions of the table ---- */

static bool record_trial_call(unsigned at)
{
	if (at == ENABLED)
		is_in_order &= !calls[PUSH];
	else if (at == PUSH)
		is_in_order &= calls[ENABLED] != 0;
	else
		is_in_order &= at == POP && calls[POP] < calls[PUSH];
	calls[at]++;
	return true;
}
#define OBSERVE(at)                                                                                                    \
	static bool observe_##at(void)                                                                                 \
	{                                                                                                              \
		return record_trial_call(at);                                                                          \
	}
OBSERVE(0) OBSERVE(1) OBSERVE(2) OBSERVE(3) OBSERVE(4) OBSERVE(5) OBSERVE(6) OBSERVE(7) OBSERVE(8) OBSERVE(9)
#undef OBSERVE

static void stub_push(const struct stubs *self, const char *text)
{
	nvtx_push(NULL, &(struct nvtx_attributes){.message_type = NVTX_ASCII, .message = text});
}

static void stub_pop(const struct stubs *self)
{
	nvtx_pop(NULL);
}

static bool stub_enabled(const struct stubs *self)
{
	return is_opening;
}

/* ---- replacing PyTorch's object ---- */

static bool trial_begin(void)
{
	static bool (*const observers[SLOTS])(void) = {observe_0, observe_1, observe_2, observe_3, observe_4,
						       observe_5, observe_6, observe_7, observe_8, observe_9};
	static const char library[] = "libtorch_cpu.so";
	struct stubs *(*get_stubs)(void) = dso_library_symbol(library, "_ZN5torch8profiler4impl9cudaStubsEv");

	register_stubs =
		dso_library_symbol(library, "_ZN5torch8profiler4impl19registerCUDAMethodsEPNS1_13ProfilerStubsE");
	original = get_stubs && register_stubs ? get_stubs() : NULL;
	/* PyTorch's own object has no members. One of another library may have some, and is not replaced. */
	if (!original || original == &ours || dso_start(original) != dso_start((void *)get_stubs))
		return false;
	memcpy(table, original->slots - HEAD, HEAD * sizeof(*table));
	for (unsigned i = 0; i < SLOTS; i++)
		table[HEAD + i] = (slot)observers[i];
	memset(calls, 0, sizeof(calls));
	is_in_order = true;
	register_stubs(&ours);
	return true;
}

static bool trial_end(void)
{
	if (!is_in_order || !calls[PUSH] || calls[PUSH] != calls[POP]) {
		register_stubs(original);
		return false;
	}
	memcpy(table + HEAD, original->slots, SLOTS * sizeof(*table));
	table[HEAD + PUSH] = (slot)stub_push;
	table[HEAD + POP] = (slot)stub_pop;
	table[HEAD + ENABLED] = (slot)stub_enabled;
	return true;
}

/* ---- the functions that annotate.py is given ---- */

PYTHON_ANSWER(torch_offer, trial_begin)
PYTHON_ANSWER(torch_settle, trial_end)

static void *torch_open(void *self, void *is_open)
{
	is_opening = python.PyLong_AsVoidPtr(is_open);
	return python_none();
}

static const struct method natives[] = {
	{"torch_offer", torch_offer, TAKES_NOTHING, NULL},
	{"torch_settle", torch_settle, TAKES_NOTHING, NULL},
	{"torch_open", torch_open, TAKES_ONE, NULL},
};

void annotate_torch_offer(void *space)
{
	python_offer(space, natives, sizeof(natives) / sizeof(*natives));
}
