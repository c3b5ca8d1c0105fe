/* SPDX-License-Identifier: Apache-2.0 */
/* trace-writer example|hostile DIRECTORY | large DIRECTORY CALLS THREADS: makes a capture for a test or a benchmark. */
#include <stdlib.h>
#include <string.h>

#include "trace_writer.h"

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "example")) {
		capture_example(argv[2]);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "hostile")) {
		capture_hostile(argv[2]);
		return 0;
	}
	if (argc == 5 && !strcmp(argv[1], "large") && strtoul(argv[4], NULL, 10)) {
		capture_large(argv[2], strtoull(argv[3], NULL, 10), (uint32_t)strtoul(argv[4], NULL, 10));
		return 0;
	}
	fprintf(stderr, "usage: trace-writer example|hostile DIRECTORY | large DIRECTORY CALLS THREADS\n");
	return 2;
}
