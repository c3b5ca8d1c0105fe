/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/common/options.h"

#include <errno.h>
#include <string.h>

#include "runtime/common/options_value.h"

#define AT(field) .offset = offsetof(struct options, field)
#define NO_FIELD .offset = OPTION_NO_FIELD
#define RECORDED .is_recorded = true
/* --trace: the words of the default, each after a comma; the words that its help lists in addition. */
#define TRACE_INITIAL_DEFAULT(word) "," #word
#define TRACE_INITIAL_MORE(word)
#define TRACE_INITIAL_SAME(word)
#define TRACE_HELP_DEFAULT(word)
#define TRACE_HELP_MORE(word) " " #word ","
#define TRACE_HELP_SAME(word)
#define TRACE_INITIAL_OF(number, NAME, word, set, ...) TRACE_INITIAL_##set(word)
#define TRACE_HELP_OF(number, NAME, word, set, ...) TRACE_HELP_##set(word)
static const char trace_initial[] = TF_GROUPS(TRACE_INITIAL_OF, );
#define DIGITS(number) DIGITS_(number)
#define DIGITS_(number) #number

/* Order matters once: an older spelling stands after the option that it sets, so that in the environment it wins. */
const struct option option_table[] = {
	{"output", 'o', OPTION_TEXT, OPTION_WORKS, AT(output), .value = "NAME",
	 .help = "capture NAME.pillion; %p %h %q{ENV} %% expand (default: report#); in a batch job NAME.1 where NAME exists"},
	{"force-overwrite", 'f', OPTION_FLAG, OPTION_WORKS, AT(force_overwrite), .initial = "false",
	 .help = "replace an existing capture"},
	{"append", 0, OPTION_FLAG, OPTION_WORKS, AT(append), .initial = "false", .help = "join an existing capture"},
	{"trace", 't', OPTION_OWN, OPTION_WORKS, RECORDED, NO_FIELD, .value = "LIST",
	 .initial = trace_initial + 1,
	 .help = "what to record; also" TF_GROUPS(TRACE_HELP_OF, ) " or none", .set = set_trace, .print = print_trace},
	{"sample", 's', OPTION_CHOICE, OPTION_WORKS, RECORDED, AT(sample), .value = "none|cpu|process-tree|!system-wide",
	 .initial = "none",
	 .help = "CPU samples: what threads do while they run; cpu is process-tree"},
	{"sampling-frequency", 0, OPTION_COUNT, OPTION_WORKS, RECORDED, AT(sampling_frequency), .value = "HZ", .initial = "99",
	 .minimum = 1,
	 .maximum = 100000, .help = "CPU samples per second of a thread's CPU time, no more than the kernel's ticks (250 or 1000)"},
	{"capture-range", 'c', OPTION_CHOICE, OPTION_WORKS, RECORDED, AT(capture_range),
	 .value = "none|cudaProfilerApi|nvtx",
	 .initial = "none", .help = "record only between the program's own start and stop"},
	{"capture-range-end", 0, OPTION_OWN, OPTION_WORKS, RECORDED, NO_FIELD,
	 .value = "none|stop|stop-shutdown|repeat[:N]|repeat-shutdown:N",
	 .initial = "stop", .help = "what the end of a range does; *-shutdown: --kill applies",
	 .set = set_range_end, .print = print_range_end},
	{"stop-on-range-end", 0, OPTION_OWN, OPTION_WORKS, RECORDED, NO_FIELD, .value = "true|false",
	 .help = "older spelling: true = --capture-range-end=stop, false = none", .set = set_stop_on_range_end},
	{"profile-from-start", 0, OPTION_OWN, OPTION_WORKS, RECORDED, NO_FIELD, .value = "on|off",
	 .help = "nvprof's spelling: off = -c cudaProfilerApi --capture-range-end=repeat", .set = set_profile_from_start},
	{"nvtx-capture", 'p', OPTION_TEXT, OPTION_WORKS, RECORDED, AT(nvtx_capture), .value = "RANGE[@DOMAIN]",
	 .help = "the range of -c nvtx; RANGE@*: in any domain; \\@ is a plain @"},
	{"nvtx-domain-include", 0, OPTION_TEXT, OPTION_WORKS, RECORDED, AT(nvtx_domain_include), .value = "NAME,...",
	 .help = "record only these NVTX domains; default: the one without a name"},
	{"nvtx-domain-exclude", 0, OPTION_TEXT, OPTION_WORKS, RECORDED, AT(nvtx_domain_exclude), .value = "NAME,...",
	 .help = "record all NVTX domains but these"},
	{"delay", 'y', OPTION_SECONDS, OPTION_WORKS, AT(delay_s), .value = "SECONDS", .initial = "0",
	 .help = "record only after SECONDS"},
	{"duration", 'd', OPTION_SECONDS, OPTION_WORKS, AT(duration_s), .value = "SECONDS", .initial = "0",
	 .help = "record for SECONDS, then apply --kill; 0: to the end"},
	{"cudabacktrace", 0, OPTION_OWN, OPTION_WORKS, RECORDED, NO_FIELD, .value = "none|true|all|KIND,...[:NS]",
	 .initial = "all",
	 .help = "stacks of long CUDA calls; KIND: kernel, memory, sync, other",
	 .set = set_cuda_backtrace, .print = print_cuda_backtrace},
	{"cudabacktrace-threshold", 0, OPTION_OWN, OPTION_WORKS, RECORDED, NO_FIELD, .value = "NS",
	 .initial = DIGITS(OPTION_CUDA_BACKTRACE_NS),
	 .help = "a CUDA call that lasted longer has a stack", .set = set_cuda_backtrace_threshold},
	{"cuda-launch-stacks", 0, OPTION_CHOICE, OPTION_WORKS, RECORDED, AT(launch_stacks), .value = "auto|true|false", .initial = "auto",
	 .help = "stacks of all kernel and graph launches, however short; auto: unless --cudabacktrace asks for longer ones or none"},
	{"osrt-threshold", 0, OPTION_NUMBER, OPTION_WORKS, RECORDED, AT(osrt_threshold_ns), .value = "NS",
	 .initial = "1000",
	 .maximum = UINT64_MAX - 1, .help = "shorter OS calls are counted and summed only; 0: record all"},
	{"osrt-backtrace-threshold", 0, OPTION_NUMBER, OPTION_WORKS, RECORDED, AT(osrt_backtrace_ns), .value = "NS",
	 .initial = "80000",
	 .maximum = UINT64_MAX - 1, .help = "an OS call that lasted longer has a stack"},
	{"backtrace-depth", 0, OPTION_COUNT, OPTION_WORKS, RECORDED, AT(backtrace_depth), .value = "FRAMES",
	 .initial = "64",
	 .minimum = 1, .maximum = 256, .help = "frames of a stack"},
	{"python-backtrace", 0, OPTION_OWN, OPTION_WORKS, RECORDED, NO_FIELD, .value = "auto|none", .initial = "auto",
	 .help = "Python frames in the stacks", .set = set_python_backtrace, .print = print_python_backtrace},
	{"pytorch", 0, OPTION_CHOICE, OPTION_WORKS, RECORDED, AT(pytorch), .initial = "none",
	 .help = "NVTX ranges around PyTorch's operators, forward and backward; shapes: with the sizes of their tensors",
	 .value = "none|autograd-nvtx|autograd-shapes-nvtx|!functions-trace|!functions-trace-shapes"},
	{"python-functions-trace", 0, OPTION_TEXT, OPTION_WORKS, RECORDED, AT(python_functions), .value = "FILE",
	 .help = "NVTX ranges around Python functions: JSON, [{\"domain\", \"color\", \"module\", \"functions\": [\"f\", \"Class.f\"]}]"},
	{"python-import-time", 0, OPTION_FLAG, OPTION_WORKS, RECORDED, AT(python_import_time), .initial = "false",
	 .help = "Python's imports, for the report python_import_sum"},
	{"cuda-memory-usage", 0, OPTION_BOOL, OPTION_WORKS, RECORDED, AT(cuda_memory_usage), .initial = "true",
	 .help = "allocations over time"},
	{"cuda-um-cpu-page-faults", 0, OPTION_BOOL, OPTION_WORKS, RECORDED, AT(cuda_um_cpu_page_faults), .initial = "false",
	 .help = "page faults of managed memory on the CPU"},
	{"cuda-um-gpu-page-faults", 0, OPTION_BOOL, OPTION_WORKS, RECORDED, AT(cuda_um_gpu_page_faults), .initial = "false",
	 .help = "the same on the GPU"},
	{"cuda-graph-trace", 0, OPTION_CHOICE, OPTION_WORKS, RECORDED, AT(cuda_graph_nodes), .value = "graph|node", .initial = "graph",
	 .help = "a CUDA graph as one, or its nodes"},
	{"cuda-flush-interval", 0, OPTION_COUNT, OPTION_WORKS, RECORDED, AT(cuda_flush_interval_ms), .value = "MS",
	 .initial = "1000",
	 .maximum = 3600000, .help = "how long device records may wait in the driver's buffers"},
	{"gpu-activity", 0, OPTION_CHOICE, OPTION_WORKS, RECORDED, AT(gpu_activity),
	 .value = "auto|cupti|events|none", .initial = "auto",
	 .help = "where device times come from"},
	{"follow-clean-env", 0, OPTION_BOOL, OPTION_WORKS, RECORDED, AT(follow_clean_env), .initial = "true",
	 .help = "record children that start with a cleaned environment"},
	{"ld-audit", 0, OPTION_FLAG, OPTION_WORKS, RECORDED, AT(ld_audit), .initial = "false",
	 .help = "calls of libraries opened with RTLD_DEEPBIND, too, by an auditor of the loader (LD_AUDIT, glibc 2.35)"},
	{"stop-on-exit", 'x', OPTION_BOOL, OPTION_WORKS, AT(stop_on_exit), .initial = "true",
	 .help = "false: leave when COMMAND ends, its children still recorded"},
	{"kill", 0, OPTION_OWN, OPTION_WORKS, NO_FIELD, .value = "none|sigkill|sigterm|N", .initial = "sigterm",
	 .help = "what *-shutdown and --duration send to COMMAND", .set = set_kill},
	{"wait", 0, OPTION_OWN, OPTION_WORKS, NO_FIELD, .value = "primary|all", .initial = "all",
	 .help = "for COMMAND alone, or for all its processes in this session", .set = set_wait},
	{"show-output", 'w', OPTION_BOOL, OPTION_WORKS, AT(show_output), .initial = "true",
	 .help = "COMMAND's stdout and stderr"},
	{"env-var", 'e', OPTION_OWN, OPTION_WORKS, NO_FIELD, .value = "A=B,C=D", .help = "variables for COMMAND",
	 .set = set_env_var},
	{"inherit-environment", 'n', OPTION_BOOL, OPTION_WORKS, AT(inherit_environment), .initial = "true",
	 .help = "false: COMMAND has the variables of --env-var only"},
	{"stats", 0, OPTION_CHOICE, OPTION_WORKS, AT(stats), .value = "summary|true|false", .initial = "summary",
	 .help = "on stderr at the end: at most 25 lines, all default reports, nothing"},
	{"pack", 0, OPTION_FLAG, OPTION_WORKS, AT(pack), .initial = "false",
	 .help = "at the end the capture becomes one small file of the same name, see `pillion pack --help`"},
	{"command-file", 0, OPTION_TEXT, OPTION_WORKS, AT(command_file), .value = "FILE",
	 .help = "options from FILE; the command line overrides them"},
	{"help", 'h', OPTION_ACTION, OPTION_WORKS, NO_FIELD, .help = "this text"},
	{"version", 0, OPTION_ACTION, OPTION_WORKS, NO_FIELD, .help = "version and what it was built with"},

	/* nsys's, here so that its lines run, or say why not */
	{"backtrace", 'b', OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "stacks need no choice of a method"},
	{"cpuctxsw", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "context switches are not recorded"},
	{"resolve-symbols", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "names are found when a report is made"},
	{"trace-fork-before-exec", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "forked children are always recorded"},
	{"samples-per-backtrace", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "see --sampling-frequency"},
	{"sampling-period", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "see --sampling-frequency"},
	{"osrt-backtrace-stack-size", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD,
	 .help = "stacks are unwound whole, see --backtrace-depth"},
	{"cuda-trace-all-apis", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "every hooked function is recorded"},
	{"cuda-event-trace", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "events are seen as calls"},
	{"flush-on-cudaprofilerstop", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "records are on disk at once"},
	{"gpu-metrics-frequency", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "GPU metrics are not sampled"},
	{"gpu-metrics-set", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "GPU metrics are not sampled"},
	{"event-sampling-frequency", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "hardware events are not sampled"},
	{"event-sampling-interval", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "hardware events are not sampled"},
	{"sampling-trigger", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "threads are sampled by their CPU time"},
	{"python-sampling-frequency", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "Python is not sampled"},
	{"ftrace-keep-user-config", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "ftrace is not used"},
	{"mpi-impl", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "MPI is found by itself"},
	{"session-new", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "there are no sessions"},
	{"opengl-gpu-workload", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "OpenGL is not recorded"},
	{"vulkan-gpu-workload", 0, OPTION_TEXT, OPTION_IGNORED, NO_FIELD, .help = "Vulkan is not recorded"},
	{"export", 0, OPTION_CHOICE, OPTION_WORKS, NO_FIELD, .value = "none|!sqlite|!json|!text|!arrow|!hdf",
	 .help = "use `pillion export` on the capture"},
	{"event-sample", 0, OPTION_CHOICE, OPTION_WORKS, NO_FIELD, .value = "none|!system-wide", .help = "hardware events"},
	{"gpu-metrics-device", 0, OPTION_CHOICE, OPTION_WORKS, NO_FIELD, .value = "none|!all", .help = "GPU metrics"},
	{"gpu-metrics-devices", 0, OPTION_CHOICE, OPTION_WORKS, NO_FIELD, .value = "none|!all", .help = "GPU metrics"},
	{"gpuctxsw", 0, OPTION_CHOICE, OPTION_WORKS, NO_FIELD, .value = "false|!true", .help = "GPU context switches"},
	{"nic-metrics", 0, OPTION_CHOICE, OPTION_WORKS, NO_FIELD, .value = "false|!true", .help = "network metrics"},
	{"python-sampling", 0, OPTION_CHOICE, OPTION_WORKS, NO_FIELD, .value = "false|!true", .help = "Python sampling"},
	{"cpu-core-events", 0, OPTION_TEXT, OPTION_REFUSED, NO_FIELD, .help = "hardware events are not recorded"},
	{"cpu-core-metrics", 0, OPTION_TEXT, OPTION_REFUSED, NO_FIELD, .help = "hardware events are not recorded"},
	{"os-events", 0, OPTION_TEXT, OPTION_REFUSED, NO_FIELD, .help = "kernel events are not recorded"},
	{"ftrace", 0, OPTION_TEXT, OPTION_REFUSED, NO_FIELD, .help = "kernel events are not recorded"},
	{"duration-frames", 0, OPTION_TEXT, OPTION_REFUSED, NO_FIELD, .help = "frames are graphics; use --duration"},
	{"start-frame-index", 0, OPTION_TEXT, OPTION_REFUSED, NO_FIELD, .help = "frames are graphics; use --delay"},
	{"hotkey-capture", 0, OPTION_TEXT, OPTION_REFUSED, NO_FIELD, .help = "use -c cudaProfilerApi"},
	{"run-as", 0, OPTION_TEXT, OPTION_REFUSED, NO_FIELD, .help = "run pillion itself as that user"},
};

