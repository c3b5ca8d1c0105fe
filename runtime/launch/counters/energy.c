/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and ends the sampler of power, energy and counters. It is a process of its own: a library that hangs or
 * crashes in it harms neither COMMAND nor the launcher. */
#include "runtime/launch/counters/energy.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A machine without NVIDIA's device file hardly has such a GPU. READY_MS: how long COMMAND waits for the first
 * counters. END_MS: how long the sampler may take to end. */
enum { LOOK_MS = 100, LOOK_SELDOM_MS = 1000, WATCH_MS = 1000, READY_MS = 1000, END_MS = 2000, KILL_MS = 200 };

static struct {
	pid_t sampler; /* 0: none */
	int stop;      /* closing it ends the sampler */
	bool is_over;  /* it has ended, or is not wanted */
} energy = {.stop = -1};

/* Returns what the sampler closes when it has read the counters; -1: there is no sampler. */
static int energy_start(struct run *run)
{
	int ends[2], ready[2];

	energy.is_over = true;
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	if (pipe2(ready, O_CLOEXEC)) {
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	energy.sampler = fork(); /* with all signals blocked */
	if (!energy.sampler) {
		close(ends[1]);
		energy_sampler_run(run, ends[0], ready[1]);
	}
	close(ends[0]);
	close(ready[1]);
	energy.stop = ends[1];
	energy.is_over = energy.sampler < 0;
	return ready[0];
}

/* The first values are from before COMMAND, so that their growth includes all of it. */
void energy_begin(struct run *run)
{
	int ready = run->options.counters ? energy_start(run) : -1;

	if (ready < 0)
		return;
	poll(&(struct pollfd){ready, POLLIN, 0}, 1, READY_MS);
	close(ready);
}

void energy_discard(void)
{
	if (energy.sampler > 0 && !energy.is_over) {
		kill(energy.sampler, SIGKILL);
		waitpid(energy.sampler, NULL, 0);
	}
	energy.is_over = true;
}

/* True: the sampler has ended. */
static bool energy_reap(struct run *run)
{
	char text[128];
	struct rusage used;
	int status;
	pid_t ended = wait4(energy.sampler, &status, WNOHANG, &used);

	if (!ended)
		return false;
	energy.is_over = true;
	if (ended > 0)
		run->helpers_ns += usage_cpu_ns(&used);
	/* wait4() fails if who started the launcher had SIGCHLD ignored: the kernel has reaped the sampler. */
	if (ended > 0 && WIFSIGNALED(status)) {
		snprintf(text, sizeof(text),
			 "energy: sampling ended early: signal %d in the library that reads the GPUs",
			 WTERMSIG(status));
		capture_line_note(run, text);
	}
	return true;
}

int energy_tick(struct run *run)
{
	if (energy.is_over || (!energy.sampler && run->options.energy == ENERGY_FALSE))
		return -1;
	if (!energy.sampler) {
		if (!energy_wants_gpus(run))
			return access("/dev/nvidiactl", F_OK) ? LOOK_SELDOM_MS : LOOK_MS;
		close(energy_start(run));
	}
	return energy.is_over || energy_reap(run) ? -1 : WATCH_MS;
}

void energy_finish(struct run *run, bool leaves_processes)
{
	static const struct timespec step = {0, 2000000};
	int ms = 0;

	if (energy.sampler <= 0 || energy.is_over)
		return;
	if (leaves_processes)
		capture_line_note(run, "energy: not sampled after the launcher has ended");
	close(energy.stop);
	for (; !energy_reap(run) && ms < END_MS; ms += 2)
		nanosleep(&step, NULL);
	if (energy.is_over)
		return;
	capture_line_note(run, "energy: the sampler did not end and was killed; its last samples may be missing");
	kill(energy.sampler, SIGKILL);
	/* A process in a driver may not end before the driver returns. */
	for (ms = 0; !waitpid(energy.sampler, NULL, WNOHANG) && ms < KILL_MS; ms += 2)
		nanosleep(&step, NULL);
	energy.is_over = true;
}
