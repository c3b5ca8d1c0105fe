/* SPDX-License-Identifier: Apache-2.0 */
/* The CUPTI double: subscribers and their callbacks. */
#include "simcupti.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct CUpti_Subscriber_st {
	CUpti_CallbackFunc callback;
	void *data;
	bool is_v2, allows_several;
	char name[CUPTI_SUBSCRIBER_NAME_MAX_LEN];
	uint8_t enabled[CUPTI_CB_DOMAIN_SIZE][CBID_COUNT];
};

/* By client: a subscriber of cuptiSubscribe is the first. */
static struct CUpti_Subscriber_st *subscribers[CLIENTS];

static bool wants_several(const CUpti_SubscriberParams *params)
{
	return params && params->structSize > offsetof(subscriber_params_13020, allowMultipleSubscribers) &&
	       ((const subscriber_params_13020 *)params)->allowMultipleSubscribers;
}

static const struct CUpti_Subscriber_st *subscriber_first(void)
{
	for (int i = 0; i < CLIENTS; i++)
		if (subscribers[i])
			return subscribers[i];
	return NULL;
}

/* Several are allowed from 13.3 and driver r610 on, if all of them agree. */
static CUptiResult find_place(unsigned *ret, bool is_v2, bool allows_several)
{
	const struct CUpti_Subscriber_st *first = subscriber_first();
	bool may_be_several = simcupti.layout >= LAYOUT_13_3 && !simcupti.has_old_driver;

	if (simcupti.refuses_subscribers || (first && !(first->allows_several && allows_several)) ||
	    (simcupti.layout >= LAYOUT_13_3 && allows_several && !may_be_several))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	for (*ret = is_v2 ? CLIENT_FIRST : CLIENT_V1; *ret < CLIENTS && subscribers[*ret]; ++*ret)
		;
	return *ret < CLIENTS ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY;
}

static CUptiResult subscribe(CUpti_SubscriberHandle *ret_handle, CUpti_CallbackFunc callback, void *data,
			     const char *name, bool is_v2, bool allows_several)
{
	CUptiResult result = simcupti_ready();
	struct CUpti_Subscriber_st *subscriber;
	unsigned place;

	if (result != CUPTI_SUCCESS)
		return result;
	if (!ret_handle)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (is_v2 && simcupti.layout < LAYOUT_13_0)	/* these headers lack it */
		return CUPTI_ERROR_NOT_SUPPORTED;
	allows_several = allows_several && simcupti.layout >= LAYOUT_13_3;
	result = find_place(&place, is_v2, allows_several);
	if (result != CUPTI_SUCCESS)
		return result;
	for (int kind = 0; is_v2 && simcupti.separates_v2 && kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
		if (simcupti.clients[CLIENT_V1].enabled[kind])
			return CUPTI_ERROR_NOT_COMPATIBLE;
	subscriber = calloc(1, sizeof(*subscriber));
	if (!subscriber)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	subscriber->callback = callback;
	subscriber->data = data;
	subscriber->is_v2 = is_v2;
	subscriber->allows_several = allows_several;
	strncpy(subscriber->name, name, sizeof(subscriber->name) - 1);
	subscribers[place] = subscriber;
	*ret_handle = subscriber;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata)
{
	return subscribe(handle, callback, userdata, "", false, false);
}

CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata,
				       CUpti_SubscriberParams *pParams)
{
	const struct CUpti_Subscriber_st *first = subscriber_first();
	CUptiResult result = subscribe(handle, callback, userdata,
				       pParams && pParams->subscriberName ? pParams->subscriberName : "", true,
				       wants_several(pParams));
	bool is_other = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || (result == CUPTI_SUCCESS && first);

	if (is_other && pParams && pParams->oldSubscriberName && pParams->oldSubscriberSize) {
		strncpy(pParams->oldSubscriberName, first ? first->name : "simulated other tool",
			pParams->oldSubscriberSize - 1);
		pParams->oldSubscriberName[pParams->oldSubscriberSize - 1] = 0;
	}
	return result;
}

static unsigned client_of_any(CUpti_SubscriberHandle handle)
{
	unsigned i = 0;

	while (i < CLIENTS && (!handle || subscribers[i] != handle))
		i++;
	return i;
}

/* The memory is not freed: another thread may be in a callback. */
static void unsubscribe(unsigned client)
{
	if (!subscribers[client])
		return;
	if (client) {
		simcupti_forget_buffers(client);
		memset(simcupti.clients[client].enabled, 0, sizeof(simcupti.clients[client].enabled));
		memset(simcupti.clients[client].api_enabled, 0, sizeof(simcupti.clients[client].api_enabled));
	}
	subscribers[client] = NULL;
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	unsigned client = client_of_any(handle);

	if (client == CLIENTS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	unsubscribe(client);
	return CUPTI_SUCCESS;
}

unsigned simcupti_client_of(CUpti_SubscriberHandle handle)
{
	unsigned client = client_of_any(handle);

	return client == CLIENTS ? CLIENT_V1 : client;
}

bool simcupti_has_v2(void)
{
	const struct CUpti_Subscriber_st *first = subscriber_first();

	return first && first->is_v2;
}

bool simcupti_has_several(void)
{
	const struct CUpti_Subscriber_st *first = subscriber_first();

	return first && first->allows_several;
}

void simcupti_unsubscribe_all(void)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		unsubscribe(i);
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
					 CUpti_CallbackId cbid)
{
	if (client_of_any(handle) == CLIENTS || domain >= CUPTI_CB_DOMAIN_SIZE || cbid >= CBID_COUNT)
		return CUPTI_ERROR_INVALID_PARAMETER;
	handle->enabled[domain][cbid] = enable != 0;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain)
{
	if (client_of_any(handle) == CLIENTS || domain >= CUPTI_CB_DOMAIN_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	memset(handle->enabled[domain], enable != 0, CBID_COUNT);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
	if (client_of_any(handle) == CLIENTS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	memset(handle->enabled, enable != 0, sizeof(handle->enabled));
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle,
					   CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	if (!enable || client_of_any(handle) == CLIENTS || domain >= CUPTI_CB_DOMAIN_SIZE || cbid >= CBID_COUNT)
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
	CUpti_CallbackData data;

	if (api->is_nested || api->cbid >= CBID_COUNT)
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
	for (int i = 0; i < CLIENTS; i++) {
		const struct CUpti_Subscriber_st *to = subscribers[i];

		if (to && to->enabled[domain][api->cbid])
			to->callback(to->data, domain, api->cbid, &data);
	}
}

void simcupti_call_resource(CUpti_CallbackId id, CUcontext context, CUstream stream)
{
	CUpti_ResourceData data = { .context = context, .resourceHandle.stream = stream };

	for (int i = 0; i < CLIENTS; i++) {
		const struct CUpti_Subscriber_st *to = subscribers[i];

		if (to && to->enabled[CUPTI_CB_DOMAIN_RESOURCE][id])
			to->callback(to->data, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
	}
}
