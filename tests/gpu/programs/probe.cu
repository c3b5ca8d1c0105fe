/* SPDX-License-Identifier: Apache-2.0 */
/* probe QUESTION: finds out undocumented behaviour of NVIDIA's CUPTI, without pillion. Built by nvcc --cudart shared,
 * linked to libcupti. Prints the answers as lines of "name value"; exits with status 1 if it cannot find out.
 *   flush     which records cuptiActivityFlushAll delivers, and whether it waits for a callback in progress
 *   period    when cuptiActivityFlushPeriod delivers records, and on which thread
 *   raw       the contents of a buffer before its delivery: what a mapped buffer would keep after SIGKILL
 *   fork      what CUPTI returns in a forked child, and whether the parent continues
 *   teardown  which exit handlers still get records
 *   subscribe what a second client of each interface gets
 *   clock     whether cuptiActivityRegisterTimestampCallback puts device times on our clock
 *   unfinished what a forced flush delivers of kernels in progress, and whether it delivers them again
 *   graph     which ids the records of a graph's nodes have, beside those of the captured nodes
 *   hardware  whether the hardware event system can be enabled, and its records
 *   several   two subscribers of cuptiSubscribe_v2, and what the older functions do beside them
 *   calls     which records of calls there are for <<<>>>, cudaMemsetAsync and the rest, all and by function
 *   cost WAY  what a launch costs (ns_per_launch) with WAY of: none kernels calls some external */
#include <cupti.h>

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <map>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account.h"

enum { BUFFER = 1 << 20, MANY = 200, BATCH = 500, BATCHES = 101 };

__global__ void spin(long long cycles)
{
	long long begin = clock64();

	while (clock64() - begin < cycles)
		;
}

static struct {
	volatile int kernels, unfinished, buffers, inside, slow_us, other_thread;
	volatile double arrived_ns;
	uint64_t first, last; /* of kernels */
	uint8_t *outstanding;
	pid_t main_thread;
	std::map<std::string, int> functions;
	std::multimap<uint64_t, uint32_t> nodes; /* graphs by their nodes */
} seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void CUPTIAPI on_request(uint8_t **buffer, size_t *size, size_t *limit)
{
	*buffer = (uint8_t *)aligned_alloc(8, BUFFER);
	memset(*buffer, 0, BUFFER);
	*size = BUFFER;
	*limit = 0;
	seen.outstanding = *buffer;
}

/* The simulated CUPTI has none. */
static CUptiResult (*name_of)(CUpti_CallbackDomain, uint32_t, const char **);

static void take(CUpti_Activity *record)
{
	if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
		CUpti_ActivityKernel9 *kernel = (CUpti_ActivityKernel9 *)record;

		seen.kernels++;
		seen.unfinished += !kernel->end;
		if (kernel->graphId)
			seen.nodes.insert({(uint64_t)kernel->graphNodeId, (uint32_t)kernel->graphId});
		seen.first = seen.first && seen.first < kernel->start ? seen.first : kernel->start;
		seen.last = seen.last > kernel->end ? seen.last : kernel->end;
	} else if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME || record->kind == CUPTI_ACTIVITY_KIND_DRIVER) {
		bool is_driver = record->kind == CUPTI_ACTIVITY_KIND_DRIVER;
		const char *name = NULL;
		uint32_t function = ((CUpti_ActivityAPI *)record)->cbid;

		if (name_of)
			name_of(is_driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, function, &name);
		seen.functions[std::string(is_driver ? "driver:" : "runtime:") +
			       (name ? name : std::to_string(function))]++;
	}
}

static void CUPTIAPI on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	CUpti_Activity *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	seen.inside++;
	seen.other_thread |= syscall(SYS_gettid) != seen.main_thread;
	if (seen.slow_us && syscall(SYS_gettid) != seen.main_thread)
		usleep((useconds_t)seen.slow_us);
	pthread_mutex_lock(&lock);
	while (cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS)
		take(record);
	seen.buffers++;
	seen.arrived_ns = now_ns();
	pthread_mutex_unlock(&lock);
	seen.inside--;
	free(buffer);
}

