/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of the ledger: X(code, flags, fact, detail; NULL: it depends on the entry). */
#pragma once

/* Counted for each process, in output order. */
#define LEDGER_COUNTS(X)											       \
	X(RECORDED, LEDGER_ALWAYS, "recorded", "events")							       \
	X(SUMMED, 0, "in sums", "calls that --mode=profile added to sums, instead of recording each")		       \
	X(SUMMED_OTHER, LEDGER_WARNING, "in sums, other",						       \
	  "of these, calls without a sum for their line and file: there were too many")			       \
	X(SUMMED_RANGES, 0, "ranges in sums", "NVTX ranges that --mode=profile added to sums")			       \
	X(SUMMED_RANGES_OTHER, LEDGER_WARNING, "ranges in sums, other",						       \
	  "of these, ranges without a sum for their text: there were too many texts")				       \
	X(SUMMED_STEPS_OTHER, LEDGER_WARNING, "steps in sums, other",						       \
	  "steps of which it is not known whose they are: there were too many texts and threads")		       \
	X(BELOW, LEDGER_ALWAYS, "below threshold", "calls counted and summed, see osrt_short_sum")		       \
	X(BELOW_WITHOUT_FILE, LEDGER_WARNING, "below threshold, without a file",				       \
	  "of these, short reads and writes that are missing in files and sockets")				       \
	X(LOST, LEDGER_ALWAYS | LEDGER_WARNING, "lost", "events that could not be stored")			       \
	X(OVERWRITTEN, 0, "overwritten by the ring", "events and counted calls before those that --ring keeps")      \
	X(MISSING_FILES, LEDGER_WARNING, "missing files",							       \
	  "trace files that are not in the capture, with all events in them")					       \
	X(THREADS_LOST, LEDGER_WARNING, "threads lost", "threads that could not be recorded")			       \
	X(TORN, LEDGER_WARNING, "torn", "slots that their writer could not finish")				       \
	X(UNREADABLE, LEDGER_WARNING, "unreadable", "damaged records")						       \
	X(UNMATCHED_PUSH, LEDGER_WARNING, "unmatched push", "NVTX ranges open at the end")			       \
	X(UNMATCHED_POP, LEDGER_WARNING, "unmatched pop", "NVTX pops without a push")				       \
	X(UNMATCHED_START, LEDGER_WARNING, "unmatched start", "NVTX ranges open at the end")			       \
	X(UNMATCHED_END, LEDGER_WARNING, "unmatched end", "NVTX ends without a start")				       \
	X(TEXTS_TRUNCATED, 0, "texts truncated", "different NVTX texts of 8 KiB, which is the limit")		       \
	X(STACKS_CUT, 0, "stacks cut",										       \
	  "different stacks with as many frames as --backtrace-depth allows: (cut) is their root")		       \
	X(STACKS_LOST, LEDGER_WARNING, "stacks lost", "stacks that could not be taken")				       \
	X(SAMPLES, 0, "CPU samples", "of running threads, see sample_sum")					       \
	X(SAMPLES_BY_PERF, 0, "CPU samples by perf",								       \
	  "of these, by perf_event_open from outside: stacks by frame pointers, without Python frames")		       \
	X(SAMPLED_US, 0, "CPU time sampled", "us represented by the samples")					       \
	X(SAMPLES_WITHOUT_STACK, LEDGER_WARNING, "samples without stack",					       \
	  "of threads whose stack could not be determined")							       \
	X(SAMPLES_SLOWED, 0, "samples slowed down",								       \
	  "times that the period of a thread was doubled because samples took more than 3 % of its time")	       \
	X(DEVICE_RECORDS, 0, "device records", "kernels, copies, memsets and graphs, from CUPTI or CUDA events")       \
	X(DEVICE_MORE, 0, "other device facts", "waits, allocations, overhead, managed memory, compiling")	       \
	X(GRAPH_NODES, 0, "graph nodes", "calls that made a node of a CUDA graph, which its launches execute")	       \
	X(UNMATCHED_CALLS, LEDGER_WARNING, "unmatched calls",							       \
	  "launches, copies and memsets without a device record: lost, not yet delivered, not recorded, or "	       \
	  "captured into a graph while CUPTI was not in use")							       \
	X(UNMATCHED_RECORDS, LEDGER_WARNING, "unmatched device records",					       \
	  "without a recorded call: below a threshold, outside of the capture range, or not traced")		       \
	X(MATCHED_BY_ORDER, 0, "matched by order",								       \
	  "calls and device records matched in order because CUPTI's times match no call")			       \
	X(DEVICE_DROPPED, 0, "device records dropped",								       \
	  "because CUPTI's buffers were full (including call records), or no CUDA event was free")		       \
	X(DEVICE_TIMELESS, LEDGER_WARNING, "device records without times",					       \
	  "not convertible to the host's clock, or not complete at the end")					       \
	X(DEVICE_UNREADABLE, LEDGER_WARNING, "device buffers unreadable", "of CUPTI, from some record on")	       \
	X(UNKNOWN_FREES, 0, "unknown frees", "of CUDA memory whose allocation was not recorded")		       \
	X(BLOCKS_REPLACED, 0, "blocks replaced", "CUDA memory allocated again without a recorded free")		       \
	X(FAILURES_LEFT_OUT, 0, "memory failures left out",							       \
	  "from cuda_mem_failures, which lists 200 for each process")

