/* SPDX-License-Identifier: Apache-2.0 */
/* The list of rules in output order: X(name, nsys's older name or NULL, title, flags, advice). rule_<name>() in a
 * rule_*.c implements the rule. */
#pragma once

#define RULES(X)                                                                                                       \
	X(out_of_memory, NULL, "Processes Killed for Memory", RULE_ENDED,                                              \
	  "Use less memory: smaller batches, fewer workers, streams instead of lists; or raise the limit. "            \
	  "--memory=all tells which lines hold it.")                                                                   \
	X(died_first, NULL, "The Rank That Died First", RULE_ENDED,                                                    \
	  "Look at this rank: what the others say follows from its end.")                                              \
	X(crash, NULL, "Crash", RULE_ENDED,                                                                            \
	  "Look at the line; a debugger or -fsanitize=address tells how it came to that.")                             \
	X(deadlock, NULL, "Threads and Ranks That Wait for Each Other", RULE_ENDED,                                    \
	  "Take locks in the same order everywhere, or release one before waiting for the next.")                      \
	X(collective, NULL, "Ranks That Are Missing in a Collective", RULE_ENDED,                                      \
	  "Let every rank make the same collective calls in the same order: look for a branch or an exit by rank.")    \
	X(cuda_memcpy_async, "cuda-async-memcpy", "CUDA Async Memcpy with Pageable Memory", RULE_NSYS,                 \
	  "Copies of pageable memory block the host, even asynchronous ones: allocate the host memory with "           \
	  "cudaMallocHost, or pin_memory().")                                                                          \
	X(cuda_memcpy_sync, "cuda-sync-memcpy", "CUDA Synchronous Memcpy", RULE_NSYS,                                  \
	  "Use cudaMemcpyAsync on a stream, with pinned memory, and wait only where the result is needed.")            \
	X(cuda_memset_sync, "cuda-sync-memset", "CUDA Synchronous Memset", RULE_NSYS,                                  \
	  "Use cudaMemsetAsync, or memset() for host memory.")                                                         \
	X(cuda_api_sync, "cuda-sync-api", "CUDA Synchronization APIs", RULE_NSYS,                                      \
	  "Let streams wait for each other with cudaStreamWaitEvent; let the host wait once, where it needs a "        \
	  "result.")                                                                                                   \
	X(gpu_gaps, "gpu-starv", "GPU Gaps", RULE_NSYS,                                                                \
	  "gpu_idle shows what each device waited for.")                                                               \
	X(gpu_time_util, "gpu-low-util", "GPU Time Utilization", RULE_NSYS,                                            \
	  "gpu_idle shows what each device waited for.")                                                               \
	X(input_bound, NULL, "Steps That Wait for Input", 0,                                                           \
	  "Load data ahead of the step: use more loader workers, prefetch, decode less, or store the data closer.")    \
	X(launch_bound, NULL, "Kernels Shorter Than Their Launch", 0,                                                  \
	  "Fuse small kernels or record them in a CUDA graph (torch.compile does both), or use larger batches.")       \
	X(gpu_idle, NULL, "GPU Idle Time by Cause", 0,                                                                 \
	  "Start with the largest cause; its line submitted the device's next operation, or delayed it.")              \
	X(gpu_slowed, NULL, "GPU Clocks Lowered by Power or Heat", RULE_PART,                           \
	  "Look at the GPU's power limit and cooling (nvidia-smi -q -d POWER,PERFORMANCE), or try another GPU.")       \
	X(implicit_sync, NULL, "Implicit Synchronization", RULE_REMOVED,                                               \
	  "Copy asynchronously, keep results on the device until the end of a step (no .item(), .cpu() or print "      \
	  "within it), and allocate memory before it.")                                                                \
	X(alloc_churn, NULL, "Allocator Churn", RULE_REMOVED,                                                          \
	  "Allocate once and reuse the memory, or use a pool: cudaMallocAsync, or the framework's allocator.")         \
	X(pageable_copies, NULL, "Pageable Copies", 0,                                                                 \
	  "Pin the host memory: cudaMallocHost, cudaHostRegister, or pin_memory().")                                   \
	X(unpinned_loader, NULL, "Unpinned Loader", 0,                                                                 \
	  "Use DataLoader(pin_memory=True) and .to(device, non_blocking=True).")                                       \
	X(tensor_dims, NULL, "Matrix Sizes Unsuitable for Tensor Cores", 0,                                            \
	  "Pad the sizes (vocabulary, hidden size, batch) to the required multiple.")                                  \
	X(slow_loader, NULL, "Slow Loader Workers", RULE_REMOVED,                                                      \
	  "Use more workers, keep them (persistent_workers), prefetch more, or do less for each item: --sample=cpu "   \
	  "shows what the workers do.")                                                                                \
	X(process_transfer, NULL, "Data Sent Between Processes", RULE_REMOVED,                                         \
	  "Send each task only what it needs, many small ones together (chunksize of map(), lists, update() of a "     \
	  "Manager's dict), share large data (shared memory, numpy.memmap, what workers inherit by fork), or send "    \
	  "buffers: mpi4py's methods in upper case.")                                                                  \
	X(import_heavy, NULL, "Imports", RULE_REMOVED | RULE_WORK,                                                     \
	  "Import what is needed where it is needed: --python-import-time lists the modules by their time.")           \
	X(small_io, NULL, "Small Reads and Writes, and Opens", RULE_REMOVED,                                           \
	  "Read and write larger blocks, through a buffer or mmap(); store many small files in a few large ones.")     \
	X(small_mpi_io, NULL, "Small Independent Writes of MPI", RULE_REMOVED,                                         \
	  "Let all ranks write together (MPI_File_write_all, MPI_File_write_at_all), or collect the data of each "     \
	  "rank in a buffer and write it at once.")                                                                    \
	X(file_flush, NULL, "Flushes to the Disk", RULE_REMOVED | RULE_CALLERS,                                        \
	  "Flush once at the end, or write and flush in another thread.")                                              \
	X(lock_convoy, NULL, "Threads That Wait for Locks", RULE_SERIAL,                                               \
	  "Hold the lock for less time, divide the data that it protects, or give each thread its own copy.")          \
	X(openmp_imbalance, NULL, "OpenMP Threads That Wait for the Last One", 0,                                      \
	  "Divide the work evenly: schedule(dynamic) or schedule(guided), smaller chunks, or tasks; openmp_wait_sum "  \
	  "has the thread that is late.")                                                                              \
	X(gil_bound, NULL, "Python Threads That Wait for the Interpreter Lock", 0,                                     \
	  "Use processes (multiprocessing, joblib) or code that releases the lock (numpy, native extensions) for "     \
	  "what computes; threads only for what waits.")                                                               \
	X(blocked_loop, NULL, "Blocking Calls in an Event Loop", RULE_REMOVED,                                         \
	  "Await an asynchronous client, or run the call in a thread: asyncio.to_thread().")                           \
	X(recompilation, NULL, "Code That Is Compiled Again and Again", RULE_REMOVED,                                  \
	  "Pad the inputs to a few fixed shapes, mark what varies as dynamic, and keep the jitted function.")          \
	X(short_processes, NULL, "Processes That Do Little but Start", RULE_REMOVED,                                   \
	  "Do the work in one process: a loop within one program, a library instead of a program, larger tasks.")      \
	X(memory_growth, NULL, "Growing Host Memory", RULE_NOT_TIME | RULE_WORK,                                       \
	  "Find what keeps the memory: caches without a limit, lists of results, tensors with their graph.")           \
	X(memory_leak, NULL, "Lines Whose Memory Grows from Step to Step", RULE_NOT_TIME,                              \
	  "Release what the line allocates at the end of the step, or give the container that keeps it a limit; "      \
	  "mem_leaks has all such lines.")                                                                             \
	X(straggling_rank, NULL, "Straggling Rank", 0,                                                                 \
	  "Give the rank less work, or find out why it is slower: its host, its devices, its input.")                  \
	X(late_message, NULL, "Ranks That Wait for a Late Message", 0,                                                 \
	  "Send earlier, receive by MPI_Irecv and compute meanwhile, or give the late rank less work.")                \
	X(idle_rank, NULL, "Idle Ranks", 0,                                                                            \
	  "Give the rank work, or start fewer ranks.")                                                                 \
	X(cpu_starved, NULL, "CPUs Held by Other Programs", RULE_OUTSIDE,                                              \
	  "Run the job when nothing else runs there, or give it CPUs of its own: cpuset, taskset, a batch job's "      \
	  "exclusive allocation.")                                                                                     \
	X(cpu_oversubscribed, NULL, "CPU Oversubscription", RULE_PART,                                                 \
	  "Use fewer threads (OMP_NUM_THREADS, torch.set_num_threads) or loader workers, or more CPUs for the job: "   \
	  "affinity mask, quota of the cgroup.")
