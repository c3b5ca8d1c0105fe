/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_profiler N [again|finalize|later|within|stay|first|defined|v2|beside|mixed|threads|others]: N memsets of 4 KB,
 * N of 8 KB under a profiler of the program's own, which prints how many records it got and whether their times were
 * CUPTI's usual ones, then N of 16 KB.
 *   again     the profiler continues without registering its buffers again, for N of 32 KB; N of 64 KB follow
 *   finalize  it ends CUPTI
 *   later     the same, and the next work begins after CUPTI had 1.2 s to detach
 *   within    it ends CUPTI within a CUDA call, which takes 1.2 s more; 1.2 s after N of 16 KB, N of 32 KB follow
 *   defined   it defines the fields of CUPTI's records meanwhile, and gets none
 *   v2        it uses the functions of CUDA 13.2, and again for N of 32 KB; N of 64 KB follow
 *   beside    the same, and it allows other subscribers
 *   mixed     during such a subscription it tries CUPTI's older functions, too, and a second subscription
 *   stay      it never switches off
 *   first     it takes CUPTI before any CUDA call
 *   threads   it is switched on and off 20 times while another thread works
 *   others    the same, and it allows other subscribers */
#include "../doubles/cupti_13020.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int records, strange, odd, stop;

static void CUPTIAPI on_request(uint8_t **buffer, size_t *size, size_t *limit)
{
	*buffer = aligned_alloc(8, 1 << 20);
	*size = 1 << 20;
	*limit = 0;
}

static void CUPTIAPI on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	CUpti_Activity *record = NULL;

	while (cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS) {
		CUpti_ActivityMemset *set = (CUpti_ActivityMemset *)record;

		if (record->kind != CUPTI_ACTIVITY_KIND_MEMSET || (set->bytes != 8192 && set->bytes != 32768)) {
			__atomic_fetch_add(&strange, 1, __ATOMIC_RELAXED);
			continue;
		}
		__atomic_fetch_add(&records, 1, __ATOMIC_RELAXED);
		/* another clock is years off, a busy machine seconds */
		if (set->start / 1000000000 + 3600 < (uint64_t)time(NULL))
			__atomic_fetch_add(&odd, 1, __ATOMIC_RELAXED);
	}
	free(buffer);
}

static int work(void *device, int n, size_t bytes)
{
	for (int i = 0; i < n; i++)
		if (cudaMemset(device, 0, bytes) != cudaSuccess)
			return 1;
	return cudaDeviceSynchronize() != cudaSuccess;
}

static int profile(void *device, int n, size_t bytes, int stays)
{
	int failed;

	if (cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET) != CUPTI_SUCCESS)
		return 1;
	failed = work(device, n, bytes);
	if (!stays)
		cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMSET);
	cuptiActivityFlushAll(1);
	return failed;
}

/* ---- CUDA 13.2's functions, which older libraries lack ---- */

#pragma weak cuptiSubscribe_v2
#pragma weak cuptiActivityRegisterCallbacks_v2
#pragma weak cuptiActivityEnable_v2
#pragma weak cuptiActivityDisable_v2
#pragma weak cuptiActivitySetAttribute_v2

static void CUPTIAPI on_request_v2(uint8_t **buffer, size_t *size, size_t *limit, CUpti_BufferCallbackRequestInfo *info)
{
	(void)info;
	on_request(buffer, size, limit);
}

static void CUPTIAPI on_complete_v2(uint8_t *buffer, size_t size, size_t used, CUpti_BufferCallbackCompleteInfo *info)
{
	(void)info;
	on_complete(NULL, 0, buffer, size, used);
}