#define LEDGER_OTHERS(X)											       \
	X(OWN_OVERHEAD, 0, "own overhead", NULL)								       \
	X(DRIVER_OVERHEAD, 0, "driver's overhead", NULL)							       \
	X(CUPTI_OVERHEAD, 0, "CUPTI's overhead", NULL)								       \
	X(READ_NOT_SEEN, LEDGER_WARNING, "bytes read, not seen", NULL)						       \
	X(WRITTEN_NOT_SEEN, LEDGER_WARNING, "bytes written, not seen", NULL)					       \
	X(READ_NOT_COUNTED, LEDGER_WARNING, "bytes read, not counted", NULL)					       \
	X(WRITTEN_NOT_COUNTED, LEDGER_WARNING, "bytes written, not counted", NULL)				       \
	X(NOT_COMPARED, 0, "bytes not compared",								       \
	  "images of which it is not known what the kernel has counted: killed, without room for it in the "	       \
	  "range file, or /proc cannot be read")								       \
	X(RING_OPERATIONS, 0, "operations of io_uring",								       \
	  "submitted by io_uring_enter: what they read and wrote is not known")					       \
	X(NOTE, LEDGER_WARNING, "note", NULL)									       \
	X(DEVICE_GAP, 0, "device time gap", NULL)								       \
	X(OPERATORS_MISSING, LEDGER_WARNING, "operators not recorded", NULL)					       \
	X(TENSORS_MISSING, LEDGER_WARNING, "memory of tensors not recorded",					       \
	  "--memory=torch: this version of PyTorch does not call its allocators' reports through the loader")	       \
	X(DEVICE_UNREAD, 0, "device records not read",								       \
	  "ns from the last flush to the last event: the process did not end by itself, so records of device "	       \
	  "operations of that time may be missing")								       \
	X(NO_DEVICE_TIMES, 0, "no device times", NULL)								       \
	X(LINES_LOST, LEDGER_WARNING, "index lines lost",							       \
	  "starts, ends or notes of processes: disk full, file size limited or capture hidden")			       \
	X(LOST_WITHOUT_FILE, LEDGER_WARNING, "lost", "events of threads and processes without space in a trace file")  \
	X(LAUNCHER, 0, "own launcher", "ns of CPU time of pillion-launch and its helpers, without the summary")	       \
	X(NOT_SAMPLED, 0, "samples not taken", NULL)								       \
	X(CPU_USED, 0, "CPU time used", NULL)									       \
	X(CPU_STEPPED, 0, "CPU time sampled in step", NULL)							       \
	X(CPU_UNSAMPLED, 0, "CPU time not sampled", NULL)							       \
	X(SPOOL_MOVING, 0, "spool", NULL)									       \
	X(SPOOL_UNMOVED, 0, "spool not moved", NULL)								       \
	X(CLOCK, 0, "clock placed to", NULL)									       \
	X(MODULE_CHANGED, LEDGER_WARNING, "module changed", NULL)						       \
	X(MODULE_MISSING, LEDGER_WARNING, "module missing", NULL)						       \
	X(NOT_RECORDED, LEDGER_WARNING, "not recorded", NULL)

enum {
	LEDGER_ALWAYS = 1,  /* also if it is 0 */
	LEDGER_WARNING = 2, /* something is missing */
};

enum ledger_fact {
#define LEDGER_ENUMERATOR(code, flags, fact, detail) LEDGER_##code,
	LEDGER_COUNTS(LEDGER_ENUMERATOR)
	LEDGER_COUNTED,
	LEDGER_BEFORE_OTHERS = LEDGER_COUNTED - 1,
	LEDGER_OTHERS(LEDGER_ENUMERATOR)
#undef LEDGER_ENUMERATOR
	LEDGER_FACTS
};
