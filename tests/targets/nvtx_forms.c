/* SPDX-License-Identifier: Apache-2.0 */
/* Every form of NVTX a known number of times. Checks what NVTX gives back; 1 and a line on stderr if it is wrong.
 * nvtx_forms [fork]: in a child too, with the parent's domains and strings. 77: built without NVTX's headers. */
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "check.h"

static nvtxDomainHandle_t domain, wide_domain;
static nvtxStringHandle_t registered;

static nvtxEventAttributes_t attributes(int32_t type, const void *message)
{
	nvtxEventAttributes_t a = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE};

	a.messageType = type;
	a.message.ascii = message;
	return a;
}

static void plain(void)
{
	nvtxEventAttributes_t a = attributes(NVTX_MESSAGE_TYPE_ASCII, "push ex");
	nvtxRangeId_t one, two, three;

	for (int i = 0; i < 10; i++) {
		CHECK(nvtxRangePushA("push a") == 0);
		CHECK(nvtxRangePushW(L"push w \u00e9\u4e16\U0001f600") == 1);
		CHECK(nvtxRangePushEx(&a) == 2);
		CHECK(nvtxRangePop() == 2);
		CHECK(nvtxRangePop() == 1);
		CHECK(nvtxRangePop() == 0);
	}
	CHECK(nvtxRangePop() < 0);
	nvtxMarkA("mark a");
	nvtxMarkW(L"mark w");
	a.message.ascii = "mark ex";
	nvtxMarkEx(&a);
	one = nvtxRangeStartA("start a");
	two = nvtxRangeStartW(L"start w");
	a.message.ascii = "start ex";
	three = nvtxRangeStartEx(&a);
	CHECK(one && two && three && one != two && two != three && one != three);
	nvtxRangeEnd(one);
	nvtxRangeEnd(three);
	nvtxRangeEnd(two);
}

static void in_domain(void)
{
	nvtxEventAttributes_t a = attributes(NVTX_MESSAGE_TYPE_REGISTERED, registered),
			      w = attributes(NVTX_MESSAGE_TYPE_UNICODE, L"wide in domain");
	nvtxRangeId_t id;

	a.category = 7;
	a.colorType = NVTX_COLOR_ARGB;
	a.color = 0xff00aa11;
	a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
	a.payload.ullValue = 0xfedcba9876543210;
	CHECK(nvtxRangePushA("outside") == 0);
	for (int i = 0; i < 5; i++) {
		CHECK(nvtxDomainRangePushEx(domain, &a) == 0);
		CHECK(nvtxDomainRangePushEx(domain, &w) == 1);
		CHECK(nvtxDomainRangePushEx(wide_domain, &w) == 0);
		CHECK(nvtxDomainRangePop(domain) == 1);
		CHECK(nvtxDomainRangePop(wide_domain) == 0);
		CHECK(nvtxDomainRangePop(domain) == 0);
	}
	CHECK(nvtxRangePop() == 0);
	nvtxDomainMarkEx(domain, &a);
	id = nvtxDomainRangeStartEx(domain, &a);
	CHECK(id);
	nvtxDomainRangeEnd(domain, id);
}

static void *in_thread(void *unused)
{
	(void)unused;
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "named by nvtx");
	CHECK(nvtxRangePushA("in a thread") == 0);
	CHECK(nvtxRangePop() == 0);
	return NULL;
}

int main(int argc, char **argv)
{
	static char longest[10000];
	pthread_t thread;
	int status;

	domain = nvtxDomainCreateA("forms");
	wide_domain = nvtxDomainCreateW(L"forms \u00fc");
	CHECK(domain && wide_domain && domain != wide_domain);
	registered = nvtxDomainRegisterStringA(domain, "registered");
	CHECK(registered && nvtxDomainRegisterStringW(domain, L"registered w") != registered);
	nvtxDomainNameCategoryA(domain, 7, "category seven");
	nvtxNameCategoryW(8, L"category eight");
	plain();
	in_domain();
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	memset(longest, 'x', sizeof(longest) - 1);
	nvtxRangePushA(longest);
	nvtxRangePop();
	if (argc > 1 && !strcmp(argv[1], "fork")) {
		if (!fork()) {
			in_domain();
			_exit(failed);
		}
		wait(&status);
		CHECK(!status);
	}
	nvtxDomainDestroy(domain);
	nvtxDomainDestroy(wide_domain);
	return failed;
}
#else
int main(void)
{
	return 77;
}
#endif
