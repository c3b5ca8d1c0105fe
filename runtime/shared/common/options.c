/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/common/options.h"

#include <errno.h>

#include "runtime/shared/common/options_set.h"

#define AT(field) .offset = offsetof(struct options, field)
#define NO_FIELD .offset = OPTION_NO_FIELD
#define RECORDED .is_recorded = true
#define SET(function) NO_FIELD, .set = options_set_##function
#define PRINT(function) .print = options_print_##function
#define DIGITS(number) DIGITS_(number)
#define DIGITS_(number) #number

/* The words of --trace's default, each after a comma. The last word is internal: it is not listed in --help, and a
 * user's list records MPI only if it has the word mpi. */
#define TRACE_INITIAL_DEFAULT(word) "," #word
#define TRACE_INITIAL_MORE(word)
#define TRACE_INITIAL_SAME(word)
#define TRACE_INITIAL_OF(number, NAME, word, set, ...) TRACE_INITIAL_##set(word)
static const char trace_initial[] = TF_GROUPS(TRACE_INITIAL_OF, ) "," OPTION_MPI_IF_USED;

#define NSYS .is_nsys = true /* listed by --help=nsys */

/* In the order of --help. An older spelling follows the option that it sets: in the environment it takes precedence. */
static const struct option rows[] = {
	{"output", 'o', OPTION_TEXT, AT(output), .title = "Capture and summary", .value = "NAME",
	 .help = "write the capture to NAME.pillion (default: report1, report2, ...). %p is the launcher's process "
		 "ID, %h the host, %q{ENV} a variable, %% a percent sign. In a batch job, NAME.1, NAME.2, ... if NAME "
		 "exists"},
	{"force-overwrite", 'f', OPTION_FLAG, AT(force_overwrite), .initial = "false",
	 .help = "replace an existing capture"},
	{"append", 0, OPTION_FLAG, AT(append), .initial = "false", .help = "join an existing capture"},
	{"pack", 0, OPTION_FLAG, AT(pack), .initial = "false",
	 .help = "at the end, pack the capture into one small file of the same name; see pillion pack --help"},
	{"spool", 0, OPTION_TEXT, AT(spool), .value = "DIR",
	 .help = "let processes write into a spool in DIR, on a local file system, and move what they write to the "
		 "capture; default: only if files of the capture cannot be mapped (NFS, Lustre, FUSE), in $TMPDIR or "
		 "/tmp"},
	{"spool-interval", 0, OPTION_COUNT, AT(spool_interval_ms), .value = "MS", .initial = "2000", .minimum = 10,
	 .maximum = 3600000,
	 .help = "how often a spool is moved: what is lost if it does not survive a kill; see pillion recover"},
	{"stats", 0, OPTION_CHOICE, AT(stats), .value = "summary|true|false", .initial = "summary",
	 .help = "what to print on stderr at the end: at most 25 lines, all default reports, or nothing"},
	{"export", 0, OPTION_OWN, SET(export), .value = "none|sqlite|parquetdir|arrowdir,...", .initial = "none",
	 .help = "at the end, export the capture next to it: NAME.sqlite, NAME_pqtdir, NAME_arwdir; the option may be "
		 "given more than once"},

	{"trace", 't', OPTION_OWN, RECORDED, SET(trace), PRINT(trace), .title = "What to record", .value = "LIST",
	 .words = &options_trace_words, .initial = trace_initial + 1,
	 .help = "none, or a comma-separated list of"},
	{"osrt-threshold", 0, OPTION_NUMBER, RECORDED, AT(osrt_threshold_ns), .value = "NS", .initial = "1000",
	 .maximum = UINT64_MAX - 1,
	 .help = "count and sum OS calls shorter than this instead of recording them; 0: record all"},
	{"wakes", 0, OPTION_FLAG, RECORDED, AT(wakes), .initial = "false",
	 .help = "record which thread ended each wait for a lock, a condition, a semaphore or a barrier"},
	{"slow-down", 0, OPTION_OWN, RECORDED, SET(slow_down), PRINT(slow_down), .value = "call~NAME=TIME",
	 .takes = "a function and a time with its unit (ns, us, ms, s), such as call~fsync=2ms",
	 .help = "let calls of a recorded function take longer by TIME, and record all calls; pillion whatif --delay "
		 "also finds rank~N, and what to give for line~ and lock~"},
	{"nvtx-domain-include", 0, OPTION_TEXT, RECORDED, AT(nvtx_domain_include), .value = "NAME,...",
	 .help = "record only these NVTX domains; default: the one without a name"},
	{"nvtx-domain-exclude", 0, OPTION_TEXT, RECORDED, AT(nvtx_domain_exclude), .value = "NAME,...",
	 .help = "record all NVTX domains except these"},
	{"follow-clean-env", 0, OPTION_BOOL, RECORDED, AT(follow_clean_env), .initial = "true",
	 .help = "record children that are started with a cleaned environment"},
	{"ld-audit", 0, OPTION_FLAG, RECORDED, AT(ld_audit), .initial = "false",
	 .help = "also record calls of libraries opened with RTLD_DEEPBIND, by an auditor of the loader (LD_AUDIT, "
		 "glibc 2.35)"},

	{"capture-range", 'c', OPTION_CHOICE, RECORDED, AT(capture_range), .title = "When to record",
	 .value = "none|cudaProfilerApi|nvtx|!hotkey", .initial = "none",
	 .help = "record only between the start and the stop that the program itself marks"},
	{"capture-range-end", 0, OPTION_OWN, RECORDED, SET(range_end), PRINT(range_end),
	 .value = "none|stop|stop-shutdown|repeat[:N]|repeat-shutdown:N", .initial = "stop",
	 .help = "what happens at the end of a range; *-shutdown: --kill applies"},
	{"nvtx-capture", 'p', OPTION_TEXT, RECORDED, AT(nvtx_capture), .value = "RANGE[@DOMAIN]",
	 .help = "the range for -c nvtx; RANGE@*: in any domain; \\@ is a plain @"},
	{"delay", 'y', OPTION_SECONDS, AT(delay_s), .value = "SECONDS", .initial = "0",
	 .help = "start recording after SECONDS"},
	{"duration", 'd', OPTION_SECONDS, AT(duration_s), .value = "SECONDS", .initial = "0",
	 .help = "record for SECONDS, then apply --kill; 0: to the end"},
	{"mode", 0, OPTION_CHOICE, RECORDED, AT(mode), .value = "trace|profile", .initial = "trace",
	 .help = "trace: events; profile: sums of calls, at most 2 MB for each process"},
	{"ring", 0, OPTION_OWN, RECORDED, SET(ring), PRINT(ring), .value = "TIME|SIZE",
	 .takes = "a time of at least 100 ms or a size of at least 16MB for each process, such as 30s or 200MB",
	 .help = "keep only what was recorded last, in files that do not grow: the last TIME (30s), or SIZE for each "
		 "process (200MB)"},
	{"on", 0, OPTION_OWN, SET(on), .value = "slow-step[:1.5x]|oom|signal|exit!=0|hang:TIME,...",
	 .takes = "a list of slow-step (slow-step:1.5x), oom, signal, exit!=0 and hang:60s",
	 .help = "dump what --ring has kept, and go on, when a step takes 1.5 times as long as usual, the kernel kills "
		 "a process for want of memory, a process is ended by a signal, exits with another status than 0, or "
		 "no process has used CPU time for so long, or none has ended a call of MPI or NCCL while one is in "
		 "it"},
	{"keep", 0, OPTION_COUNT, AT(keep), .value = "N", .initial = "5", .minimum = 1, .maximum = 1000,
	 .help = "how many dumps of --on are kept: the latest ones"},
	{"on-signal", 0, OPTION_OWN, SET(on_signal), .value = "USR1|USR2|N",
	 .help = "start recording, or stop it, when the launcher receives this signal, which COMMAND then does not get "
		 "from it; see pillion start"},

	{"sample", 's', OPTION_OWN, RECORDED, SET(sample), PRINT(sample), .title = "CPU samples and stacks",
	 .value = "auto|cpu|process-tree|none", .initial = "auto",
	 .help = "sample the stacks of running threads: wherever the program cannot notice it (auto; the ledger says "
		 "where not), or in all processes that can be sampled (cpu, which is the same as process-tree)"},
	{"sampling-frequency", 0, OPTION_COUNT, RECORDED, AT(sampling_frequency), .value = "HZ", .initial = "99",
	 .minimum = 1, .maximum = 100000,
	 .help = "samples per second of a thread's CPU time, at most the kernel's tick rate (250 or 1000)"},
	{"sampling-source", 0, OPTION_CHOICE, RECORDED, AT(sampling_source), .value = "auto|signal|perf",
	 .initial = "auto",
	 .help = "what takes the samples: a signal in each thread (signal), perf_event_open from outside, without "
		 "Python frames (perf), or perf for processes in which signals cannot (auto): static, traced, Go"},
	{"cudabacktrace", 0, OPTION_OWN, RECORDED, SET(cuda_backtrace), PRINT(cuda_backtrace),
	 .value = "none|true|all|kernel|memory|sync|other[:NS],...", .initial = "all",
	 .help = "record stacks of CUDA calls of these kinds that last longer than NS nanoseconds; without NS, "
		 DIGITS(OPTION_CUDA_BACKTRACE_NS)},
	{"cuda-launch-stacks", 0, OPTION_CHOICE, RECORDED, AT(launch_stacks), .value = "auto|true|false",
	 .initial = "auto",
	 .help = "record stacks of all kernel and graph launches, however short; auto: also of copies and memsets, "
		 "unless --cudabacktrace asks for longer calls or none"},
	{"osrt-backtrace-threshold", 0, OPTION_NUMBER, RECORDED, AT(osrt_backtrace_ns), .value = "NS",
	 .initial = "80000", .maximum = UINT64_MAX - 1, .help = "record stacks of OS calls that last longer than this"},
	{"osrt-short-sampling", 0, OPTION_COUNT, RECORDED, AT(osrt_short_sampling), .value = "N", .initial = "0",
	 .maximum = 1000000,
	 .help = "record the stack of one in N OS calls below --osrt-threshold, for the report osrt_short_line_sum; "
		 "0: none"},
	{"backtrace-depth", 0, OPTION_COUNT, RECORDED, AT(backtrace_depth), .value = "FRAMES", .initial = "64",
	 .minimum = 1, .maximum = 256, .help = "the largest number of frames in a stack"},
	{"python-backtrace", 0, OPTION_OWN, RECORDED, SET(python_backtrace), PRINT(python_backtrace),
	 .value = "auto|none", .initial = "auto", .help = "Python frames in the stacks"},

	{"memory", 0, OPTION_CHOICE, RECORDED, AT(memory), .title = "Host memory",
	 .value = "none|python|native|all|torch", .initial = "none",
	 .help = "record allocations with their stacks, and which of them are freed: by Python's objects, by malloc "
		 "and its relatives, or both; torch: instead, all blocks of PyTorch's tensors, on devices as well, "
		 "which pytorch_sum attributes to operators"},
	{"memory-sampling", 0, OPTION_NUMBER, RECORDED, AT(memory_sampling), .value = "BYTES", .initial = "65536",
	 .maximum = 1 << 30,
	 .help = "record one in so many bytes of small allocations; those of at least half as many bytes are all "
		 "recorded; 0: all allocations"},

	{"gpu-activity", 0, OPTION_CHOICE, RECORDED, AT(gpu_activity), .title = "GPU",
	 .value = "auto|cupti|events|none", .initial = "auto",
	 .help = "the source of device times: CUPTI, CUDA events, or none"},
	{"cuda-memory-usage", 0, OPTION_BOOL, RECORDED, AT(cuda_memory_usage), .initial = "true",
	 .help = "record device memory allocations over time"},
	{"cuda-um-cpu-page-faults", 0, OPTION_BOOL, RECORDED, AT(cuda_um_cpu_page_faults), .initial = "false",
	 .help = "record page faults of managed memory on the CPU"},
	{"cuda-um-gpu-page-faults", 0, OPTION_BOOL, RECORDED, AT(cuda_um_gpu_page_faults), .initial = "false",
	 .help = "record page faults of managed memory on the GPU"},
	{"cuda-graph-trace", 0, OPTION_OWN, RECORDED, SET(cuda_graph), PRINT(cuda_graph), .value = "graph|node",
	 .initial = "graph", .help = "record a CUDA graph as a whole, or each of its nodes"},
	{"cuda-graph-sampling", 0, OPTION_COUNT, RECORDED, AT(cuda_graph_sampling), .value = "N", .initial = "0",
	 .maximum = 1000000,
	 .help = "record also the first launch of a graph by its nodes, then one in N at random, and divide the time "
		 "of the others accordingly; 0: none"},
	{"cuda-flush-interval", 0, OPTION_COUNT, RECORDED, AT(cuda_flush_interval_ms), .value = "MS", .initial = "1000",
	 .maximum = 3600000, .help = "how long device records may stay in the driver's buffers"},

	{"energy", 0, OPTION_CHOICE, AT(energy), .value = "auto|true|false", .initial = "auto",
	 .help = "sample the power and energy of the machine's GPUs (NVML), and of its CPUs where they are readable "
		 "(RAPL); auto: once a process records CUDA; true: from the start"},
	{"energy-interval", 0, OPTION_COUNT, AT(energy_interval_ms), .value = "MS", .initial = "100", .minimum = 10,
	 .maximum = 3600000, .help = "how often they are sampled, and --counters"},
	{"counters", 0, OPTION_OWN, SET(counters), .value = "none|gpu,host,net", .initial = "none",
	 .help = "sample counters of the machine beside COMMAND, once on each: GPUs (NVML); CPUs, memory, disks and "
		 "cgroup; network interfaces. See the report counter_sum"},

	{"pytorch", 0, OPTION_OWN, RECORDED, SET(pytorch), PRINT(pytorch), .title = "Python", .initial = "none",
	 .value = "none|autograd-nvtx|autograd-shapes-nvtx",
	 .help = "NVTX ranges for PyTorch's operators, forward and backward; shapes: with the sizes of their tensors"},
	{"jax", 0, OPTION_FLAG, RECORDED, AT(jax), .initial = "false",
	 .help = "NVTX ranges for each call of a function of jax.jit, and for its tracing, lowering and compilation"},
	{"jax-live", 0, OPTION_COUNT, RECORDED, AT(jax_live_ms), .value = "MS", .initial = "0", .maximum = 3600000,
	 .help = "--jax, and how often it asks for JAX's live buffers by line and shape, for the report jax_live_sum, "
		 "when a function of jax.jit returns; 0: each second, and in at most 1 % of the time"},
	{"python-functions-trace", 0, OPTION_TEXT, RECORDED, AT(python_functions), .value = "FILE",
	 .help = "NVTX ranges for the Python functions listed in a JSON file: [{\"domain\", \"color\", \"module\", "
		 "\"functions\": [\"f\", \"Class.f\"]}]"},
	{"python-calls", 0, OPTION_TEXT, RECORDED, AT(python_calls), .value = "all|MODULE[.*]|no-c,...",
	 .help = "record each call of a Python function, or of those of some modules, and of C functions that they "
		 "call, as cProfile does, for 'pillion export -t pstats'; no-c: without C functions, which costs less"},
	{"lines-of", 0, OPTION_TEXT, RECORDED, AT(lines_of), .value = "FUNC|MODULE:FUNC|MODULE:*|@profile,...",
	 .help = "count hits and time of the lines of these Python functions, for the report line_profile; @profile: "
		 "of those that the program chooses"},
	{"python-import-time", 0, OPTION_FLAG, RECORDED, AT(python_import_time), .initial = "false",
	 .help = "record Python's imports for the report python_import_sum"},

	{"env-var", 'e', OPTION_OWN, SET(env_var), .title = "COMMAND", .value = "A=B,C=D",
	 .help = "set variables for COMMAND"},
	{"inherit-environment", 'n', OPTION_BOOL, AT(inherit_environment), .initial = "true",
	 .help = "false: COMMAND gets only the variables of --env-var"},
	{"show-output", 'w', OPTION_BOOL, AT(show_output), .initial = "true",
	 .help = "show COMMAND's stdout and stderr"},
	{"stop-on-exit", 'x', OPTION_BOOL, AT(stop_on_exit), .initial = "true",
	 .help = "false: return when COMMAND ends and continue to record its children"},
	{"wait", 0, OPTION_CHOICE, AT(wait_for), .value = "primary|all", .initial = "all",
	 .help = "wait for COMMAND only, or also for its children"},
	{"hang", 0, OPTION_SECONDS, AT(hang_s), .value = "SECONDS", .initial = "30",
	 .help = "look into a process that has used hardly any CPU time for a second, or is in one call of MPI or "
		 "NCCL, for the summary and `pillion where`; after SECONDS print threads that are proved to wait for "
		 "each other, and ranks that do not go on; 0: never"},
	{"kill", 0, OPTION_OWN, SET(kill), .value = "none|sigkill|sigterm|N", .initial = "sigterm",
	 .help = "the signal that --duration and *-shutdown send to COMMAND"},

	{"command-file", 0, OPTION_TEXT, AT(command_file), .title = "General", .value = "FILE",
	 .help = "read options from FILE; the command line takes precedence"},
	{"help", 'h', OPTION_ACTION, NO_FIELD, .value = "nsys",
	 .help = "print this text; nsys: the options accepted for compatibility with Nsight Systems"},
	{"version", 0, OPTION_ACTION, NO_FIELD, .help = "print the version and the features of this build"},

	{"stop-on-range-end", 0, OPTION_OWN, RECORDED, NSYS, SET(stop_on_range_end), .title = "Older spellings",
	 .value = "true|false", .help = "true: --capture-range-end=stop, false: --capture-range-end=none"},
	{"profile-from-start", 0, OPTION_OWN, RECORDED, NSYS, SET(profile_from_start), .value = "on|off",
	 .help = "of nvprof; off: -c cudaProfilerApi --capture-range-end=repeat"},
	{"python-sampling", 0, OPTION_OWN, RECORDED, NSYS, SET(python_sampling), .value = "true|false",
	 .help = "true: --sample=cpu, whose stacks have the Python frames"},
	{"python-sampling-frequency", 0, OPTION_OWN, RECORDED, NSYS, SET(python_sampling_frequency), .value = "HZ",
	 .help = "the HZ of --sampling-frequency"},
	{"cudabacktrace-threshold", 0, OPTION_OWN, RECORDED, NSYS, SET(cuda_backtrace_threshold), .value = "NS",
	 .initial = DIGITS(OPTION_CUDA_BACKTRACE_NS), .help = "the NS of --cudabacktrace for all kinds"},
};

