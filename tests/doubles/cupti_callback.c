/* SPDX-License-Identifier: Apache-2.0 */
/* The CUPTI double: the one subscriber and its callbacks. */
#include "simcupti.h"

#include <stdlib.h>
#include <string.h>

struct CUpti_Subscriber_st {
	CUpti_CallbackFunc callback;
	void *data;
	bool is_v2;
	char name[CUPTI_SUBSCRIBER_NAME_MAX_LEN];
	uint8_t enabled[CUPTI_CB_DOMAIN_SIZE][CBID_COUNT];
};

static struct CUpti_Subscriber_st *subscriber;

static CUptiResult subscribe(CUpti_SubscriberHandle *ret_handle, CUpti_CallbackFunc callback, void *data,
			     const char *name, bool is_v2)
{
	CUptiResult result = simcupti_ready();

	if (result != CUPTI_SUCCESS)
		return result;
	if (!ret_handle)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (simcupti.refuses_subscribers || subscriber)
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	if (is_v2 && simcupti.layout < LAYOUT_13_0)	/* these headers lack it */
		return CUPTI_ERROR_NOT_SUPPORTED;
	for (int kind = 0; is_v2 && simcupti.separates_v2 && kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
		if (simcupti.enabled[kind])
			return CUPTI_ERROR_NOT_COMPATIBLE;
	subscriber = calloc(1, sizeof(*subscriber));
	if (!subscriber)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	subscriber->callback = callback;
	subscriber->data = data;
	subscriber->is_v2 = is_v2;
	strncpy(subscriber->name, name, sizeof(subscriber->name) - 1);
	*ret_handle = subscriber;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata)
{
	return subscribe(handle, callback, userdata, "", false);
}

CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata,
				       CUpti_SubscriberParams *pParams)
{
	CUptiResult result = subscribe(handle, callback, userdata,
				       pParams && pParams->subscriberName ? pParams->subscriberName : "",
				       true);

	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && pParams && pParams->oldSubscriberName &&
	    pParams->oldSubscriberSize) {
		strncpy(pParams->oldSubscriberName, subscriber ? subscriber->name : "simulated other tool",
			pParams->oldSubscriberSize - 1);
		pParams->oldSubscriberName[pParams->oldSubscriberSize - 1] = 0;
	}
	return result;
}

/* The memory is not freed: another thread may be in a callback. */
CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	if (!handle || handle != subscriber)
		return CUPTI_ERROR_INVALID_PARAMETER;
	subscriber = NULL;
	return CUPTI_SUCCESS;
}

bool simcupti_is_v2(CUpti_SubscriberHandle handle)
{
	return handle && handle == subscriber && handle->is_v2;
}

bool simcupti_has_v2(void)
{
	return simcupti_is_v2(subscriber);
}

void simcupti_unsubscribe_all(void)
{
	subscriber = NULL;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
					 CUpti_CallbackId cbid)
{
	if (!handle || handle != subscriber || domain >= CUPTI_CB_DOMAIN_SIZE || cbid >= CBID_COUNT)
		return CUPTI_ERROR_INVALID_PARAMETER;
	handle->enabled[domain][cbid] = enable != 0;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain)
{
	if (!handle || handle != subscriber || domain >= CUPTI_CB_DOMAIN_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	memset(handle->enabled[domain], enable != 0, CBID_COUNT);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
	if (!handle || handle != subscriber)
		return CUPTI_ERROR_INVALID_PARAMETER;
	memset(handle->enabled, enable != 0, sizeof(handle->enabled));
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle,
					   CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	if (!enable || !handle || handle != subscriber || domain >= CUPTI_CB_DOMAIN_SIZE || cbid >= CBID_COUNT)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*enable = handle->enabled[domain][cbid];
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSupportedDomains(size_t *domainCount, CUpti_DomainTable *domainTable)
{
	static CUpti_CallbackDomain domains[] = { CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
						  CUPTI_CB_DOMAIN_RESOURCE };

	if (!domainCount || !domainTable)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*domainCount = sizeof(domains) / sizeof(domains[0]);
	*domainTable = domains;
	return CUPTI_SUCCESS;
}

/* Calls that the runtime itself makes are not reported. */
void simcupti_call_api(struct sim_api *api, bool is_exit)
{
	CUpti_CallbackDomain domain = api->layer == SIM_DRIVER ? CUPTI_CB_DOMAIN_DRIVER_API :
								 CUPTI_CB_DOMAIN_RUNTIME_API;
	const struct sim_context *context = simcupti.interface->first_context();
	struct CUpti_Subscriber_st *to = subscriber;
	CUpti_CallbackData data;

	if (!to || api->is_nested || api->cbid >= CBID_COUNT || !to->enabled[domain][api->cbid])
		return;
	data = (CUpti_CallbackData){
		.callbackSite = is_exit ? CUPTI_API_EXIT : CUPTI_API_ENTER,
		.functionName = api->name,
		.functionParams = api->params,
		.functionReturnValue = is_exit ? (void *)(uintptr_t)api->result_address : NULL,
		.context = (CUcontext)(uintptr_t)context,
		.contextUid = context ? context->id : 0,
		.correlationData = &api->tool_word,
		.correlationId = api->correlation,
	};
	to->callback(to->data, domain, api->cbid, &data);
}

void simcupti_call_resource(CUpti_CallbackId id, CUcontext context, CUstream stream)
{
	struct CUpti_Subscriber_st *to = subscriber;
	CUpti_ResourceData data = { .context = context, .resourceHandle.stream = stream };

	if (to && to->enabled[CUPTI_CB_DOMAIN_RESOURCE][id])
		to->callback(to->data, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}
