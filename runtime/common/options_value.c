/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/common/options_value.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define GIVEN_AS_THRESHOLD (OPTION_NEVER - 1) /* a kind without a :NS of its own */

void text_add_seconds(struct text *t, double seconds)
{
	uint64_t whole = (uint64_t)seconds;
	uint64_t nanos = (uint64_t)((seconds - (double)whole) * 1e9 + 0.5);
	char digits[9];
	int used = 9;

	if (nanos >= 1000000000) {
		whole++;
		nanos = 0;
	}
	text_number(t, whole);
	if (!nanos)
		return;
	for (int i = 8; i >= 0; i--, nanos /= 10)
		digits[i] = (char)('0' + nanos % 10);
	while (digits[used - 1] == '0')
		used--;
	text_add(t, ".");
	text_bytes(t, digits, (size_t)used);
}

bool value_number(const char *s, size_t length, uint64_t *ret)
{
	uint64_t n = 0;

	if (!length)
		return false;
	for (; length; s++, length--) {
		if (*s < '0' || *s > '9' || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*s - '0'), &n))
			return false;
	}
	*ret = n;
	return true;
}

bool value_seconds(const char *s, double *ret)
{
	size_t whole = strcspn(s, ".");
	const char *fraction = s[whole] ? s + whole + 1 : "";
	double scale = 1;
	uint64_t n = 0;

	if (whole > 9 || !(whole + strlen(fraction)) || (whole && !value_number(s, whole, &n)))
		return false;
	*ret = (double)n;
	for (; *fraction; fraction++) {
		if (*fraction < '0' || *fraction > '9')
			return false;
		scale /= 10;
		*ret += (*fraction - '0') * scale;
	}
	return true;
}

bool value_bool(const char *s, bool *ret)
{
	*ret = !strcmp(s, "true") || !strcmp(s, "on") || !strcmp(s, "yes");
	return *ret || !strcmp(s, "false") || !strcmp(s, "off") || !strcmp(s, "no");
}

const char *value_choice_at(const char *choices, int position, size_t *ret_length)
{
	while (position-- > 0) {
		choices += strcspn(choices, "|");
		if (!*choices++)
			return NULL;
	}
	if (*choices == '!')
		choices++;
	*ret_length = strcspn(choices, "|");
	return choices;
}

int value_choice(const char *choices, const char *word, char *ret_mark)
{
	const char *at;
	size_t length;

	for (int i = 0; (at = value_choice_at(choices, i, &length)); i++) {
		if (strlen(word) != length || memcmp(at, word, length) != 0)
			continue;
		*ret_mark = at > choices && at[-1] != '|' ? at[-1] : '\0';
		return i;
	}
	return -1;
}

void value_choices_print(const char *choices, struct text *t)
{
	const char *at, *separator = "";
	size_t length;

	for (int i = 0; (at = value_choice_at(choices, i, &length)); i++) {
		if (at > choices && at[-1] == '!')
			continue;
		text_add(t, separator);
		text_bytes(t, at, length);
		separator = "|";
	}
}

/* ---- --trace ---- */

/* A word may stand for several groups, in several rows. */
static const struct trace_word {
	const char *word;
	uint32_t mask;
} trace_words[] = {
#define TRACE_WORD(number, NAME, word, ...) {#word, 1u << number},
	TF_GROUPS(TRACE_WORD, )
#undef TRACE_WORD
};
enum { TRACE_WORDS = sizeof(trace_words) / sizeof(trace_words[0]) };

/* nsys's words: taken, because lines in guides carry them. Nothing is recorded for those with a mask of 0. */
static const struct trace_word trace_nsys_words[] = {
	{"cublas-verbose", TRACE_CUBLAS},
	{"cusparse-verbose", TRACE_CUSPARSE},
	{"cusolver-verbose", TRACE_CUSOLVER},
	{"cuda-sw", TRACE_CUDA | TRACE_CUDA_DRIVER},
	{"cuda-hw", TRACE_CUDA | TRACE_CUDA_DRIVER},
	{"opengl", 0},
	{"opengl-annotations", 0},
	{"openacc", 0},
	{"openmp", 0},
	{"oshmem", 0},
	{"ucx", 0},
	{"nvvideo", 0},
	{"vulkan", 0},
	{"vulkan-annotations", 0},
};
enum { TRACE_NSYS_WORDS = sizeof(trace_nsys_words) / sizeof(trace_nsys_words[0]) };

static bool trace_is(const struct trace_word *w, const char *word, size_t length)
{
	return strlen(w->word) == length && !memcmp(w->word, word, length);
}

