/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of all tables, by type: X(id, title). Code that reads a table finds a column by its id (table_find); a
 * title is only printed, and the documentation, scripts of users and golden files have it. */
#pragma once

#define COLUMNS_TEXT(X)												       \
	X(ADVICE, "Advice") X(API_FUNCTION, "API Function") X(API_NAME, "API Name") X(ARRAY, "Array")		       \
	X(ARGUMENTS, "Arguments") X(ARRAY_TASK, "Array Task")							       \
	X(BANDWIDTH_GB_PER_S, "Bandwidth (GB/s)") X(BLOCKXYZ, "BlockXYZ") X(BOUND, "Bound") X(CALL, "Call")	       \
	X(CAPTURE, "Capture") X(CHECK, "Check")								       \
	X(CALLED_FROM, "Called From") X(CATEGORY, "Category") X(CAUSE, "Cause") X(CHANGED, "Changed")		       \
	X(COMMAND, "Command") X(COMMUNICATOR, "Communicator") X(COMM_RANK, "Comm Rank") X(COMPLETED, "Completed")      \
	X(COMPUTE_CAPABILITY, "Compute Capability") X(COUNT_TEXT, "Count")					       \
	X(CPU_INSTRUCTION_ADDRESS, "CPU Instruction Address") X(DETAIL, "Detail") X(DEVICE, "Device")		       \
	X(DIRECTORY, "Directory") X(DOMAIN, "Domain") X(DSTMEMKD, "DstMemKd") X(DST_KIND, "Dst Kind") X(ECC, "ECC")    \
	X(EDIT, "Edit")											       \
	X(ENDED, "Ended") X(ENTERED, "Entered") X(ERROR, "Error") X(EVENT, "Event") X(FACT, "Fact")		       \
	X(FILE, "File")											       \
	X(FINDING, "Finding") X(FIRST_OPENED_BY, "First Opened By") X(FOUND, "Found")			       \
	X(FRAMES, "Frames") X(LINE_CONTENTS, "Line Contents")						       \
	X(FROM_RANK, "From Rank")									       \
	X(FUNCTION, "Function") X(GB_PER_S, "GB/s") X(GRIDXYZ, "GridXYZ") X(HLO_MODULE, "HLO Module")		       \
	X(HOST, "Host") X(ID, "ID") X(INPUT_SIZES, "Input Sizes") X(JOB, "Job") X(KERNEL_NAME, "Kernel Name")	       \
	X(LATE_THREAD, "Late Thread")									       \
	X(KIND, "Kind") X(LATE_LINE, "Late Line") X(LATE_NAME, "Late Name") X(LATE_RANKS, "Late Ranks")	       \
	X(LEAST_SIZE_BYTES, "Least Size (bytes)") X(LINE, "Line") X(MADE_BY, "Made By")				       \
	X(MAXIMUM_VIRTUAL_ADDRESS, "Maximum Virtual Address") X(MEMORY, "Memory") X(MEMORY_KIND, "Memory Kind")	       \
	X(MINIMUM_VIRTUAL_ADDRESS, "Minimum Virtual Address") X(MODULE, "Module") X(NAME, "Name")		       \
	X(NAMETREE, "NameTree") X(NODE, "Node") X(NOT_ENTERED, "Not Entered") X(NOT_KNOWN, "Not Known")		       \
	X(NVTX_ID, "Id") X(NVTX_RANGE, "NVTX Range") X(OBJECT, "Object")					       \
	X(OPERATION, "Operation") X(OPERATOR, "Operator")						       \
	X(OPID, "OpId") X(PAD_TO, "Pad To") X(PARTS, "Parts") X(PATH, "Path")		       \
	X(PCI_BUS, "PCI Bus") X(PEER, "Peer")								       \
	X(PHASE, "Phase")											       \
	X(PROCESS, "Process")										       \
	X(PROCESS_GROUP, "Process Group") X(PROGRAM, "Program") X(RANGE, "Range") X(RANGESTACK, "RangeStack")	       \
	X(RANK, "Rank") X(REASON, "Reason") X(REASONS, "Reasons") X(RESTARTS, "Restarts") X(RULE, "Rule")	       \
	X(ROLE, "Role") X(MISSING, "Missing")									       \
	X(SCHEDULER, "Scheduler") X(SCOPE, "Scope") X(SEQ, "Seq") X(SETTING, "Setting") X(SHAPE, "Shape")	       \
	X(RECORDING, "Recording") X(SIGNAL, "Signal")								       \
	X(SIZES, "Sizes") X(SIZE_BYTES, "Size (bytes)") X(SLOWEST_RANK, "Slowest Rank") X(SOURCE, "Source")	       \
	X(SRCMEMKD, "SrcMemKd") X(SRC_KIND, "Src Kind") X(STACK, "Stack") X(STARTED, "Started") X(STATE, "State")      \
	X(STEP, "Step") X(STYLE, "Style") X(SYSTEM_CALL, "System Call") X(TEXT, "Text") X(THREAD, "Thread")	       \
	X(THREAD_NAME, "Thread Name") X(THREAD_NAMES, "Threads") X(TO_RANK, "To Rank") X(TYPE, "Type")		       \
	X(UNIT, "Unit") X(UNTIL, "Until") X(UUID, "UUID") X(VALUE, "Value") X(VERDICT, "Verdict")		       \
	X(VIRTUAL_ADDRESS, "Virtual Address") X(WAITS_FOR, "Waits For") X(WHO, "Who")

