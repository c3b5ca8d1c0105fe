/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/group.h"

const struct group_style group_styles[TF_GROUP_COUNT] = {
	[TF_GROUP_CUDA] = {"cuda_runtime", "CUDA runtime", 142, 36},
	[TF_GROUP_CUDA_DRIVER] = {"cuda_driver", "CUDA driver", 96, 26},
	[TF_GROUP_NVTX] = {"nvtx", "NVTX", 268, 36},
	[TF_GROUP_OSRT] = {"osrt", "OS call", 214, 16},
	[TF_GROUP_CUBLAS] = {"cublas", "cuBLAS", 176, 40},
	[TF_GROUP_CUDNN] = {"cudnn", "cuDNN", 188, 44},
	[TF_GROUP_CUSPARSE] = {"cusparse", "cuSPARSE", 164, 30},
	[TF_GROUP_CUSOLVER] = {"cusolver", "cuSOLVER", 158, 34},
	[TF_GROUP_CUFFT] = {"cufft", "cuFFT", 150, 36},
	[TF_GROUP_NCCL] = {"nccl", "NCCL", 22, 55},
	[TF_GROUP_MPI] = {"mpi", "MPI", 46, 46},
	[TF_GROUP_OPENMP] = {"openmp", "OpenMP", 318, 34},
	[TF_GROUP_HDF5] = {"hdf5", "HDF5", 204, 30},
};
