/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges for -c nvtx and --nvtx-domain-include. The text of each mark is `in` within a range "step" of some kind, and
 * `out` outside of all. Status 77: built without NVTX's headers. */
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static nvtxDomainHandle_t domain, odd;
static nvtxRangeId_t range;

static nvtxEventAttributes_t attributes(int32_t type, const void *message)
{
	nvtxEventAttributes_t a = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE, .messageType = type};

	a.message.ascii = message;
	return a;
}

static void *end_it(void *unused)
{
	(void)unused;
	nvtxRangePushA("in a thread");
	nvtxRangePop();
	nvtxRangeEnd(range);
	return NULL;
}

static void each_form(void)
{
	nvtxEventAttributes_t registered =
	    attributes(NVTX_MESSAGE_TYPE_REGISTERED, nvtxDomainRegisterStringA(domain, "step"));
	nvtxEventAttributes_t wide = attributes(NVTX_MESSAGE_TYPE_UNICODE, L"step"),
			      at = attributes(NVTX_MESSAGE_TYPE_ASCII, "a@b");
	pthread_t thread;

	nvtxMarkA("out 1");
	nvtxRangePushA("step");
	nvtxMarkA("in default");
	nvtxRangePushA("inner");
	nvtxRangePushA("step");
	nvtxRangePop();
	nvtxRangePop();
	nvtxMarkA("in default");
	nvtxRangePop();
	nvtxMarkA("out 2");
	nvtxDomainRangePushEx(domain, &registered);
	nvtxMarkA("in domain");
	nvtxDomainRangePop(domain);
	nvtxMarkA("out 3");
	range = nvtxDomainRangeStartEx(domain, &wide);
	nvtxMarkA("in domain");
	pthread_create(&thread, NULL, end_it, NULL);
	pthread_join(thread, NULL);
	nvtxMarkA("out 4");
	nvtxDomainRangePushEx(odd, &at);
	nvtxMarkA("in odd");
	nvtxDomainRangePop(odd);
	nvtxMarkA("out 5");
}

/* Two threads race on the range: one may enter while the other leaves. */
static void *in_and_out(void *unused)
{
	(void)unused;
	for (int i = 0; i < 20000; i++) {
		nvtxRangePushA("step");
		nvtxMarkA("in");
		nvtxRangePop();
	}
	return NULL;
}

static int race(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, in_and_out, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	nvtxMarkA("out");
	puts("done");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && argv[1][0] == 'r')
		return race();
	domain = nvtxDomainCreateA("domain");
	odd = nvtxDomainCreateA("odd,name");
	each_form();
	if (argc > 1 && !fork()) {
		each_form();
		_exit(0);
	}
	while (argc > 1 && wait(NULL) > 0)
		;
	puts("done");
	return 0;
}
#else
int main(void)
{
	return 77;
}
#endif
