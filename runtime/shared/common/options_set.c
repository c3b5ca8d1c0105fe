/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/common/options_set.h"

#include <errno.h>
#include <signal.h>

#include "runtime/shared/base/value.h"
#include "runtime/shared/format/trace_format.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- --trace ---- */

struct trace_word {
	const char *word;
	uint32_t mask;
};

/* The word for CUDA with device times by the hardware event system. */
#define HARDWARE_WORD "cuda-hw"

/* A row for each API group: a word that selects several groups is in several rows. */
#define GROUP(number, NAME, word, ...) {#word, 1u << number},
static const struct trace_word groups[] = {TF_GROUPS(GROUP, )};

#define WORD_DEFAULT(word) #word,
#define WORD_MORE(word) #word,
#define WORD_SAME(word)
#define WORD(number, NAME, word, set, ...) WORD_##set(word)
static const char *const trace_words[] = {TF_GROUPS(WORD, )};

/* Beside the bits of groups. */
enum { WITH_HARDWARE = 1 << 29, MPI_IF_USED = 1 << 30 };
_Static_assert(TF_GROUP_COUNT <= 29, "groups have bits below these");

/* The words of nsys for groups that have another word here, and what is no group. */
static const struct trace_word other_words[] = {
	{OPTION_MPI_IF_USED, MPI_IF_USED},
	{"cublas-verbose", TRACE_CUBLAS},
	{"cusparse-verbose", TRACE_CUSPARSE},
	{"cusolver-verbose", TRACE_CUSOLVER},
	{"cuda-sw", TRACE_CUDA | TRACE_CUDA_DRIVER},
	{HARDWARE_WORD, TRACE_CUDA | TRACE_CUDA_DRIVER | WITH_HARDWARE},
	{"syscall", TRACE_OSRT},
};

/* What nsys records on some platform and pillion does not, each between two commas; a warning says so. */
static const char not_recorded[] =
	",cudla,cudla-verbose,dx11,dx11-annotations,dx12,dx12-annotations,etw,gds,nvmedia,nvsci,nvvideo,openacc,opengl,"
	"opengl-annotations,openxr,openxr-annotations,oshmem,python-gil,tegra-accelerators,ucx,vulkan,"
	"vulkan-annotations,wddm,";

const struct option_words options_trace_words = OPTION_WORDS(trace_words);

static uint32_t mask_of(const struct trace_word *words, size_t count, const char *word, size_t length)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < count; i++)
		mask |= value_is(word, length, words[i].word) ? words[i].mask : 0;
	return mask;
}

/* Takes a list of words. `find` has their bits; false: there is no such word, which is returned. `why` gets those that
 * have none, after `begin`, each with what it lacks. NULL: all are known. */
static const char *take_words(const char *value, bool (*find)(const char *word, size_t length, uint32_t *ret_mask),
			      const char *begin, const char *lacks, uint32_t *mask, struct text *why)
{
	struct text start = *why;

	for (;; value++) {
		size_t length = strcspn(value, ",");
		uint32_t found;

		if (!find(value, length, &found)) {
			*why = start;
			return value;
		}
		*mask |= found;
		if (!found) {
			text_add(why, why->at == start.at ? begin : ", ");
			text_bytes(why, value, length);
			text_add(why, lacks);
		}
		value += length;
		if (!*value)
			return NULL;
	}
}

static bool trace_find(const char *word, size_t length, uint32_t *ret_mask)
{
	*ret_mask = mask_of(groups, COUNT_OF(groups), word, length);
	if (!*ret_mask)
		*ret_mask = mask_of(other_words, COUNT_OF(other_words), word, length);
	return *ret_mask || (length && value_is_listed(not_recorded, word, length));
}

static int trace_refuse(const struct option *row, const char *word, size_t length, struct text *why)
{
	text_add(why, "--trace takes a list of ");
	option_choices_print(row, ",", why);
	text_add(why, ", or none, not '");
	text_bytes(why, word, length);
	text_add(why, "'");
	return -EINVAL;
}