#define COLUMNS_ID(X)												       \
	X(LINE_HASH, "Line #")										       \
	X(ADDRESS, "Address") X(BLKX, "BlkX") X(BLKY, "BlkY") X(BLKZ, "BlkZ") X(CONTEXT_ID, "Context ID")	       \
	X(CORRID, "CorrId") X(CTX, "Ctx") X(DEADLOCK, "Deadlock") X(DEVICE_BYTES, "Bytes") X(DEVICE_ID, "Device ID")   \
	X(DEVICE_NUMBER, "Device") X(DEVID, "DevId") X(FASTEST_RANK, "Fastest Rank") X(GRAPH, "Graph")		       \
	X(GRDX, "GrdX") X(GRDY, "GrdY") X(GRDZ, "GrdZ") X(LATE_RANK, "Late Rank") X(LINE_NUMBER, "Line")	       \
	X(NODE_NUMBER, "Node") X(NSYS_CORR_ID, "CorrID") X(NSYS_PID, "Pid") X(NSYS_TID, "Tid") X(OWNER, "Owner")       \
	X(PARENTID, "ParentId") X(PID, "PID") X(PPID, "PPID") X(RANGEID, "RangeId")				       \
	X(RANK_NUMBER, "Rank") X(REG_PER_TRD, "Reg/Trd") X(RESULT, "Result") X(SEQUENCE, "Sequence")		       \
	X(SLOWEST_RANK_NUMBER, "Slowest Rank") X(STEP_NUMBER, "Step") X(STREAM_ID, "Stream ID") X(STRM, "Strm")	       \
	X(TID, "TID") X(T_PRI, "T-Pri")