static void start(CUpti_ActivityKind kind)
{
	*(void **)&name_of = dlsym(RTLD_DEFAULT, "cuptiGetCallbackName");
	seen.main_thread = (pid_t)syscall(SYS_gettid);
	NEED(cudaFree(NULL));
	NEED(cuptiActivityRegisterCallbacks(on_request, on_complete));
	NEED(cuptiActivityEnable(kind));
}

static void launch(int n, long long cycles)
{
	for (int i = 0; i < n; i++)
		spin<<<1, 1>>>(cycles);
	NEED(cudaGetLastError());
}

static void answer(const char *name, long long value)
{
	printf("%s %lld\n", name, value);
	fflush(stdout);
}

/* ---- questions ---- */

static int ask_flush(const char *)
{
	bool was_inside = false;

	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	answer("launched", MANY);
	launch(MANY, 100000);
	NEED(cuptiActivityFlushAll(0));
	answer("records_by_flush_0_while_running", seen.kernels);
	NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	answer("records_by_flush_1_while_running", seen.kernels);
	NEED(cudaDeviceSynchronize());
	answer("records_by_synchronizing_alone", seen.kernels);
	NEED(cuptiActivityFlushAll(0));
	answer("records_by_flush_0_when_done", seen.kernels);
	NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	answer("records_by_flush_1_when_done", seen.kernels);
	answer("callbacks_on_another_thread", seen.other_thread);

	/* Does a flush by this thread wait for a callback that takes 300 ms on CUPTI's thread? */
	if (cuptiActivityFlushPeriod(20) != CUPTI_SUCCESS)
		return 0;
	seen.slow_us = 300000;
	launch(MANY, 1000);
	NEED(cudaDeviceSynchronize());
	for (int i = 0; i < 2000 && !was_inside; i++) {
		was_inside = seen.inside > 0;
		usleep(1000);
	}
	answer("a_callback_was_under_way", was_inside);
	if (was_inside) {
		NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
		answer("flush_came_back_before_the_callback", seen.inside > 0);
	}
	usleep(700000);
	answer("records_in_the_end", seen.kernels);
	answer("records_missing", 2 * MANY - seen.kernels);
	return 0;
}

static int ask_unfinished(const char *)
{
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	launch(1, 1000);
	NEED(cudaDeviceSynchronize());
	launch(3, 200000000); /* a tenth of a second each */
	NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	answer("records_by_flush_1_while_running", seen.kernels);
	answer("without_an_end", seen.unfinished);
	NEED(cudaDeviceSynchronize());
	NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	answer("records_in_all", seen.kernels);
	answer("records_missing", 4 - (seen.kernels - seen.unfinished));
	return 0;
}

static int ask_graph(const char *)
{
	enum { NODES = 3, REPLAYS = 2 };
	uint64_t ids[NODES] = {0};
	uint32_t graph_id = 0, exec_id = 0;
	size_t count = NODES;
	int same = 0, same_local = 0, by_exec = 0, by_graph = 0;
	cudaGraphNode_t nodes[NODES];
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < NODES; i++)
		spin<<<1, 1, 0, stream>>>(1000);
	NEED(cudaStreamEndCapture(stream, &graph));
	NEED(cudaGraphGetNodes(graph, nodes, &count));
	for (size_t i = 0; i < count; i++)
		NEED(cuptiGetGraphNodeId((CUgraphNode)nodes[i], &ids[i]));
	NEED(cudaGraphInstantiate(&exec, graph, 0));
	answer("get_graph_id", cuptiGetGraphId((CUgraph)graph, &graph_id));
	answer("get_exec_id", cuptiGetGraphExecId((CUgraphExec)exec, &exec_id));
	for (int i = 0; i < REPLAYS; i++)
		NEED(cudaGraphLaunch(exec, stream));
	NEED(cudaStreamSynchronize(stream));
	NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	for (const auto &n : seen.nodes) {
		for (size_t i = 0; i < count; i++) {
			same += n.first == ids[i];
			same_local += (uint32_t)n.first == (uint32_t)ids[i];
		}
		by_exec += n.second == exec_id;
		by_graph += n.second == graph_id;
	}
	answer("nodes", (long long)count);
	answer("records_of_nodes", (long long)seen.nodes.size());
	answer("with_the_captured_nodes_id", same);
	answer("with_its_low_half", same_local);
	answer("with_the_executable_graphs_id", by_exec);
	answer("with_the_captured_graphs_id", by_graph);
	printf("captured_node_ids %llx..%llx\nfirst_recorded_node_id %llx\n", (unsigned long long)ids[0],
	       (unsigned long long)ids[NODES - 1],
	       seen.nodes.empty() ? 0ull : (unsigned long long)seen.nodes.begin()->first);
	return 0;
}

