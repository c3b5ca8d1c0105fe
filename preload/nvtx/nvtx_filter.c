/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the NVTX domains that are recorded, and detects the range that is the capture range of -c nvtx. */
#include "preload/nvtx/nvtx_tool.h"

#include <errno.h>

#include "runtime/recorder/device/cupti.h"
#include "runtime/recorder/record/process.h"
#include "runtime/shared/base/text.h"

enum { PATTERN = 1024, SEEN = 8, MATCHES = 8, OPEN = 64 };

bool nvtx_default_is_off, nvtx_is_watched;

static char domain_list[PATTERN]; /* of --nvtx-domain-include or -exclude */
static bool is_include;
static char capture_range[PATTERN], capture_domain[PATTERN]; /* of --nvtx-capture, without escapes */
static bool is_any_domain;

/* ---- domains ---- */

/* Whether `name` is in the list. `default` is the default domain, `\default` a domain of that name; `\,` is a comma in
 * a name. */
static bool is_listed(const char *name)
{
	const char *at = domain_list;

	while (*at) {
		const char *word = at, *wanted = name ? name : "default";
		bool is_default = !strncmp(word, "default", 7) && (word[7] == ',' || !word[7]);
		bool is_same = is_default == !name;

		for (; *at && *at != ','; at++) {
			if (*at == '\\' && at[1])
				at++;
			is_same = is_same && *at == *wanted;
			wanted += *wanted != '\0';
		}
		if (is_same && !*wanted)
			return true;
		at += *at == ',';
	}
	return false;
}

bool nvtx_filter_excludes(const char *name)
{
	return *domain_list && is_listed(name) != is_include;
}

/* ---- the range ---- */

/* Up to an '@' that is not escaped by '\'. */
static const char *copy_part(const char *from, char *ret)
{
	size_t used = 0;

	for (; *from && *from != '@'; from++) {
		if (*from == '\\' && (from[1] == '@' || from[1] == '\\'))
			from++;
		if (used < PATTERN - 1)
			ret[used++] = *from;
	}
	ret[used] = '\0';
	return from;
}

static void copy_option(char *ret, const char *text)
{
	size_t length = strnlen(text, PATTERN - 1);

	memcpy(ret, text, length);
	ret[length] = '\0';
}

void nvtx_filter_init(void)
{
	const struct options *o = &process_options;
	const char *at;

	is_include = o->nvtx_domain_include != NULL;
	if (is_include || o->nvtx_domain_exclude)
		copy_option(domain_list, is_include ? o->nvtx_domain_include : o->nvtx_domain_exclude);
	nvtx_default_is_off = nvtx_filter_excludes(NULL);
	if (o->capture_range != CAPTURE_NVTX || !o->nvtx_capture || !process_range)
		return;
	at = copy_part(o->nvtx_capture, capture_range);
	if (*at)
		copy_part(at + 1, capture_domain);
	is_any_domain = !strcmp(capture_domain, "*");
	nvtx_is_watched = true;
}

/* The start/end ranges that matched and are open. A forked child has none of its parent's. */
static uint64_t started[OPEN]; /* id << 16 | generation of the image; entries of another image are free */

/* Pushed ranges of this thread that matched, each with the number of ranges of its domain pushed after it. */
static __thread struct {
	uint64_t generation;
	uint32_t count;
	struct {
		const struct nvtx_domain *domain;
		uint32_t above;
	} matches[MATCHES];
} pushed;

static void step_capture_range(int step)
{
	struct thread_guard guard;
	int error = errno;

	if (!hook_attached())
		return;
	if (step < 0 && process.nvtx_inside == 1)
		cupti_range_ends();
	thread_guard_enter(&thread_self, &guard);
	range_step(process_range, process.pid, clock_now(), &process.nvtx_inside, step);
	thread_guard_leave(&thread_self, &guard);
	if (step < 0)
		range_await_kill(process_range);
	errno = error;
}

