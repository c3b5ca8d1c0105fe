/* SPDX-License-Identifier: Apache-2.0 */
/* The library: each function folds its arguments, in their order, into its result. */
#include "library_passing.hpp"

#include <cerrno>
#include <cstring>

static uint64_t folded;

static void fold(uint64_t word)
{
	folded = (folded ^ word) * 0x9fb21c651e98df25;
	folded ^= folded >> 29;
}

static void fold(double number)
{
	uint64_t word;

	memcpy(&word, &number, sizeof(word));
	fold(word);
}

static void fold_all()
{
}

template <typename First, typename... Rest> static void fold_all(First first, Rest... rest)
{
	fold(first);
	fold_all(rest...);
}

template <typename... Arguments> static uint64_t fold_of(Arguments... arguments)
{
	folded = 1;
	fold_all(arguments...);
	return folded;
}

int cublasSgemm_v2(uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
	uint64_t a8, uint64_t a9, uint64_t a10, uint64_t a11, uint64_t a12, uint64_t a13, uint64_t a14)
{
	uint64_t sum = fold_of(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14);

	return (int)(sum & 0xffff);
}

int cudnnNormalizationBackward(uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
	uint64_t a7, uint64_t a8, uint64_t a9, uint64_t a10, uint64_t a11, uint64_t a12, uint64_t a13, uint64_t a14,
	uint64_t a15, uint64_t a16, uint64_t a17, uint64_t a18, uint64_t a19, uint64_t a20, uint64_t a21, uint64_t a22,
	uint64_t a23, uint64_t a24, uint64_t a25, uint64_t a26, uint64_t a27, uint64_t a28, uint64_t a29, uint64_t a30,
	uint64_t a31, uint64_t a32)
{
	uint64_t sum = fold_of(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
		a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32);

	return (int)(sum & 0xffff);
}

double cublasDgemm_v2(double a1, uint64_t a2, double a3, uint64_t a4, uint64_t a5, double a6, uint64_t a7,
	uint64_t a8, uint64_t a9, uint64_t a10, double a11, uint64_t a12, uint64_t a13, double a14, uint64_t a15,
	uint64_t a16, uint64_t a17, double a18, uint64_t a19, double a20, double a21, uint64_t a22)
{
	uint64_t sum = fold_of(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
		a19, a20, a21, a22);

	return (double)sum / 3;
}

struct pair cublasSrot_v2(struct pair a1, uint64_t a2, uint64_t a3, uint64_t a4, float a5, uint64_t a6,
	uint64_t a7, uint64_t a8, uint64_t a9, uint64_t a10, struct pair a11)
{
	uint64_t sum = fold_of(a1.a, a1.b, a2, a3, a4, (double)a5, a6, a7, a8, a9, a10, a11.a, a11.b);

	return {(double)sum / 5, (double)sum / 7};
}

struct words cublasHgemm(struct words a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
	uint64_t a7, uint64_t a8, uint64_t a9, uint64_t a10, uint64_t a11, uint64_t a12, uint64_t a13)
{
	uint64_t sum = fold_of(a1.a, a1.b, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13);

	return {sum, ~sum};
}

struct large cublasCgemm_v2(uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
	uint64_t a7, uint64_t a8, uint64_t a9, uint64_t a10, uint64_t a11, uint64_t a12, uint64_t a13)
{
	uint64_t sum = fold_of(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13);

	return {{sum, sum + 1, sum + 2, sum + 3, sum + 4, sum + 5}};
}

int cusparseSpMM(void (*callback)(void *), void *argument, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
		 uint64_t a7, uint64_t a8, uint64_t a9, uint64_t a10, uint64_t a11)
{
	uint64_t sum = fold_of(a3, a4, a5, a6, a7, a8, a9, a10, a11);

	if (callback)
		callback(argument);
	errno = 77;
	return (int)(sum & 0xffff);
}
