/* SPDX-License-Identifier: Apache-2.0 */
/* The declarations of CUPTI 13.2 that the double and its programs use, for builds with older headers. */
#ifndef CUPTI_13020_H
#define CUPTI_13020_H

#include <cupti.h>

#if CUPTI_API_VERSION < 130200
typedef struct CUpti_ActivityConfig CUpti_ActivityConfig;
typedef struct CUpti_BufferCallbackRequestInfo CUpti_BufferCallbackRequestInfo;
typedef struct CUpti_BufferCallbackCompleteInfo CUpti_BufferCallbackCompleteInfo;
typedef void(CUPTIAPI *CUpti_BuffersCallbackRequestFunc_v2)(uint8_t **buffer, size_t *size, size_t *limit,
							    CUpti_BufferCallbackRequestInfo *info);
typedef void(CUPTIAPI *CUpti_BuffersCallbackCompleteFunc_v2)(uint8_t *buffer, size_t size, size_t used,
							     CUpti_BufferCallbackCompleteInfo *info);

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle handle,
						       CUpti_BuffersCallbackRequestFunc_v2 request,
						       CUpti_BuffersCallbackCompleteFunc_v2 complete);
CUptiResult CUPTIAPI cuptiActivityEnable_v2(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind,
					    CUpti_ActivityConfig *config);
CUptiResult CUPTIAPI cuptiActivityDisable_v2(CUpti_SubscriberHandle handle, CUpti_ActivityKind kind,
					     CUpti_ActivityConfig *config);

typedef struct {
	size_t structSize;
	const char *subscriberName;
	char *oldSubscriberName;
	size_t oldSubscriberSize;
	uint8_t allowMultipleSubscribers, padding[7];
} subscriber_params_13020;
#else
typedef CUpti_SubscriberParams subscriber_params_13020;
#endif

#endif
