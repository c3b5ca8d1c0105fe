/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeps 100 ms three times and prints the elapsed ns, reading CLOCK_MONOTONIC by a system call that no library in the
 * process can replace. clocks [tsc | tsc-syscall | strict]: first disables reading the time-stamp counter. */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long monotonic_ns(void)
{
	struct timespec now = {0};

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char line[64];
	long long start;
	int length;

#ifdef PR_TSC_SIGSEGV
	if (!strcmp(what, "tsc") && prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		return 2;
	if (!strcmp(what, "tsc-syscall") && syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
		return 2;
#endif
	if (!strcmp(what, "strict")) {
		if (prctl(PR_SET_SECCOMP, 1, 0, 0, 0))
			return 2;
		(void)!write(1, "strict\n", 7);
		syscall(SYS_exit, 3);
	}
	start = monotonic_ns();
	for (int i = 0; i < 3; i++)
		nanosleep(&(struct timespec){0, 100000000}, NULL);
	start = monotonic_ns() - start;
	length = snprintf(line, sizeof(line), "%lld\n", start);
	_exit(write(1, line, (size_t)length) == length ? 3 : 4);
}
