/* SPDX-License-Identifier: Apache-2.0 */
/* throws COUNT: throws and catches COUNT exceptions through a few frames. */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

__attribute__((noinline)) static int deep(int level)
{
	if (level == 0)
		throw std::runtime_error("deep");
	return deep(level - 1) + 1;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000, caught = 0;

	for (long i = 0; i < count; i++) {
		try {
			deep(5);
		} catch (const std::exception &) {
			caught++;
		}
	}
	std::printf("caught %ld\n", caught);
	return 0;
}
