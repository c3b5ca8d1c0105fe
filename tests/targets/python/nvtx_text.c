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

static nvtxDomainHandle_t xla(void)
{
	static nvtxDomainHandle_t domain;

	if (!domain)
		domain = nvtxDomainCreateA("TSL");
	return domain;
}

__attribute__((visibility("default"))) void xla_push(const char *text)
{
	nvtxEventAttributes_t a = {
	    .version = NVTX_VERSION, .size = sizeof(a), .messageType = NVTX_MESSAGE_TYPE_ASCII, .message.ascii = text};

	nvtxDomainRangePushEx(xla(), &a);
}

__attribute__((visibility("default"))) void xla_pop(void)
{
	nvtxDomainRangePop(xla());
}

__attribute__((visibility("default"))) void xla_step(const char *text)
{
	xla_push(text);
	xla_pop();
}