#define COLUMNS_COUNT(X)											       \
	X(OCCURRENCES, "Occurrences")									       \
	X(ALLOCATIONS, "Allocations") X(AVG_SIZE_BYTES, "Avg Size (bytes)") X(BLOCKS, "Blocks") X(BYTES, "Bytes")      \
	X(BUFFERS, "Buffers") X(CACHE_HITS, "Cache Hits") X(CACHE_MISSES, "Cache Misses")			       \
	X(CACHE_WRITES, "Cache Writes") X(DEVICES, "Devices") X(EXECUTABLES, "Executables")		       \
	X(BYTES_FROM, "Bytes from") X(BY_MEAN, "By Mean") X(BY_NODES, "By Nodes") X(CALLS, "Calls")		       \
	X(CALLS_FOR_EACH_STACK, "Calls for Each Stack") X(CHANGES, "Changes") X(COLLRECVSIZE, "CollRecvSize")	       \
	X(COLLSENDSIZE, "CollSendSize") X(COMPILATIONS, "Compilations") X(CONNECTS, "Connects") X(COUNT, "Count")      \
	X(COUNT_AFTER, "Count After") X(COUNT_BEFORE, "Count Before") X(CPU_PAGE_FAULTS, "CPU Page Faults")	       \
	X(DEPTH, "Depth") X(DEVICE_RECORDS, "Device Records") X(ESTIMATED_CALLS, "Estimated Calls")		       \
	X(EXECUTIONS, "Executions") X(FAILED_CHANGES, "Failed Changes") X(FAILED_OPENS, "Failed Opens")		       \
	X(FAILED_STATS, "Failed Stats") X(FILES, "Files") X(FLOP, "FLOP") X(FLOPS, "FLOPs") X(FREES, "Frees")	       \
	X(BELOW, "Below Threshold") X(HOSTS, "Hosts") X(IDLE_HELPERS, "Idle Helpers") X(LOST, "Lost")	       \
	X(RECORDED, "Recorded") X(STARTUP_PROCESSES, "Start-up Processes")				       \
	X(GAPS, "Gaps") X(GPU_PAGE_FAULTS, "GPU Page Faults") X(HITS, "Hits") X(INSTANCES, "Instances")	       \
	X(INVOLUNTARY_SWITCHES, "Involuntary Switches") X(KERNELS, "Kernels")					       \
	X(KERN_INST, "Kern Inst") X(LAUNCHES, "Launches") X(LEAST_OF_A_RANK_BYTES, "Least of a Rank (bytes)")	       \
	X(LVL, "Lvl") X(MAJOR_FAULTS, "Major Faults") X(MAPPED_BYTES, "Mapped (bytes)") X(MAPS, "Maps")		       \
	X(MEMORY_BUS_BITS, "Memory Bus (bits)") X(MESSAGES, "Messages")						       \
	X(MOST_OF_A_RANK_BYTES, "Most of a Rank (bytes)") X(MULTIPLE, "Multiple") X(NOT_FREED, "Not Freed")	       \
	X(NUM_CALLS, "Num Calls") X(NUM_CHILD, "NumChild") X(NUM_GPU_OPS, "NumGPUOps")				       \
	X(NUM_LAUNCHES, "Num Launches") X(NVTX_INST, "NVTX Inst") X(ONLINE, "Online") X(OPENS, "Opens")		       \
	X(PAGE_FAULTS, "Page Faults") X(PEAK_RSS_KIB, "Peak RSS (KiB)") X(PHASES, "Phases")			       \
	X(PROCESSES, "Processes") X(QCOUNT, "QCount")								       \
	X(RANGE_INSTANCES, "Range Instances") X(RANKS, "Ranks") X(READS, "Reads") X(READ_BYTES, "Read (bytes)")	       \
	X(RECEIVED_BYTES, "Received (bytes)") X(RECEIVES, "Receives") X(ROW_NUMBER, "Row#") X(RUNS, "Runs")	       \
	X(SAMPLES, "Samples") X(SENDS, "Sends") X(SENT_BYTES, "Sent (bytes)")					       \
	X(SHARED_MEMORY_PER_SM_BYTES, "Shared Memory per SM (bytes)") X(SHORT_KERNELS, "Short Kernels")		       \
	X(SIZE, "Size") X(SMS, "SMs") X(STATS, "Stats") X(STEPS, "Steps") X(THREADS, "Threads")			       \
	X(THREADS_PER_SM, "Threads per SM") X(TOTAL_CPU_PAGE_FAULTS, "Total CPU Page Faults")			       \
	X(TOTAL_GPU_OPS, "Total GPU Ops") X(TOTAL_GPU_PAGE_FAULTS, "Total GPU Page Faults")			       \
	X(VOLUNTARY_SWITCHES, "Voluntary Switches") X(WAITS, "Waits")						       \
	X(WRITES, "Writes") X(WRITTEN_BYTES, "Written (bytes)")							       \
	X(DEVICE_MEMORY_BYTES, "Device Memory (bytes)") X(MEMORY_SIZE_BYTES, "Memory Size (bytes)")		       \
	X(READ_BYTES_PER_S, "Read (bytes/s)") X(RSS_BYTES, "RSS (bytes)") X(WRITTEN_BYTES_PER_S, "Written (bytes/s)")

