/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "runtime/launch/run.h"

static const struct option_table *const all_options = &command_line_options;
static struct options o;
static char why[512];

static void setup(void)
{
	options_init(&o);
}

TestSuite(options, .init = setup);

static int set(const char *name, const char *value)
{
	const struct option *row = option_find(all_options, name, strlen(name));
	struct text t = text_init(why, sizeof(why));

	return option_set(row, &o, value, &t);
}

static void assert_prints(const char *name, const char *wanted)
{
	char text[256];
	struct text t = text_init(text, sizeof(text));

	cr_assert(option_print(option_find(all_options, name, strlen(name)), &o, &t), "%s prints nothing", name);
	cr_assert_str_eq(text, wanted);
}

Test(options, start_with_the_defaults_of_the_table)
{
	cr_assert_eq(o.trace, (uint32_t)(TRACE_CUDA | TRACE_CUDA_DRIVER | TRACE_NVTX | TRACE_OSRT | TRACE_CUBLAS |
					 TRACE_CUDNN));
	cr_assert_eq(o.osrt_threshold_ns, 1000);
	cr_assert_eq(o.osrt_backtrace_ns, 80000);
	for (int i = 0; i < CUDA_KINDS; i++)
		cr_assert_eq(o.cuda_backtrace_ns[i], 10000);
	cr_assert_eq(o.backtrace_depth, 64);
	cr_assert(o.python_backtrace && o.follow_clean_env && o.cuda_memory_usage);
	cr_assert_eq(o.capture_range, CAPTURE_ALL);
	cr_assert_eq(o.range_end, RANGE_END_STOP);
	cr_assert_eq(o.range_limit, 1);
	cr_assert_eq(o.kill_signal, SIGTERM);
	cr_assert(o.stop_on_exit && o.wait_for == WAIT_ALL && o.show_output && o.inherit_environment);
	cr_assert(!o.force_overwrite && !o.append && !o.output);
	cr_assert_eq(o.stats, STATS_SUMMARY);
}

/* Nothing else detects two rows with the same name or letter, or a default that the option's parser rejects. */
Test(options, are_a_sound_table)
{
	const struct option *row;

	for (size_t i = 0; (row = option_row(all_options, i)); i++) {
		struct text t = text_init(why, sizeof(why));

		cr_assert_eq(option_find(all_options, row->name, strlen(row->name)), row, "%s is in the table twice",
				row->name);
		if (row->letter)
			cr_assert_eq(option_by_letter(all_options, row->letter), row, "-%c is in the table twice",
					row->letter);
		cr_assert(row->help && strlen(row->name) + 9 < OPTION_NAME_BYTES);
		if (row->initial)
			cr_assert_eq(option_set(row, &o, row->initial, &t), 0, "%s: %s", row->name, why);
		if (row->is_recorded && row->initial) {
			char text[256];
			struct text printed = text_init(text, sizeof(text));

			cr_assert(!option_print(row, &o, &printed) || !option_set(row, &o, text, &t),
				  "--%s does not take what it prints: %s", row->name, why);
		}
	}
}

Test(options, take_numbers_from_the_least_to_the_largest)
{
	const struct option *row;
	int rows = 0;

	for (size_t i = 0; (row = option_row(all_options, i)); i++) {
		struct text t = text_init(why, sizeof(why));
		char text[32];

		if (row->state != OPTION_WORKS || (row->kind != OPTION_NUMBER && row->kind != OPTION_COUNT))
			continue;
		rows++;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)row->minimum);
		cr_expect_eq(option_set(row, &o, text, &t), 0, "--%s=%s: %s", row->name, text, why);
		snprintf(text, sizeof(text), "%llu", (unsigned long long)row->maximum);
		cr_expect_eq(option_set(row, &o, text, &t), 0, "--%s=%s: %s", row->name, text, why);
		snprintf(text, sizeof(text), "%llu", (unsigned long long)row->maximum + 1);
		cr_expect_neq(option_set(row, &o, text, &t), 0, "--%s=%s", row->name, text);
		if (!row->minimum)
			continue;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)row->minimum - 1);
		cr_expect_neq(option_set(row, &o, text, &t), 0, "--%s=%s", row->name, text);
	}
	cr_expect_gt(rows, 3);
}

