/* SPDX-License-Identifier: Apache-2.0 */
/* Behaves as Go's runtime in a C program: installs a handler by sigaction() and the alternate stack by a direct system
 * call. It uses the stack that is registered with the kernel, or registers one, and dies if a handler runs elsewhere.
 * Go's objects have this note. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

__asm__(".pushsection .note.go.buildid, \"a\", @note\n"
	".balign 4\n\t.long 4, 8, 4\n\t.asciz \"Go\"\n\t.byte 0\n\t.ascii \"buildid\\0\"\n"
	".popsection\n");

static __thread const char *low, *high;
static int on_stack, elsewhere;

static long kernel_stack(const stack_t *stack, stack_t *old)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_sigaltstack), "D"(stack), "S"(old)
			 : "rcx", "r11", "memory");
	return result;
}

static void on_signal(int signal)
{
	char here;

	(void)signal;
	__atomic_fetch_add(&here > low && &here <= high ? &on_stack : &elsewhere, 1, __ATOMIC_RELAXED);
	for (volatile int i = 0; i < 1000000; i++)
		;
}

static void *run(void *unused)
{
	stack_t now = {0};
	struct timespec cpu;

	kernel_stack(NULL, &now);
	if (now.ss_flags & SS_DISABLE) {
		now = (stack_t){.ss_sp = malloc(32768), .ss_size = 32768};
		kernel_stack(&now, NULL);
	}
	low = now.ss_sp;
	high = low + now.ss_size;
	do {
		raise(SIGURG);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	} while (cpu.tv_sec == 0 && cpu.tv_nsec < 300000000);
	return unused;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
	pthread_t ids[4];

	sigaction(SIGURG, &action, NULL);
	run(NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	printf("on the stack: %s, elsewhere: %d\n", on_stack > 5 ? "some" : "none", elsewhere);
	return 0;
}