#define COLUMNS_NS(X)												       \
	X(AGE_NS, "Age (ns)") X(AMAX_NS, "AMax (ns)") X(AMIN_NS, "AMin (ns)") X(API_DUR_NS, "API Dur (ns)")	       \
	X(API_START_NS, "API Start (ns)") X(AT_NS, "At (ns)") X(BLOCKED_NS, "Blocked (ns)")			       \
	X(BLOCK_IO_DELAY_NS, "Block I/O Delay (ns)") X(DELAY_NS, "Delay (ns)")					       \
	X(CALL_DURATION_NS, "Call Duration (ns)") X(CALL_START_NS, "Call Start (ns)")				       \
	X(COMPILE_TOTAL_NS, "Compile Total (ns)") X(COST_NS, "Cost (ns)") X(CPU_NATIVE_NS, "CPU Native (ns)")	       \
	X(CPU_NS, "CPU (ns)") X(CPU_PYTHON_NS, "CPU Python (ns)") X(CPU_SELF_NS, "CPU Self (ns)")		       \
	X(CPU_TIME_NS, "CPU Time (ns)") X(CPU_TOTAL_NS, "CPU Total (ns)") X(CUDA_CALLS_NS, "CUDA Calls (ns)")	       \
	X(CUMULATIVE_NS, "Cumulative (ns)") X(CUMULATIVE_TIME_NS, "Cumulative Time (ns)")			       \
	X(DEVICE_TIME_NS, "Device Time (ns)") X(DURATION_NS, "Duration (ns)") X(DURCHILD_NS, "DurChild (ns)")	       \
	X(DURNONCHILD_NS, "DurNonChild (ns)") X(END_NS, "End (ns)") X(ERROR_NS, "Error (ns)")			       \
	X(ESTIMATED_NS, "Estimated (ns)") X(ESTIMATED_TIME_NS, "Estimated Time (ns)")				       \
	X(FIRST_OPEN_NS, "First Open (ns)") X(GPU_BACKWARD_NS, "GPU Backward (ns)")				       \
	X(GPU_ESTIMATED_NS, "GPU Estimated (ns)") X(GPU_NS, "GPU (ns)") X(GPU_SELF_NS, "GPU Self (ns)")		       \
	X(GPU_TIME_NS, "GPU Time (ns)") X(GPU_TOTAL_NS, "GPU Total (ns)") X(HOST_NS, "Host (ns)")		       \
	X(IDLE_TIME_NS, "Idle Time (ns)") X(INCLUSIVE_GPU_NS, "Inclusive GPU (ns)")				       \
	X(INCLUSIVE_NS, "Inclusive (ns)") X(IN_CALLS_NS, "In Calls (ns)") X(KERNEL_DUR_NS, "Kernel Dur (ns)")	       \
	X(LAUNCHER_NS, "Launcher (ns)") X(OWN_NS, "Own (ns)") X(RECORDED_NS, "Recorded (ns)")		       \
	X(HIGH_NS, "High (ns)") X(LOW_NS, "Low (ns)") X(SAVED_NS, "Saved (ns)") X(SAVES_HIGH_NS, "Saves High (ns)") \
	X(SAVES_LOW_NS, "Saves Low (ns)") X(SAVES_NS, "Saves (ns)")					       \
	X(KERNEL_START_NS, "Kernel Start (ns)") X(KMAX_NS, "KMax (ns)") X(KMIN_NS, "KMin (ns)")			       \
	X(LEAST_OF_A_RANK_NS, "Least of a Rank (ns)") X(LIFETIME_NS, "Lifetime (ns)") X(LONGEST_NS, "Longest (ns)")    \
	X(LONGEST_START_NS, "Longest Start (ns)") X(LOST_NS, "Lost (ns)") X(LOWER_NS, "Lower (ns)")		       \
	X(MAX_NS, "Max (ns)") X(MEANWHILE_NS, "Meanwhile (ns)") X(MIN_NS, "Min (ns)")				       \
	X(MOST_OF_A_RANK_NS, "Most of a Rank (ns)") X(NATIVE_TIME_NS, "Native Time (ns)")			       \
	X(OFF_CPU_NS, "Off-CPU (ns)") X(OLDEST_AT_NS, "Oldest At (ns)") X(ORIG_DURATION_NS, "Orig Duration (ns)")      \
	X(ORIG_START_NS, "Orig Start (ns)") X(OS_CALLS_NS, "OS Calls (ns)")					       \
	X(OS_CALLS_TIME_NS, "OS Calls Time (ns)") X(OTHERS_WAITING_NS, "Others Waiting (ns)")			       \
	X(PEAK_AT_NS, "Peak At (ns)") X(PROJECTED_DURATION_NS, "Projected Duration (ns)")			       \
	X(PROJECTED_START_NS, "Projected Start (ns)") X(PROJ_MAX_NS, "Proj Max (ns)")				       \
	X(PROJ_MIN_NS, "Proj Min (ns)") X(QMAX_NS, "QMax (ns)") X(QMIN_NS, "QMin (ns)")				       \
	X(QUEUE_DUR_NS, "Queue Dur (ns)") X(QUEUE_START_NS, "Queue Start (ns)") X(RUNNABLE_NS, "Runnable (ns)")	       \
	X(RUN_HOST_NS, "Run Host (ns)") X(SELF_NS, "Self (ns)") X(SELF_TIME_NS, "Self Time (ns)")		       \
	X(START_NS, "Start (ns)") X(STOPPED_NS, "Stopped (ns)") X(TIME_NS, "Time (ns)") X(TMAX_NS, "TMax (ns)")	       \
	X(TMIN_NS, "TMin (ns)") X(TOTAL_DUR_NS, "Total Dur (ns)") X(TOTAL_LIFETIME_NS, "Total Lifetime (ns)")	       \
	X(TOTAL_PROJ_TIME_NS, "Total Proj Time (ns)") X(TOTAL_RANGE_TIME_NS, "Total Range Time (ns)")		       \
	X(TOTAL_TIME_NS, "Total Time (ns)") X(TOTAL_WAIT_NS, "Total Wait (ns)") X(TRACE_NS, "Trace (ns)")	       \
	X(UNEXPLAINED_NS, "Unexplained (ns)") X(WAITING_NS, "Waiting (ns)") X(WAIT_NS, "Wait (ns)")		       \
	X(XLA_NS, "XLA (ns)")

