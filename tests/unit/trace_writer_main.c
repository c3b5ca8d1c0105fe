/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a capture for a test or a benchmark. */
#include <stdlib.h>
#include <string.h>

#include "trace_writer.h"

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "example")) {
		capture_example(argv[2]);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "job")) {
		capture_job(argv[2]);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "hostile")) {
		capture_hostile(argv[2]);
		return 0;
	}
	if (argc == 5 && !strcmp(argv[1], "line")) {
		capture_code_line(argv[2], argv[3], argv[4]);
		return 0;
	}
	if ((argc == 5 || argc == 6) && !strcmp(argv[1], "large") && number(argv[4]) && number(argv[argc - 1])) {
		capture_large(argv[2], strtoull(argv[3], NULL, 10), number(argv[4]), argc == 6 ? number(argv[5]) : 1);
		return 0;
	}
	if (argc == 10 && !strcmp(argv[1], "steps")) {
		capture_steps(argv[2], &(struct writer_steps){.seed = strtoull(argv[3], NULL, 10),
							      .steps = 40,
							      .kernels = number(argv[4]),
							      .run_deviation = strtod(argv[5], NULL),
							      .row_deviation = strtod(argv[6], NULL),
							      .step_deviation = strtod(argv[7], NULL),
							      .slower = number(argv[8]),
							      .factor = strtod(argv[9], NULL)});
		return 0;
	}
	if (argc == 6 && !strcmp(argv[1], "ranks") && number(argv[3]) && number(argv[4])) {
		capture_ranks(argv[2], number(argv[3]), number(argv[4]), strtoull(argv[5], NULL, 10));
		return 0;
	}
	if (argc == 4 && capture_kind(argv[2], argv[1], strtoull(argv[3], NULL, 10)))
		return 0;
	fprintf(stderr, "usage: trace-writer example|hostile|job DIRECTORY |\n"
			"       line DIRECTORY FILE FUNCTION |\n"
			"       large DIRECTORY CALLS THREADS [PROCESSES] |\n"
			"       steps DIRECTORY SEED KERNELS RUN ROW LAUNCH SLOWER FACTOR |\n"
			"       ranks DIRECTORY RANKS HOSTS CALLS |\n"
			"       nvtx|mpi|files|metadata|samples|launches DIRECTORY EVENTS\n");
	return 2;
}