/* False: no such word. */
static bool trace_find(const char *word, size_t length, uint32_t *ret_mask)
{
	*ret_mask = 0;
	for (int i = 0; i < TRACE_WORDS; i++)
		if (trace_is(&trace_words[i], word, length))
			*ret_mask |= trace_words[i].mask;
	for (int i = 0; !*ret_mask && i < TRACE_NSYS_WORDS; i++) {
		if (!trace_is(&trace_nsys_words[i], word, length))
			continue;
		*ret_mask = trace_nsys_words[i].mask;
		return true;
	}
	return *ret_mask;
}

/* The first row of its word. */
static bool trace_is_first(int i)
{
	for (int before = 0; before < i; before++)
		if (!strcmp(trace_words[before].word, trace_words[i].word))
			return false;
	return true;
}

static void trace_refuse(const char *word, size_t length, struct text *why)
{
	text_add(why, "--trace does not know '");
	text_bytes(why, word, length);
	text_add(why, "'; it takes a list of ");
	for (int i = 0; i < TRACE_WORDS; i++) {
		if (!trace_is_first(i))
			continue;
		text_add(why, trace_words[i].word);
		text_add(why, ",");
	}
	text_add(why, " or none");
}

int set_trace(struct options *o, const char *value, struct text *why)
{
	struct text start = *why;
	uint32_t mask = 0;

	if (!strcmp(value, "none")) {
		o->trace = 0;
		return 0;
	}
	for (;; value++) {
		size_t length = strcspn(value, ",");
		uint32_t found;

		if (!trace_find(value, length, &found)) {
			*why = start;
			trace_refuse(value, length, why);
			return -EINVAL;
		}
		mask |= found;
		if (!found) {
			text_add(why, why->at == start.at ? "--trace: " : ", ");
			text_bytes(why, value, length);
			text_add(why, " is not recorded by pillion");
		}
		value += length;
		if (!*value)
			break;
	}
	o->trace = mask;
	return 0;
}

void print_trace(const struct options *o, struct text *t)
{
	const char *separator = "";

	if (!o->trace)
		text_add(t, "none");
	for (int i = 0; i < TRACE_WORDS; i++) {
		if (!(o->trace & trace_words[i].mask) || !trace_is_first(i))
			continue;
		text_add(t, separator);
		text_add(t, trace_words[i].word);
		separator = ",";
	}
}

/* ---- the capture range ---- */

static const char *const range_end_words[] = {"none", "stop", "stop-shutdown", "repeat", "repeat-shutdown"};

int set_range_end(struct options *o, const char *value, struct text *why)
{
	size_t length = strcspn(value, ":");
	uint64_t n = 0;
	int i;

	for (i = RANGE_END_REPEAT_SHUTDOWN; i >= 0; i--) {
		if (strlen(range_end_words[i]) == length && !memcmp(range_end_words[i], value, length))
			break;
	}
	if (i >= 0 && value[length]) {
		const char *count = value + length + 1;

		if (i < RANGE_END_REPEAT || !value_number(count, strlen(count), &n) || !n || n > UINT32_MAX)
			i = -1;
	}
	if (i == RANGE_END_REPEAT_SHUTDOWN && !n)
		i = -1;
	if (i < 0) {
		text_add(why, "--capture-range-end takes none, stop, stop-shutdown, repeat[:N] or repeat-shutdown:N, not '");
		text_add(why, value);
		text_add(why, "'");
		return -EINVAL;
	}
	o->range_end = (enum range_end)i;
	o->range_limit = i < RANGE_END_REPEAT ? 1 : (uint32_t)n;
	return 0;
}

void print_range_end(const struct options *o, struct text *t)
{
	text_add(t, range_end_words[o->range_end]);
	if (o->range_end >= RANGE_END_REPEAT && o->range_limit) {
		text_add(t, ":");
		text_number(t, o->range_limit);
	}
}

static int refuse_bool(const char *name, const char *value, struct text *why)
{
	text_add(why, name);
	text_add(why, " takes true or false, not '");
	text_add(why, value);
	text_add(why, "'");
	return -EINVAL;
}

int set_stop_on_range_end(struct options *o, const char *value, struct text *why)
{
	bool stops;

	if (!value_bool(value, &stops))
		return refuse_bool("--stop-on-range-end", value, why);
	return set_range_end(o, stops ? "stop" : "none", why);
}

