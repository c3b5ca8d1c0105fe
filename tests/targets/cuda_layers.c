/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_layers STEPS EXTRA: eight kernels in each step, each launched at a line of its own; the attention's has EXTRA
 * blocks more. */
#include <stdlib.h>

#include "cuda_stub.h"

enum { LAYERS = 8 };

static void nothing(const unsigned *grid, const unsigned *block, void **params)
{
}

static const struct simgpu_kernel kernels[LAYERS] = {
	{"_Z5embedPf", nothing, 0, {0}},   {"_Z9attentionPf", nothing, 0, {0}}, {"_Z7softmaxPf", nothing, 0, {0}},
	{"_Z7projectPf", nothing, 0, {0}}, {"_Z9normalizePf", nothing, 0, {0}}, {"_Z8activatePf", nothing, 0, {0}},
	{"_Z4lossPf", nothing, 0, {0}},    {"_Z6updatePf", nothing, 0, {0}},
};
CUDA_STUB_IMAGE(kernels);

/* The addresses that programs pass as kernels. */
static const char places[LAYERS];

__attribute__((constructor)) static void register_all(void)
{
	cuda_stub_begin();
	for (int i = 0; i < LAYERS; i++)
		cuda_stub_kernel(&places[i], kernels[i].name);
	cuda_stub_end();
}

#define LAUNCH(layer, blocks) \
	cudaLaunchKernel(&places[layer], (dim3){blocks, 1, 1}, (dim3){256, 1, 1}, NULL, 0, NULL)

static void forward(unsigned extra)
{
	LAUNCH(0, 800);
	LAUNCH(1, 4000 + extra); /* PLANT */
	LAUNCH(2, 1200);
	LAUNCH(3, 3000);
}

static void backward(void)
{
	LAUNCH(4, 700);
	LAUNCH(5, 900);
	LAUNCH(6, 500);
	LAUNCH(7, 2000);
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 1;
	unsigned extra = argc > 2 ? (unsigned)atol(argv[2]) : 0;

	for (long i = 0; i < steps; i++) {
		forward(extra);
		backward();
		cudaDeviceSynchronize();
	}
	return 0;
}