int options_set_trace(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct options *o = settings;
	const char *refused = NULL;
	uint32_t mask = 0;

	if (strcmp(value, "none") != 0)
		refused = take_words(value, trace_find, "--trace: ", " is not recorded by pillion", &mask, why);
	if (refused)
		return trace_refuse(row, refused, strcspn(refused, ","), why);
	o->cuda_hardware = mask & WITH_HARDWARE;
	o->mpi_if_used = mask & MPI_IF_USED;
	o->trace = mask & ~(WITH_HARDWARE | MPI_IF_USED);
	return 0;
}

void options_print_trace(const void *settings, struct text *t)
{
	const struct options *o = settings;
	const char *separator = "";

	if (!o->trace)
		text_add(t, "none");
	for (size_t i = 0; i < COUNT_OF(trace_words); i++) {
		uint32_t mask = mask_of(groups, COUNT_OF(groups), trace_words[i], strlen(trace_words[i]));

		if (!(o->trace & mask))
			continue;
		text_add(t, separator);
		text_add(t, mask & TRACE_CUDA && o->cuda_hardware ? HARDWARE_WORD : trace_words[i]);
		separator = ",";
	}
	if (o->mpi_if_used) {
		text_add(t, separator);
		text_add(t, OPTION_MPI_IF_USED);
	}
}

/* ---- the capture range ---- */

static const char *const range_end_words[] = {"none", "stop", "stop-shutdown", "repeat", "repeat-shutdown"};

static void range_end_store(struct options *o, enum range_end end, uint32_t limit)
{
	o->range_end = end;
	o->range_limit = end < RANGE_END_REPEAT ? 1 : limit;
}

/* ":N", ":N:MODE", ":MODE", or "[]", as guides print it. MODE says when nsys writes the files of the ranges; here each
 * record is on disk at once. */
static bool range_end_count(const char *suffix, uint64_t *ret)
{
	const char *last = strrchr(suffix, ':');
	size_t length = strlen(suffix);

	if (!strcmp(suffix, "[]"))
		return true;
	if (last && value_is_listed(",defer,sync,async,", last + 1, strlen(last + 1)))
		length = (size_t)(last - suffix);
	return !length || (value_number(suffix + 1, length - 1, ret) && *ret && *ret <= UINT32_MAX);
}

int options_set_range_end(const struct option *row, void *settings, const char *value, struct text *why)
{
	size_t length = strcspn(value, ":[");
	uint64_t n = 0;
	int i;

	for (i = RANGE_END_REPEAT_SHUTDOWN; i >= 0; i--) {
		if (value_is(value, length, range_end_words[i]))
			break;
	}
	if (i >= 0 && value[length] && (i < RANGE_END_REPEAT || !range_end_count(value + length, &n)))
		i = -1;
	if (i < 0 || (i == RANGE_END_REPEAT_SHUTDOWN && !n))
		return option_refuse(row, value, why);
	range_end_store(settings, (enum range_end)i, (uint32_t)n);
	return 0;
}

void options_print_range_end(const void *settings, struct text *t)
{
	const struct options *o = settings;

	text_add(t, range_end_words[o->range_end]);
	if (o->range_end >= RANGE_END_REPEAT && o->range_limit) {
		text_add(t, ":");
		text_number(t, o->range_limit);
	}
}

int options_set_stop_on_range_end(const struct option *row, void *settings, const char *value, struct text *why)
{
	bool stops;

	if (!value_bool(value, &stops))
		return option_refuse(row, value, why);
	range_end_store(settings, stops ? RANGE_END_STOP : RANGE_END_NONE, 0);
	return 0;
}

int options_set_profile_from_start(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct options *o = settings;
	bool is_whole;

	if (!value_bool(value, &is_whole))
		return option_refuse(row, value, why);
	if (is_whole)
		return 0;
	o->capture_range = CAPTURE_PROFILER_API;
	range_end_store(o, RANGE_END_REPEAT, 0);
	return 0;
}

/* ---- stacks ---- */

#define GIVEN_AS_THRESHOLD (OPTION_NEVER - 1) /* a kind without a :NS of its own */