struct value {
	char name[40], value[64];
	int rc;
	char why[80]; /* to be found in it */
};

ParameterizedTestParameters(options, take_or_refuse_a_value)
{
	static struct value values[] = {
		{"trace", "cuda,nvtx", 0, ""},
		{"trace", "none", 0, ""},
		{"trace", "cuda,,nvtx", -EINVAL, "not ''"},
		{"trace", "", -EINVAL, "not ''"},
		{"trace", "cudas", -EINVAL, "osrt,cublas,cudnn,cusparse,cusolver,cufft,nccl,mpi,openmp,hdf5, or none"},
		{"trace", "nccl,mpi,cufft", 0, ""},
		{"trace", "vulkan", 0, "vulkan is not recorded"},
		{"sample", "none", 0, ""},
		{"sample", "cpu", 0, ""},
		{"sample", "process-tree", 0, ""},
		{"sample", "system-wide", 0, "system-wide samples the processes of COMMAND only"},
		{"sample", "auto", 0, ""},
		{"sample", "some", -EINVAL, "auto|cpu|process-tree|none, not 'some'"},
		{"sample", "auto,cpu", -EINVAL, "auto|cpu|process-tree|none, not 'auto,cpu'"},
		{"sample", "", -EINVAL, "not ''"},
		{"capture-range", "cudaProfilerApi", 0, ""},
		{"capture-range", "nvtx", 0, ""},
		{"capture-range", "cudaprofilerapi", -EINVAL, "none|cudaProfilerApi"},
		{"capture-range-end", "repeat:4294967295", 0, ""},
		{"capture-range-end", "repeat:4294967296", -EINVAL, "repeat[:N]"},
		{"capture-range-end", "stop:1", -EINVAL, "repeat[:N]"},
		{"capture-range-end", "repeat:3:async", 0, ""},
		{"capture-range-end", "repeat:sync", 0, ""},
		{"capture-range-end", "repeat[]", 0, ""},
		{"capture-range-end", "repeat:3:later", -EINVAL, "repeat[:N]"},
		{"capture-range-end", "repeat:", -EINVAL, "repeat[:N]"},
		{"capture-range-end", "repeat-shutdown:defer", -EINVAL, "repeat-shutdown:N"},
		{"capture-range-end", "repeat-shutdown", -EINVAL, "repeat-shutdown:N"},
		{"nvtx-capture", "a@b", 0, ""},
		{"nvtx-capture", "", -EINVAL, "takes RANGE[@DOMAIN], not ''"},
		{"nvtx-domain-include", "default,NCCL", 0, ""},
		{"osrt-threshold", "18446744073709551615", -EINVAL, "a number"},
		{"osrt-threshold", "18446744073709551616", -EINVAL, "a number"},
		{"osrt-threshold", " 5", -EINVAL, "a number"},
		{"osrt-threshold", "", -EINVAL, "a number"},
		{"backtrace-depth", "257", -EINVAL, "from 1 to 256"},
		{"delay", "1.5", 0, ""},
		{"delay", ".5", 0, ""},
		{"delay", "2.", 0, ""},
		{"delay", "2s", 0, ""},
		{"delay", ".5s", 0, ""},
		{"delay", "s", -EINVAL, "seconds"},
		{"delay", "2ss", -EINVAL, "seconds"},
		{"delay", "2s5", -EINVAL, "seconds"},
		{"delay", ".", -EINVAL, "seconds"},
		{"delay", "-1", -EINVAL, "seconds"},
		{"delay", "1e3", -EINVAL, "seconds"},
		{"cudabacktrace", "true", 0, ""},
		{"cudabacktrace", "kernel:", -EINVAL, "other[:NS]"},
		{"cudabacktrace", "kernel,", -EINVAL, "other[:NS]"},
		{"cudabacktrace", "gpu", -EINVAL, "kernel|memory|sync|other[:NS],..., not 'gpu'"},
		{"python-backtrace", "cuda", 0, ""},
		{"pytorch", "none", 0, ""},
		{"pytorch", "autograd-shapes-nvtx", 0, ""},
		{"pytorch", "autograd-nvtx,functions-trace", 0, "functions-trace is not recorded"},
		{"pytorch", "autograd", -EINVAL, "autograd-shapes-nvtx, not 'autograd'"},
		{"export", "sqlite,parquetdir", 0, ""},
		{"export", "hdf,sqlite", 0, "hdf is not written by pillion"},
		{"export", "sqlite,xml", -EINVAL, "not 'xml'"},
		{"cuda-memory-usage", "True", 0, ""},
		{"cuda-graph-trace", "node:host-only", 0, ""},
		{"cuda-graph-trace", "node:device", -EINVAL, "graph|node"},
		{"python-sampling-frequency", "0", -EINVAL, "HZ"},
		{"python-functions-trace", "", -EINVAL, "takes FILE, not"},
		{"python-import-time", "maybe", -EINVAL, "true or false"},
		{"gpu-activity", "auto", 0, ""},
		{"cuda-graph-trace", "graph", 0, ""},
		{"kill", "15", 0, ""},
		{"kill", "0", -EINVAL, "none|sigkill|sigterm|N, not '0'"},
		{"wait", "some", -EINVAL, "primary|all"},
		{"stats", "summary", 0, ""},
		{"stats", "maybe", -EINVAL, "summary|true|false"},
		{"output", "", -EINVAL, "takes NAME, not"},
		{"env-var", "A=1,B=2", 0, ""},
		{"env-var", "A", -EINVAL, "A=B,C=D"},
		{"env-var", "=1", -EINVAL, "A=B,C=D"},
		{"cpuctxsw", "process-tree", 0, "is ignored"},
		{"samples-per-backtrace", "1", 0, ""},
		{"samples-per-backtrace", "4", 0, "--samples-per-backtrace=4 is ignored"},
		{"sampling-trigger", "timer,sched", 0, "is ignored"},
		{"cpu-core-metrics", "0,1", 0, "--cpu-core-metrics=0,1 is ignored: hardware events"},
		{"cpu-core-metrics", "none", 0, ""},
		{"cuda-um-cpu-page-faults", "false", 0, ""},
		{"cuda-um-cpu-page-faults", "true", 0, ""},
		{"run-as", "me", -ENOTSUP, "--run-as is not supported"},
	};

	return cr_make_param_array(struct value, values, sizeof(values) / sizeof(values[0]));
}

