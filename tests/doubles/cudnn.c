/* SPDX-License-Identifier: Apache-2.0 */
/* The cuDNN double, libcudnn.so.9: a library that finds the driver by itself. Each convolution is one kernel launch;
 * nothing is computed. Descriptors are what the program gives as their addresses: they need not be kept. */
#include "library_driver.h"

#include <stdlib.h>

struct cudnnContext { CUlibrary library; };

int cudnnCreate(struct cudnnContext **handle);
int cudnnDestroy(struct cudnnContext *handle);
int cudnnSetTensorNdDescriptor(void *tensor, int type, int rank, const int *sizes, const int *strides);
int cudnnSetFilterNdDescriptor(void *filter, int type, int format, int rank, const int *sizes);
int cudnnSetConvolutionNdDescriptor(void *convolution, int rank, const int *padding, const int *step,
				    const int *dilation, int mode, int type);
int cudnnSetConvolutionGroupCount(void *convolution, int groups);
int cudnnConvolutionForward(struct cudnnContext *handle, const void *alpha, void *of_x, const void *x, void *of_w,
			    const void *w, void *convolution, int algorithm, void *workspace, size_t size,
			    const void *beta, void *of_y, void *y);
int cudnnConvolutionBackwardData(struct cudnnContext *handle, const void *alpha, void *of_w, const void *w, void *of_dy,
				 const void *dy, void *convolution, int algorithm, void *workspace, size_t size,
				 const void *beta, void *of_dx, void *dx);
int cudnnConvolutionBackwardFilter(struct cudnnContext *handle, const void *alpha, void *of_x, const void *x,
				   void *of_dy, const void *dy, void *convolution, int algorithm, void *workspace,
				   size_t size, const void *beta, void *of_dw, void *dw);

int cudnnCreate(struct cudnnContext **handle)
{
	static const char image[] = "simulated cudnn image";

	*handle = driver_find() && driver_context() ? calloc(1, sizeof(**handle)) : NULL;
	if (!*handle)
		return 1;
	driver.load_library(&(*handle)->library, image, NULL, NULL, 0, NULL, NULL, 0);
	return 0;
}

int cudnnDestroy(struct cudnnContext *handle)
{
	free(handle);
	return 0;
}

int cudnnSetTensorNdDescriptor(void *tensor, int type, int rank, const int *sizes, const int *strides)
{
	(void)type, (void)rank, (void)sizes, (void)strides;
	return !tensor;
}

int cudnnSetFilterNdDescriptor(void *filter, int type, int format, int rank, const int *sizes)
{
	(void)type, (void)format, (void)rank, (void)sizes;
	return !filter;
}

int cudnnSetConvolutionNdDescriptor(void *convolution, int rank, const int *padding, const int *step,
				    const int *dilation, int mode, int type)
{
	(void)rank, (void)padding, (void)step, (void)dilation, (void)mode, (void)type;
	return !convolution;
}

int cudnnSetConvolutionGroupCount(void *convolution, int groups)
{
	(void)groups;
	return !convolution;
}

static int convolve(struct cudnnContext *handle, const char *kernel)
{
	static const unsigned grid[] = {16, 1, 1};

	return !handle || !driver_launch(handle->library, kernel, grid, 128, NULL, NULL);
}

int cudnnConvolutionForward(struct cudnnContext *handle, const void *alpha, void *of_x, const void *x, void *of_w,
			    const void *w, void *convolution, int algorithm, void *workspace, size_t size,
			    const void *beta, void *of_y, void *y)
{
	(void)alpha, (void)of_x, (void)x, (void)of_w, (void)w, (void)convolution, (void)algorithm, (void)workspace;
	(void)size, (void)beta, (void)of_y, (void)y;
	return convolve(handle, "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tensorop");
}

int cudnnConvolutionBackwardData(struct cudnnContext *handle, const void *alpha, void *of_w, const void *w, void *of_dy,
				 const void *dy, void *convolution, int algorithm, void *workspace, size_t size,
				 const void *beta, void *of_dx, void *dx)
{
	(void)alpha, (void)of_w, (void)w, (void)of_dy, (void)dy, (void)convolution, (void)algorithm, (void)workspace;
	(void)size, (void)beta, (void)of_dx, (void)dx;
	return convolve(handle, "sm90_xmma_dgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tensorop");
}

int cudnnConvolutionBackwardFilter(struct cudnnContext *handle, const void *alpha, void *of_x, const void *x,
				   void *of_dy, const void *dy, void *convolution, int algorithm, void *workspace,
				   size_t size, const void *beta, void *of_dw, void *dw)
{
	(void)alpha, (void)of_x, (void)x, (void)of_dy, (void)dy, (void)convolution, (void)algorithm, (void)workspace;
	(void)size, (void)beta, (void)of_dw, (void)dw;
	return convolve(handle, "sm90_xmma_wgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tensorop");
}