static const char *const cuda_kinds[] = {"kernel", "memory", "sync", "other"};

/* A kind's own :NS takes precedence over the general threshold, in whichever order the two options came. */
static void cuda_backtrace_settle(struct options *o)
{
	for (int i = 0; i < CUDA_KINDS; i++) {
		uint64_t given = o->cuda_backtrace_given[i];

		o->cuda_backtrace_ns[i] = given == GIVEN_AS_THRESHOLD ? o->cuda_backtrace_threshold_ns : given;
	}
}

static bool cuda_backtrace_one(uint64_t given[CUDA_KINDS], const char *word, size_t length)
{
	size_t name = strcspn(word, ":,");
	uint64_t ns = GIVEN_AS_THRESHOLD;
	bool is_all = value_is(word, name, "all") || value_is(word, name, "true");
	bool is_known = is_all;

	if (name < length && (!value_number(word + name + 1, length - name - 1, &ns) || ns >= GIVEN_AS_THRESHOLD))
		return false;
	for (int i = 0; i < CUDA_KINDS; i++) {
		if (is_all || value_is(word, name, cuda_kinds[i])) {
			given[i] = ns;
			is_known = true;
		}
	}
	return is_known;
}

int options_set_cuda_backtrace(const struct option *row, void *settings, const char *value, struct text *why)
{
	uint64_t given[CUDA_KINDS] = {OPTION_NEVER, OPTION_NEVER, OPTION_NEVER, OPTION_NEVER};
	struct options *o = settings;
	const char *at = value;

	while (strcmp(value, "none") != 0 && strcmp(value, "false") != 0) {
		size_t length = strcspn(at, ",");

		if (!cuda_backtrace_one(given, at, length))
			return option_refuse(row, value, why);
		at += length;
		if (!*at++)
			break;
	}
	memcpy(o->cuda_backtrace_given, given, sizeof(given));
	cuda_backtrace_settle(o);
	return 0;
}

void options_print_cuda_backtrace(const void *settings, struct text *t)
{
	const struct options *o = settings;
	const char *separator = "";

	for (int i = 0; i < CUDA_KINDS; i++) {
		if (o->cuda_backtrace_ns[i] == OPTION_NEVER)
			continue;
		text_add(t, separator);
		text_add(t, cuda_kinds[i]);
		text_add(t, ":");
		text_number(t, o->cuda_backtrace_ns[i]);
		separator = ",";
	}
	if (!*separator)
		text_add(t, "none");
}

int options_set_cuda_backtrace_threshold(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct options *o = settings;
	uint64_t ns;

	if (!value_number(value, strlen(value), &ns) || ns >= GIVEN_AS_THRESHOLD)
		return option_refuse(row, value, why);
	o->cuda_backtrace_threshold_ns = ns;
	cuda_backtrace_settle(o);
	return 0;
}

/* Newer versions of nsys request Python frames by "cuda". */
int options_set_python_backtrace(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct options *o = settings;
	bool is_on = !strcmp(value, "auto") || !strcmp(value, "cuda") || !strcmp(value, "true");

	if (!is_on && strcmp(value, "none") != 0 && strcmp(value, "false") != 0)
		return option_refuse(row, value, why);
	o->python_backtrace = is_on;
	return 0;
}

void options_print_python_backtrace(const void *settings, struct text *t)
{
	const struct options *o = settings;

	text_add(t, o->python_backtrace ? "auto" : "none");
}

/* ---- samples ---- */

int options_set_sample(const struct option *row, void *settings, const char *value, struct text *why)
{
	static const char none[] = ",none,", automatic[] = ",auto,", cpu[] = ",cpu,process-tree,",
			  wide[] = ",system-wide,xhv,xhv-system-wide,";
	struct options *o = settings;
	size_t length = strlen(value);

	if (value_is_listed(none, value, length)) {
		o->sample = SAMPLE_NONE;
	} else if (value_is_listed(automatic, value, length)) {
		o->sample = SAMPLE_AUTO;
	} else if (value_is_listed(cpu, value, length)) {
		o->sample = SAMPLE_CPU;
	} else if (value_is_listed(wide, value, length)) {
		o->sample = SAMPLE_CPU;
		text_add(why, "--sample=");
		text_add(why, value);
		text_add(why, " samples the processes of COMMAND only");
	} else {
		return option_refuse(row, value, why);
	}
	return 0;
}

