/* SPDX-License-Identifier: Apache-2.0 */
/* Seccomp filters that the launcher has inherited, as in every container: whether they permit CPU samples is tried in a
 * child, because a filter may kill the process that makes such a system call. */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/sys.h"

static unsigned filter_count(void)
{
	FILE *f;
	char line[256];
	unsigned count = 0;

	if (prctl(PR_GET_SECCOMP) <= 0 || !(f = fopen("/proc/self/status", "re")))
		return 0;
	while (fgets(line, sizeof(line), f) && sscanf(line, "Seccomp_filters: %u", &count) != 1)
		;
	fclose(f);
	return count;
}

/* The calls that only samples make. */
static bool samples_are_permitted(void)
{
	struct itimerspec never = {.it_interval = {0, 0}};
	struct sigevent event = {.sigev_notify = SIGEV_NONE};
	struct timespec none = {0, 0};
	struct iovec one = {&(char){0}, 1}, other = {&(char){0}, 1};
	uint64_t set = 0;
	stack_t stack;
	int timer;

	return !sys_call(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer, 0) &&
	       !sys_call(SYS_timer_settime, timer, 0, &never, NULL) && !sys_call(SYS_timer_delete, timer, 0, 0, 0) &&
	       !sys_call(SYS_sigaltstack, NULL, &stack, 0, 0) &&
	       !sys_call(SYS_rt_sigpending, &set, sizeof(set), 0, 0) &&
	       sys_call(SYS_rt_sigtimedwait, &set, NULL, &none, sizeof(set)) == -EAGAIN &&
	       sys_call6(SYS_process_vm_readv, getpid(), (long)&one, 1, (long)&other, 1, 0) == 1;
}

unsigned filters_that_permit_samples(void)
{
	const struct rlimit none = {0, 0};
	unsigned count = filter_count();
	int status = -1;
	pid_t child;

	if (!count)
		return 0;
	child = fork();
	if (!child) {
		setrlimit(RLIMIT_CORE, &none);
		_exit(!samples_are_permitted());
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 0;
	return status ? 0 : count;
}
