/* SPDX-License-Identifier: Apache-2.0 */
/* What a user may set. One table (options.c) serves the command line, the environment, the help text and the
 * validation; pillion-launch and the recorder in the target read the same struct.
 *
 * Nothing here allocates, does I/O or calls libc beyond <string.h>: the recorder parses its environment with it before
 * the program has begun. Strings are borrowed from argv or the environment. */
#ifndef PILLION_OPTIONS_H
#define PILLION_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/common/text.h"
#include "runtime/format/trace_groups.h"

/* Bits of options.trace: 1 << TF_GROUP_<NAME>. --trace=cuda has both TRACE_CUDA and TRACE_CUDA_DRIVER. */
#define TRACE_BIT(number, NAME, ...) TRACE_##NAME = 1 << number,
enum { TF_GROUPS(TRACE_BIT, ) };
#undef TRACE_BIT

enum cuda_kind { CUDA_KERNEL, CUDA_MEMORY, CUDA_SYNC, CUDA_OTHER, CUDA_KINDS };
enum launch_stacks { LAUNCH_STACKS_AUTO, LAUNCH_STACKS_ALL, LAUNCH_STACKS_LONG };
enum capture_range { CAPTURE_ALL, CAPTURE_PROFILER_API, CAPTURE_NVTX };
enum range_end { RANGE_END_NONE, RANGE_END_STOP, RANGE_END_STOP_SHUTDOWN, RANGE_END_REPEAT, RANGE_END_REPEAT_SHUTDOWN };
enum gpu_activity { GPU_ACTIVITY_AUTO, GPU_ACTIVITY_CUPTI, GPU_ACTIVITY_EVENTS, GPU_ACTIVITY_NONE };
enum pytorch { PYTORCH_NONE, PYTORCH_OPERATORS, PYTORCH_SHAPES };
enum stats_mode { STATS_SUMMARY, STATS_TRUE, STATS_FALSE };

#define OPTION_CUDA_BACKTRACE_NS 10000 /* by default */
#define OPTION_NEVER UINT64_MAX /* a threshold that no call passes */

struct options {
	/* read by the recorder */
	uint32_t trace; /* TRACE_* */
	uint64_t osrt_threshold_ns;
	uint64_t osrt_backtrace_ns;
	uint64_t cuda_backtrace_ns[CUDA_KINDS]; /* OPTION_NEVER: no stacks on this kind */
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
	int cuda_graph_nodes; /* 0: graphs as a whole, 1: their nodes */
	uint32_t cuda_flush_interval_ms;
	enum gpu_activity gpu_activity;
	bool follow_clean_env, ld_audit;
	int sample; /* position in its choices, 0: none */
	uint32_t sampling_frequency;
	enum pytorch pytorch;
	const char *python_functions; /* path of a JSON file, NULL: none */
	bool python_import_time;
	const char *output; /* as given; NULL: report# */
	/* read by pillion-launch alone */
	bool force_overwrite, append, pack, stop_on_exit, wait_all, show_output, inherit_environment;
	int kill_signal; /* 0: none */
	enum stats_mode stats;
	const char *env_var;
	const char *command_file;
	/* what cuda_backtrace_ns is worked out from, whichever of the two spellings comes first */
	uint64_t cuda_backtrace_given[CUDA_KINDS];
	uint64_t cuda_backtrace_threshold_ns;
};

/* ---- the table ---- */

enum option_kind {
	OPTION_BOOL,	/* true or false, to be given */
	OPTION_FLAG,	/* the same, but alone it is true */
	OPTION_CHOICE,	/* one of `value`, kept as its position: "a|!b", !: not yet */
	OPTION_NUMBER,	/* uint64_t from minimum to maximum */
	OPTION_COUNT,	/* uint32_t, the same */
	OPTION_SECONDS, /* double */
	OPTION_TEXT,	/* borrowed */
	OPTION_OWN,	/* by its own set() */
	OPTION_ACTION,	/* --help, --version: the launcher's, no value */
};

enum option_state {
	OPTION_WORKS,
	OPTION_IGNORED, /* an option of nsys whose absence harms nobody: any value, one line */
	OPTION_REFUSED, /* an option of nsys whose absence would mislead */
};

struct option {
	const char *name;
	char letter;
	uint8_t kind, state;
	bool is_recorded; /* the recorder reads it too: handed on in the environment */
	uint16_t offset;  /* of its field, OPTION_NO_FIELD: none */
	const char *value;   /* what help calls it, or its choices */
	const char *initial; /* the default, parsed by the same code; NULL: none */
	const char *help;    /* also why it is ignored or refused */
	uint64_t minimum, maximum;
	int (*set)(struct options *o, const char *value, struct text *why);
	void (*print)(const struct options *o, struct text *ret);
};

#define OPTION_NO_FIELD UINT16_MAX
#define OPTION_NAME_BYTES 64

extern const struct option option_table[];
extern const size_t option_count;

const struct option *option_find(const char *name, size_t length);
const struct option *option_by_letter(char letter);
/* PILLION_OSRT_THRESHOLD for osrt-threshold. */
void option_variable(const struct option *row, char *ret, size_t size);
/* The value in `o` as options_set would take it; false: the row has none of its own (older spellings, no value). */
bool option_print(const struct option *row, const struct options *o, char *ret, size_t size);
/* As options_set, with the row at hand. */
int option_set(const struct option *row, struct options *o, const char *value, char *why, size_t size);

/* Fills in every default. */
void options_init(struct options *o);

/* Takes what PILLION_<NAME> variables say (PILLION_OSRT_THRESHOLD for --osrt-threshold). Returns 0, or -EINVAL with
 * `why` (size bytes) telling the first one that is wrong; the others are taken all the same. */
int options_from_environment(struct options *o, char *const *environment, char *why, size_t size);

/* Sets one option by its long name without "--". 0; -ENOENT: no such option; -EINVAL: bad value; -ENOTSUP: known, but not
 * yet built. On error `why` tells a user what to do, in one line without a newline; on success it is empty, or a
 * warning for the launcher to show. */
int options_set(struct options *o, const char *name, const char *value, char *why, size_t size);

#endif