#define COLUMNS_NS_MEAN(X)											       \
	X(AAVG_NS, "AAvg (ns)") X(AFTER_NS, "After (ns)") X(AMED_NS, "AMed (ns)") X(ASTDDEV_NS, "AStdDev (ns)")	       \
	X(AVG_NS, "Avg (ns)") X(BEFORE_NS, "Before (ns)") X(CPU_AVG_NS, "CPU Avg (ns)")				       \
	X(FASTEST_AVG_NS, "Fastest Avg (ns)") X(GPU_AVG_NS, "GPU Avg (ns)")	       \
	X(KAVG_NS, "KAvg (ns)") X(KERNEL_AVG_NS, "Kernel Avg (ns)") X(KMED_NS, "KMed (ns)")			       \
	X(KSTDDEV_NS, "KStdDev (ns)") X(LAUNCH_AVG_NS, "Launch Avg (ns)") X(MED_NS, "Med (ns)")			       \
	X(PER_HIT_NS, "Per Hit (ns)") X(PROJ_AVG_NS, "Proj Avg (ns)") X(PROJ_MED_NS, "Proj Med (ns)")		       \
	X(PROJ_STDDEV_NS, "Proj StdDev (ns)")									       \
	X(QAVG_NS, "QAvg (ns)") X(QMED_NS, "QMed (ns)") X(QSTDDEV_NS, "QStdDev (ns)") X(RUN_AVG_NS, "Run Avg (ns)")    \
	X(SLOWEST_AVG_NS, "Slowest Avg (ns)") X(STDDEV_NS, "StdDev (ns)") X(TAVG_NS, "TAvg (ns)")		       \
	X(TMED_NS, "TMed (ns)") X(TSTDDEV_NS, "TStdDev (ns)") X(WAIT_BY_STEP_NS, "Wait By Step (ns)")

