/* SPDX-License-Identifier: Apache-2.0 */
/* The driver double: copies and memsets. */
#include "cuda_entry.h"

#include <stdlib.h>
#include <string.h>

/* ---- copies ---- */

enum copy_rule { ANY, TO_DEVICE, FROM_DEVICE, ON_DEVICE };

static bool obeys(const struct sim_copy *copy, enum copy_rule rule)
{
	bool knows_dst = copy->dst_place != SIM_PAGEABLE, knows_src = copy->src_place != SIM_PAGEABLE;

	return ((rule != TO_DEVICE && rule != ON_DEVICE) || knows_dst) &&
	       ((rule != FROM_DEVICE && rule != ON_DEVICE) || knows_src);
}

/* Pageable sources are read, and pageable targets written, before the call returns: both are documented, and programs
 * reuse such buffers immediately. */
static CUresult copy_queue(struct sim_stream *stream, struct sim_copy *copy, enum copy_rule rule)
{
	struct sim_work work = { .kind = SIM_COPY };
	size_t bytes = sim_copy_bytes(copy);
	size_t last_row = (copy->depth - 1) * copy->dst_slice + (copy->height - 1) * copy->dst_pitch + copy->width;
	CUresult result;

	if (!bytes)
		return CUDA_SUCCESS;
	sim_copy_places(copy);
	if (!copy->dst || !copy->src || !obeys(copy, rule) || !sim_holds(copy->dst, last_row) ||
	    !sim_holds(copy->src, (copy->depth - 1) * copy->src_slice + (copy->height - 1) * copy->src_pitch +
				  copy->width))
		return CUDA_ERROR_INVALID_VALUE;
	if (copy->is_async && !stream->capture && copy->src_place == SIM_PAGEABLE && copy->dst_place != SIM_PAGEABLE) {
		char *staged = malloc(bytes);

		if (!staged)
			return CUDA_ERROR_OUT_OF_MEMORY;
		copy->staged = staged;
		for (size_t slice = 0; slice < copy->depth; slice++) {
			for (size_t row = 0; row < copy->height; row++, staged += copy->width)
				memcpy(staged, (char *)copy->src + slice * copy->src_slice + row * copy->src_pitch,
				       copy->width);
		}
	}
	work.copy = *copy;
	result = sim_queue(stream, &work);
	if (result != CUDA_SUCCESS)
		sim_work_done(&work);
	else if (!stream->capture && (!copy->is_async || copy->dst_place == SIM_PAGEABLE))
		sim_wait_stream(stream);
	return result;
}

static CUresult copy_line(struct sim_stream *stream, uintptr_t dst, uintptr_t src, size_t bytes, bool is_async,
			  enum copy_rule rule)
{
	struct sim_copy copy = { .dst = dst, .src = src, .width = bytes, .height = 1, .depth = 1,
				 .is_async = is_async };

	return copy_queue(stream, &copy, rule);
}

ENTRY_STREAM(cuMemcpy, 4000, _ptds, 7000, (dst, src, ByteCount), CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
	STREAM_OR_RETURN(stream, NULL);

	return copy_line(stream, dst, src, ByteCount, false, ANY);
}

ENTRY_STREAM(cuMemcpyAsync, 4000, _ptsz, 7000, (dst, src, ByteCount, hStream), CUdeviceptr dst, CUdeviceptr src,
	    size_t ByteCount, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return copy_line(stream, dst, src, ByteCount, true, ANY);
}

/* Decompression is simulated as a copy of the compressed bytes. */
ENTRY_STREAM(cuMemBatchDecompressAsync, 12060, _ptsz, 12060, (paramsArray, count, flags, errorIndex, stream),
	    CUmemDecompressParams *paramsArray, size_t count, unsigned flags, size_t *errorIndex, CUstream stream)
{
	struct sim_copy copy = { .height = 1, .depth = 1, .is_async = true, .is_decompression = true };

	STREAM_OR_RETURN(queue, stream);
	(void)flags;
	if (!paramsArray || count != 1)
		return CUDA_ERROR_INVALID_VALUE;
	if (errorIndex)
		*errorIndex = 0;
	copy.dst = (uintptr_t)paramsArray->dst;
	copy.src = (uintptr_t)paramsArray->src;
	copy.width = paramsArray->srcNumBytes;
	return copy_queue(queue, &copy, ANY);
}

