/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX for Python: ranges of the default domain, and of XLA's. */
#include <nvtx3/nvToolsExt.h>

__attribute__((visibility("default"))) void text_push(const char *text)
{
	nvtxRangePushA(text);
}

__attribute__((visibility("default"))) void text_pop(void)
{
	nvtxRangePop();
}

__attribute__((visibility("default"))) void xla_step(const char *text)
{
	static nvtxDomainHandle_t domain;
	nvtxEventAttributes_t a = {
	    .version = NVTX_VERSION, .size = sizeof(a), .messageType = NVTX_MESSAGE_TYPE_ASCII, .message.ascii = text};

	if (!domain)
		domain = nvtxDomainCreateA("TSL");
	nvtxDomainRangePushEx(domain, &a);
	nvtxDomainRangePop(domain);
}
