/* SPDX-License-Identifier: Apache-2.0 */
/* library_passing WAY ROUNDS [LIBRARY]: calls the functions of library_passing.hpp, by their names, or, with LIBRARY,
 * by the pointers that dlsym() finds in it. Prints what they return, or how they were left. WAY: results, throw,
 * jump, cancel, trace, nested, errno, burn. */
#include "library_passing.hpp"

#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>

static void *library;

template <typename Function> static Function *found(Function *bound, const char *name)
{
	void *looked_up = library ? dlsym(library, name) : nullptr;

	if (library && !looked_up)
		exit(3);
	return looked_up ? reinterpret_cast<Function *>(looked_up) : bound;
}
#define FOUND(function) found(function, #function)

static int call_back(void (*callback)(void *), void *argument)
{
	return FOUND(cusparseSpMM)(callback, argument, 3, 4, 5, 6, 7, 8, 9, 10, 11);
}

static void results(int round)
{
	const uint64_t r = (uint64_t)round << 40;

	printf("%x\n", FOUND(cublasSgemm_v2)(r, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, r + 14));
	printf("%x\n", FOUND(cudnnNormalizationBackward)(r, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
							  19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, r + 32));
	printf("%a\n", FOUND(cublasDgemm_v2)(0.1, r, 0.2, 2, 3, 0.3, 4, 5, 6, 7, 0.4, 8, 9, 0.5, 10, 11, 12, 0.6, 13,
					      0.7, 0.8, r + 14));
	struct pair pair = FOUND(cublasSrot_v2)({0.1, 0.2}, r, 2, 3, 0.3f, 4, 5, 6, 7, r + 8, {0.4, 0.5});
	printf("%a %a\n", pair.a, pair.b);
	struct words words = FOUND(cublasHgemm)({r, 2}, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, r + 14);
	printf("%lx %lx\n", (unsigned long)words.a, (unsigned long)words.b);
	struct large large = FOUND(cublasCgemm_v2)(r, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, r + 13);
	printf("%lx %lx\n", (unsigned long)large.items[0], (unsigned long)large.items[5]);
}

/* ---- left early ---- */

static int destroyed;

struct guard {
	~guard() { destroyed++; }
};

static void throw_it(void *number)
{
	guard g;

	if (number)
		throw *static_cast<int *>(number);
	throw std::runtime_error("passing");
}

static void catch_it(int round)
{
	try {
		guard g;

		printf("not reached: %d\n", call_back(throw_it, round & 1 ? &round : nullptr));
	} catch (int caught) {
		printf("caught %d\n", caught);
	} catch (const std::exception &e) {
		printf("caught %s\n", e.what());
	}
	printf("destroyed %d\n", destroyed);
}

static void jump_back(void *place)
{
	longjmp(*static_cast<jmp_buf *>(place), 1);
}

static void jump(int)
{
	jmp_buf place;

	if (setjmp(place))
		puts("jumped");
	else
		printf("not reached: %d\n", call_back(jump_back, &place));
}

static void end_thread(void *)
{
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static void *be_cancelled(void *)
{
	guard g;

	call_back(end_thread, nullptr);
	return nullptr;
}

static void cancel(int)
{
	pthread_t thread;
	void *result;

	pthread_create(&thread, nullptr, be_cancelled, nullptr);
	pthread_join(thread, &result);
	printf("%s, destroyed %d\n", result == PTHREAD_CANCELED ? "cancelled" : "returned", destroyed);
}

/* ---- seen from inside ---- */

struct trace {
	void *frames[64];
	int count;
};

static void take_trace(void *trace)
{
	struct trace *t = static_cast<struct trace *>(trace);

	t->count = backtrace(t->frames, 64);
}

/* All that calls this function is on the stack of the callback, too. */
static void trace(int)
{
	struct trace here, inside = {};
	int result;

	take_trace(&here);
	result = call_back(take_trace, &inside);
	const int callers = here.count - 2; /* without take_trace and this function */
	bool is_whole = callers > 0 && inside.count > callers + 3 &&
			!memcmp(inside.frames + inside.count - callers, here.frames + 2,
				sizeof(void *) * (size_t)callers);
	printf("%x %s\n", result, is_whole ? "whole" : "cut");
}

static void call_others(void *rounds)
{
	int *left = static_cast<int *>(rounds);

	if (--*left)
		printf("%x\n", call_back(call_others, rounds));
	printf("%x\n", FOUND(cublasSgemm_v2)(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14));
}

static void nested(int)
{
	int depth = 3;

	printf("%x\n", call_back(call_others, &depth));
}

static void say_errno(void *)
{
	printf("errno %d\n", errno);
}

static void keep_errno(int round)
{
	errno = round;
	call_back(say_errno, nullptr);
	printf("errno %d\n", errno);
}

static void use_cpu(void *)
{
	while (clock() < 2 * CLOCKS_PER_SEC)
		;
}

static void burn(int)
{
	call_back(use_cpu, nullptr);
	puts("burnt");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int round);
	} ways[] = {{"results", results}, {"throw", catch_it}, {"jump", jump}, {"cancel", cancel},
		    {"trace", trace},	  {"nested", nested},  {"errno", keep_errno}, {"burn", burn}};

	if (argc > 3 && !(library = dlopen(argv[3], RTLD_NOW)))
		return 2;
	for (const auto &way : ways)
		for (int i = 0; argc > 2 && !strcmp(way.name, argv[1]) && i < atoi(argv[2]); i++)
			way.run(i);
	return 0;
}
