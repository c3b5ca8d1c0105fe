/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a run: their values, and the table (options.c) that serves the command line, the environment, the
 * help text and the checks. pillion-launch and the recorder in the target read the same struct.
 *
 * As option.h: no allocation, no I/O. Strings are borrowed from argv or the environment. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/shared/base/option.h"
#include "runtime/shared/format/trace_groups.h"

/* Bits of options.trace: 1 << TF_GROUP_<NAME>. --trace=cuda has both TRACE_CUDA and TRACE_CUDA_DRIVER. */
#define TRACE_BIT(number, NAME, ...) TRACE_##NAME = 1 << number,
enum { TF_GROUPS(TRACE_BIT, ) };
#undef TRACE_BIT

enum cuda_kind { CUDA_KERNEL, CUDA_MEMORY, CUDA_SYNC, CUDA_OTHER, CUDA_KINDS };
/* CUDA_COPY: calls of the kind MEMORY that request a copy or a memset. They have a threshold of their own. */
enum { CUDA_COPY = CUDA_KINDS, CUDA_THRESHOLDS };
enum energy { ENERGY_AUTO, ENERGY_TRUE, ENERGY_FALSE };
enum launch_stacks { LAUNCH_STACKS_AUTO, LAUNCH_STACKS_ALL, LAUNCH_STACKS_LONG };
enum capture_range { CAPTURE_ALL, CAPTURE_PROFILER_API, CAPTURE_NVTX };
enum range_end { RANGE_END_NONE, RANGE_END_STOP, RANGE_END_STOP_SHUTDOWN, RANGE_END_REPEAT, RANGE_END_REPEAT_SHUTDOWN };
enum gpu_activity { GPU_ACTIVITY_AUTO, GPU_ACTIVITY_CUPTI, GPU_ACTIVITY_EVENTS, GPU_ACTIVITY_NONE };
enum memory_trace { MEMORY_NONE = 0, MEMORY_PYTHON = 1, MEMORY_NATIVE = 2, MEMORY_ALL = MEMORY_PYTHON | MEMORY_NATIVE,
		    MEMORY_TORCH = 4 };
/* What --slow-down chooses calls by: their function, the rank, or from LINE on keys of the frames of their stacks. */
enum slow_down_kind { SLOW_DOWN_CALL, SLOW_DOWN_RANK, SLOW_DOWN_LINE, SLOW_DOWN_LOCK };
enum mode { MODE_TRACE, MODE_PROFILE };
enum pytorch { PYTORCH_NONE, PYTORCH_OPERATORS, PYTORCH_SHAPES };
enum wait_for { WAIT_PRIMARY, WAIT_ALL };
enum sampling_source { SAMPLING_AUTO, SAMPLING_SIGNAL, SAMPLING_PERF };
enum sample { SAMPLE_NONE, SAMPLE_AUTO, SAMPLE_CPU };
enum trigger { ON_OOM = 1, ON_SIGNAL = 2, ON_EXIT = 4, ON_HANG = 8, ON_SLOW_STEP = 16 };
enum stats_mode { STATS_SUMMARY, STATS_TRUE, STATS_FALSE };

#define OPTION_MPI_IF_USED "mpi-if-used" /* a word of --trace */
#define OPTION_CUDA_BACKTRACE_NS 10000 /* by default */
enum { OPTION_EXPORT_SQLITE = 1, OPTION_EXPORT_PARQUET = 2, OPTION_EXPORT_ARROW = 4 };
enum { OPTION_COUNTER_GPU = 1, OPTION_COUNTER_HOST = 2, OPTION_COUNTER_NET = 4 };
#define OPTION_NEVER UINT64_MAX /* a threshold that no call passes */