void options_print_sample(const void *settings, struct text *t)
{
	static const char *const words[] = {[SAMPLE_NONE] = "none", [SAMPLE_AUTO] = "auto", [SAMPLE_CPU] = "cpu"};
	const struct options *o = settings;

	text_add(t, words[o->sample]);
}

int options_set_python_sampling(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct options *o = settings;
	bool is_on;

	if (!value_bool(value, &is_on))
		return option_refuse(row, value, why);
	if (is_on)
		o->sample = SAMPLE_CPU;
	return 0;
}

int options_set_python_sampling_frequency(const struct option *row, void *settings, const char *value,
		struct text *why)
{
	struct options *o = settings;
	uint64_t hz;

	if (!value_number(value, strlen(value), &hz) || !hz || hz > 100000)
		return option_refuse(row, value, why);
	o->sampling_frequency = (uint32_t)hz;
	return 0;
}

/* ---- CUDA graphs, PyTorch ---- */

/* Newer versions of nsys let the launches be chosen after a colon. */
int options_set_cuda_graph(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct options *o = settings;
	size_t length = strcspn(value, ":");
	const char *origin = value + length + (value[length] == ':');
	bool is_node = value_is(value, length, "node");

	if ((!is_node && !value_is(value, length, "graph")) ||
			(value[length] && strcmp(origin, "host-only") != 0 && strcmp(origin, "host-and-device") != 0))
		return option_refuse(row, value, why);
	o->cuda_graph_nodes = is_node;
	if (!strcmp(origin, "host-and-device") && !o->cuda_hardware)
		text_add(why, "--cuda-graph-trace: launches by the device are recorded with -t cuda-hw only");
	return 0;
}

void options_print_cuda_graph(const void *settings, struct text *t)
{
	const struct options *o = settings;

	text_add(t, o->cuda_graph_nodes ? "node" : "graph");
}

static const char *const pytorch_words[] = {"none", "autograd-nvtx", "autograd-shapes-nvtx"};

int options_set_pytorch(const struct option *row, void *settings, const char *value, struct text *why)
{
	enum pytorch found = PYTORCH_NONE;
	struct options *o = settings;
	struct text start = *why;

	for (const char *word = value;; word++) {
		size_t length = strcspn(word, ",");
		int i = PYTORCH_SHAPES;

		while (i >= 0 && !value_is(word, length, pytorch_words[i]))
			i--;
		if (i < 0 && value_is_listed(",functions-trace,functions-trace-shapes,", word, length)) {
			text_add(why, why->at == start.at ? "--pytorch: " : ", ");
			text_bytes(why, word, length);
			text_add(why, " is not recorded by pillion; see --python-functions-trace");
		} else if (i < 0) {
			*why = start;
			return option_refuse(row, value, why);
		}
		found = i > (int)found ? (enum pytorch)i : found;
		word += length;
		if (!*word)
			break;
	}
	o->pytorch = found;
	return 0;
}

void options_print_pytorch(const void *settings, struct text *t)
{
	const struct options *o = settings;

	text_add(t, pytorch_words[o->pytorch]);
}

/* ---- the launcher's ---- */

static const struct trace_word export_words[] = {
	{"sqlite", OPTION_EXPORT_SQLITE},
	{"parquetdir", OPTION_EXPORT_PARQUET},
	{"arrowdir", OPTION_EXPORT_ARROW},
	{"arrow", OPTION_EXPORT_ARROW},
};

static bool export_find(const char *word, size_t length, uint32_t *ret_mask)
{
	*ret_mask = mask_of(export_words, COUNT_OF(export_words), word, length);
	return *ret_mask || value_is_listed(",hdf,hdf5,info,json,jsonlines,text,", word, length);
}

