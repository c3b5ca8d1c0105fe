/* SPDX-License-Identifier: Apache-2.0 */
/* A PyTorch that was built without CUDA lacks one object, by which its profiler reaches NVTX; we give it ours, and emit_nvtx works as in
 * a CUDA build, with the same texts. That object has a table of virtual functions, whose order is PyTorch's own (the same
 * from 1.12 to 2.13): before it is relied upon, one operator runs on a table that only looks at which of them are called. */
#include "preload/python/annotate.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/common/loaded.h"

/* torch::profiler::impl::ProfilerStubs, as the Itanium ABI lays it out. The rest of its functions stays PyTorch's. */
enum { PUSH = 3, POP = 4, ENABLED = 5, SLOTS = 10, HEAD = 2 };
typedef void (*slot)(void);
struct stubs {
	const slot *slots;
};

static slot table[HEAD + SLOTS];
static struct stubs ours = {table + HEAD};
static struct stubs *before; /* PyTorch's, NULL: not offered */
static void (*give)(struct stubs *);
static uint32_t calls[SLOTS];
static bool is_in_order;

/* A program's own emit_nvtx is refused as without us. */
static __thread bool is_opening;

/* ---- what stands in the table ---- */

static bool look(unsigned at)
{
	is_in_order &= at == ENABLED ? !calls[PUSH] : at == PUSH ? calls[ENABLED] : at == POP && calls[POP] < calls[PUSH];
	calls[at]++;
	return true;
}
#define LOOK(at)                                                                                                       \
	static bool look_##at(void)                                                                                    \
	{                                                                                                              \
		return look(at);                                                                                       \
	}
LOOK(0) LOOK(1) LOOK(2) LOOK(3) LOOK(4) LOOK(5) LOOK(6) LOOK(7) LOOK(8) LOOK(9)
#undef LOOK

static void push(const struct stubs *self, const char *text)
{
	annotate_push(NULL, text);
}

static void pop(const struct stubs *self)
{
	annotate_pop(NULL);
}

static bool enabled(const struct stubs *self)
{
	return is_opening;
}

/* ---- offering it ---- */

bool annotate_torch_offer(void)
{
	static bool (*const looks[SLOTS])(void) = {look_0, look_1, look_2, look_3, look_4, look_5, look_6, look_7, look_8, look_9};
	static const char library[] = "libtorch_cpu.so";
	struct stubs *(*ask)(void) = loaded_in(library, "_ZN5torch8profiler4impl9cudaStubsEv");

	give = loaded_in(library, "_ZN5torch8profiler4impl19registerCUDAMethodsEPNS1_13ProfilerStubsE");
	before = ask && give ? ask() : NULL;
	/* Its own for want of CUDA has no members; another's, of a library beside it, may. */
	if (!before || before == &ours || loaded_start(before) != loaded_start((void *)ask))
		return false;
	memcpy(table, before->slots - HEAD, HEAD * sizeof(*table));
	for (unsigned i = 0; i < SLOTS; i++)
		table[HEAD + i] = (slot)looks[i];
	memset(calls, 0, sizeof(calls));
	is_in_order = true;
	give(&ours);
	return true;
}

bool annotate_torch_settle(void)
{
	if (!is_in_order || !calls[PUSH] || calls[PUSH] != calls[POP]) {
		give(before);
		return false;
	}
	memcpy(table + HEAD, before->slots, SLOTS * sizeof(*table));
	table[HEAD + PUSH] = (slot)push;
	table[HEAD + POP] = (slot)pop;
	table[HEAD + ENABLED] = (slot)enabled;
	return true;
}

void annotate_torch_open(bool is_open)
{
	is_opening = is_open;
}
