/* SPDX-License-Identifier: Apache-2.0 */
/* From texts of NVTX, plain, wide and registered, to string ids of the trace. */
#include "preload/nvtx/nvtx_tool.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/hot.h"

#include "runtime/recorder/record/names.h"
#include "runtime/recorder/record/profile/profile_range.h"

enum { STRING_IDS = 1 << 24 };

LARGE struct nvtx_recent nvtx_recent[256];
static struct intern_table named; /* hash of a name -> its struct */

struct intern_entry *nvtx_text_entry(uint64_t kind, const void *text, size_t length)
{
	uint32_t number;
	bool is_new;

	return intern_add(&named, intern_hash(kind, text, length), &number, &is_new);
}

void nvtx_note_once(uint64_t *noted, const char *text)
{
	struct thread_guard guard;

	if (!hook_attached() || __atomic_exchange_n(noted, process.generation, __ATOMIC_RELAXED) == process.generation)
		return;
	thread_guard_enter(&thread_self, &guard);
	process_note(text);
	thread_guard_leave(&thread_self, &guard);
}

static uint32_t string_id(uint32_t id)
{
	static uint64_t noted;

	if (__builtin_expect(id < STRING_IDS, 1))
		return id;
	nvtx_note_once(&noted, "more than 16 million different NVTX texts: the others have no name");
	return 0;
}

size_t nvtx_text_length(const char *text)
{
	size_t length = text ? strnlen(text, EVENT_TEXT) : 0;

	if (__builtin_expect(length == EVENT_TEXT, 0)) {
		while (length > EVENT_TEXT - 4 && (text[length] & 0xc0) == 0x80)
			length--;
	}
	return length;
}

static uint32_t define_text(const char *text, size_t length)
{
	return string_id(__builtin_expect(process_options.mode == MODE_PROFILE, 0)
				 ? profile_text(text, length)
				 : event_intern(TF_BLOB_STRING, text, length));
}

static uint32_t intern_text(const char *text)
{
	return define_text(text ? text : "", nvtx_text_length(text));
}

const char *nvtx_text_narrow(char *ret, const wchar_t *text)
{
	char *at = ret, *end = ret + EVENT_TEXT - 4;

	for (; text && *text && at <= end; text++) {
		uint32_t c = (uint32_t)*text;

		if (c > 0x10ffff || (c & ~0x7ffu) == 0xd800)
			c = 0xfffd;
		if (c < 0x80) {
			*at++ = (char)c;
			continue;
		}
		if (c < 0x800) {
			*at++ = (char)(0xc0 | c >> 6);
		} else {
			if (c < 0x10000) {
				*at++ = (char)(0xe0 | c >> 12);
			} else {
				*at++ = (char)(0xf0 | c >> 18);
				*at++ = (char)(0x80 | (c >> 12 & 0x3f));
			}
			*at++ = (char)(0x80 | (c >> 6 & 0x3f));
		}
		*at++ = (char)(0x80 | (c & 0x3f));
	}
	*at = '\0';
	return ret;
}

__attribute__((noinline)) uint32_t nvtx_text_intern(const struct nvtx_string *s)
{
	return s ? define_text(s->text, s->length) : intern_text(NULL);
}

struct nvtx_string *nvtx_text_string(const char *text, size_t length)
{
	struct intern_entry *e = nvtx_text_entry(1, text, length);
	struct nvtx_string *s = e ? (struct nvtx_string *)__atomic_load_n(&e->value, __ATOMIC_ACQUIRE) : NULL;

	if (!s && (s = names_take(sizeof(*s) + length + 1))) {
		s->length = (uint32_t)length;
		memcpy(s->text, text, length);
		if (e)
			__atomic_store_n(&e->value, (uint64_t)s, __ATOMIC_RELEASE);
	}
	return s;
}

__attribute__((noinline)) uint32_t nvtx_text_learn(unsigned place, const char *text)
{
	uint32_t id = intern_text(text), last = __atomic_exchange_n(&nvtx_recent[place].last, id, __ATOMIC_RELAXED);

	if (text && id && id == last) {
		size_t length = nvtx_text_length(text);

		if (!text[length])
			__atomic_store_n(&nvtx_recent[place].string, nvtx_text_string(text, length), __ATOMIC_RELEASE);
	}
	return id;
}

__attribute__((noinline)) uint32_t nvtx_text_wide(const wchar_t *text)
{
	char bytes[EVENT_TEXT + 1];

	return intern_text(nvtx_text_narrow(bytes, text));
}