ParameterizedTest(struct value *v, options, take_or_refuse_a_value)
{
	options_init(&o);
	cr_assert_eq(set(v->name, v->value), v->rc, "--%s=%s gave %s", v->name, v->value, why);
	cr_assert(strstr(why, v->why), "--%s=%s says: %s", v->name, v->value, why);
	cr_assert(v->rc || *v->why || !*why, "--%s=%s warns for nothing: %s", v->name, v->value, why);
	cr_assert_not(strchr(why, '\n'));
}

Test(options, keep_the_old_value_when_the_new_one_is_refused)
{
	set("trace", "osrt");
	cr_assert_neq(set("trace", "nvtx,wrong"), 0);
	cr_assert_eq(o.trace, (uint32_t)TRACE_OSRT);
	set("cudabacktrace", "none");
	cr_assert_neq(set("cudabacktrace", "kernel,wrong"), 0);
	cr_assert_eq(o.cuda_backtrace_ns[CUDA_KERNEL], OPTION_NEVER);
}

Test(options, give_a_kind_its_own_threshold_before_the_general_one_in_any_order)
{
	set("cudabacktrace", "kernel:7,sync");
	set("cudabacktrace-threshold", "5");
	assert_prints("cudabacktrace", "kernel:7,sync:5");
	options_init(&o);
	set("cudabacktrace-threshold", "5");
	set("cudabacktrace", "kernel:7,sync");
	assert_prints("cudabacktrace", "kernel:7,sync:5");
	set("cudabacktrace", "none");
	assert_prints("cudabacktrace", "none");
}

Test(options, know_the_older_spellings_of_the_range)
{
	set("stop-on-range-end", "false");
	cr_assert_eq(o.range_end, RANGE_END_NONE);
	set("stop-on-range-end", "true");
	cr_assert_eq(o.range_end, RANGE_END_STOP);
	set("profile-from-start", "on");
	cr_assert_eq(o.capture_range, CAPTURE_ALL);
	set("profile-from-start", "off");
	cr_assert_eq(o.capture_range, CAPTURE_PROFILER_API);
	assert_prints("capture-range-end", "repeat");
	cr_assert_eq(o.range_limit, 0);
	set("capture-range-end", "repeat-shutdown:3");
	cr_assert_eq(o.range_limit, 3);
	assert_prints("capture-range-end", "repeat-shutdown:3");
}