const size_t option_count = sizeof(option_table) / sizeof(option_table[0]);

const struct option *option_find(const char *name, size_t length)
{
	for (size_t i = 0; i < option_count; i++) {
		if (!strncmp(option_table[i].name, name, length) && !option_table[i].name[length])
			return &option_table[i];
	}
	return NULL;
}

const struct option *option_by_letter(char letter)
{
	for (size_t i = 0; letter && i < option_count; i++) {
		if (option_table[i].letter == letter)
			return &option_table[i];
	}
	return NULL;
}

/* Edits from a to b by single characters; names over OPTION_NAME_BYTES are near to nothing. */
static size_t edits(const char *a, const char *b)
{
	size_t row[OPTION_NAME_BYTES], columns = strlen(b);

	if (strlen(a) >= OPTION_NAME_BYTES || columns >= OPTION_NAME_BYTES)
		return OPTION_NAME_BYTES;
	for (size_t j = 0; j <= columns; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= columns; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[columns];
}

/* The known name with the fewest edits from this one, NULL: none. With half of it wrong it is hardly what was meant. */
static const struct option *find_nearest(const char *name, bool *is_near)
{
	const struct option *nearest = NULL;
	size_t fewest = OPTION_NAME_BYTES;

	for (size_t i = 0; i < option_count; i++) {
		size_t n = edits(name, option_table[i].name);

		if (n < fewest) {
			fewest = n;
			nearest = &option_table[i];
		}
	}
	*is_near = fewest <= strlen(name) / 2;
	return nearest;
}

void option_variable(const struct option *row, char *ret, size_t size)
{
	struct text t;

	t = text_init(ret, size);
	text_add(&t, "PILLION_");
	for (const char *c = row->name; *c; c++) {
		char letter = *c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;

		text_bytes(&t, &letter, 1);
	}
}

static void say_option(const struct option *row, const char *value, struct text *t)
{
	text_add(t, "--");
	text_add(t, row->name);
	if (value) {
		text_add(t, "=");
		text_add(t, value);
	}
}

static int refuse_value(const struct option *row, const char *value, struct text *why)
{
	say_option(row, NULL, why);
	text_add(why, " takes ");
	switch (row->kind) {
	case OPTION_BOOL:
	case OPTION_FLAG:
		text_add(why, "true or false");
		break;
	case OPTION_CHOICE:
		value_choices_print(row->value, why);
		break;
	case OPTION_SECONDS:
		text_add(why, "a number of seconds");
		break;
	case OPTION_TEXT:
		text_add(why, "a text");
		break;
	default:
		text_add(why, "a number");
		if (row->minimum || row->maximum < UINT32_MAX) {
			text_add(why, " from ");
			text_number(why, row->minimum);
			text_add(why, " to ");
			text_number(why, row->maximum);
		}
	}
	text_add(why, ", not '");
	text_add(why, value);
	text_add(why, "'");
	return -EINVAL;
}

static int set_choice(const struct option *row, void *field, const char *value, struct text *why)
{
	char mark;
	int choice = value_choice(row->value, value, &mark);

	if (choice < 0)
		return refuse_value(row, value, why);
	if (mark == '!') {
		say_option(row, value, why);
		text_add(why, ": not yet (");
		text_add(why, row->help);
		text_add(why, ")");
		return -ENOTSUP;
	}
	if (field)
		memcpy(field, &choice, sizeof(choice));
	return 0;
}

static int set_number(const struct option *row, void *field, const char *value, struct text *why)
{
	uint64_t n;
	uint32_t count;

	if (!value_number(value, strlen(value), &n) || n < row->minimum || n > row->maximum)
		return refuse_value(row, value, why);
	count = (uint32_t)n;
	if (row->kind == OPTION_NUMBER)
		memcpy(field, &n, sizeof(n));
	else
		memcpy(field, &count, sizeof(count));
	return 0;
}

static int set_field(const struct option *row, struct options *o, const char *value, struct text *why)
{
	void *field = row->offset == OPTION_NO_FIELD ? NULL : (char *)o + row->offset;
	double seconds;
	bool yes;

	switch (row->kind) {
	case OPTION_BOOL:
	case OPTION_FLAG:
		if (!value_bool(value, &yes))
			return refuse_value(row, value, why);
		memcpy(field, &yes, sizeof(yes));
		return 0;
	case OPTION_CHOICE:
		return set_choice(row, field, value, why);
	case OPTION_NUMBER:
	case OPTION_COUNT:
		return set_number(row, field, value, why);
	case OPTION_SECONDS:
		if (!value_seconds(value, &seconds))
			return refuse_value(row, value, why);
		memcpy(field, &seconds, sizeof(seconds));
		return 0;
	case OPTION_TEXT:
		if (!*value)
			return refuse_value(row, value, why);
		if (field)
			memcpy(field, &value, sizeof(value));
		return 0;
	case OPTION_OWN:
		return row->set(o, value, why);
	default:
		return -EINVAL;
	}
}

int option_set(const struct option *row, struct options *o, const char *value, char *why, size_t size)
{
	struct text t = text_init(why, size);

	if (row->state == OPTION_IGNORED) {
		say_option(row, NULL, &t);
		text_add(&t, " is ignored: ");
		text_add(&t, row->help);
		return 0;
	}
	if (row->state == OPTION_REFUSED) {
		say_option(row, NULL, &t);
		text_add(&t, " is not for pillion: ");
		text_add(&t, row->help);
		return -ENOTSUP;
	}
	return set_field(row, o, value, &t);
}

int options_set(struct options *o, const char *name, const char *value, char *why, size_t size)
{
	const struct option *row = option_find(name, strlen(name)), *nearest;
	struct text t;
	bool is_near;

	if (row && row->kind != OPTION_ACTION)
		return option_set(row, o, value, why, size);
	nearest = find_nearest(name, &is_near);
	t = text_init(why, size);
	text_add(&t, "unknown option --");
	text_add(&t, name);
	if (nearest) {
		text_add(&t, is_near ? "; did you mean --" : "; the nearest is --");
		text_add(&t, nearest->name);
	}
	text_add(&t, nearest && is_near ? "?" : "; see pillion --help");
	return -ENOENT;
}

bool option_print(const struct option *row, const struct options *o, char *ret, size_t size)
{
	const char *field = (const char *)o + row->offset, *text;
	struct text t;
	uint64_t n = 0;
	size_t length;
	double seconds;
	int choice;

	t = text_init(ret, size);
	if (row->print) {
		row->print(o, &t);
		return true;
	}
	if (row->offset == OPTION_NO_FIELD)
		return false;
	switch (row->kind) {
	case OPTION_BOOL:
	case OPTION_FLAG:
		text_add(&t, *(const bool *)field ? "true" : "false");
		return true;
	case OPTION_CHOICE:
		memcpy(&choice, field, sizeof(choice));
		text = value_choice_at(row->value, choice, &length);
		text_bytes(&t, text, length);
		return true;
	case OPTION_NUMBER:
	case OPTION_COUNT:
		memcpy(&n, field, row->kind == OPTION_NUMBER ? sizeof(uint64_t) : sizeof(uint32_t));
		text_number(&t, n);
		return true;
	case OPTION_SECONDS:
		memcpy(&seconds, field, sizeof(seconds));
		text_add_seconds(&t, seconds);
		return true;
	default:
		memcpy(&text, field, sizeof(text));
		text_add(&t, text ? text : "");
		return text != NULL;
	}
}

void options_init(struct options *o)
{
	char why[8];

	memset(o, 0, sizeof(*o));
	for (size_t i = 0; i < option_count; i++) {
		if (option_table[i].initial)
			option_set(&option_table[i], o, option_table[i].initial, why, sizeof(why));
	}
}

int options_from_environment(struct options *o, char *const *environment, char *why, size_t size)
{
	const char *found[64];
	char name[OPTION_NAME_BYTES], other[256];
	size_t count = 0;
	int rc = 0;

	if (size)
		*why = '\0';
	for (; *environment && count < 64; environment++) {
		if (!strncmp(*environment, "PILLION_", 8))
			found[count++] = *environment;
	}
	for (size_t i = 0; count && i < option_count; i++) {
		const struct option *row = &option_table[i];
		size_t length;

		if (row->kind == OPTION_ACTION || row->state == OPTION_IGNORED)
			continue;
		option_variable(row, name, sizeof(name));
		length = strlen(name);
		for (size_t j = 0; j < count; j++) {
			if (strncmp(found[j], name, length) != 0 || found[j][length] != '=' || !found[j][length + 1])
				continue;
			/* The first one that is wrong is told; the others count all the same. */
			if (option_set(row, o, found[j] + length + 1, rc ? other : why, rc ? sizeof(other) : size) && !rc)
				rc = -EINVAL;
			else if (!rc && size)
				*why = '\0';
		}
	}
	return rc;
}