/* The attributes describe what the copy may overlap with, which is not simulated. */
ENTRY_STREAM(cuMemcpyWithAttributesAsync, 13020, _ptsz, 13020, (dst, src, size, attr, hStream), CUdeviceptr dst,
	    CUdeviceptr src, size_t size, CUmemcpyAttributes *attr, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return copy_line(stream, dst, src, size, true, ANY);
}

ENTRY_STREAM(cuMemcpyHtoD_v2, 3020, _ptds, 7000, (dstDevice, srcHost, ByteCount), CUdeviceptr dstDevice,
	    const void *srcHost, size_t ByteCount)
{
	STREAM_OR_RETURN(stream, NULL);

	return copy_line(stream, dstDevice, (uintptr_t)srcHost, ByteCount, false, TO_DEVICE);
}

ENTRY_STREAM(cuMemcpyDtoH_v2, 3020, _ptds, 7000, (dstHost, srcDevice, ByteCount), void *dstHost,
	    CUdeviceptr srcDevice, size_t ByteCount)
{
	STREAM_OR_RETURN(stream, NULL);

	return copy_line(stream, (uintptr_t)dstHost, srcDevice, ByteCount, false, FROM_DEVICE);
}

/* The real driver does not block the caller for a copy within a device either. */
ENTRY_STREAM(cuMemcpyDtoD_v2, 3020, _ptds, 7000, (dstDevice, srcDevice, ByteCount), CUdeviceptr dstDevice,
	    CUdeviceptr srcDevice, size_t ByteCount)
{
	STREAM_OR_RETURN(stream, NULL);

	return copy_line(stream, dstDevice, srcDevice, ByteCount, true, ON_DEVICE);
}

ENTRY_STREAM(cuMemcpyHtoDAsync_v2, 3020, _ptsz, 7000, (dstDevice, srcHost, ByteCount, hStream),
	    CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return copy_line(stream, dstDevice, (uintptr_t)srcHost, ByteCount, true, TO_DEVICE);
}

ENTRY_STREAM(cuMemcpyDtoHAsync_v2, 3020, _ptsz, 7000, (dstHost, srcDevice, ByteCount, hStream), void *dstHost,
	    CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return copy_line(stream, (uintptr_t)dstHost, srcDevice, ByteCount, true, FROM_DEVICE);
}

ENTRY_STREAM(cuMemcpyDtoDAsync_v2, 3020, _ptsz, 7000, (dstDevice, srcDevice, ByteCount, hStream),
	    CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return copy_line(stream, dstDevice, srcDevice, ByteCount, true, ON_DEVICE);
}

static CUresult copy_peer(struct sim_stream *stream, CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src,
			  CUcontext src_context, size_t bytes)
{
	struct sim_copy copy = { .dst = dst, .src = src, .width = bytes, .height = 1, .depth = 1,
				 .is_async = true, .is_peer = dst_context != src_context };

	return copy_queue(stream, &copy, ON_DEVICE);
}

ENTRY_STREAM(cuMemcpyPeer, 4000, _ptds, 7000, (dstDevice, dstContext, srcDevice, srcContext, ByteCount),
	    CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount)
{
	STREAM_OR_RETURN(stream, NULL);

	return copy_peer(stream, dstDevice, dstContext, srcDevice, srcContext, ByteCount);
}

ENTRY_STREAM(cuMemcpyPeerAsync, 4000, _ptsz, 7000,
	    (dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream), CUdeviceptr dstDevice,
	    CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return copy_peer(stream, dstDevice, dstContext, srcDevice, srcContext, ByteCount);
}