static int ask_hardware(const char *)
{
	CUptiResult (*enable)(uint8_t);

	*(void **)&enable = dlsym(RTLD_DEFAULT, "cuptiActivityEnableHWTrace");
	answer("is_there", enable != NULL);
	if (enable)
		answer("enable_before_the_first_context", enable(1));
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	if (enable)
		answer("enable_after_it", enable(1));
	launch(MANY, 1000);
	NEED(cudaDeviceSynchronize());
	NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	answer("launched", MANY);
	answer("records", seen.kernels);
	answer("records_missing", MANY - seen.kernels);
	return 0;
}

/* ---- several subscribers: CUDA 13.2's functions, which the headers of 13.0 do not declare ---- */

struct several_params {
	size_t size;
	const char *name;
	char *old_name;
	size_t old_size;
	uint8_t allows_several, reserved[7];
};
static struct {
	CUptiResult (*subscribe)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *, void *);
	CUptiResult (*register_callbacks)(CUpti_SubscriberHandle, void *, void *);
	CUptiResult (*enable)(CUpti_SubscriberHandle, int, void *);
	CUptiResult (*set)(CUpti_SubscriberHandle, int, size_t *, void *);
} v2;
static int counts[2];

static void request_v2(uint8_t **buffer, size_t *size, size_t *limit, void *)
{
	on_request(buffer, size, limit);
}

template <int who> static void complete_v2(uint8_t *buffer, size_t size, size_t used, void *)
{
	int before = seen.kernels;

	on_complete(NULL, 0, buffer, size, used);
	counts[who] += seen.kernels - before;
}

static void ignore_callback(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *)
{
}