static int profile_v2(void *device, int n, size_t bytes)
{
	CUpti_SubscriberParams params = { .structSize = CUpti_SubscriberParams_STRUCT_SIZE };
	CUpti_SubscriberHandle handle;
	int failed;

	if (cuptiSubscribe_v2(&handle, NULL, NULL, &params) != CUPTI_SUCCESS ||
	    cuptiActivityRegisterCallbacks_v2(handle, on_request_v2, on_complete_v2) != CUPTI_SUCCESS ||
	    cuptiActivityEnable_v2(handle, CUPTI_ACTIVITY_KIND_MEMSET, NULL) != CUPTI_SUCCESS)
		return 1;
	failed = work(device, n, bytes);
	failed |= cuptiActivityDisable_v2(handle, CUPTI_ACTIVITY_KIND_MEMSET, NULL) != CUPTI_SUCCESS;
	failed |= cuptiActivityFlushAll(1) != CUPTI_SUCCESS;
	return failed | (cuptiUnsubscribe(handle) != CUPTI_SUCCESS);
}

/* ---- several subscribers, from 13.3 on ---- */

CUptiResult cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle handle, CUpti_ActivityAttribute attribute,
					 size_t *size, void *value);

enum { ATTRIBUTE_GRAPHS = 20, ATTRIBUTE_THREADS = 21 };

static int subscribe_several(CUpti_SubscriberHandle *handle, int allows_several)
{
	char name[64] = "nobody";
	subscriber_params_13020 params = { .allowMultipleSubscribers = (uint8_t)allows_several };
	int result;

	params.structSize = sizeof(params);
	params.subscriberName = "program";
	params.oldSubscriberName = name;
	params.oldSubscriberSize = sizeof(name);
	result = cuptiSubscribe_v2(handle, NULL, NULL, (CUpti_SubscriberParams *)&params);
	printf("subscribe %d, after %s\n", result, name);
	return result;
}

static int set(CUpti_SubscriberHandle handle, int attribute, size_t size, void *value)
{
	return cuptiActivitySetAttribute_v2(handle, (CUpti_ActivityAttribute)attribute, &size, value);
}

/* What else CUPTI refuses during a subscription. */
static int mix(void)
{
	CUpti_SubscriberHandle other;

	printf("enable %d\n", cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
	printf("register %d\n", cuptiActivityRegisterCallbacks(on_request, on_complete));
	printf("older subscribe %d\n", cuptiSubscribe(&other, NULL, NULL));
	if (subscribe_several(&other, 0) == CUPTI_SUCCESS || subscribe_several(&other, 1) != CUPTI_SUCCESS)
		return 1;
	return cuptiUnsubscribe(other) != CUPTI_SUCCESS;
}

static int profile_beside(void *device, int n, size_t bytes, int is_mixed)
{
	CUpti_SubscriberHandle handle;
	CUpti_ActivityThreadIdType type = CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
	uint8_t no_graphs = 0;
	int failed = subscribe_several(&handle, 1) != CUPTI_SUCCESS;

	if (failed)
		return 1;
	printf("attributes %d %d\n", set(handle, ATTRIBUTE_GRAPHS, 1, &no_graphs),
	       set(handle, ATTRIBUTE_THREADS, sizeof(type), &type));
	if (cuptiActivityRegisterCallbacks_v2(handle, on_request_v2, on_complete_v2) != CUPTI_SUCCESS ||
	    cuptiActivityEnable_v2(handle, CUPTI_ACTIVITY_KIND_MEMSET, NULL) != CUPTI_SUCCESS)
		return 1;
	failed = work(device, n, bytes) || (is_mixed && mix());
	failed |= cuptiActivityDisable_v2(handle, CUPTI_ACTIVITY_KIND_MEMSET, NULL) != CUPTI_SUCCESS;
	failed |= cuptiActivityFlushAll(1) != CUPTI_SUCCESS;
	return failed | (cuptiUnsubscribe(handle) != CUPTI_SUCCESS);
}

static int profile_all_beside(void *device, int n, int is_mixed)
{
	int failed = profile_beside(device, n, 8192, is_mixed) || work(device, n, 16384) ||
		     profile_beside(device, n, 32768, is_mixed) || work(device, n, 65536);

	printf("%d records, %d strange, %d at odd times\n", records, strange, odd);
	return failed;
}

/* ---- records whose fields the program defines, from 13.2 on ---- */

static int set_defined(uint8_t is_on)
{
	size_t size = sizeof(is_on);

	return cuptiActivitySetAttribute((CUpti_ActivityAttribute)11, &size, &is_on) != CUPTI_SUCCESS;
}

static int define_records(void *device, int n)
{
	return set_defined(1) || work(device, n, 8192) || set_defined(0) || work(device, n, 16384);
}

/* ---- the end of CUPTI within a call ---- */

static void CUPTIAPI end_cupti(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *about)
{
	const CUpti_CallbackData *call = about;

	if (call->callbackSite != CUPTI_API_EXIT)
		return;
	printf("finalize %d\n", cuptiFinalize());
	nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 200000000 }, NULL);
}