static uintptr_t side(CUmemorytype type, const void *host, CUdeviceptr device)
{
	if (type == CU_MEMORYTYPE_ARRAY)
		return 0;	/* arrays are not simulated; a null address is refused */
	return type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : device;
}

static size_t pitch_of(size_t pitch, size_t width)
{
	return pitch ? pitch : width;
}

static CUresult copy_2d(struct sim_stream *stream, const CUDA_MEMCPY2D *p, bool is_async)
{
	struct sim_copy copy = { .height = 1, .depth = 1, .is_async = is_async };

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	copy.width = p->WidthInBytes;
	copy.height = p->Height;
	copy.dst_pitch = pitch_of(p->dstPitch, p->WidthInBytes);
	copy.src_pitch = pitch_of(p->srcPitch, p->WidthInBytes);
	copy.dst = side(p->dstMemoryType, p->dstHost, p->dstDevice) + p->dstY * copy.dst_pitch + p->dstXInBytes;
	copy.src = side(p->srcMemoryType, p->srcHost, p->srcDevice) + p->srcY * copy.src_pitch + p->srcXInBytes;
	return copy_queue(stream, &copy, ANY);
}

ENTRY_STREAM(cuMemcpy2D_v2, 3020, _ptds, 7000, (pCopy), const CUDA_MEMCPY2D *pCopy)
{
	STREAM_OR_RETURN(stream, NULL);

	return copy_2d(stream, pCopy, false);
}

ENTRY_STREAM(cuMemcpy2DUnaligned_v2, 3020, _ptds, 7000, (pCopy), const CUDA_MEMCPY2D *pCopy)
{
	STREAM_OR_RETURN(stream, NULL);

	return copy_2d(stream, pCopy, false);
}

ENTRY_STREAM(cuMemcpy2DAsync_v2, 3020, _ptsz, 7000, (pCopy, hStream), const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return copy_2d(stream, pCopy, true);
}

void cuda_copy_3d(const CUDA_MEMCPY3D *p, struct sim_copy *ret_copy)
{
	struct sim_copy copy = { .width = p->WidthInBytes, .height = p->Height, .depth = p->Depth, .is_async = true };

	copy.dst_pitch = pitch_of(p->dstPitch, p->WidthInBytes);
	copy.src_pitch = pitch_of(p->srcPitch, p->WidthInBytes);
	copy.dst_slice = copy.dst_pitch * (p->dstHeight ? p->dstHeight : p->Height);
	copy.src_slice = copy.src_pitch * (p->srcHeight ? p->srcHeight : p->Height);
	copy.dst = side(p->dstMemoryType, p->dstHost, p->dstDevice) + p->dstZ * copy.dst_slice +
		   p->dstY * copy.dst_pitch + p->dstXInBytes;
	copy.src = side(p->srcMemoryType, p->srcHost, p->srcDevice) + p->srcZ * copy.src_slice +
		   p->srcY * copy.src_pitch + p->srcXInBytes;
	*ret_copy = copy;
}

static CUresult copy_3d(struct sim_stream *stream, const CUDA_MEMCPY3D *p, bool is_async)
{
	struct sim_copy copy;

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	cuda_copy_3d(p, &copy);
	copy.is_async = is_async;
	return copy_queue(stream, &copy, ANY);
}

ENTRY_STREAM(cuMemcpy3D_v2, 3020, _ptds, 7000, (pCopy), const CUDA_MEMCPY3D *pCopy)
{
	STREAM_OR_RETURN(stream, NULL);

	return copy_3d(stream, pCopy, false);
}

ENTRY_STREAM(cuMemcpy3DAsync_v2, 3020, _ptsz, 7000, (pCopy, hStream), const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return copy_3d(stream, pCopy, true);
}

/* ---- memsets; on device memory the real ones do not block the caller, with or without Async ---- */

struct fill { uintptr_t dst; size_t width, height, pitch; unsigned value, element_bytes; bool is_async; };

