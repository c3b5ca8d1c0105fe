/* SPDX-License-Identifier: Apache-2.0 */
/* The list of reports in output order: X(name, older alias or NULL, title, flags). report_<name>() in a report_*.c
 * fills the table. */
#pragma once

#define REPORTS(X)                                                                                                     \
	X(lines, NULL, "Source Lines", REPORT_DEFAULT | REPORT_BY | REPORT_ATTRIBUTED | REPORT_SUMS)                   \
	X(line_shares, NULL, "Python, Native and System Time by Line", REPORT_BY | REPORT_ATTRIBUTED | REPORT_SUMS)    \
	X(steps, NULL, "Steps of the Main Loop", REPORT_DEFAULT)                                                       \
	X(nvtx_sum, "nvtxsum", "NVTX Range Summary", REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_SUMS)         \
	X(osrt_sum, "osrtsum", "OS Runtime Summary", REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_SUMS)         \
	X(osrt_short_sum, NULL, "OS Runtime Calls Below the Threshold", REPORT_BY | REPORT_SUMS)                       \
	X(osrt_short_line_sum, NULL, "OS Runtime Calls Below the Threshold by Line", REPORT_BY)                        \
	X(osrt_error_sum, NULL, "Failed OS Runtime Calls", REPORT_BY | REPORT_SHARED | REPORT_SUMS)                    \
	X(files, NULL, "Files by Time", REPORT_BY | REPORT_SUMS)                                                       \
	X(files_rank_sum, NULL, "Files over Ranks (Sharing, Spread, First Open)", 0)                                   \
	X(files_size_sum, NULL, "File Access by Size", REPORT_BY)                                                      \
	X(files_meta_sum, NULL, "File Metadata Calls by Directory", REPORT_SUMS)                                       \
	X(sockets, NULL, "Sockets by Time", REPORT_BY | REPORT_SUMS)                                                   \
	X(cuda_api_sum, "cudaapisum", "CUDA API Summary", REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_SUMS)    \
	X(cuda_launch_sum, NULL, "CUDA Kernel Launch Summary",                                                         \
	  REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_NAMES)                                                   \
	X(cuda_gpu_kern_sum, "gpukernsum", "CUDA GPU Kernel Summary",                                                  \
	  REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_DEVICE | REPORT_NAMES | REPORT_RANGES)                   \
	X(cuda_gpu_kern_gb_sum, "gpukerngbsum", "CUDA GPU Kernel/Grid/Block Summary",                                  \
	  REPORT_BY | REPORT_SHARED | REPORT_DEVICE | REPORT_NAMES | REPORT_RANGES)                                    \
	X(cuda_gpu_mem_time_sum, "gpumemtimesum", "CUDA GPU MemOps Summary (by Time)",                                 \
	  REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_DEVICE)                                                  \
	X(cuda_gpu_mem_size_sum, "gpumemsizesum", "CUDA GPU MemOps Summary (by Size)",                                 \
	  REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_DEVICE)                                                  \
	X(blas_sum, "cublas_sum", "cuBLAS Summary", REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_SUMS)          \
	X(cudnn_sum, "cudnnsum", "cuDNN Summary", REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_SUMS)            \
	X(cusparse_sum, "cusparsesum", "cuSPARSE Summary", REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_SUMS)   \
	X(cusolver_sum, "cusolversum", "cuSOLVER Summary", REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_SUMS)   \
	X(cufft_sum, "cufftsum", "cuFFT Summary", REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_SUMS)            \
	X(nccl_sum, "ncclsum", "NCCL Summary", REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_SUMS)               \
	X(mpi_sum, "mpisum", "MPI Summary", REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_SUMS)                  \
	X(hdf5_sum, NULL, "HDF5 Summary (by File and Object)",                                                         \
	  REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_SUMS)                                                    \
	X(mpi_peer_sum, NULL, "MPI Calls by Peer or Root", REPORT_BY | REPORT_SHARED | REPORT_SUMS)                    \
	X(mpi_comm_sum, NULL, "MPI Calls by Communicator", REPORT_BY | REPORT_SHARED | REPORT_SUMS)                    \
	X(mpi_line_sum, NULL, "MPI Calls by Source Line", REPORT_BY | REPORT_SHARED | REPORT_SUMS)                     \
	X(mpi_msg_size_sum, NULL, "MPI Calls by Message Size", REPORT_BY | REPORT_SHARED | REPORT_SUMS)                \
	X(mpi_event_sum, NULL, "MPI Event Summary", REPORT_BY | REPORT_SHARED)                                         \
	X(mpi_event_trace, NULL, "MPI Event Trace", 0)                                                                 \
	X(mpi_matrix, NULL, "MPI Messages Between Ranks", 0)                                                           \
	X(mpi_wait_sum, NULL, "MPI Waits for Other Ranks", REPORT_BY)                                                  \
	X(rank_cause_sum, NULL, "Why Ranks Wait for Each Other", 0)                                                    \
	X(pop_sum, NULL, "Parallel Efficiency of Ranks (POP)", 0)                                                      \
	X(pop_steps, NULL, "Parallel Efficiency of Ranks by Step (POP)", 0)                                            \
	X(mpi_overlap_sum, NULL, "MPI Overlap with Computation (At Most)", REPORT_BY)                                  \
	X(cuda_mem_usage, NULL, "CUDA Memory Usage", REPORT_DEFAULT)                                                   \
	X(cuda_mem_failures, NULL, "Failed CUDA Allocations", REPORT_DEFAULT)                                          \
	X(energy_sum, NULL, "Power and Energy", REPORT_DEFAULT)                                                        \
	X(energy_kern_sum, NULL, "Energy by Kernel (Estimated from Sampled Power)", REPORT_NAMES)                      \
	X(counter_sum, NULL, "Counters of Machines and Devices", REPORT_BY | REPORT_SUMS)                              \
	X(stacks_sum, NULL, "Stack Summary", REPORT_DEFAULT | REPORT_BY | REPORT_SHARED | REPORT_SUMS)                 \
	X(sample_sum, NULL, "CPU Samples by Function", REPORT_DEFAULT | REPORT_BY | REPORT_SUMS)                       \
	X(sample_line_sum, NULL, "CPU Samples by Line", REPORT_BY | REPORT_SUMS)                                       \
	X(sample_python_sum, NULL, "CPU Samples by Python Function", REPORT_DEFAULT | REPORT_BY | REPORT_SUMS)         \
	X(sample_thread_sum, NULL, "CPU Samples by Thread", 0)                                                         \
	X(pytorch_sum, NULL, "PyTorch Operators", REPORT_BY | REPORT_ATTRIBUTED)                                       \
	X(pytorch_ops, NULL, "PyTorch Operators by Kernel", REPORT_DEVICE | REPORT_NAMES | REPORT_ATTRIBUTED)          \
	X(jax_sum, NULL, "JAX Functions: Compilation and Runs", REPORT_DEFAULT | REPORT_BY | REPORT_ATTRIBUTED)        \
	X(jax_cache_sum, NULL, "JAX Compilation Cache by Function", REPORT_BY)                                         \
	X(jax_exec_sum, NULL, "JAX Executables and the Memory They Need", 0)                                           \
	X(jax_live_sum, NULL, "JAX Live Buffers by Line and Shape", 0)                                                 \
	X(jax_live_trace, NULL, "JAX Live Buffers over Time", 0)                                                       \
	X(jax_ops_sum, NULL, "JAX Operations (HLO)", REPORT_DEVICE | REPORT_NAMES | REPORT_ATTRIBUTED)                 \
	X(python_import_sum, NULL, "Python Imports", REPORT_DEFAULT | REPORT_BY)                                \
	X(line_profile, NULL, "Lines of Python Functions", 0)                                                          \
	X(line_memory, NULL, "Memory by Line of Python Functions", 0)                                                  \
	X(python_gil_sum, NULL, "Waits for Python's Global Interpreter Lock", REPORT_BY | REPORT_SHARED)               \
	X(python_gil_trace, NULL, "Trace of Waits for Python's Global Interpreter Lock", 0)                           \
	X(roofline, NULL, "Roofline by Kernel", REPORT_DEVICE | REPORT_ATTRIBUTED | REPORT_PEAK)                       \
	X(roofline_line_sum, NULL, "Roofline by Line", REPORT_DEVICE | REPORT_ATTRIBUTED | REPORT_PEAK)                \
	X(cuda_devices, NULL, "CUDA Devices and Their Peak Rates", 0)                                                  \
	X(mem_usage_sum, NULL, "Resident Memory of Processes", REPORT_SUMS)                                            \
	X(mem_usage_trace, NULL, "Resident Memory over Time", REPORT_SUMS)                                             \
	X(mem_alloc_sum, NULL, "Host Memory by Line (Estimates)", 0)                                                   \
	X(mem_leaks, NULL, "Host Memory That Grows from Step to Step (by Line)", 0)                                    \
	X(time_sum, NULL, "Time of Threads: CPU, Runnable, Blocked", REPORT_DEFAULT | REPORT_BY | REPORT_SHARED)       \
	X(steps_sum, NULL, "Steps of the Main Loop, Summed", REPORT_SUMS)                                              \
	X(processes, NULL, "Processes", REPORT_DEFAULT | REPORT_SUMS)                                                  \
	X(jobs, NULL, "Batch Jobs", REPORT_SUMS)                                                                       \
	X(ledger, NULL, "What Was Recorded, and What Was Not", REPORT_SUMS)                                            \
	X(cuda_gpu_sum, "gpusum", "CUDA GPU Summary (Kernels/MemOps)",                                                 \
	  REPORT_BY | REPORT_SHARED | REPORT_DEVICE | REPORT_NAMES | REPORT_RANGES)                                    \
	X(cuda_api_trace, "cudaapitrace", "CUDA API Trace", 0)                                                         \
	X(cuda_api_gpu_sum, "apigpusum", "CUDA Summary (API/Kernels/MemOps)",                                          \
	  REPORT_BY | REPORT_SHARED | REPORT_DEVICE | REPORT_NAMES)                                                    \
	X(cuda_kern_exec_sum, "kernexecsum", "CUDA Kernel Launch & Exec Time Summary", REPORT_DEVICE | REPORT_NAMES)   \
	X(cuda_kern_exec_trace, "kernexectrace", "CUDA Kernel Launch & Exec Time Trace",                               \
	  REPORT_DEVICE | REPORT_NAMES)                                                                                \
	X(cuda_gpu_trace, "gputrace", "CUDA GPU Trace", REPORT_DEVICE | REPORT_NAMES)                                  \
	X(cuda_graph_node_sum, NULL, "CUDA Graph Nodes", REPORT_DEVICE | REPORT_NAMES | REPORT_ATTRIBUTED)             \
	X(cuda_mem_peak, NULL, "CUDA Memory at Its Peak (by Call Site)", 0)                                            \
	X(cuda_mem_leaks, NULL, "CUDA Memory Never Freed (by Call Site)", 0)                                           \
	X(nvtx_names, NULL, "NVTX Categories, Resources, Schemas and Counters", REPORT_SUMS)                           \
	X(nvtx_pushpop_sum, "nvtxppsum", "NVTX Push/Pop Range Summary", REPORT_BY | REPORT_SHARED | REPORT_SUMS)       \
	X(nvtx_pushpop_trace, "nvtxpptrace", "NVTX Push/Pop Range Trace", 0)                                           \
	X(nvtx_gpu_proj_sum, "nvtxgpuprojsum", "NVTX GPU Projection Summary", REPORT_DEVICE | REPORT_ATTRIBUTED)       \
	X(nvtx_gpu_proj_trace, "nvtxgpuproj", "NVTX GPU Projection Trace", REPORT_DEVICE)                              \
	X(nvtx_kern_sum, "nvtxkernsum", "NVTX Range Kernel Summary",                                                   \
	  REPORT_DEVICE | REPORT_NAMES | REPORT_ATTRIBUTED)                                                            \
	X(nvtx_startend_sum, "nvtxsesum", "NVTX Start/End Range Summary", REPORT_BY | REPORT_SHARED | REPORT_SUMS)     \
	X(um_sum, "umsum", "Unified Memory Analysis Summary", REPORT_DEVICE)                                           \
	X(um_total_sum, "umtotalsum", "Unified Memory Totals Summary", REPORT_DEVICE)                                  \
	X(um_cpu_page_faults_sum, "umcpupagefaults", "Unified Memory CPU Page Faults Summary", REPORT_DEVICE)          \
	X(crashes, NULL, "Crashes", REPORT_HIDDEN | REPORT_SUMS)                                                       \
	X(calls_in_progress, NULL, "Calls in Progress", REPORT_HIDDEN | REPORT_SUMS)                                   \
	X(settings, NULL, "Settings", REPORT_HIDDEN | REPORT_SUMS)                                                     \
	X(correlated, NULL, "Host Calls and Their Device Operations", REPORT_HIDDEN | REPORT_DEVICE)                   \
	X(device_facts, NULL, "Device Facts", REPORT_HIDDEN | REPORT_DEVICE)                                           \
	X(not_recorded, NULL, "Programs Not Recorded", REPORT_HIDDEN | REPORT_SUMS)                                    \
	X(nccl_flight_sum, NULL, "Collectives by Rank (PyTorch Flight Recorder)", REPORT_DUMP)                         \
	X(nccl_inspector_sum, NULL, "Collectives by Size (NCCL Inspector)", REPORT_DUMP)                               \
	X(openmp_sum, "openmpevtsum", "OpenMP Summary", REPORT_BY | REPORT_SHARED)                                     \
	X(openmp_wait_sum, NULL, "OpenMP Waits for the Last Thread", 0)
