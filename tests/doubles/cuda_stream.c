/* SPDX-License-Identifier: Apache-2.0 */
/* The driver double: streams, events, waiting. */
#include "cuda_entry.h"

#include <stdlib.h>
#include <string.h>

enum { WAIT_EVENT = 1, WAIT_STREAM_EVENT = 2, WAIT_STREAM = 3, WAIT_CONTEXT = 4 };	/* CUPTI's numbers */

static CUresult waited(int type, const struct sim_context *context, uint32_t stream, uint32_t event, uint64_t start_ns)
{
	static const char *const names[] = { "", "event", "stream_wait_event", "stream", "context" };

	sim_log("sync", ",\"kind\":\"%s\",\"stream\":%u,\"corr\":%u", names[type], stream, sim_correlation());
	if (sim_tool)
		sim_tool->wait(type, context, stream, event, start_ns, sim_now_ns(), sim_correlation());
	return CUDA_SUCCESS;
}

/* ---- streams ---- */

static CUresult stream_create(CUstream *ret_stream, unsigned flags, int priority)
{
	struct sim_context *context = sim_context_current();

	if (!ret_stream || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING))
		return CUDA_ERROR_INVALID_VALUE;
	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	*ret_stream = (CUstream)sim_stream_new(context, flags, priority);
	return *ret_stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

ENTRY(cuStreamCreate, 2000, (phStream, Flags), CUstream *phStream, unsigned int Flags)
{
	return stream_create(phStream, Flags, 0);
}

ENTRY(cuStreamCreateWithPriority, 5050, (phStream, flags, priority), CUstream *phStream, unsigned int flags,
	    int priority)
{
	return stream_create(phStream, flags, priority < -5 ? -5 : priority > 0 ? 0 : priority);
}

ENTRY(cuStreamDestroy_v2, 4000, (hStream), CUstream hStream)
{
	bool is_per_thread = false;
	STREAM_OR_RETURN(stream, hStream);

	if (stream == stream->context->legacy)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_stream_free(stream);
	return CUDA_SUCCESS;
}

ENTRY_STREAM(cuStreamSynchronize, 2000, _ptsz, 7000, (hStream), CUstream hStream)
{
	uint64_t start_ns = sim_now_ns();
	STREAM_OR_RETURN(stream, hStream);

	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	/* As on the real device, the legacy default stream synchronises with all blocking streams. */
	if (stream == stream->context->legacy) {
		for (struct sim_stream *other = stream->context->streams; other; other = other->next) {
			if (!(other->flags & CU_STREAM_NON_BLOCKING))
				sim_wait_stream(other);
		}
	}
	sim_wait_stream(stream);
	return waited(WAIT_STREAM, stream->context, stream->id, 0, start_ns);
}

ENTRY_STREAM(cuStreamQuery, 2000, _ptsz, 7000, (hStream), CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return sim_stream_is_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

ENTRY_STREAM(cuStreamGetPriority, 5050, _ptsz, 7000, (hStream, priority), CUstream hStream, int *priority)
{
	STREAM_OR_RETURN(stream, hStream);

	*priority = stream->priority;
	return CUDA_SUCCESS;
}

ENTRY_STREAM(cuStreamGetFlags, 5050, _ptsz, 7000, (hStream, flags), CUstream hStream, unsigned int *flags)
{
	STREAM_OR_RETURN(stream, hStream);

	*flags = stream->flags;
	return CUDA_SUCCESS;
}

ENTRY_STREAM(cuStreamGetId, 12000, _ptsz, 12000, (hStream, streamId), CUstream hStream,
	    unsigned long long *streamId)
{
	STREAM_OR_RETURN(stream, hStream);

	*streamId = stream->id;
	return CUDA_SUCCESS;
}

ENTRY_STREAM(cuStreamGetDevice, 12080, _ptsz, 12080, (hStream, device), CUstream hStream, CUdevice *device)
{
	STREAM_OR_RETURN(stream, hStream);

	*device = stream->context->device;
	return CUDA_SUCCESS;
}

ENTRY_STREAM(cuStreamGetCtx, 9020, _ptsz, 9020, (hStream, pctx), CUstream hStream, CUcontext *pctx)
{
	STREAM_OR_RETURN(stream, hStream);

	*pctx = (CUcontext)stream->context;
	return CUDA_SUCCESS;
}

ENTRY_STREAM(cuStreamWaitEvent, 3020, _ptsz, 7000, (hStream, hEvent, Flags), CUstream hStream, CUevent hEvent,
	    unsigned int Flags)
{
	struct sim_event *event = (struct sim_event *)hEvent;
	struct sim_work work = { .kind = SIM_WAIT };
	uint64_t start_ns = sim_now_ns();
	CUresult result = CUDA_SUCCESS;
	STREAM_OR_RETURN(stream, hStream);

	UNUSED(&Flags);
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->capture) {
		if (!stream->capture)
			sim_capture_join(stream, event->capture);
		sim_capture_depend(stream, event->node);
	} else {
		work.event.event = event;
		work.event.seq = event->queued;
		result = sim_queue(stream, &work);
	}
	return result == CUDA_SUCCESS ? waited(WAIT_STREAM_EVENT, stream->context, stream->id, event->id, start_ns) :
					result;
}

