/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX in the recorder: the interfaces between its parts, one per file. Any thread, also signal handlers; no function
 * takes a lock or calls malloc.
 *
 * A program names domains, strings, categories and schemas once, possibly before the capture range opens or in the
 * parent of a fork. They are therefore kept in memory that is inherited by forked children, and written to an image's
 * trace when an event first refers to them. */
#pragma once

#include <string.h>
#include <wchar.h>

#include "preload/hook/call.h"
#include "preload/nvtx/nvtx.h"

struct nvtx_domain {
	uint64_t written; /* generation of the image that has its name */
	uint32_t number, length;
	bool is_off; /* excluded by --nvtx-domain-include or -exclude */
	char name[];
};

struct nvtx_string {
	uint64_t known; /* process.defined_in << 24 | id */
	uint32_t length;
	char text[];
};

/* ---- nvtx_text.c: texts to ids of the trace, 0 where there is no room ---- */

/* Texts that were passed twice from one address, by that address: comparing a text is cheaper than hashing it. They
 * are never changed, so reading one that is being replaced does no harm. */
struct nvtx_recent {
	struct nvtx_string *string;
	uint32_t last;
};
extern struct nvtx_recent nvtx_recent[256] __attribute__((visibility("hidden")));

uint32_t nvtx_text_learn(unsigned place, const char *text);
uint32_t nvtx_text_wide(const wchar_t *text);
uint32_t nvtx_text_intern(const struct nvtx_string *s); /* the id of a registered string; NULL: of the empty text */

static inline uint32_t nvtx_text_registered(struct nvtx_string *s)
{
	uint64_t known = s ? __atomic_load_n(&s->known, __ATOMIC_RELAXED) : 0, defined_in;
	uint32_t id;

	if (s && known >> 24 == process.defined_in << 24 >> 24)
		return known & 0xffffff;
	defined_in = __atomic_load_n(&process.defined_in, __ATOMIC_ACQUIRE);
	id = nvtx_text_intern(s);
	if (s && id)
		__atomic_store_n(&s->known, defined_in << 24 | id, __ATOMIC_RELAXED);
	return id;
}

static inline uint32_t nvtx_text(const char *text)
{
	unsigned place = (unsigned)((uintptr_t)text * 0x9e3779b97f4a7c15ull >> 56);
	struct nvtx_string *s = __atomic_load_n(&nvtx_recent[place].string, __ATOMIC_ACQUIRE);

	return text && s && !strcmp(text, s->text) ? nvtx_text_registered(s) : nvtx_text_learn(place, text);
}

/* One entry for each name of a kind. NULL: out of memory. */
struct intern_entry *nvtx_text_entry(uint64_t kind, const void *text, size_t length);

/* The number of bytes of a text that are kept: a long text is cut between characters. NULL has 0. */
size_t nvtx_text_length(const char *text);
/* wchar_t to UTF-8; `ret` has room for EVENT_TEXT + 1 bytes, and is returned. */
const char *nvtx_text_narrow(char *ret, const wchar_t *text);
/* The string of this text, created at its first use; NULL: out of memory. */
struct nvtx_string *nvtx_text_string(const char *text, size_t length);

/* Adds a note to the ledger, once per image; `noted` is the generation of the last image that has it. */
void nvtx_note_once(uint64_t *noted, const char *text);

/* ---- nvtx_name.c: domains and definitions ---- */

/* The domain of this name. NULL: out of memory. */
struct nvtx_domain *nvtx_domain(const char *name);

/* Writes the domain's name into this image's trace. */
void nvtx_domain_write(struct nvtx_domain *d);

/* The domain's number, for an event; 0 for NULL, the default domain. */
static inline uint32_t nvtx_domain_number(struct nvtx_domain *d)
{
	if (!d)
		return 0;
	if (__builtin_expect(d->written != process.generation, 0))
		nvtx_domain_write(d);
	return d->number;
}

/* Keeps a definition, a struct tf_nvtx and what follows it; nvtx_definitions() writes it into each image's trace.
 * Returns its unique number; 0: out of memory, or too long. */
uint32_t nvtx_define(struct nvtx_domain *d, const void *bytes, size_t size);

/* A push of `text` is a call of that Python function. */
void nvtx_name_function(struct nvtx_domain *d, const char *text, const char *name, const char *file,
			unsigned first_line);

