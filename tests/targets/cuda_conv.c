/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_conv: for each line of its input, RANK INPUT... WEIGHT... RESULT... GROUPS PADDING STRIDE DILATION, the
 * convolution of fp16 with these sizes by cuDNN, and the gradients of its input and of its weight. RANK counts all
 * dimensions. */
#include <cuda_runtime_api.h>
#include <stdio.h>

enum { HALF = 2, FLOAT = 0, MAX_RANK = 5 };

/* Declared as in cudnn.h, which not every toolkit includes. */
int cudnnCreate(void **handle);
int cudnnDestroy(void *handle);
int cudnnSetTensorNdDescriptor(void *tensor, int type, int rank, const int *sizes, const int *strides);
int cudnnSetFilterNdDescriptor(void *filter, int type, int format, int rank, const int *sizes);
int cudnnSetConvolutionNdDescriptor(void *convolution, int rank, const int *padding, const int *step,
				    const int *dilation, int mode, int type);
int cudnnSetConvolutionGroupCount(void *convolution, int groups);
int cudnnConvolutionForward(void *handle, const void *alpha, void *of_x, const void *x, void *of_w, const void *w,
			    void *convolution, int algorithm, void *workspace, size_t size, const void *beta,
			    void *of_y, void *y);
int cudnnConvolutionBackwardData(void *handle, const void *alpha, void *of_w, const void *w, void *of_dy,
				 const void *dy, void *convolution, int algorithm, void *workspace, size_t size,
				 const void *beta, void *of_dx, void *dx);
int cudnnConvolutionBackwardFilter(void *handle, const void *alpha, void *of_x, const void *x, void *of_dy,
				   const void *dy, void *convolution, int algorithm, void *workspace, size_t size,
				   const void *beta, void *of_dw, void *dw);

static int read_sizes(int *ret, int rank)
{
	int count = 0;

	while (count < rank && scanf("%d", &ret[count]) == 1)
		count++;
	return count == rank;
}

static int convolve(void *dnn, int rank, const int *x, const int *w, const int *y, const int *more)
{
	static char of_x, of_w, of_y, convolution; /* descriptors */
	const float one = 1, zero = 0;
	int strides[MAX_RANK] = {1, 1, 1, 1, 1}, padding[MAX_RANK], step[MAX_RANK], dilation[MAX_RANK];

	for (int i = 0; i < rank; i++) {
		padding[i] = more[1];
		step[i] = more[2];
		dilation[i] = more[3];
	}
	cudnnSetTensorNdDescriptor(&of_x, HALF, rank, x, strides);
	cudnnSetFilterNdDescriptor(&of_w, HALF, 0, rank, w);
	cudnnSetTensorNdDescriptor(&of_y, HALF, rank, y, strides);
	cudnnSetConvolutionNdDescriptor(&convolution, rank - 2, padding, step, dilation, 1, FLOAT);
	cudnnSetConvolutionGroupCount(&convolution, more[0]);
	return cudnnConvolutionForward(dnn, &one, &of_x, &of_x, &of_w, &of_w, &convolution, 1, NULL, 0, &zero, &of_y,
				       &of_y) ||
	       cudnnConvolutionBackwardData(dnn, &one, &of_w, &of_w, &of_y, &of_y, &convolution, 1, NULL, 0, &zero,
					    &of_x, &of_x) ||
	       cudnnConvolutionBackwardFilter(dnn, &one, &of_x, &of_x, &of_y, &of_y, &convolution, 1, NULL, 0, &zero,
					      &of_w, &of_w);
}

int main(void)
{
	int rank, x[MAX_RANK], w[MAX_RANK], y[MAX_RANK], more[4];
	void *dnn;

	if (cudaFree(NULL) || cudnnCreate(&dnn)) {
		fputs("no device\n", stderr);
		return 1;
	}
	while (scanf("%d", &rank) == 1 && rank <= MAX_RANK && read_sizes(x, rank) && read_sizes(w, rank) &&
	       read_sizes(y, rank) && read_sizes(more, 4))
		if (convolve(dnn, rank, x, w, y, more))
			return 1;
	cudaDeviceSynchronize();
	cudnnDestroy(dnn);
	return 0;
}