Test(options, print_seconds_as_they_were_given)
{
	set("delay", "1.5");
	assert_prints("delay", "1.5");
	set("delay", "0.000000001");
	assert_prints("delay", "0.000000001");
	set("delay", "12");
	assert_prints("delay", "12");
	set("delay", "0.1");
	assert_prints("delay", "0.1");
}

Test(options, come_from_the_environment)
{
	char *environment[] = {"HOME=/", "PILLION_OSRT_THRESHOLD=5", "PILLION_TRACE=osrt", "PILLION_RUN=12",
			       "PILLION_NVTX_CAPTURE=", "PILLION_PROFILE_FROM_START=off",
			       "PILLION_CAPTURE_RANGE_END=stop", "PILLION_OUTPUT=dir", NULL};

	cr_assert_eq(options_from_environment(&o, environment, why, sizeof(why)), 0, "%s", why);
	cr_assert_eq(o.osrt_threshold_ns, 5);
	cr_assert_eq(o.trace, (uint32_t)TRACE_OSRT);
	cr_assert_eq(o.range_end, RANGE_END_REPEAT, "the older spelling comes later in the table");
	cr_assert_str_eq(o.output, "dir");
}

Test(options, tell_the_first_wrong_variable_and_take_the_others)
{
	char *environment[] = {"PILLION_BACKTRACE_DEPTH=none", "PILLION_OSRT_THRESHOLD=x",
			       "PILLION_CUDA_MEMORY_USAGE=false", NULL};

	cr_assert_eq(options_from_environment(&o, environment, why, sizeof(why)), -EINVAL);
	cr_assert(strstr(why, "--osrt-threshold"), "%s", why);
	cr_assert_eq(o.backtrace_depth, 64);
	cr_assert(!o.cuda_memory_usage);
}

Test(options, cut_what_they_say_at_the_bound)
{
	char small[16] = "xxxxxxxxxxxxxxx";

	struct text t = text_init(small, sizeof(small));

	cr_assert_eq(option_set(option_find(all_options, "trace", 5), &o, "a-word-that-nobody-knows", &t), -EINVAL);
	cr_assert(t.cut);
	cr_assert_eq(strlen(small), sizeof(small) - 1);
}

Test(options, have_a_variable_each)
{
	char name[OPTION_NAME_BYTES];
	struct text t = text_init(name, sizeof(name));

	option_variable(option_find(all_options, "osrt-backtrace-threshold", 24), &t);
	cr_assert_str_eq(name, "PILLION_OSRT_BACKTRACE_THRESHOLD");
}

/* ---- the command line: one parser for the launcher and all verbs ---- */

struct settings {
	bool is_forced, is_quiet;
	int by;
	const char *output;
};

static const char *const by_names[] = {"", "process", "host"};
static const struct option_words by_words = OPTION_WORDS(by_names);

#define AT(field) .offset = offsetof(struct settings, field)
static const struct option verb_rows[] = {
	{"force-overwrite", 'f', OPTION_FLAG, AT(is_forced), .users = 1, .title = "Output", .initial = "false",
	 .help = "replace"},
	{"quiet", 'q', OPTION_SWITCH, AT(is_quiet), .users = 3, .help = "no remarks"},
	{"by", 0, OPTION_CHOICE, AT(by), .users = 2, .title = "Selection", .value = "WHAT", .words = &by_words,
	 .help = "a text that is longer than one line of the page, so that it continues below its own first line: "
		 "one row for each"},
	{"output", 'o', OPTION_TEXT, AT(output), .users = 1, .value = "FILE", .help = "the file"},
	{"output", 'o', OPTION_TEXT, AT(output), .users = 2, .value = "DIRECTORY", .help = "the directory"},
	{"session", 0, OPTION_TEXT, OPTION_IGNORED, .is_nsys = true, .users = 3, .offset = OPTION_NO_FIELD,
	 .title = "Ignored",
	 .help = "there are no sessions"},
};
static const struct option_table first = {verb_rows, 6, 1, "first --help"}, second = {verb_rows, 6, 2, "second --help"};