#define COLUMNS_PERCENT(X)											       \
	X(ATTAINABLE_PERCENT, "Attainable (%)") X(AVG_GPU_OPS, "Avg GPU Ops") X(AVG_NUM_CHILD, "Avg Num Child")	       \
	X(AVG_RANGE_LVL, "Avg Range Lvl") X(CHANGE_PERCENT, "Change (%)") X(COMPILE_PERCENT, "Compile (%)")	       \
	X(CPUS, "CPUs") X(CPU_PERCENT, "CPU (%)") X(CUMULATIVE_PERCENT, "Cumulative (%)")			       \
	X(ENERGY_PERCENT, "Energy (%)") X(GFLOP_PER_S_TENTHS, "GFLOP/s") X(GPU_PERCENT, "GPU (%)")		       \
	X(EFFICIENCY_COMMUNICATION_PERCENT, "Communication Efficiency (%)")					       \
	X(EFFICIENCY_PARALLEL_PERCENT, "Parallel Efficiency (%)")						       \
	X(EFFICIENCY_SERIALISATION_PERCENT, "Serialisation Efficiency (%)")					       \
	X(EFFICIENCY_TRANSFER_PERCENT, "Transfer Efficiency (%)") X(EXPLAINED_PERCENT, "Explained (%)")	       \
	X(GROWING_PERCENT, "Growing (%)") X(LOAD_BALANCE_PERCENT, "Load Balance (%)")				       \
	X(NATIVE_PERCENT, "Native (%)") X(PYTHON_PERCENT, "Python (%)") X(SYSTEM_PERCENT, "System (%)")		       \
	X(IN_USE_PERCENT, "In-Use (%)") X(NOISE_PERCENT, "Noise (%)") X(OVERLAP_PERCENT, "Overlap (%)")		       \
	X(PEAK_PERCENT, "Peak (%)") X(RUNNABLE, "Runnable") X(SHARE_OF_PEAK_PERCENT, "Share of Peak (%)")	       \
	X(SHARE_PERCENT, "Share (%)") X(SLOWED_PERCENT, "Slowed (%)") X(TIME_PERCENT, "Time (%)") \
	X(WAIT_PERCENT, "Wait (%)")

#define COLUMNS_MB(X)												       \
	X(ALIASED_MB, "Aliased (MB)") X(ARGUMENTS_MB, "Arguments (MB)") X(CODE_MB, "Code (MB)")			       \
	X(LIVE_MB, "Live (MB)") X(OUTPUTS_MB, "Outputs (MB)") X(TEMPORARY_MB, "Temporary (MB)")			       \
	X(ALLOCATED_MB, "Allocated (MB)") X(AVG_MB, "Avg (MB)") X(BUSY_J, "Busy (J)") X(BYTES_MB, "Bytes (MB)")	       \
	X(CPU_MEM_PEAK_MB, "CPU Mem Peak (MB)") X(CPU_MEM_SELF_MB, "CPU Mem Self (MB)")			       \
	X(CPU_MEM_TOTAL_MB, "CPU Mem Total (MB)") X(CUDA_MEM_PEAK_MB, "CUDA Mem Peak (MB)")			       \
	X(CUDA_MEM_SELF_MB, "CUDA Mem Self (MB)") X(CUDA_MEM_TOTAL_MB, "CUDA Mem Total (MB)")			       \
	X(MOVED_MB, "Moved (MB)")										       \
	X(COPIED_MB, "Copied (MB)") X(DTOH_MIGRATION_SIZE_MB, "DtoH Migration Size (MB)")			       \
	X(DYMSMEM_MB, "DymSMem (MB)") X(ENERGY_EST_J, "Energy Est. (J)") X(ENERGY_J, "Energy (J)")		       \
	X(ESTIMATED_MB, "Estimated (MB)") X(FIRST_MB, "First (MB)")						       \
	X(FREE_WHEN_LAST_TOLD_MB, "Free When Last Told (MB)") X(FROM_MB, "From (MB)") X(GROWTH_MB, "Growth (MB)")      \
	X(HOST_ALLOCATED_MB, "Host Allocated (MB)") X(HOST_AT_PEAK_MB, "Host At Peak (MB)")			       \
	X(HOST_GROWTH_MB, "Host Growth (MB)") X(HTOD_MIGRATION_SIZE_MB, "HtoD Migration Size (MB)")		       \
	X(IN_USE_AT_END_MB, "In Use At End (MB)") X(IN_USE_AT_PEAK_MB, "In Use At Peak (MB)")			       \
	X(IN_USE_MB, "In Use (MB)") X(IN_USE_THEN_MB, "In Use Then (MB)") X(L2_MB, "L2 (MB)")			       \
	X(LAST_MB, "Last (MB)") X(MAX_MB, "Max (MB)") X(MAX_MEMORY_MB, "Max Memory (MB)") X(MED_MB, "Med (MB)")	       \
	X(MEMORY_MB, "Memory (MB)") X(MIGRATION_THROUGHPUT_MB_PER_S, "Migration Throughput (MB/s)")		       \
	X(MIN_MB, "Min (MB)") X(NOT_FREED_MB, "Not Freed (MB)") X(OF_MB, "Of (MB)") X(PEAK_MB, "Peak (MB)")	       \
	X(PER_STEP_MB, "Per Step (MB)") X(RESIDENT_MB, "Resident (MB)") X(STCSMEM_MB, "StcSMem (MB)")		       \
	X(STDDEV_MB, "StdDev (MB)") X(THROUGHPUT_MB_PER_S, "Throughput (MB/s)")					       \
	X(TOTAL_DTOH_MIGRATION_SIZE_MB, "Total DtoH Migration Size (MB)")					       \
	X(TOTAL_HTOD_MIGRATION_SIZE_MB, "Total HtoD Migration Size (MB)") X(TOTAL_MB, "Total (MB)")		       \
	X(TO_MB, "To (MB)")

