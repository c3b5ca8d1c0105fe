/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX within the tool: what its parts, one per file, know of each other. Any thread, signal handlers too; nothing locks or
 * allocates. What a program names (domains, strings, categories, schemas) it names once, maybe before the capture range
 * opens or in the parent of a fork: it is kept in memory that outlives a fork, and goes into an image's trace when an event
 * first refers to it. */
#ifndef PILLION_NVTX_TOOL_H
#define PILLION_NVTX_TOOL_H

#include <string.h>
#include <wchar.h>

#include "preload/hook/call.h"
#include "preload/nvtx/nvtx.h"

struct nvtx_domain {
	uint64_t written; /* generation of the image that has its name */
	uint32_t number, length;
	bool is_off; /* --nvtx-domain-include, -exclude: nothing of it is recorded */
	char name[];
};

struct nvtx_string {
	uint64_t known; /* generation << 32 | id in that image */
	uint32_t length;
	char text[];
};

/* ---- nvtx_text.c: texts to ids of the trace, 0 where there is no room ---- */

/* Texts that came twice from one address, by that address: comparing one is cheaper than hashing it. They are never
 * changed, so a look at one that is being replaced is no harm. */
struct nvtx_recent {
	struct nvtx_string *string;
	uint32_t last;
};
extern struct nvtx_recent nvtx_recent[256] __attribute__((visibility("hidden")));

uint32_t nvtx_text_learn(unsigned place, const char *text);
uint32_t nvtx_text_wide(const wchar_t *text);
uint32_t nvtx_text_intern(const struct nvtx_string *s); /* what registered ids are made of; NULL: the empty text */

static inline uint32_t nvtx_text_registered(struct nvtx_string *s)
{
	uint64_t known = s ? __atomic_load_n(&s->known, __ATOMIC_RELAXED) : 0;
	uint32_t id;

	if (s && known >> 32 == (uint32_t)process.generation)
		return (uint32_t)known;
	id = nvtx_text_intern(s);
	if (s && id)
		__atomic_store_n(&s->known, process.generation << 32 | id, __ATOMIC_RELAXED);
	return id;
}

static inline uint32_t nvtx_text(const char *text)
{
	unsigned place = (unsigned)((uintptr_t)text * 0x9e3779b97f4a7c15ull >> 56);
	struct nvtx_string *s = __atomic_load_n(&nvtx_recent[place].string, __ATOMIC_ACQUIRE);

	return text && s && !strcmp(text, s->text) ? nvtx_text_registered(s) : nvtx_text_learn(place, text);
}

/* Bytes of a text as far as it is kept: one that is too long is cut between characters. NULL has none. */
size_t nvtx_text_length(const char *text);
/* wchar_t to UTF-8; `ret` has room for EVENT_TEXT + 1 bytes, and is returned. */
const char *nvtx_text_narrow(char *ret, const wchar_t *text);
/* The one struct of a text, made at its first use; NULL: out of memory. */
struct nvtx_string *nvtx_text_string(const char *text, size_t length);

/* A line for the ledger, of which one is enough in each image: `noted` is the last one that has it. */
void nvtx_note_once(uint64_t *noted, const char *text);

/* ---- nvtx_name.c: what names stand for ---- */

/* One entry for each name of a kind. NULL: out of memory. */
struct table_entry *nvtx_entry(uint64_t kind, const void *text, size_t length);

/* The domain's number, 0 for NULL, the default one; the trace has its name from then on. */
void nvtx_domain_write(struct nvtx_domain *d);

static inline uint32_t nvtx_domain_number(struct nvtx_domain *d)
{
	if (!d)
		return 0;
	if (__builtin_expect(d->written != process.generation, 0))
		nvtx_domain_write(d);
	return d->number;
}

/* Keeps a definition, `bytes` being a struct tf_nvtx and what follows it: nvtx_definitions() writes it into each image. Returns
 * a number that no other one has, 0: out of memory, or too long. */
uint32_t nvtx_define(struct nvtx_domain *d, const void *bytes, size_t size);

/* Pushes of `text` are calls of that Python function. */
void nvtx_name_function(struct nvtx_domain *d, const char *text, const char *name, const char *file, unsigned first_line);

struct nvtx_definition;
extern struct nvtx_definition *nvtx_defined __attribute__((visibility("hidden"))); /* the newest */
extern struct nvtx_definition *nvtx_written __attribute__((visibility("hidden"))); /* the newest that the trace has */
extern uint64_t nvtx_written_generation __attribute__((visibility("hidden")));
void nvtx_definitions_write(void);

/* Before an event that refers to one. */
static inline void nvtx_definitions(void)
{
	if (nvtx_written_generation != process.generation || nvtx_written != __atomic_load_n(&nvtx_defined, __ATOMIC_RELAXED))
		nvtx_definitions_write();
}

/* ---- nvtx_filter.c: which domains, and the range of -c nvtx ---- */

/* Once, before the program can have changed its environment. */
void nvtx_filter_init(void);
bool nvtx_filter_excludes(const char *domain); /* NULL: the default one */

extern bool nvtx_default_is_off __attribute__((visibility("hidden")));
extern bool nvtx_is_watched __attribute__((visibility("hidden"))); /* -c nvtx: */

/* Each push and start, before it is recorded, and each pop and end, after it, whether recorded or not: the range that
 * --nvtx-capture names opens the capture range, and its end closes it. */
void nvtx_watch_push(struct nvtx_domain *d, int message_type, const void *message);
void nvtx_watch_pop(struct nvtx_domain *d);
void nvtx_watch_start(struct nvtx_domain *d, int message_type, const void *message, uint64_t id);
void nvtx_watch_end(uint64_t id);

/* Is an event of this domain wanted? What recording costs where it is off. */
static inline bool nvtx_wanted(const struct nvtx_domain *d)
{
	return event_enabled(TF_GROUP_NVTX) && !(d ? d->is_off : nvtx_default_is_off) && hook_attached();
}

/* ---- nvtx_event.c: with payloads instead of attributes ---- */

int nvtx_event_push(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count);
int nvtx_event_pop(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count);
void nvtx_event_mark(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count);
uint64_t nvtx_event_start(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count);
void nvtx_event_end(struct nvtx_domain *d, uint64_t id, const struct nvtx_payload *payloads, size_t count);

/* ---- nvtx_payload.c, nvtx_counter.c: the extensions ---- */

/* Writes the payloads of an event that is to follow, and what they refer to. Their id, 0: nothing to keep. */
uint32_t nvtx_payload(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count);
/* The one among them that is the event's message: enum nvtx_message, 0: none. */
int nvtx_payload_message(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count, const void **ret_message);
void nvtx_payload_fill(struct nvtx_extension_module *module);
void nvtx_counter_fill(struct nvtx_extension_module *module);

/* ---- tables of each part: which of NVTX's slots it fills ---- */

struct nvtx_slot {
	uint8_t module, slot;
	void (*function)(void);
};
#define NVTX_SLOT(module, slot, function) {NVTX_##module, NVTX_##slot, (void (*)(void))(function)}
extern const struct nvtx_slot nvtx_event_slots[] __attribute__((visibility("hidden")));
extern const struct nvtx_slot nvtx_name_slots[] __attribute__((visibility("hidden")));
extern const size_t nvtx_event_slot_count __attribute__((visibility("hidden")));
extern const size_t nvtx_name_slot_count __attribute__((visibility("hidden")));

#endif