/* Parses all options of a command line; returns 0, or the first error and its text in `why`. */
static int read_line(const struct option_table *table, char **words, struct settings *ret)
{
	struct text t = text_init(why, sizeof(why));
	int rc = 0;

	*ret = (struct settings){0};
	while (*words && option_is_word(*words) && !rc) {
		const struct option *row;
		const char *value;

		rc = option_next(table, &words, &row, &value, &t);
		if (!rc)
			rc = option_set(row, ret, value, &t);
	}
	return rc;
}

#define LINE(...) ((char *[]){__VA_ARGS__, NULL})

Test(options, are_read_in_every_form_of_a_command_line)
{
	struct settings s;

	cr_assert_eq(read_line(&first, LINE("-f", "-q", "-o", "a"), &s), 0, "%s", why);
	cr_assert(s.is_forced && s.is_quiet);
	cr_assert_str_eq(s.output, "a");
	cr_assert_eq(read_line(&first, LINE("--force-overwrite", "false", "--output=b=c"), &s), 0, "%s", why);
	cr_assert(!s.is_forced);
	cr_assert_str_eq(s.output, "b=c");
	cr_assert_eq(read_line(&first, LINE("-f=true", "-oa"), &s), 0, "%s", why);
	cr_assert(s.is_forced);
	cr_assert_str_eq(s.output, "a");
	cr_assert_eq(read_line(&first, LINE("-f", "COMMAND", "-q"), &s), 0, "%s", why);
	cr_assert(s.is_forced && !s.is_quiet, "a flag takes no other word than true and false");
	cr_assert_eq(read_line(&second, LINE("--by", "host", "--session=x"), &s), 0, "%s", why);
	cr_assert_eq(s.by, 2);
	cr_assert(strstr(why, "--session is ignored"));
}

static void refuses(const struct option_table *table, char **words, const char *wanted)
{
	struct settings s;

	cr_assert_eq(read_line(table, words, &s), -EINVAL);
	cr_assert_str_eq(why, wanted);
}

Test(options, refuse_a_wrong_command_line_in_one_style)
{
	refuses(&second, LINE("--by=hots"), "--by takes process|host, not 'hots'");
	refuses(&second, LINE("--by="), "--by takes process|host, not ''");
	refuses(&second, LINE("--by"), "--by needs a value: WHAT");
	refuses(&second, LINE("-o="), "--output takes DIRECTORY, not ''");
	refuses(&first, LINE("-o="), "--output takes FILE, not ''");
	refuses(&first, LINE("--quiet=true"), "--quiet takes no value");
	refuses(&first, LINE("-qf"), "--quiet takes no value");
	refuses(&first, LINE("--force-overwrite=maybe"), "--force-overwrite takes true or false, not 'maybe'");
	refuses(&first, LINE("--outptu=x"), "unknown option --outptu; did you mean --output?");
	refuses(&first, LINE("-x"), "unknown option -x; see first --help");
	refuses(&second, LINE("-f"), "unknown option -f; see second --help");
	refuses(&first, LINE("--by=host"), "unknown option --by; the nearest is --quiet; see first --help");
	refuses(all_options, LINE("--osrt-treshold=1"),
			"unknown option --osrt-treshold; did you mean --osrt-threshold?");
}

Test(options, have_a_help_page_by_group_of_80_columns)
{
	char bytes[32768];
	struct text t = text_init(bytes, sizeof(bytes));

	option_help(&second, false, &t);
	cr_assert_str_eq(bytes, "Output:\n"
				"  -q, --quiet                   no remarks\n"
				"\n"
				"Selection:\n"
				"      --by=WHAT                 a text that is longer than one line of the page,\n"
				"                                so that it continues below its own first line:\n"
				"                                one row for each: process, host\n"
				"  -o, --output=DIRECTORY        the directory\n");
	t = text_init(bytes, sizeof(bytes));
	option_help(&second, true, &t);
	cr_assert_str_eq(bytes, "Ignored:\n      --session                 there are no sessions\n");
	t = text_init(bytes, sizeof(bytes));
	option_help(all_options, false, &t);
	option_help(all_options, true, &t);
	cr_assert(!t.cut);
	for (char *line = strtok(bytes, "\n"); line; line = strtok(NULL, "\n"))
		cr_assert_leq(strlen(line), OPTION_HELP_COLUMNS, "%s", line);
}