static CUresult set_queue(struct sim_stream *stream, const struct fill *fill)
{
	struct sim_work work = { .kind = SIM_SET };
	struct sim_allocation found;

	if (!fill->width || !fill->height)
		return CUDA_SUCCESS;
	if (!sim_find(fill->dst, &found) ||
	    !sim_holds(fill->dst, (fill->height - 1) * fill->pitch + fill->width * fill->element_bytes))
		return CUDA_ERROR_INVALID_VALUE;
	work.set.dst = fill->dst;
	work.set.width = fill->width;
	work.set.height = fill->height;
	work.set.pitch = fill->pitch;
	work.set.value = fill->value;
	work.set.element_bytes = fill->element_bytes;
	work.set.is_async = fill->is_async;
	work.set.place = found.place;
	return sim_queue(stream, &work);
}

#define SET_LINE(value, bytes, is_async) \
	set_queue(stream, &(struct fill){ dstDevice, N, 1, 0, value, bytes, is_async })
#define SET_ROWS(value, bytes, is_async) \
	set_queue(stream, &(struct fill){ dstDevice, Width, Height, dstPitch, value, bytes, is_async })

ENTRY_STREAM(cuMemsetD8_v2, 3020, _ptds, 7000, (dstDevice, uc, N), CUdeviceptr dstDevice, unsigned char uc,
	    size_t N)
{
	STREAM_OR_RETURN(stream, NULL);

	return SET_LINE(uc, 1, false);
}

ENTRY_STREAM(cuMemsetD16_v2, 3020, _ptds, 7000, (dstDevice, us, N), CUdeviceptr dstDevice, unsigned short us,
	    size_t N)
{
	STREAM_OR_RETURN(stream, NULL);

	return SET_LINE(us, 2, false);
}

ENTRY_STREAM(cuMemsetD32_v2, 3020, _ptds, 7000, (dstDevice, ui, N), CUdeviceptr dstDevice, unsigned int ui,
	    size_t N)
{
	STREAM_OR_RETURN(stream, NULL);

	return SET_LINE(ui, 4, false);
}

ENTRY_STREAM(cuMemsetD8Async, 3020, _ptsz, 7000, (dstDevice, uc, N, hStream), CUdeviceptr dstDevice,
	    unsigned char uc, size_t N, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return SET_LINE(uc, 1, true);
}

ENTRY_STREAM(cuMemsetD16Async, 3020, _ptsz, 7000, (dstDevice, us, N, hStream), CUdeviceptr dstDevice,
	    unsigned short us, size_t N, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return SET_LINE(us, 2, true);
}

ENTRY_STREAM(cuMemsetD32Async, 3020, _ptsz, 7000, (dstDevice, ui, N, hStream), CUdeviceptr dstDevice,
	    unsigned int ui, size_t N, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return SET_LINE(ui, 4, true);
}

ENTRY_STREAM(cuMemsetD2D8_v2, 3020, _ptds, 7000, (dstDevice, dstPitch, uc, Width, Height), CUdeviceptr dstDevice,
	    size_t dstPitch, unsigned char uc, size_t Width, size_t Height)
{
	STREAM_OR_RETURN(stream, NULL);

	return SET_ROWS(uc, 1, false);
}

ENTRY_STREAM(cuMemsetD2D8Async, 3020, _ptsz, 7000, (dstDevice, dstPitch, uc, Width, Height, hStream),
	    CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return SET_ROWS(uc, 1, true);
}

ENTRY_STREAM(cuMemsetD2D32_v2, 3020, _ptds, 7000, (dstDevice, dstPitch, ui, Width, Height), CUdeviceptr dstDevice,
	    size_t dstPitch, unsigned int ui, size_t Width, size_t Height)
{
	STREAM_OR_RETURN(stream, NULL);

	return SET_ROWS(ui, 4, false);
}

ENTRY_STREAM(cuMemsetD2D32Async, 3020, _ptsz, 7000, (dstDevice, dstPitch, ui, Width, Height, hStream),
	    CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return SET_ROWS(ui, 4, true);
}