/* In the syntax of --nvtx-capture. */
static void add_escaped(struct text *t, const char *text)
{
	for (; *text; text++) {
		if (*text == '@' || *text == '\\')
			text_char(t, '\\');
		text_char(t, *text);
	}
}

/* The first few ranges that did not match are recorded, so that a misspelling shows. */
static void record_unmatched(const struct nvtx_domain *d, const char *text)
{
	static uint64_t seen[SEEN], generation;
	char name[512];
	struct text t = text_init(name, sizeof(name));
	struct thread_guard guard;
	uint64_t hash;

	if (process_range->begun || !hook_attached())
		return;
	if (generation != process.generation) {
		memset(seen, 0, sizeof(seen));
		generation = process.generation;
	}
	add_escaped(&t, text);
	if (d) {
		text_char(&t, '@');
		add_escaped(&t, d->name);
	}
	hash = intern_hash(6, name, strlen(name));
	for (int i = 0; i < SEEN; i++) {
		uint64_t none = 0;

		if (__atomic_load_n(&seen[i], __ATOMIC_RELAXED) == hash)
			return;
		if (!seen[i] && __atomic_compare_exchange_n(&seen[i], &none, hash, false, __ATOMIC_RELAXED,
							    __ATOMIC_RELAXED)) {
			thread_guard_enter(&thread_self, &guard);
			process_seen(name);
			thread_guard_leave(&thread_self, &guard);
			return;
		}
	}
}

static bool is_match(const struct nvtx_domain *d, int type, const void *message)
{
	char bytes[EVENT_TEXT + 1];
	const char *text = "";

	if (message && type == NVTX_ASCII)
		text = message;
	else if (message && type == NVTX_UNICODE)
		text = nvtx_text_narrow(bytes, message);
	else if (message && type == NVTX_REGISTERED)
		text = ((const struct nvtx_string *)message)->text;
	if (!strcmp(text, capture_range) && (is_any_domain || !strcmp(d ? d->name : "", capture_domain)))
		return true;
	record_unmatched(d, text);
	return false;
}

void nvtx_watch_push(struct nvtx_domain *d, int type, const void *message)
{
	if (pushed.generation != process.generation) {
		pushed.count = 0;
		pushed.generation = process.generation;
	}
	if (is_match(d, type, message) && pushed.count < MATCHES) {
		pushed.matches[pushed.count].domain = d;
		pushed.matches[pushed.count++].above = 0;
		step_capture_range(1);
		return;
	}
	for (uint32_t i = pushed.count; i-- > 0;)
		if (pushed.matches[i].domain == d) {
			pushed.matches[i].above++;
			return;
		}
}

void nvtx_watch_pop(struct nvtx_domain *d)
{
	uint32_t i = pushed.generation == process.generation ? pushed.count : 0;

	while (i > 0 && pushed.matches[i - 1].domain != d)
		i--;
	if (!i || pushed.matches[i - 1].above--)
		return;
	for (pushed.count--; i <= pushed.count; i++)
		pushed.matches[i - 1] = pushed.matches[i];
	step_capture_range(-1);
}

static uint64_t started_key(uint64_t id)
{
	return id << 16 | (uint16_t)process.generation;
}

void nvtx_watch_start(struct nvtx_domain *d, int type, const void *message, uint64_t id)
{
	if (!is_match(d, type, message))
		return;
	step_capture_range(1);
	for (int i = 0; i < OPEN; i++) {
		uint64_t before = __atomic_load_n(&started[i], __ATOMIC_RELAXED);

		if ((!before || (uint16_t)before != (uint16_t)process.generation) &&
		    __atomic_compare_exchange_n(&started[i], &before, started_key(id), false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return;
	}
	step_capture_range(-1); /* more at once than there is room for: treated as if it had not matched */
}

void nvtx_watch_end(uint64_t id)
{
	for (int i = 0; id && i < OPEN; i++) {
		uint64_t known = started_key(id);

		if (__atomic_compare_exchange_n(&started[i], &known, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			step_capture_range(-1);
			return;
		}
	}
}
