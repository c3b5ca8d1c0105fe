/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for libtorch_cpu.so of a build without CUDA: the table by which PyTorch's profiler reaches NVTX, and a
 * profiler that uses it. TORCH_ORDER=other: a later version might have that table in another order; elsewhere:
 * another library has registered an object of its own. */
#include <stdlib.h>
#include <string.h>

typedef void (*slot)(void);
struct stubs {
	const slot *slots;
};

static void fail(void)
{
	abort();
}

static int no(void)
{
	return 0;
}

static const slot absent[2 + 10] = {0, 0, fail, fail, fail, fail, fail, (slot)no, fail, fail, fail, fail};
static struct stubs none = {absent + 2}, *first = &none, *stubs = &none;

static int place(int usual, int other)
{
	const char *order = getenv("TORCH_ORDER");

	return order && !strcmp(order, "other") ? other : usual;
}

struct stubs *_ZN5torch8profiler4impl9cudaStubsEv(void);
struct stubs *_ZN5torch8profiler4impl9cudaStubsEv(void)
{
	return stubs;
}

void _ZN5torch8profiler4impl19registerCUDAMethodsEPNS1_13ProfilerStubsE(struct stubs *s);
void _ZN5torch8profiler4impl19registerCUDAMethodsEPNS1_13ProfilerStubsE(struct stubs *s)
{
	stubs = s;
}

__attribute__((constructor)) static void begin(void)
{
	const char *order = getenv("TORCH_ORDER");

	if (!order || strcmp(order, "elsewhere") != 0)
		return;
	stubs = malloc(sizeof(*stubs));
	if (!stubs)
		abort();
	*stubs = none;
	first = stubs;
}

int torch_is_registered(void);
int torch_is_registered(void)
{
	return stubs != first;
}

int torch_enabled(void);
int torch_enabled(void)
{
	return ((_Bool(*)(struct stubs *))stubs->slots[5])(stubs);
}

void torch_push(const char *text);
void torch_push(const char *text)
{
	((void (*)(struct stubs *, const char *))stubs->slots[place(3, 4)])(stubs, text);
}

void torch_pop(void);
void torch_pop(void)
{
	((void (*)(struct stubs *))stubs->slots[place(4, 3)])(stubs);
}
