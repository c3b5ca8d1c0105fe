/* SPDX-License-Identifier: Apache-2.0 */
/* The list of reports, in the order in which they are shown. */
#include <string.h>

#include "report.h"

const struct report report_list[] = {
	{"nvtx_sum", "nvtxsum", "NVTX Range Summary", REPORT_DEFAULT | REPORT_BY, report_nvtx_sum},
	{"osrt_sum", "osrtsum", "OS Runtime Summary", REPORT_DEFAULT | REPORT_BY, report_osrt_sum},
	{"osrt_short_sum", NULL, "OS Runtime Calls Below The Threshold", REPORT_DEFAULT | REPORT_BY,
	 report_osrt_short_sum},
	{"files", NULL, "Files By Time", REPORT_BY, report_files},
	{"sockets", NULL, "Sockets By Time", REPORT_BY, report_sockets},
	{"cuda_api_sum", "cudaapisum", "CUDA API Summary", REPORT_DEFAULT | REPORT_BY, report_cuda_api_sum},
	{"cuda_launch_sum", NULL, "CUDA Kernel Launch Summary", REPORT_DEFAULT | REPORT_BY, report_cuda_launch_sum},
	{"cuda_gpu_kern_sum", "gpukernsum", "CUDA GPU Kernel Summary", REPORT_DEFAULT | REPORT_BY | REPORT_DEVICE | REPORT_NAMES,
	 report_cuda_gpu_kern_sum},
	{"cuda_gpu_mem_time_sum", "gpumemtimesum", "CUDA GPU MemOps Summary (by Time)", REPORT_DEFAULT | REPORT_BY | REPORT_DEVICE,
	 report_cuda_gpu_mem_time_sum},
	{"cuda_gpu_mem_size_sum", "gpumemsizesum", "CUDA GPU MemOps Summary (by Size)", REPORT_DEFAULT | REPORT_BY | REPORT_DEVICE,
	 report_cuda_gpu_mem_size_sum},
	{"blas_sum", "cublas_sum", "cuBLAS Summary", REPORT_DEFAULT | REPORT_BY, report_blas_sum},
	{"cudnn_sum", "cudnnsum", "cuDNN Summary", REPORT_DEFAULT | REPORT_BY, report_cudnn_sum},
	{"cusparse_sum", "cusparsesum", "cuSPARSE Summary", REPORT_DEFAULT | REPORT_BY, report_cusparse_sum},
	{"cusolver_sum", "cusolversum", "cuSOLVER Summary", REPORT_DEFAULT | REPORT_BY, report_cusolver_sum},
	{"cufft_sum", "cufftsum", "cuFFT Summary", REPORT_DEFAULT | REPORT_BY, report_cufft_sum},
	{"nccl_sum", "ncclsum", "NCCL Summary", REPORT_DEFAULT | REPORT_BY, report_nccl_sum},
	{"mpi_sum", "mpisum", "MPI Summary", REPORT_DEFAULT | REPORT_BY, report_mpi_sum},
	{"cuda_mem_usage", NULL, "CUDA Memory Usage", REPORT_DEFAULT, report_cuda_mem_usage},
	{"cuda_mem_failures", NULL, "CUDA Calls That Got No Memory", REPORT_DEFAULT, report_cuda_mem_failures},
	{"stacks_sum", NULL, "Stack Summary", REPORT_DEFAULT | REPORT_BY, report_stacks_sum},
	{"sample_sum", NULL, "CPU Samples by Function", REPORT_DEFAULT | REPORT_BY, report_sample_sum},
	{"sample_line_sum", NULL, "CPU Samples by Line", REPORT_BY, report_sample_line_sum},
	{"sample_python_sum", NULL, "CPU Samples by Python Function", REPORT_DEFAULT | REPORT_BY, report_sample_python_sum},
	{"sample_thread_sum", NULL, "CPU Samples by Thread", 0, report_sample_thread_sum},
	{"pytorch_sum", NULL, "PyTorch Operators", REPORT_BY, report_pytorch_sum},
	{"python_import_sum", NULL, "Python Imports (Tree)", REPORT_DEFAULT | REPORT_BY, report_python_import_sum},
	{"lines", NULL, "Source Lines", REPORT_BY, report_lines},
	{"processes", NULL, "Processes", REPORT_DEFAULT, report_processes},
	{"ledger", NULL, "Ledger", REPORT_DEFAULT, report_ledger},
	{"cuda_gpu_sum", "gpusum", "CUDA GPU Summary (Kernels/MemOps)", REPORT_BY | REPORT_DEVICE | REPORT_NAMES,
	 report_cuda_gpu_sum},
	{"cuda_api_trace", "cudaapitrace", "CUDA API Trace", 0, report_cuda_api_trace},
	{"cuda_api_gpu_sum", "apigpusum", "CUDA Summary (API/Kernels/MemOps)", REPORT_BY | REPORT_DEVICE | REPORT_NAMES,
	 report_cuda_api_gpu_sum},
	{"cuda_kern_exec_sum", "kernexecsum", "CUDA Kernel Launch & Exec Time Summary", REPORT_DEVICE | REPORT_NAMES,
	 report_cuda_kern_exec_sum},
	{"cuda_kern_exec_trace", "kernexectrace", "CUDA Kernel Launch & Exec Time Trace", REPORT_DEVICE | REPORT_NAMES,
	 report_cuda_kern_exec_trace},
	{"cuda_gpu_trace", "gputrace", "CUDA GPU Trace", REPORT_DEVICE | REPORT_NAMES, report_cuda_gpu_trace},
	{"cuda_mem_peak", NULL, "CUDA Memory At Its Peak (by Call Site)", 0, report_cuda_mem_peak},
	{"cuda_mem_leaks", NULL, "CUDA Memory Never Freed (by Call Site)", 0, report_cuda_mem_leaks},
	{"nvtx_names", NULL, "NVTX Categories, Resources, Schemas and Counters", 0, report_nvtx_names},
	{"nvtx_pushpop_sum", "nvtxppsum", "NVTX Push/Pop Range Summary", REPORT_BY, report_nvtx_pushpop_sum},
	{"nvtx_pushpop_trace", "nvtxpptrace", "NVTX Push/Pop Range Trace", 0, report_nvtx_pushpop_trace},
	{"nvtx_gpu_proj_sum", "nvtxgpuprojsum", "NVTX GPU Projection Summary", REPORT_DEVICE, report_nvtx_gpu_proj_sum},
	{"nvtx_gpu_proj_trace", "nvtxgpuproj", "NVTX GPU Projection Trace", REPORT_DEVICE, report_nvtx_gpu_proj_trace},
	{"nvtx_kern_sum", "nvtxkernsum", "NVTX Range Kernel Summary", REPORT_DEVICE | REPORT_NAMES, report_nvtx_kern_sum},
	{"nvtx_startend_sum", "nvtxsesum", "NVTX Start/End Range Summary", REPORT_BY, report_nvtx_startend_sum},
	{"um_sum", "umsum", "Unified Memory Analysis Summary", REPORT_DEVICE, report_um_sum},
	{"um_total_sum", "umtotalsum", "Unified Memory Totals Summary", REPORT_DEVICE, report_um_total_sum},
	{"um_cpu_page_faults_sum", "umcpupagefaults", "Unified Memory CPU Page Faults Summary", REPORT_DEVICE,
	 report_um_cpu_page_faults_sum},
	{"calls_in_progress", NULL, "Calls In Progress", REPORT_HIDDEN, report_in_progress},
	{"settings", NULL, "Settings", REPORT_HIDDEN, report_settings},
	{"correlated", NULL, "Host Calls and Their Device Work", REPORT_HIDDEN | REPORT_DEVICE, report_correlated},
	{"device_facts", NULL, "Device Facts", REPORT_HIDDEN | REPORT_DEVICE, report_device_facts},
	{"not_recorded", NULL, "Programs Not Recorded", REPORT_HIDDEN, report_bare},
	{"openmp_sum", "openmpevtsum", "OpenMP Summary", 0, report_openmp_sum},
};

const size_t report_count = sizeof(report_list) / sizeof(*report_list);

const struct report *report_find(const char *name)
{
	for (size_t i = 0; i < report_count; i++) {
		const struct report *r = &report_list[i];

		if (!strcmp(r->name, name) || (r->alias && !strcmp(r->alias, name)))
			return r;
	}
	return NULL;
}
