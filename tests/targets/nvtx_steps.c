/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_steps N: a sleep, then N steps of two sleeps, the second in a range of another domain; a range with an odd name.
 * 77: built without NVTX's headers. */
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>
#include <unistd.h>

static void half(nvtxDomainHandle_t domain)
{
	nvtxEventAttributes_t a = {.version = NVTX_VERSION,
				   .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
				   .messageType = NVTX_MESSAGE_TYPE_ASCII,
				   .message.ascii = "half"};

	nvtxDomainRangePushEx(domain, &a);
	usleep(2000);
	nvtxDomainRangePop(domain);
}

int main(int argc, char **argv)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("other");
	int steps = argc > 1 ? atoi(argv[1]) : 1;

	usleep(2000);
	for (int i = 0; i < steps; i++) {
		nvtxRangePushA("step");
		if (i == 1) {
			nvtxRangePushA("a/b@c");
			usleep(2000);
			nvtxRangePop();
		} else {
			usleep(2000);
		}
		half(domain);
		nvtxRangePop();
	}
	return 0;
}
#else
int main(void)
{
	return 77;
}
#endif
