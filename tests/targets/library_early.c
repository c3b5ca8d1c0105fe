/* SPDX-License-Identifier: Apache-2.0 */
/* Built twice: a library whose constructor makes a call, which starts the recorder before pillion's own constructor
 * runs, as libgfortran's does, and a program that uses it. With an argument it also makes a call in a handler on an
 * alternate signal stack. */
#include <signal.h>
#include <unistd.h>

#ifdef LIBRARY
__attribute__((constructor)) static void begin(void)
{
	usleep(1);
}

void early_sleep(void)
{
	usleep(1);
}
#else
void early_sleep(void);

static __attribute__((noinline)) void late_sleep(void)
{
	usleep(2000);
	__asm__ volatile("");
}

static void handle(int number)
{
	(void)number;
	late_sleep();
}

int main(int argc, char **argv)
{
	static char bytes[65536];
	const stack_t stack = {.ss_sp = bytes, .ss_size = sizeof(bytes)};
	const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

	(void)argv;
	early_sleep();
	late_sleep();
	if (argc > 1) {
		sigaltstack(&stack, NULL);
		sigaction(SIGUSR1, &action, NULL);
		raise(SIGUSR1);
	}
	return 0;
}
#endif