const struct option_table options_table = {rows, sizeof(rows) / sizeof(rows[0]), .help = "pillion --help"};

void options_init(struct options *o)
{
	char bytes[8];

	memset(o, 0, sizeof(*o));
	for (size_t i = 0; i < options_table.count; i++) {
		struct text why = text_init(bytes, sizeof(bytes));

		if (rows[i].initial)
			option_set(&rows[i], o, rows[i].initial, &why);
	}
}

enum { VARIABLES = 64, WHY_BYTES = 256 };

/* Sets the option of a row from each of its variables. The first error is kept in `why`; later ones have no effect
 * on it. */
static int take_variables(const struct option *row, struct options *o, const char *const *variables, size_t count,
		int error, struct text *why)
{
	char bytes[OPTION_NAME_BYTES], other[WHY_BYTES];
	struct text name = text_init(bytes, sizeof(bytes)), unused;
	size_t length;

	option_variable(row, &name);
	length = text_length(&name);
	for (size_t i = 0; i < count; i++) {
		const char *variable = variables[i];

		if (strncmp(variable, bytes, length) != 0 || variable[length] != '=' || !variable[length + 1])
			continue;
		unused = text_init(other, sizeof(other));
		if (option_set(row, o, variable + length + 1, error ? &unused : why) && !error)
			error = -EINVAL;
		else if (!error)
			*why = text_init(why->start, (size_t)(why->end - why->start) + 1);
	}
	return error;
}

int options_from_environment(struct options *o, char *const *environment, char *why, size_t size)
{
	struct text t = text_init(why, size);
	const char *variables[VARIABLES];
	size_t count = 0;
	int error = 0;

	for (; *environment && count < VARIABLES; environment++) {
		if (!strncmp(*environment, "PILLION_", 8))
			variables[count++] = *environment;
	}
	for (size_t i = 0; count && i < options_table.count; i++) {
		if (rows[i].kind != OPTION_ACTION && rows[i].state != OPTION_IGNORED)
			error = take_variables(&rows[i], o, variables, count, error, &t);
	}
	return error;
}