struct name_definition;
extern struct name_definition *nvtx_defined __attribute__((visibility("hidden"))); /* the last one defined */
extern struct name_definition *nvtx_written __attribute__((visibility("hidden"))); /* the last one written */
extern uint64_t nvtx_written_generation __attribute__((visibility("hidden")));
void nvtx_definitions_write(void);

/* Before an event that refers to a definition: writes those that the trace does not have. */
static inline void nvtx_definitions(void)
{
	if (nvtx_written_generation != process.generation || nvtx_written != __atomic_load_n(&nvtx_defined,
											     __ATOMIC_RELAXED))
		nvtx_definitions_write();
}

/* ---- nvtx_filter.c: which domains, and the range of -c nvtx ---- */

/* Once, before the program can change its environment. */
/* Before it, because the code and the variables of the filter cost a process four page faults. */
static inline bool nvtx_filter_is_needed(void)
{
	return process_options.nvtx_domain_include || process_options.nvtx_domain_exclude ||
	       process_options.capture_range == CAPTURE_NVTX;
}
void nvtx_filter_init(void);
bool nvtx_filter_excludes(const char *domain); /* NULL: the default one */

extern bool nvtx_default_is_off __attribute__((visibility("hidden")));
extern bool nvtx_is_watched __attribute__((visibility("hidden"))); /* -c nvtx */

/* If nvtx_is_watched, called for each push and start before it is recorded and for each pop and end after that, also
 * for those that are not recorded. The range that --nvtx-capture names opens the capture range, and its end closes
 * it. */
void nvtx_watch_push(struct nvtx_domain *d, int message_type, const void *message);
void nvtx_watch_pop(struct nvtx_domain *d);
void nvtx_watch_start(struct nvtx_domain *d, int message_type, const void *message, uint64_t id);
void nvtx_watch_end(uint64_t id);

/* Whether events of this domain are recorded. This is the whole cost of an event that is not. */
static inline bool nvtx_wanted(const struct nvtx_domain *d)
{
	return event_enabled(TF_GROUP_NVTX) && !(d ? d->is_off : nvtx_default_is_off) && hook_attached();
}

/* ---- nvtx_event.c ---- */

/* As nvtxDomainRangePushEx(), -Pop(), -StartEx() and -End(). The domain NULL is the default one. */
int nvtx_push(struct nvtx_domain *d, const struct nvtx_attributes *a);
int nvtx_pop(struct nvtx_domain *d);
uint64_t nvtx_start(struct nvtx_domain *d, const struct nvtx_attributes *a);
void nvtx_end(struct nvtx_domain *d, uint64_t id);

/* Events with payloads instead of attributes. */
int nvtx_event_push(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count);
int nvtx_event_pop(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count);
void nvtx_event_mark(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count);
uint64_t nvtx_event_start(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count);
void nvtx_event_end(struct nvtx_domain *d, uint64_t id, const struct nvtx_payload *payloads, size_t count);

/* ---- nvtx_payload.c, nvtx_counter.c: the extensions ---- */

/* Writes the payloads of the next event and what they refer to. Returns their id; 0: nothing was written. */
uint32_t nvtx_payload(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count);
/* Finds the event's message among them. Returns an enum nvtx_message; 0: none. */
int nvtx_payload_message(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count,
			 const void **ret_message);
void nvtx_counter_fill(struct nvtx_extension_module *module);

/* ---- nvtx.c ---- */

/* Whether anything is recorded. If not, NVTX must find no tool, so that its calls report this to the program. */
bool nvtx_is_tool(void);

/* ---- the slots of NVTX's tables that each part fills ---- */

struct nvtx_slot {
	uint8_t module, slot;
	void (*function)(void);
};
#define NVTX_SLOT(module, slot, function) {NVTX_##module, NVTX_##slot, (void (*)(void))(function)}
extern const struct nvtx_slot nvtx_event_slots[] __attribute__((visibility("hidden")));
extern const struct nvtx_slot nvtx_name_slots[] __attribute__((visibility("hidden")));
extern const size_t nvtx_event_slot_count __attribute__((visibility("hidden")));
extern const size_t nvtx_name_slot_count __attribute__((visibility("hidden")));
