/* SPDX-License-Identifier: Apache-2.0 */
/* Supervises COMMAND, which shares our process group and terminal. Signals of the terminal and of the group reach it
 * without us; signals sent to us alone are forwarded. All signals are blocked and read one by one, without handlers. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/range.h"
#include "runtime/shared/common/sys.h"

/* TOLD_MS: how long the other processes may take to end after COMMAND, when a signal has told it to at most ENDING_MS
 * before that: torchrun and Slurm leave 30 s. LATE_MS: how much later than COMMAND we may receive that signal. */
enum { CLOCK_MS = 30000, REST_MS = 20, REPORT_REST_MS = 2000, TOLD_MS = 100, ENDING_MS = 60000, LATE_MS = 100 };

/* Stops when COMMAND has stopped, so that the shell sees its job as stopped. If SIGSTOP was sent to COMMAND alone
 * and we are not in a terminal's foreground, we do not stop: nothing would continue us. */
static void stop_too(const struct run *run, int signal)
{
	struct sigaction action = {.sa_handler = SIG_DFL}, old;
	sigset_t one;

	if (signal == SIGSTOP) {
		int terminal = tcgetpgrp(STDERR_FILENO);

		if (terminal < 0 || terminal != getpgrp())
			return;
	}
	sigemptyset(&one);
	sigaddset(&one, signal);
	sigaction(signal, &action, &old);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &one, NULL); /* the process is stopped here */
	sigprocmask(SIG_BLOCK, &one, NULL);
	if (signal != SIGSTOP)
		sigaction(signal, &old, NULL);
	kill(run->child, SIGCONT);
}