int options_set_export(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct options *o = settings;
	bool is_none = !strcmp(value, "none");
	uint32_t exports = is_none ? 0 : o->exports;
	const char *refused = is_none ? NULL : take_words(value, export_find, "--export: ",
							  " is not written by pillion", &exports, why);

	if (refused)
		return option_refuse(row, refused, why);
	o->exports = exports;
	return 0;
}

int options_set_counters(const struct option *row, void *settings, const char *value, struct text *why)
{
	static const struct trace_word words[] = {
		{"none", 0}, {"gpu", OPTION_COUNTER_GPU}, {"host", OPTION_COUNTER_HOST}, {"net", OPTION_COUNTER_NET}};
	const char *list = value;
	uint32_t counters = 0;

	do {
		size_t length = strcspn(value, ","), i = 0;

		while (i < COUNT_OF(words) && !value_is(value, length, words[i].word))
			i++;
		if (i == COUNT_OF(words))
			return option_refuse(row, list, why);
		counters |= words[i].mask;
		value += length;
	} while (*value++);
	((struct options *)settings)->counters = counters;
	return 0;
}

int options_set_kill(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct options *o = settings;
	uint64_t n;

	if (!strcmp(value, "none"))
		n = 0;
	else if (!strcmp(value, "sigkill"))
		n = SIGKILL;
	else if (!strcmp(value, "sigterm"))
		n = SIGTERM;
	else if (!value_number(value, strlen(value), &n) || !n || n > 64)
		return option_refuse(row, value, why);
	o->kill_signal = (int)n;
	return 0;
}

__attribute__((cold)) int options_set_on_signal(const struct option *row, void *settings, const char *value,
						struct text *why)
{
	struct options *o = settings;
	uint64_t n;

	if (!strncmp(value, "SIG", 3))
		value += 3;
	if (!strcmp(value, "USR1"))
		n = SIGUSR1;
	else if (!strcmp(value, "USR2"))
		n = SIGUSR2;
	else if (!value_number(value, strlen(value), &n) || !n || n > 64 || n == SIGKILL || n == SIGSTOP ||
		 n == SIGCHLD)
		return option_refuse(row, value, why);
	o->on_signal = (int)n;
	return 0;
}

int options_set_env_var(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct options *o = settings;

	if (!*value || strcspn(value, "=") == 0 || strcspn(value, "=") >= strcspn(value, ","))
		return option_refuse(row, value, why);
	o->env_var = value;
	return 0;
}

static const char slow_down_kinds[][6] = {
	[SLOW_DOWN_CALL] = "call~", [SLOW_DOWN_RANK] = "rank~", [SLOW_DOWN_LINE] = "line~", [SLOW_DOWN_LOCK] = "lock~"};

/* "call~fsync=2ms" */
__attribute__((cold)) int options_set_slow_down(const struct option *row, void *settings, const char *value,
						struct text *why)
{
	enum slow_down_kind kind = SLOW_DOWN_CALL;
	struct options *o = settings;
	const char *what, *time;

	while (kind < COUNT_OF(slow_down_kinds) &&
	       strncmp(value, slow_down_kinds[kind], strlen(slow_down_kinds[kind])) != 0)
		kind++;
	if (kind == COUNT_OF(slow_down_kinds))
		return option_refuse(row, value, why);
	what = value + strlen(slow_down_kinds[kind]);
	time = what + strcspn(what, "=");
	if ((time == what && kind < SLOW_DOWN_LINE) || *time != '=' || !value_duration(time + 1, &o->slow_down_ns))
		return option_refuse(row, value, why);
	o->slow_down_kind = kind;
	o->slow_down = what;
	o->slow_down_bytes = (size_t)(time - what);
	return 0;
}

__attribute__((cold)) void options_print_slow_down(const void *settings, struct text *ret)
{
	const struct options *o = settings;

	if (!o->slow_down)
		return;
	text_add(ret, slow_down_kinds[o->slow_down_kind]);
	text_bytes(ret, o->slow_down, o->slow_down_bytes);
	text_char(ret, '=');
	text_number(ret, o->slow_down_ns);
	text_add(ret, "ns");
}