struct options {
	/* read by the recorder */
	enum mode mode;
	uint32_t trace; /* TRACE_* */
	uint64_t osrt_threshold_ns;
	uint64_t osrt_backtrace_ns;
	uint64_t cuda_backtrace_ns[CUDA_KINDS]; /* OPTION_NEVER: no stacks on this kind */
	const char *slow_down; /* what is slowed down, of slow_down_bytes; NULL: nothing */
	size_t slow_down_bytes;
	enum slow_down_kind slow_down_kind;
	uint64_t slow_down_ns;
	uint32_t osrt_short_sampling; /* one in so many calls below the threshold has its stack recorded; 0: none */
	uint32_t backtrace_depth;
	bool python_backtrace;
	enum capture_range capture_range;
	enum range_end range_end;
	uint32_t range_limit; /* ranges that may begin, 0: no limit; follows from range_end */
	const char *nvtx_capture, *nvtx_domain_include, *nvtx_domain_exclude;
	double delay_s, duration_s;
	enum launch_stacks launch_stacks;
	bool cuda_memory_usage;
	bool cuda_um_cpu_page_faults, cuda_um_gpu_page_faults;
	bool cuda_hardware; /* cuda-hw in `trace`: device times by hardware events */
	bool mpi_if_used;   /* likewise, in the default: TRACE_MPI in programs that use MPI */
	bool cuda_graph_nodes; /* the nodes of graphs, not graphs as a whole */
	uint32_t cuda_graph_sampling; /* every so many launches of a graph are recorded by nodes; 0: none */
	uint32_t cuda_flush_interval_ms;
	enum gpu_activity gpu_activity;
	bool follow_clean_env, ld_audit, wakes;
	enum sample sample;
	uint32_t sampling_frequency;
	enum sampling_source sampling_source;
	enum memory_trace memory;
	uint64_t memory_sampling;
	enum pytorch pytorch;
	const char *python_functions; /* path of a JSON file, NULL: none */
	const char *python_calls;     /* all, or patterns of modules; NULL: none */
	const char *lines_of;	      /* names of Python functions, NULL: none */
	bool jax;
	uint32_t jax_live_ms; /* 0: each second, with --jax */
	bool python_import_time;
	uint64_t ring_ns, ring_bytes; /* only the newest part is kept; both 0: all is */
	const char *output; /* as given; NULL: report# */
	/* read by pillion-launch alone */
	bool force_overwrite, append, pack, stop_on_exit, show_output, inherit_environment;
	enum wait_for wait_for;
	enum energy energy;
	uint32_t energy_interval_ms;
	uint32_t counters; /* OPTION_COUNTER_* */
	double hang_s;	 /* 0: the launcher does not look by itself */
	int kill_signal; /* 0: none */
	int on_signal;	 /* the launcher takes it and starts or stops recording; 0: none */
	uint32_t on;	 /* bits of enum trigger: when the launcher dumps what the ring has */
	uint64_t on_hang_ns;
	double on_slow_step; /* how much longer than usual a step is */
	uint32_t keep;   /* how many of these dumps are kept */
	bool is_launched; /* nothing is recorded until `pillion start` */
	enum stats_mode stats;
	uint32_t exports; /* OPTION_EXPORT_* */
	const char *env_var;
	const char *command_file;
	const char *spool;
	uint32_t spool_interval_ms;
	/* cuda_backtrace_ns is computed from these, whichever of the two spellings comes first */
	uint64_t cuda_backtrace_given[CUDA_KINDS];
	uint64_t cuda_backtrace_threshold_ns;
};

extern const struct option_table options_table;

/* --ring */
static inline bool options_have_ring(const struct options *o)
{
	return o->ring_ns || o->ring_bytes;
}

/* --jax-live needs what --jax records. */
static inline bool options_have_jax(const struct options *o)
{
	return o->jax || o->jax_live_ms;
}

/* Fills in every default. */
void options_init(struct options *o);

/* Takes the values of PILLION_<NAME> variables (PILLION_OSRT_THRESHOLD for --osrt-threshold). Returns 0, or
 * -EINVAL with the first error in `why` (size bytes); the other variables take effect nevertheless. */
int options_from_environment(struct options *o, char *const *environment, char *why, size_t size);
