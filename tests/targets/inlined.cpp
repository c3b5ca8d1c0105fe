// SPDX-License-Identifier: Apache-2.0
// Sleeps in a function of the C++ library that the compiler inlines, called by an inlined function.
#include <chrono>
#include <thread>

static inline __attribute__((always_inline)) void waits_inlined()
{
	std::this_thread::sleep_for(std::chrono::milliseconds(30)); // the line of the wait
}

static __attribute__((noinline)) void holds_the_inlined()
{
	waits_inlined(); // the line of the call
	__asm__ volatile("");
}

int main()
{
	for (int i = 0; i < 3; i++)
		holds_the_inlined();
	return 0;
}
