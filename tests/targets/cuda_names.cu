/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with all kinds of C++ names, each launched once. Also built as a library, with plugin_main in main's
 * place. */
#include <cstdio>
#include <utility>

static __global__ void fixed(float *x)
{
	if (x)
		*x = 1;
}

namespace {
struct hidden {
	int value;
};

__global__ void unnamed(hidden h, float *x)
{
	if (x)
		*x = (float)h.value;
}
}

extern "C" __global__ void triton_poi_fused_add_0(float *x)
{
	if (x)
		*x = 2;
}

namespace outer {
namespace inner {
template <class T, int N> struct vector {
	T at[N];
};

enum class way { row, column };

template <class T, int N, way W> __global__ void fill(vector<T, N> v, T *x)
{
	for (int i = 0; x && i < N; i++)
		x[i] = W == way::row ? v.at[i] : v.at[N - 1 - i];
}

template <class F> __global__ void apply(F f, int n)
{
	for (int i = 0; i < n; i++)
		f(i);
}

template <class... A> __global__ void many(A... a)
{
	(void)sizeof...(a);
}
}
}

template <float (*F)(float)> __global__ void over(float *x)
{
	if (x)
		*x = F(*x);
}

__device__ float twice(float x)
{
	return 2 * x;
}

#ifdef PLUGIN
extern "C" int plugin_main()
#else
int main()
#endif
{
	float *x = nullptr;

	fixed<<<1, 32>>>(x);
	unnamed<<<1, 32>>>(hidden{1}, x);
	triton_poi_fused_add_0<<<1, 32>>>(x);
	outer::inner::fill<double, 3, outer::inner::way::column><<<1, 32>>>(outer::inner::vector<double, 3>{},
									    (double *)nullptr);
	outer::inner::apply<<<1, 32>>>([=] __device__(int i) { if (x) x[i] = 3; }, 0);
	outer::inner::many<<<1, 32>>>(1, 2.5f, std::pair<int, const char *>(1, nullptr), 'x');
	over<twice><<<1, 32>>>(x);
	if (cudaDeviceSynchronize() != cudaSuccess || cudaGetLastError() != cudaSuccess)
		return std::puts("failed"), 1;
	return std::puts("done"), 0;
}
