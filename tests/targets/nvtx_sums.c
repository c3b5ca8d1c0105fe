/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_sums THREADS ROUNDS [fork|exec|kill|names]: in each round each thread has a range "step N" with a sleep of 1 ms
 * and other ranges in it: of a domain, with a category, by a registered string, of two domains that cross, one that
 * starts and ends; then one of an optimizer, and an operator's. Each thread starts a range that the main thread ends.
 * fork: a child does the same once more; then a range is open in both when the child pops. exec: the program is
 * executed once more, in an open range. kill: it kills itself in two open ranges. names: 20,000 ranges with different
 * names follow. 77: built without NVTX's headers. */
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { THREADS_MOST = 200, NAMES = 20000 };

static int rounds;
static nvtxDomainHandle_t domain;
static nvtxStringHandle_t registered;
static nvtxRangeId_t handed[THREADS_MOST];

static void push_text(const char *format, int number)
{
	char text[64];

	snprintf(text, sizeof(text), format, number);
	nvtxRangePushA(text);
}

static void use_domain(void)
{
	nvtxEventAttributes_t a = {.version = NVTX_VERSION,
				   .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
				   .category = 7,
				   .messageType = NVTX_MESSAGE_TYPE_REGISTERED,
				   .message.registered = registered};

	nvtxDomainRangePushEx(domain, &a);
	nvtxRangePushA("crossing");
	nvtxDomainRangePop(domain);
	nvtxMarkA("between");
	nvtxRangePop();
	a.category = 0;
	nvtxDomainRangePushEx(domain, &a);
	nvtxDomainRangePop(domain);
}

static void *run(void *place)
{
	nvtxRangeId_t started;

	*(nvtxRangeId_t *)place = nvtxRangeStartA("handed over");
	for (int i = 0; i < rounds; i++) {
		started = nvtxRangeStartA("started");
		push_text("step %d", i);
		use_domain();
		usleep(1000);
		nvtxRangePop();
		nvtxRangeEnd(started);
		nvtxRangePushA("Optimizer.step#SGD.step");
		push_text("aten::mm, seq = %d, op_id = 3", i);
		nvtxRangePop();
		nvtxRangePop();
	}
	return NULL;
}

static void run_threads(int count)
{
	pthread_t threads[THREADS_MOST];

	for (int i = 1; i < count; i++)
		CHECK(!pthread_create(&threads[i], NULL, run, &handed[i]));
	run(&handed[0]);
	for (int i = 1; i < count; i++)
		CHECK(!pthread_join(threads[i], NULL));
	for (int i = 0; i < count; i++)
		nvtxRangeEnd(handed[i]);
}

static void run_fork(int count)
{
	int status;
	pid_t child;

	nvtxRangePushA("over a fork");
	child = fork();
	if (!child) {
		nvtxRangePop(); /* that was not pushed in this process */
		run_threads(count);
		exit(failed);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	nvtxRangePop();
}

int main(int argc, char **argv)
{
	const char *end = argc > 3 ? argv[3] : "";
	int count = argc > 1 ? atoi(argv[1]) : 1;

	rounds = argc > 2 ? atoi(argv[2]) : 1;
	CHECK(count > 0 && count <= THREADS_MOST);
	domain = nvtxDomainCreateA("parts");
	nvtxDomainNameCategoryA(domain, 7, "kind of part");
	registered = nvtxDomainRegisterStringA(domain, "part");
	run_threads(count);
	if (!strcmp(end, "fork"))
		run_fork(count);
	for (int i = 0; i < NAMES && !strcmp(end, "names"); i++) {
		push_text("name %d", i);
		nvtxRangePop();
	}
	if (!strcmp(end, "exec")) {
		nvtxRangePushA("over an exec");
		execl(argv[0], argv[0], argv[1], argv[2], NULL);
	}
	if (!strcmp(end, "kill")) {
		nvtxRangeStartA("open");
		nvtxRangePushA("open");
		raise(SIGKILL);
	}
	return failed;
}
#else
int main(void)
{
	return 77;
}
#endif