static int end_within(void *device, int n)
{
	CUpti_SubscriberHandle handle;
	int failed = cuptiSubscribe(&handle, end_cupti, NULL) != CUPTI_SUCCESS ||
		     cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API,
					 CUPTI_RUNTIME_TRACE_CBID_cudaStreamCreate_v3020) != CUPTI_SUCCESS;
	cudaStream_t stream;

	failed = failed || cudaStreamCreate(&stream) != cudaSuccess || work(device, n, 16384);
	nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 200000000 }, NULL);
	return failed || work(device, n, 32768);
}

static void *work_on(void *device)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		work(device, 10, 2048);
	return NULL;
}

/* It gets a random part of the other thread's work, and all of its own. */
static int on_and_off(void *device, int n, int is_beside)
{
	pthread_t thread;
	int failed = 0;

	if (pthread_create(&thread, NULL, work_on, device) != 0)
		return 1;
	for (int i = 0; i < 20; i++)
		failed |= (is_beside ? profile_beside(device, n, 8192, 0) : profile(device, n, 8192, 0)) ||
			  work(device, n, 16384);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	printf("%s\n", records == 20 * n ? "all records" : "records are missing");
	return failed;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, failed;
	const char *mode = argc > 2 ? argv[2] : "";
	void *device;

	if ((strcmp(mode, "v2") == 0 || strcmp(mode, "beside") == 0 || strcmp(mode, "mixed") == 0) &&
	    !(cuptiSubscribe_v2 && cuptiActivityEnable_v2 && cuptiActivitySetAttribute_v2)) {
		puts("this CUPTI is older than that of CUDA 13.2");
		return 77;
	}
	if (strcmp(mode, "first") == 0 && (cuptiActivityRegisterCallbacks(on_request, on_complete) != CUPTI_SUCCESS ||
					   cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET) != CUPTI_SUCCESS))
		return 1;
	if (cudaMalloc(&device, 1 << 20) != cudaSuccess || work(device, n, 4096))
		return 1;
	if (strcmp(mode, "v2") == 0) {
		failed = profile_v2(device, n, 8192) || work(device, n, 16384) || profile_v2(device, n, 32768) ||
			 work(device, n, 65536);
		printf("%d records, %d strange, %d at odd times\n", records, strange, odd);
		return failed;
	}
	if (strcmp(mode, "beside") == 0 || strcmp(mode, "mixed") == 0)
		return profile_all_beside(device, n, strcmp(mode, "mixed") == 0);
	if (strcmp(mode, "defined") == 0)
		return define_records(device, n);
	if (strcmp(mode, "others") == 0)
		return on_and_off(device, n, 1);
	if (strcmp(mode, "within") == 0)
		return end_within(device, n);
	if (cuptiActivityRegisterCallbacks(on_request, on_complete) != CUPTI_SUCCESS)
		return 1;
	if (strcmp(mode, "threads") == 0)
		return on_and_off(device, n, 0);
	failed = profile(device, n, 8192, strcmp(mode, "stay") == 0);
	if (strcmp(mode, "finalize") == 0 || strcmp(mode, "later") == 0)
		failed |= cuptiFinalize() != CUPTI_SUCCESS;
	if (strcmp(mode, "later") == 0)
		nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 200000000 }, NULL);
	if (strcmp(mode, "stay") != 0)
		failed |= work(device, n, 16384);
	if (strcmp(mode, "again") == 0)
		failed |= profile(device, n, 32768, 0) || work(device, n, 65536);
	printf("%d records, %d strange, %d at odd times\n", records, strange, odd);
	return failed;
}
