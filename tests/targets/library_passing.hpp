/* SPDX-License-Identifier: Apache-2.0 */
/* Functions named as rows of the libraries' tables, with every class of argument and result of the calling
 * convention. */
#ifndef LIBRARY_PASSING_H
#define LIBRARY_PASSING_H

#include <stdint.h>

struct pair {
	double a, b;
};
struct words {
	uint64_t a, b;
};
struct large {
	uint64_t items[6];
};

typedef uint64_t word;
#define WORDS_5 word, word, word, word, word
#define WORDS_9 WORDS_5, word, word, word, word
#define WORDS_14 WORDS_9, WORDS_5

extern "C" {
/* Words only, as many as a row has. */
int cublasSgemm_v2(WORDS_14);
int cudnnNormalizationBackward(WORDS_14, WORDS_14, word, word, word, word);
/* Words and doubles in turn, the result in a floating register; structures in two of these. */
double cublasDgemm_v2(double, word, double, word, word, double, word, word, word, word, double, word, word, double,
		      word, word, word, double, word, double, double, word);
struct pair cublasSrot_v2(struct pair, word, word, word, float, WORDS_5, struct pair);
/* A structure in two general registers; a structure returned through a pointer from the caller. */
struct words cublasHgemm(struct words, word, word, word, WORDS_9);
struct large cublasCgemm_v2(word, word, word, word, WORDS_9);
/* Calls back. */
int cusparseSpMM(void (*callback)(void *), void *argument, WORDS_9);
}

#endif