static int ask_several(const char *)
{
	several_params params = {sizeof(params), "probe", NULL, 0, 1, {0}};
	CUpti_SubscriberHandle one = NULL, two = NULL;
	uint8_t is_on = 0;
	size_t size = 1;
	int result;

	*(void **)&v2.subscribe = dlsym(RTLD_DEFAULT, "cuptiSubscribe_v2");
	*(void **)&v2.register_callbacks = dlsym(RTLD_DEFAULT, "cuptiActivityRegisterCallbacks_v2");
	*(void **)&v2.enable = dlsym(RTLD_DEFAULT, "cuptiActivityEnable_v2");
	*(void **)&v2.set = dlsym(RTLD_DEFAULT, "cuptiActivitySetAttribute_v2");
	answer("is_there", v2.subscribe && v2.register_callbacks && v2.enable && v2.set);
	if (!v2.subscribe || !v2.register_callbacks || !v2.enable || !v2.set)
		return 0;
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	answer("subscribe_while_older_kinds_are_on", v2.subscribe(&one, ignore_callback, NULL, &params));
	if (one)
		cuptiUnsubscribe(one);
	NEED(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	one = NULL;
	result = v2.subscribe(&one, ignore_callback, NULL, &params);
	answer("subscribe", result);
	if (result)
		return 0;
	answer("second_subscribe", v2.subscribe(&two, ignore_callback, NULL, &params));
	answer("register", v2.register_callbacks(one, (void *)request_v2, (void *)complete_v2<0>));
	answer("enable", v2.enable(one, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL));
	if (two) {
		answer("second_register", v2.register_callbacks(two, (void *)request_v2, (void *)complete_v2<1>));
		answer("second_enable", v2.enable(two, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL));
	}
	answer("enable_whole_graphs", v2.enable(one, CUPTI_ACTIVITY_KIND_GRAPH_TRACE, NULL));
	answer("set_whole_graphs_while_a_kind_is_on", v2.set(one, 20, &size, &is_on));
	answer("older_enable", cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
	launch(MANY, 1000);
	NEED(cudaDeviceSynchronize());
	NEED(cuptiActivityFlushAll(0));
	answer("launched", MANY);
	answer("records_of_the_first", counts[0]);
	answer("records_of_the_second", counts[1]);
	if (two)
		answer("unsubscribe", cuptiUnsubscribe(two));
	answer("unsubscribe_the_last", cuptiUnsubscribe(one));
	answer("older_enable_afterwards", cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	return 0;
}

static int ask_period(const char *)
{
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	answer("flush_period_result", cuptiActivityFlushPeriod(100));
	for (int round = 0; round < 3; round++) {
		int before = seen.kernels;
		double begin;

		launch(MANY, 1000);
		NEED(cudaDeviceSynchronize());
		begin = now_ns();
		for (int i = 0; i < 2000 && seen.kernels == before; i++)
			usleep(1000);
		answer("ms_until_records_came",
		       seen.kernels == before ? -1 : (long long)((seen.arrived_ns - begin) / 1e6));
		answer("records_that_came", seen.kernels - before);
	}
	answer("callbacks_on_another_thread", seen.other_thread);
	return 0;
}

static void look_into_buffer(const char *name)
{
	uint32_t kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, word;
	long long bytes = 0, records = 0;

	for (size_t i = 0; seen.outstanding && i < BUFFER; i++)
		bytes += seen.outstanding[i] != 0;
	for (size_t i = 0; seen.outstanding && i < BUFFER; i += 8) {
		memcpy(&word, seen.outstanding + i, sizeof(word));
		records += word == kind;
	}
	printf("%s_nonzero_bytes %lld\n%s_words_like_a_kernel %lld\n", name, bytes, name, records);
}

static int ask_raw(const char *)
{
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	launch(MANY, 1000);
	NEED(cudaDeviceSynchronize());
	answer("launched", MANY);
	look_into_buffer("at_once");
	usleep(100000);
	look_into_buffer("after_100_ms");
	launch(1, 1000);
	NEED(cudaDeviceSynchronize());
	look_into_buffer("after_another_launch");
	answer("handed_over_meanwhile", seen.kernels);
	return 0;
}

static int ask_fork(const char *)
{
	int status = -1;
	pid_t child;

	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	launch(MANY, 1000);
	child = fork();
	if (child == 0) {
		alarm(5); /* a hang is a valid answer */
		answer("child_flush_result", cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
		answer("child_got_records", seen.kernels);
		answer("child_disable_result", cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
		_exit(0);
	}
	NEED(waitpid(child, &status, 0) != child);
	answer("child_ended_by_signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	launch(MANY, 1000);
	NEED(cudaDeviceSynchronize());
	NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	answer("parent_records_missing", 2 * MANY - seen.kernels);
	return 0;
}

static void at_late_exit(int status, void *unused)
{
	(void)status;
	(void)unused;
	answer("late_handler_flush_result", cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	answer("records_by_a_handler_registered_before_cuda", seen.kernels);
}

static void at_early_exit(int status, void *unused)
{
	(void)status;
	(void)unused;
	answer("records_before_any_handler", seen.kernels);
	answer("early_handler_flush_result", cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	answer("records_by_a_handler_registered_after_cuda", seen.kernels);
	answer("synchronize_there", cudaDeviceSynchronize());
	answer("flush_after_it", cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	answer("records_after_it", seen.kernels);
}

static int ask_teardown(const char *)
{
	on_exit(at_late_exit, NULL);
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	on_exit(at_early_exit, NULL);
	answer("launched", MANY);
	launch(MANY, 1000);
	return 0; /* not waited for */
}

static void CUPTIAPI on_call(void *context, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	(void)context;
	(void)domain;
	(void)id;
	(void)data;
}

static int stolen;

static void CUPTIAPI on_other_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	int before = seen.kernels;

	on_complete(context, stream, buffer, size, used);
	stolen += seen.kernels - before;
}

static int ask_subscribe(const char *)
{
	CUpti_SubscriberHandle one, two;

	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	answer("subscribe_while_records_are_on", cuptiSubscribe(&one, on_call, NULL));
	answer("second_subscribe", cuptiSubscribe(&two, on_call, NULL));
	answer("enable_while_subscribed", cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
	launch(MANY, 1000);
	NEED(cudaDeviceSynchronize());
	answer("second_register_callbacks", cuptiActivityRegisterCallbacks(on_request, on_other_complete));
	NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	answer("records_of_the_first_that_went_to_the_second", stolen);
	launch(MANY, 1000);
	NEED(cudaDeviceSynchronize());
	NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	answer("records_in_all", seen.kernels);
	answer("finalize", cuptiFinalize());
	return 0;
}

static uint64_t our_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void place_kernels(const char *name)
{
	uint64_t begin, end;

	seen.first = seen.last = 0;
	begin = our_clock();
	launch(1, 1000000);
	NEED(cudaDeviceSynchronize());
	end = our_clock();
	NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	printf("%s_start_after_our_begin_ns %lld\n%s_end_before_our_end_ns %lld\n", name,
	       (long long)(seen.first - begin), name, (long long)(end - seen.last));
}

static int ask_clock(const char *)
{
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	launch(1, 1000);
	NEED(cudaDeviceSynchronize());
	NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	answer("register_while_records_are_on", cuptiActivityRegisterTimestampCallback(our_clock));
	for (int i = 0; i < 3; i++)
		place_kernels("switched");
	NEED(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	answer("register_while_they_are_off", cuptiActivityRegisterTimestampCallback(our_clock));
	NEED(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	for (int i = 0; i < 3; i++)
		place_kernels("from_the_start");
	return 0;
}

static void some_calls(void)
{
	void *p;

	NEED(cudaMalloc(&p, 1 << 20));
	launch(10, 1000);
	NEED(cudaMemsetAsync(p, 0, 4096, 0));
	NEED(cudaDeviceSynchronize());
	NEED(cudaFree(p));
	NEED(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

static void tell_functions(const char *how)
{
	for (const auto &f : seen.functions)
		printf("%s_%s %d\n", how, f.first.c_str(), f.second);
	seen.functions.clear();
}

static int ask_calls(const char *)
{
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	launch(1, 1000);
	NEED(cudaDeviceSynchronize());
	NEED(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
	NEED(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
	some_calls();
	tell_functions("all");
	NEED(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME));
	NEED(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER));
	answer("enable_one_runtime_function",
	       cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 1));
	some_calls();
	tell_functions("cudaLaunchKernel_alone");
	answer("disable_it", cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 0));
	answer("enable_one_driver_function", cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1));
	some_calls();
	tell_functions("cuLaunchKernel_alone");
	return 0;
}

/* ---- cost of the two methods of correlation, and of none ---- */

static int ask_cost(const char *way)
{
	bool is_external = !strcmp(way, "external");
	double cost[BATCHES];
	uint64_t id;

	NEED(cudaFree(NULL));
	if (strcmp(way, "none"))
		start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	if (!strcmp(way, "calls")) {
		NEED(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
		NEED(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
	}
	if (!strcmp(way, "some") || is_external) {
		NEED(cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 1));
		NEED(cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1));
	}
	if (is_external)
		NEED(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
	launch(100, 0);
	NEED(cudaDeviceSynchronize());
	for (int batch = 0; batch < BATCHES; batch++) {
		double begin = now_ns();

		for (int i = 0; i < BATCH; i++) {
			if (is_external)
				cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0,
								       (uint64_t)i);
			spin<<<1, 1>>>(0);
			if (is_external)
				cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id);
		}
		cost[batch] = (now_ns() - begin) / BATCH;
		NEED(cudaDeviceSynchronize());
	}
	printf("ns_per_launch %.1f\n", median_of(cost, BATCHES));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*ask)(const char *);
	} questions[] = {{"flush", ask_flush},	 {"period", ask_period},     {"raw", ask_raw},
			 {"fork", ask_fork},	 {"teardown", ask_teardown}, {"subscribe", ask_subscribe},
			 {"clock", ask_clock},	 {"calls", ask_calls},	     {"unfinished", ask_unfinished},
			 {"graph", ask_graph},	 {"hardware", ask_hardware}, {"several", ask_several},
			 {"cost", ask_cost}};

	for (size_t i = 0; argc > 1 && i < sizeof(questions) / sizeof(*questions); i++)
		if (!strcmp(questions[i].name, argv[1]))
			return questions[i].ask(argc > 2 ? argv[2] : "none");
	fprintf(stderr, "probe flush|period|raw|fork|teardown|subscribe|clock|unfinished|graph|hardware|several|calls|"
			"cost WAY\n");
	return 2;
}