ENTRY_STREAM(cuStreamAddCallback, 5000, _ptsz, 7000, (hStream, callback, userData, flags), CUstream hStream,
	    CUstreamCallback callback, void *userData, unsigned int flags)
{
	struct sim_work work = { .kind = SIM_HOST,
				 .host = { .callback = callback, .stream = hStream, .data = userData } };
	STREAM_OR_RETURN(stream, hStream);

	return callback && !flags ? sim_queue(stream, &work) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY_STREAM(cuStreamAttachMemAsync, 6000, _ptsz, 7000, (hStream, dptr, length, flags), CUstream hStream,
	    CUdeviceptr dptr, size_t length, unsigned int flags)
{
	struct sim_allocation found;
	STREAM_OR_RETURN(stream, hStream);

	UNUSED(&length, &flags);
	return sim_find(dptr, &found) && stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ENTRY_STREAM(cuStreamWriteValue32_v2, 11070, _ptsz, 11070, (stream, addr, value, flags), CUstream stream,
	    CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
	struct sim_work work = { .kind = SIM_STORE, .store = { addr, value, sizeof(value) } };
	STREAM_OR_RETURN(queue, stream);

	UNUSED(&flags);
	return sim_holds(addr, sizeof(value)) ? sim_queue(queue, &work) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY_STREAM(cuStreamWriteValue64_v2, 11070, _ptsz, 11070, (stream, addr, value, flags), CUstream stream,
	    CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
	struct sim_work work = { .kind = SIM_STORE, .store = { addr, value, sizeof(value) } };
	STREAM_OR_RETURN(queue, stream);

	UNUSED(&flags);
	return sim_holds(addr, sizeof(value)) ? sim_queue(queue, &work) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY_STREAM(cuStreamCopyAttributes, 11000, _ptsz, 11000, (dstStream, srcStream), CUstream dstStream,
	    CUstream srcStream)
{
	UNUSED(&is_per_thread);
	return dstStream && srcStream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

ENTRY_STREAM(cuStreamGetAttribute, 11000, _ptsz, 11000, (hStream, attr, value), CUstream hStream,
	    CUstreamAttrID attr, CUstreamAttrValue *value)
{
	UNUSED(&is_per_thread, hStream, &attr);
	memset(value, 0, sizeof(*value));
	return CUDA_SUCCESS;
}

ENTRY_STREAM(cuStreamSetAttribute, 11000, _ptsz, 11000, (hStream, attr, param), CUstream hStream,
	    CUstreamAttrID attr, const CUstreamAttrValue *param)
{
	UNUSED(&is_per_thread, hStream, &attr, param);
	return CUDA_SUCCESS;
}

ENTRY_VOID(cuCtxSynchronize, 2000)
{
	struct sim_context *context = sim_context_current();
	uint64_t start_ns = sim_now_ns();

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_wait_context(context);
	return waited(WAIT_CONTEXT, context, 0, 0, start_ns);
}

ENTRY(cuCtxSynchronize_v2, 13000, (ctx), CUcontext ctx)
{
	struct sim_context *context = ctx ? (struct sim_context *)ctx : sim_context_current();
	uint64_t start_ns = sim_now_ns();

	if (!context || !sim_context_is(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_wait_context(context);
	return waited(WAIT_CONTEXT, context, 0, 0, start_ns);
}

/* ---- calls that are unsafe during a capture ---- */

static unsigned global_captures;	/* in progress, in any thread */
static __thread unsigned own_captures;	/* of this thread, except relaxed ones */
static __thread CUstreamCaptureMode thread_mode;	/* 0 is global */

static void capture_counts(const struct sim_stream *stream, unsigned more)
{
	if (stream->capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED)
		own_captures += more;
	if (stream->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL)
		__atomic_fetch_add(&global_captures, more, __ATOMIC_RELAXED);
}

static bool is_unsafe(const char *what)
{
	if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
	    (!own_captures && (thread_mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL ||
			       !__atomic_load_n(&global_captures, __ATOMIC_RELAXED))))
		return false;
	sim_log("unsafe", ",\"name\":\"%s\"", what);
	return true;
}

/* ---- events ---- */

ENTRY(cuEventCreate, 2000, (phEvent, Flags), CUevent *phEvent, unsigned int Flags)
{
	static uint32_t next_id = 1;
	struct sim_event *event;

	if (!phEvent)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_context_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	event = calloc(1, sizeof(*event));
	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->flags = Flags;
	event->id = __atomic_fetch_add(&next_id, 1, __ATOMIC_RELAXED);
	*phEvent = (CUevent)event;
	return CUDA_SUCCESS;
}

static CUresult record(struct sim_stream *stream, struct sim_event *event, bool is_external)
{
	struct sim_work work = { .kind = SIM_RECORD };

	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture && !is_external) {
		event->capture = stream->capture;
		event->node = stream->depend_count ? stream->depends[0] : NULL;
		sim_log("event_captured", ",\"stream\":%u", stream->id);
		return CUDA_SUCCESS;
	}
	event->capture = NULL;
	work.event.event = event;
	work.event.seq = stream->capture ? 0 : ++event->queued;
	return sim_queue(stream, &work);
}

ENTRY_STREAM(cuEventRecord, 2000, _ptsz, 7000, (hEvent, hStream), CUevent hEvent, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return record(stream, (struct sim_event *)hEvent, false);
}

ENTRY_STREAM(cuEventRecordWithFlags, 11010, _ptsz, 11010, (hEvent, hStream, flags), CUevent hEvent,
	    CUstream hStream, unsigned int flags)
{
	STREAM_OR_RETURN(stream, hStream);

	return record(stream, (struct sim_event *)hEvent, flags & CU_EVENT_RECORD_EXTERNAL);
}

ENTRY(cuEventQuery, 2000, (hEvent), CUevent hEvent)
{
	const struct sim_event *event = (const struct sim_event *)hEvent;

	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (is_unsafe("cuEventQuery"))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	return __atomic_load_n(&event->done, __ATOMIC_ACQUIRE) >= event->queued ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

ENTRY(cuEventSynchronize, 2000, (hEvent), CUevent hEvent)
{
	struct sim_event *event = (struct sim_event *)hEvent;
	uint64_t start_ns = sim_now_ns();

	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_wait_event(event);
	return waited(WAIT_EVENT, sim_context_current(), 0, event->id, start_ns);
}

ENTRY(cuEventDestroy_v2, 4000, (hEvent), CUevent hEvent)
{
	if (!hEvent)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_event_forget((struct sim_event *)hEvent);
	free(hEvent);
	return CUDA_SUCCESS;
}

static CUresult elapsed(float *ret_ms, const struct sim_event *start, const struct sim_event *end)
{
	if (!ret_ms)
		return CUDA_ERROR_INVALID_VALUE;
	if (!start || !end || !start->queued || !end->queued ||
	    ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
		return CUDA_ERROR_INVALID_HANDLE;
	if (start->done < start->queued || end->done < end->queued)
		return CUDA_ERROR_NOT_READY;
	*ret_ms = (float)((double)((int64_t)end->done_ns - (int64_t)start->done_ns) / 1e6);
	return CUDA_SUCCESS;
}

ENTRY(cuEventElapsedTime, 2000, (pMilliseconds, hStart, hEnd), float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
	return elapsed(pMilliseconds, (struct sim_event *)hStart, (struct sim_event *)hEnd);
}

ENTRY(cuEventElapsedTime_v2, 12080, (pMilliseconds, hStart, hEnd), float *pMilliseconds, CUevent hStart,
	    CUevent hEnd)
{
	return elapsed(pMilliseconds, (struct sim_event *)hStart, (struct sim_event *)hEnd);
}

/* ---- capture ---- */

ENTRY_STREAM(cuStreamBeginCapture_v2, 10010, _ptsz, 10010, (hStream, mode), CUstream hStream,
	    CUstreamCaptureMode mode)
{
	struct sim_graph *graph;
	STREAM_OR_RETURN(stream, hStream);

	if (stream->capture || stream == stream->context->legacy)
		return stream->capture ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	graph = sim_graph_new();
	if (!graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	sim_capture_begin(stream, graph);
	stream->capture_mode = mode;
	capture_counts(stream, 1);
	return CUDA_SUCCESS;
}

ENTRY_STREAM(cuStreamBeginCaptureToGraph, 12030, _ptsz, 12030,
	    (hStream, hGraph, dependencies, dependencyData, numDependencies, mode), CUstream hStream, CUgraph hGraph,
	    const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData, size_t numDependencies,
	    CUstreamCaptureMode mode)
{
	STREAM_OR_RETURN(stream, hStream);

	UNUSED(dependencies, dependencyData, &numDependencies);
	if (stream->capture || !hGraph)
		return CUDA_ERROR_ILLEGAL_STATE;
	sim_capture_begin(stream, (struct sim_graph *)hGraph);
	stream->capture_mode = mode;
	capture_counts(stream, 1);
	return CUDA_SUCCESS;
}

ENTRY_STREAM(cuStreamEndCapture, 10000, _ptsz, 10000, (hStream, phGraph), CUstream hStream, CUgraph *phGraph)
{
	struct sim_graph *graph = NULL;
	CUresult result;
	STREAM_OR_RETURN(stream, hStream);

	if (stream->capture)
		capture_counts(stream, -1u);
	result = sim_capture_end(stream, &graph);
	if (phGraph)
		*phGraph = (CUgraph)graph;
	return result;
}

ENTRY_STREAM(cuStreamIsCapturing, 10000, _ptsz, 10000, (hStream, captureStatus), CUstream hStream,
	    CUstreamCaptureStatus *captureStatus)
{
	STREAM_OR_RETURN(stream, hStream);

	*captureStatus = stream->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

/* The legacy stream would wait for a blocking stream that is capturing. */
static bool is_implicit(const struct sim_stream *stream)
{
	for (const struct sim_stream *s = stream->context->streams; s && stream == stream->context->legacy; s = s->next)
		if (s->capture && !(s->flags & CU_STREAM_NON_BLOCKING))
			return true;
	return false;
}

static CUresult capture_info(const struct sim_stream *stream, CUstreamCaptureStatus *status, cuuint64_t *id,
			     CUgraph *graph, const CUgraphNode **nodes, size_t *dependencies)
{
	if (is_implicit(stream))
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	*status = stream->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
	if (id)
		*id = stream->capture ? stream->capture->id : 0;
	if (graph)
		*graph = (CUgraph)stream->capture;
	if (dependencies)
		*dependencies = stream->capture ? stream->depend_count : 0;
	if (nodes)
		*nodes = stream->capture ? (const CUgraphNode *)stream->depends : NULL;
	return CUDA_SUCCESS;
}

ENTRY_STREAM(cuStreamGetCaptureInfo_v2, 11030, _ptsz, 11030,
	    (hStream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out), CUstream hStream,
	    CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out, CUgraph *graph_out,
	    const CUgraphNode **dependencies_out, size_t *numDependencies_out)
{
	STREAM_OR_RETURN(stream, hStream);

	return capture_info(stream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out);
}

ENTRY_STREAM(cuStreamGetCaptureInfo_v3, 12030, _ptsz, 12030,
	    (hStream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out),
	    CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out, CUgraph *graph_out,
	    const CUgraphNode **dependencies_out, const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
	STREAM_OR_RETURN(stream, hStream);

	UNUSED(edgeData_out);
	return capture_info(stream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out);
}

ENTRY(cuThreadExchangeStreamCaptureMode, 10010, (mode), CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode old = thread_mode;

	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	thread_mode = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}