int set_profile_from_start(struct options *o, const char *value, struct text *why)
{
	bool is_whole;

	if (!value_bool(value, &is_whole)) {
		text_add(why, "--profile-from-start takes on or off, not '");
		text_add(why, value);
		text_add(why, "'");
		return -EINVAL;
	}
	if (is_whole)
		return 0;
	o->capture_range = CAPTURE_PROFILER_API;
	return set_range_end(o, "repeat", why);
}

/* ---- stacks ---- */

static const char *const cuda_kinds[] = {"kernel", "memory", "sync", "other"};

/* A kind's own :NS goes before the general threshold, in whichever order the two options came. */
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
	bool is_all = (name == 3 && !memcmp(word, "all", 3)) || (name == 4 && !memcmp(word, "true", 4));
	bool is_known = is_all;

	if (name < length && (!value_number(word + name + 1, length - name - 1, &ns) || ns >= GIVEN_AS_THRESHOLD))
		return false;
	for (int i = 0; i < CUDA_KINDS; i++) {
		if (is_all || (strlen(cuda_kinds[i]) == name && !memcmp(cuda_kinds[i], word, name))) {
			given[i] = ns;
			is_known = true;
		}
	}
	return is_known;
}

int set_cuda_backtrace(struct options *o, const char *value, struct text *why)
{
	uint64_t given[CUDA_KINDS] = {OPTION_NEVER, OPTION_NEVER, OPTION_NEVER, OPTION_NEVER};
	const char *at = value;

	while (strcmp(value, "none") != 0 && strcmp(value, "false") != 0) {
		size_t length = strcspn(at, ",");

		if (!cuda_backtrace_one(given, at, length)) {
			text_add(why, "--cudabacktrace takes none, true, all, kernel, memory, sync, other, each with :NS, not '");
			text_bytes(why, at, length);
			text_add(why, "'");
			return -EINVAL;
		}
		at += length;
		if (!*at++)
			break;
	}
	memcpy(o->cuda_backtrace_given, given, sizeof(given));
	cuda_backtrace_settle(o);
	return 0;
}

void print_cuda_backtrace(const struct options *o, struct text *t)
{
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

int set_cuda_backtrace_threshold(struct options *o, const char *value, struct text *why)
{
	uint64_t ns;

	if (!value_number(value, strlen(value), &ns) || ns >= GIVEN_AS_THRESHOLD) {
		text_add(why, "--cudabacktrace-threshold takes a number of ns, not '");
		text_add(why, value);
		text_add(why, "'");
		return -EINVAL;
	}
	o->cuda_backtrace_threshold_ns = ns;
	cuda_backtrace_settle(o);
	return 0;
}

/* "cuda" is how newer nsys asks for them. */
int set_python_backtrace(struct options *o, const char *value, struct text *why)
{
	bool is_on = !strcmp(value, "auto") || !strcmp(value, "cuda") || !strcmp(value, "true");

	if (!is_on && strcmp(value, "none") != 0 && strcmp(value, "false") != 0) {
		text_add(why, "--python-backtrace takes auto or none, not '");
		text_add(why, value);
		text_add(why, "'");
		return -EINVAL;
	}
	o->python_backtrace = is_on;
	return 0;
}

void print_python_backtrace(const struct options *o, struct text *t)
{
	text_add(t, o->python_backtrace ? "auto" : "none");
}

/* ---- the launcher's ---- */

int set_kill(struct options *o, const char *value, struct text *why)
{
	uint64_t n;

	if (!strcmp(value, "none"))
		n = 0;
	else if (!strcmp(value, "sigkill"))
		n = SIGKILL;
	else if (!strcmp(value, "sigterm"))
		n = SIGTERM;
	else if (!value_number(value, strlen(value), &n) || !n || n > 64) {
		text_add(why, "--kill takes none, sigkill, sigterm or a signal's number, not '");
		text_add(why, value);
		text_add(why, "'");
		return -EINVAL;
	}
	o->kill_signal = (int)n;
	return 0;
}

int set_wait(struct options *o, const char *value, struct text *why)
{
	o->wait_all = !strcmp(value, "all");
	if (o->wait_all || !strcmp(value, "primary"))
		return 0;
	text_add(why, "--wait takes primary or all, not '");
	text_add(why, value);
	text_add(why, "'");
	return -EINVAL;
}

int set_env_var(struct options *o, const char *value, struct text *why)
{
	if (!*value || strcspn(value, "=") == 0 || strcspn(value, "=") >= strcspn(value, ",")) {
		text_add(why, "--env-var takes A=B,C=D, not '");
		text_add(why, value);
		text_add(why, "'");
		return -EINVAL;
	}
	o->env_var = value;
	return 0;
}