#define COLUMNS_SIGNED(X)											       \
	X(PEERRANK, "PeerRank") X(ROOTRANK, "RootRank") X(TAG, "Tag")

#define COLUMNS_REAL(X)												       \
	X(ALLOCATOR_INCREMENT_MIB, "Allocator Increment (MiB)") X(INCREMENT_MIB, "Increment (MiB)")		       \
	X(MEM_USAGE_MIB, "Mem usage (MiB)")								       \
	X(ATTAINABLE_GFLOP_PER_S, "Attainable GFLOP/s") X(AVG, "Avg") X(AVG_W, "Avg (W)")			       \
	X(BEST_CLOCK_MHZ, "Best Clock (MHz)")									       \
	X(BUS_GB_PER_S, "Bus (GB/s)") X(CLOCK_MHZ, "Clock (MHz)") X(FLOP_PER_BYTE, "FLOP/byte") X(GFLOPS, "GFLOPs")    \
	X(GFLOP_PER_S, "GFLOP/s") X(LIMIT_W, "Limit (W)") X(MAX, "Max") X(MIN, "Min") X(TOTAL, "Total")		       \
	X(MAX_C, "Max (C)") X(MAX_W, "Max (W)")									       \
	X(MEMORY_CLOCK_MHZ, "Memory Clock (MHz)") X(PEAK_BANDWIDTH_GB_PER_S, "Bandwidth (GB/s)")		       \
	X(PEAK_GFLOP_PER_S, "Peak GFLOP/s") X(POWER_W, "Power (W)") X(RATIO, "Ratio") X(RATIO_HIGH, "Ratio High")      \
	X(PREDICTED_SLOPE, "Predicted Slope")		       \
	X(RATIO_LOW, "Ratio Low") X(SLOPE, "Slope") X(SLOPE_HIGH, "Slope High") X(SLOPE_LOW, "Slope Low")	       \
	X(SM_CLOCK_MHZ, "SM Clock (MHz)") X(TEMPERATURE_C, "Temperature (C)")

/* each(type, list) for each of these lists */
#define COLUMN_LISTS(each)                                                                                             \
	each(TEXT, COLUMNS_TEXT) each(ID, COLUMNS_ID) each(COUNT, COLUMNS_COUNT) each(NS, COLUMNS_NS)                  \
	each(NS_MEAN, COLUMNS_NS_MEAN) each(PERCENT, COLUMNS_PERCENT) each(MB, COLUMNS_MB)                             \
	each(SIGNED, COLUMNS_SIGNED) each(REAL, COLUMNS_REAL)