/* Returns true if COMMAND has ended. */
static bool child_reap(struct run *run)
{
	siginfo_t info = {0};
	struct rusage r;
	int status;

	/* A process that was killed has recorded no end, but its CPU time can be read until it is waited for. */
	if (!waitid(P_PID, (id_t)run->child, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid &&
	    info.si_code != CLD_EXITED)
		usage_sample(run);
	while (wait4(run->child, &status, WNOHANG | WUNTRACED | WCONTINUED, &r) == run->child) {
		if (!WIFSTOPPED(status) && !WIFCONTINUED(status)) {
			run->status = status;
			run->end_ticks = clock_now();
			run->cpu_ns = usage_cpu_ns(&r);
			return true;
		}
		run->was_stopped = true;
		usage_state(run, WIFSTOPPED(status) ? 'T' : 'R');
		if (WIFSTOPPED(status))
			stop_too(run, WSTOPSIG(status));
	}
	return false;
}

static void signal_note(struct run *run, const siginfo_t *info)
{
	int signal = forwarder_announces_end(run, info) ? SIGTERM : info->si_signo;
	bool is_said = false;

	if (signal_may_end(signal)) {
		if (info->si_signo == signal && info->si_pid != run->child)
			run->told_ns = clock_monotonic_ns();
		forwarder_pass(run);
		if (where_quiet_was_still(run))
			is_said = verdict_signal(run);
	}
	summary_signal(run, signal);
	where_signal(run, signal, !is_said);
	verdict_after_signal(run, signal);
}

/* si_code > 0: sent by the kernel. Signals of a terminal have then reached the whole group; SIGALRM can only come
 * from a timer that was set before our exec and is meant for COMMAND. */
static void signal_forward(struct run *run, const siginfo_t *info)
{
	if (session_signal(run, info))
		return;
	signal_note(run, info);
	if (info->si_code > 0 && info->si_signo != SIGALRM)
		return;
	/* From ourselves: a write of ours raised SIGXFSZ or SIGPIPE. From COMMAND: it signals its whole group. */
	if (info->si_signo == SIGCHLD || info->si_pid == getpid() || info->si_pid == run->child)
		return;
	if (witness_has(run, info))
		return;
	if (signal_may_end(info->si_signo))
		range_clock_collect(run);
	kill(run->child, info->si_signo);
}

static int soonest_ms(int a, int b)
{
	return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* Returns the next signal within `ms`, or 0. */
static int signal_wait(siginfo_t *info, int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
	sigset_t all;
	int signal;

	sigfillset(&all);
	do
		signal = ms < 0 ? sigwaitinfo(&all, info) : sigtimedwait(&all, info, &t);
	while (signal < 0 && errno == EINTR);
	return signal < 0 ? 0 : signal;
}

/* Batch systems signal one process after the other: what has ended COMMAND may reach us later, or wait to be read,
 * where COMMAND has ended by a handler of its own. abort() signals COMMAND alone, and is what SIGABRT usually comes
 * from. */
static void signal_await(struct run *run)
{
	bool has_exited = WIFEXITED(run->status) && run->status && run->job.scheduler && !forwarder_ends_ranks(run);
	int signal = WIFSIGNALED(run->status) ? WTERMSIG(run->status) : has_exited ? SIGTERM : 0;
	struct timespec late = {0, has_exited || signal == SIGABRT ? 0 : LATE_MS * 1000000L};
	siginfo_t info;
	sigset_t one;

	if (was_told_within(run, KILLED_MS) || !signal_may_end(signal))
		return;
	sigemptyset(&one);
	sigaddset(&one, signal);
	if (sigtimedwait(&one, &info, &late) == signal)
		signal_note(run, &info);
}

/* Periodic work; returns the milliseconds until it is due again. */
static int periodic_work(struct run *run)
{
	static uint64_t clocked_ns;
	uint64_t now = clock_monotonic_ns();
	int ms;

	if (!clocked_ns)
		clocked_ns = now;
	if (now - clocked_ns >= CLOCK_MS * 1000000ull) {
		capture_line_clock(run);
		clocked_ns = now;
	}
	ms = soonest_ms(soonest_ms(range_clock_tick(run), perf_tick(run)), spool_tick(run));
	ms = soonest_ms(soonest_ms(ms, usage_tick(run)), where_tick(run));
	ms = soonest_ms(soonest_ms(ms, energy_tick(run)), summary_tick(run));
	ms = soonest_ms(soonest_ms(ms, where_quiet_tick(run)), session_tick(run));
	ms = soonest_ms(soonest_ms(ms, ring_files_tick(run)), trigger_tick(run));
	ms = soonest_ms(soonest_ms(ms, objects_tick(run)), verdict_tick(run));
	where_quiet_abort(run);
	return soonest_ms(ms, CLOCK_MS);
}

/* COMMAND ends within milliseconds of the signal: srun and Hydra kill what is there somewhat later. */
static bool is_ending(const struct run *run)
{
	return was_told_within(run, TOLD_MS) && verdict_is_printed(run);
}

void wait_command(struct run *run)
{
	siginfo_t info;

	range_clock_begin(run);
	while (!child_reap(run)) {
		if (signal_wait(&info, is_ending(run) ? REST_MS : periodic_work(run)) > 0) {
			signal_forward(run, &info);
			spool_signal(run, info.si_signo);
		}
	}
	signal_await(run);
}

unsigned wait_rest(struct run *run)
{
	uint64_t since = clock_monotonic_ns();
	bool is_reported = false, was_told = was_told_within(run, ENDING_MS);
	siginfo_t info;
	unsigned n;

	while (run->options.stop_on_exit && run->options.wait_for == WAIT_ALL && (n = living_count(run, false))) {
		int ms = periodic_work(run), signal;

		/* The shell, mpirun or the batch system waits for us, and a worker may hang. */
		if (was_told && clock_monotonic_ns() - since > TOLD_MS * 1000000ull)
			break;
		if (!is_reported && clock_monotonic_ns() - since > REPORT_REST_MS * 1000000ull) {
			say("COMMAND has ended; waiting for %u of its processes (--wait primary: do not wait)", n);
			is_reported = true;
		}
		signal = signal_wait(&info, soonest_ms(ms, REST_MS));
		if (signal == SIGCHLD)
			where_signal(run, signal, true);
		if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT)
			break;
		if (signal == SIGTSTP) {
			run->child = getpid();
			stop_too(run, SIGTSTP);
		}
	}
	return living_count(run, true);
}
