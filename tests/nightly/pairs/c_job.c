/* SPDX-License-Identifier: Apache-2.0 */
/* c_job STEPS EXTRA: eight functions in each step; the search makes EXTRA rounds more. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4096, ROUND = 128 };

static uint32_t words[COUNT], sorted[COUNT];
static double values[COUNT];
static char text[4 * COUNT];

#define STAGE static __attribute__((noinline)) uint64_t

STAGE scan_words(long extra)
{
	uint64_t sum = 0;

	for (int i = 0; i < 4 * COUNT; i++)
		sum += words[i % COUNT] >> (i & 7);
	for (long i = 0; i < extra * ROUND; i++)
		sum ^= words[i % COUNT] * (sum | 1); /* PLANT */
	return sum;
}

STAGE mix_words(void)
{
	uint32_t state = 1;

	for (int i = 0; i < 4 * COUNT; i++)
		state = state * 1664525 + words[(state >> 20) % COUNT];
	return state;
}

STAGE divide(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 2 * COUNT; i++)
		sum += UINT64_C(1000000007) / (words[i % COUNT] | 1);
	return sum;
}

STAGE sum_values(void)
{
	double sum = 0;

	for (int i = 0; i < 8 * COUNT; i++)
		sum += values[i % COUNT];
	return (uint64_t)sum;
}

STAGE take_roots(void)
{
	double sum = 0;

	for (int i = 0; i < 2 * COUNT; i++)
		sum += sqrt(values[i % COUNT]);
	return (uint64_t)sum;
}

STAGE count_letters(void)
{
	uint32_t counts[256] = {0};

	for (int i = 0; i < 4 * COUNT; i++)
		counts[(unsigned char)text[i]]++;
	return counts['a'];
}

STAGE insert_words(void)
{
	for (int i = 0; i < 256; i++) {
		int k = i;

		for (; k > 0 && sorted[k - 1] > words[i]; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = words[i];
	}
	return sorted[0];
}

STAGE hash_text(void)
{
	uint64_t hash = 14695981039346656037u;

	for (int i = 0; i < 4 * COUNT; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
	return hash;
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 1, extra = argc > 2 ? atol(argv[2]) : 0;
	uint64_t sum = 0;

	for (int i = 0; i < COUNT; i++) {
		words[i] = (uint32_t)i * 2654435761u;
		values[i] = i;
	}
	for (int i = 0; i < 4 * COUNT; i++)
		text[i] = (char)('a' + i % 26);
	for (long i = 0; i < steps; i++)
		sum += scan_words(extra) + mix_words() + divide() + sum_values() + take_roots() + count_letters() +
		       insert_words() + hash_text();
	return sum == 1;
}
