/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX: the tool's side. Each copy of NVTX in a process (every library may hold one) has its tables filled with the same
 * functions, so all of them share domains, strings and depths.
 *
 * What a program names (domains, strings, categories) it names once, maybe before the capture range opens or in the parent
 * of a fork; it is kept here, and goes into an image's trace when an event first refers to it. */
#include "nvtx.h"

#include <string.h>
#include <wchar.h>

#include "../runtime/event.h"
#include "../runtime/sys.h"
#include "hook.h"
#include "names.h"

enum { DOMAINS = 2048, DEPTHS = 32, STRING_IDS = 1 << 24, CATEGORIES = 1 << 16 };

struct domain {
	uint64_t written; /* generation of the image that has its name */
	uint32_t number, length;
	char name[];
};

struct string {
	uint64_t known; /* generation << 32 | id in that image */
	uint32_t length;
	char text[];
};

struct category {
	struct category *next;
	uint32_t number, length;
	struct domain *domain;
	char name[];
};

static struct table named; /* hash of a name -> its struct */
static uint32_t domains;
static uint64_t ranges;
static struct category *categories;		 /* the newest first */
static struct category *categories_written;	 /* up to this one in the image of this generation: */
static uint64_t categories_generation;
static __thread int depths[DEPTHS]; /* by domain */

static inline bool is_wanted(void)
{
	return event_wanted(TF_GROUP_NVTX) && event_enter();
}

/* ---- texts ---- */

static void note_once(bool *is_noted, const char *text)
{
	struct thread_guard guard;

	if (__atomic_exchange_n(is_noted, true, __ATOMIC_RELAXED))
		return;
	thread_guard_enter(&thread_self, &guard);
	process_note(text);
	thread_guard_leave(&thread_self, &guard);
}

static uint32_t fitting(uint32_t id)
{
	static bool is_noted;

	if (__builtin_expect(id < STRING_IDS, 1))
		return id;
	note_once(&is_noted, "more than 16 million different NVTX texts: the rest is nameless");
	return 0;
}

/* A text that is too long is cut between characters. */
static size_t length_of(const char *text)
{
	size_t length = strnlen(text, EVENT_TEXT);

	if (__builtin_expect(length == EVENT_TEXT, 0)) {
		while (length > EVENT_TEXT - 4 && (text[length] & 0xc0) == 0x80)
			length--;
	}
	return length;
}

static uint32_t intern(const char *text)
{
	return text ? fitting(event_intern(TF_BLOB_STRING, text, length_of(text))) : event_intern(TF_BLOB_STRING, "", 0);
}

/* wchar_t to UTF-8, at most EVENT_TEXT bytes and a NUL. */
static const char *narrow(char *ret, const wchar_t *text)
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

static uint32_t registered_id(struct string *s)
{
	uint64_t known = s ? __atomic_load_n(&s->known, __ATOMIC_RELAXED) : 0;
	uint32_t id;

	if (!s)
		return intern(NULL);
	if (known >> 32 == (uint32_t)process.generation)
		return (uint32_t)known;
	id = fitting(event_intern(TF_BLOB_STRING, s->text, s->length));
	if (id)
		__atomic_store_n(&s->known, process.generation << 32 | id, __ATOMIC_RELAXED);
	return id;
}

/* Texts that came twice from one address, by that address: comparing one is cheaper than hashing it. They are never
 * changed, so a look at one that is being replaced is no harm. */
static struct {
	struct string *string;
	uint32_t last;
} recent[256];

static struct string *string_of(const char *text, size_t length);

__attribute__((noinline)) static uint32_t learn(unsigned place, const char *text)
{
	uint32_t id = intern(text), last = __atomic_exchange_n(&recent[place].last, id, __ATOMIC_RELAXED);

	if (text && id && id == last) {
		size_t length = length_of(text);

		if (!text[length])
			__atomic_store_n(&recent[place].string, string_of(text, length), __ATOMIC_RELEASE);
	}
	return id;
}

static inline uint32_t text_id(const char *text)
{
	unsigned place = (unsigned)((uintptr_t)text * 0x9e3779b97f4a7c15ull >> 56);
	struct string *s = __atomic_load_n(&recent[place].string, __ATOMIC_ACQUIRE);

	return text && s && !strcmp(text, s->text) ? registered_id(s) : learn(place, text);
}

__attribute__((noinline)) static uint32_t wide_id(const wchar_t *text)
{
	char bytes[EVENT_TEXT + 1];

	return intern(narrow(bytes, text));
}

static uint32_t message_id(const struct nvtx_attributes *a)
{
	switch (a ? a->message_type : 0) {
	case NVTX_ASCII:
		return text_id(a->message);
	case NVTX_UNICODE:
		return wide_id(a->message);
	case NVTX_REGISTERED:
		return registered_id((struct string *)a->message);
	}
	return intern(NULL);
}

/* ---- what names stand for ---- */

static uint32_t number_of(struct domain *d)
{
	if (!d)
		return 0;
	if (__builtin_expect(d->written != process.generation, 0)) {
		d->written = process.generation;
		if (d->number)
			event_blob(TF_BLOB_DOMAIN, d->number, d->name, d->length);
	}
	return d->number;
}

static void write_category(const struct category *c)
{
	struct {
		uint32_t domain;
		char name[EVENT_TEXT];
	} blob = {.domain = number_of(c->domain)};

	memcpy(blob.name, c->name, c->length);
	event_blob(TF_BLOB_CATEGORY, c->number, &blob, sizeof(blob.domain) + c->length);
}

/* Two threads may write the same ones: a definition twice is no harm. */
__attribute__((noinline)) static void write_categories(void)
{
	struct category *first = __atomic_load_n(&categories, __ATOMIC_ACQUIRE);
	struct category *end = categories_generation == process.generation ? categories_written : NULL;

	for (struct category *c = first; c != end; c = c->next)
		write_category(c);
	categories_written = first;
	categories_generation = process.generation;
}

/* Fills in `args`, returns how many. */
static unsigned describe(const struct nvtx_attributes *a, uint64_t *args)
{
	uint32_t color, category;
	unsigned n = 0;

	if (!a)
		return 0;
	color = a->color_type == NVTX_ARGB ? a->color : 0;
	category = a->category < CATEGORIES ? a->category : 0;
	if (category && (categories_generation != process.generation || categories_written != __atomic_load_n(&categories, __ATOMIC_RELAXED)))
		write_categories();
	if (color || category)
		args[n++] = tf_arg(TF_ARG_COLOR, 0, color | (uint64_t)category << 32);
	if (a->payload_type) {
		args[n++] = tf_arg(TF_ARG_PAYLOAD, (unsigned)a->payload_type, a->payload);
		if (a->payload >> 48)
			args[n++] = tf_arg(TF_ARG_PAYLOAD_HIGH, 0, a->payload >> 48);
	}
	return n;
}

/* ---- events ---- */

/* Depths beyond the first few domains are not kept: those get the default one's. */
static int deeper(uint32_t domain)
{
	return domain < DEPTHS ? depths[domain]++ : depths[0];
}

static int shallower(uint32_t domain)
{
	if (domain >= DEPTHS)
		return depths[0];
	return depths[domain] > 0 ? --depths[domain] : -1;
}

static uint32_t plain_number(const struct domain *d)
{
	return d ? d->number : 0;
}

static int push_id(struct domain *d, uint32_t id, const struct nvtx_attributes *a)
{
	uint64_t args[EVENT_ARGS];
	unsigned n = describe(a, args);

	event_instant(TF_PUSH, number_of(d), id, args, n);
	return deeper(plain_number(d));
}

static int push(const char *text)
{
	if (!is_wanted())
		return deeper(0);
	event_instant(TF_PUSH, 0, text_id(text), NULL, 0);
	return deeper(0);
}

static int push_wide(const wchar_t *text)
{
	return is_wanted() ? push_id(NULL, wide_id(text), NULL) : deeper(0);
}

static int domain_push(struct domain *d, const struct nvtx_attributes *a)
{
	return is_wanted() ? push_id(d, message_id(a), a) : deeper(plain_number(d));
}

static int push_attributes(const struct nvtx_attributes *a)
{
	return domain_push(NULL, a);
}

static int domain_pop(struct domain *d)
{
	if (is_wanted())
		event_instant(TF_POP, number_of(d), 0, NULL, 0);
	return shallower(plain_number(d));
}

static int pop(void)
{
	return domain_pop(NULL);
}

static void mark_id(struct domain *d, uint32_t id, const struct nvtx_attributes *a)
{
	uint64_t args[EVENT_ARGS];
	unsigned n = describe(a, args);

	event_instant(TF_MARK, number_of(d), id, args, n);
}

static void mark(const char *text)
{
	if (is_wanted())
		mark_id(NULL, text_id(text), NULL);
}

static void mark_wide(const wchar_t *text)
{
	if (is_wanted())
		mark_id(NULL, wide_id(text), NULL);
}

static void domain_mark(struct domain *d, const struct nvtx_attributes *a)
{
	if (is_wanted())
		mark_id(d, message_id(a), a);
}

static void mark_attributes(const struct nvtx_attributes *a)
{
	domain_mark(NULL, a);
}

/* Also ranges that are not recorded have an id of their own; those of a forked child go on from its parent's. */
static uint64_t range_id(void)
{
	return __atomic_add_fetch(&ranges, 1, __ATOMIC_RELAXED);
}

static uint64_t start_id(struct domain *d, uint32_t text, const struct nvtx_attributes *a)
{
	uint64_t args[EVENT_ARGS], id = range_id();
	unsigned n = describe(a, args + 1);

	args[0] = tf_arg(TF_ARG_VALUE, 0, id);
	event_instant(TF_RANGE_START, number_of(d), text, args, 1 + n);
	return id;
}

static uint64_t start(const char *text)
{
	return is_wanted() ? start_id(NULL, text_id(text), NULL) : range_id();
}

static uint64_t start_wide(const wchar_t *text)
{
	return is_wanted() ? start_id(NULL, wide_id(text), NULL) : range_id();
}

static uint64_t domain_start(struct domain *d, const struct nvtx_attributes *a)
{
	return is_wanted() ? start_id(d, message_id(a), a) : range_id();
}

static uint64_t start_attributes(const struct nvtx_attributes *a)
{
	return domain_start(NULL, a);
}

static void domain_end(struct domain *d, uint64_t id)
{
	if (is_wanted())
		event_instant(TF_RANGE_END, number_of(d), 0, (uint64_t[]){tf_arg(TF_ARG_VALUE, 0, id)}, 1);
}

static void end(uint64_t id)
{
	domain_end(NULL, id);
}

/* ---- naming ---- */

/* One struct for each name of a kind, made at its first use. */
static struct table_entry *named_entry(uint64_t kind, const char *text, size_t length)
{
	uint32_t number;
	bool is_new;

	return table_add(&named, table_hash(kind, text, length), &number, &is_new);
}

static struct string *string_of(const char *text, size_t length)
{
	struct table_entry *e = named_entry(1, text, length);
	struct string *s = e ? (struct string *)__atomic_load_n(&e->value, __ATOMIC_ACQUIRE) : NULL;

	if (!s && (s = names_take(sizeof(*s) + length + 1))) {
		s->length = (uint32_t)length;
		memcpy(s->text, text, length);
		if (e)
			__atomic_store_n(&e->value, (uint64_t)s, __ATOMIC_RELEASE);
	}
	return s;
}

static struct string *domain_register(struct domain *d, const char *text)
{
	return string_of(text ? text : "", length_of(text ? text : ""));
}

static struct string *domain_register_wide(struct domain *d, const wchar_t *text)
{
	char bytes[EVENT_TEXT + 1];

	return domain_register(d, narrow(bytes, text));
}

static uint32_t next_domain(void)
{
	static bool is_noted;
	uint32_t number = __atomic_add_fetch(&domains, 1, __ATOMIC_RELAXED);

	if (number < DOMAINS)
		return number;
	note_once(&is_noted, "more than 2047 NVTX domains: the rest counts as the default one");
	return 0;
}

/* A domain made twice, as when every source file has its own handle, is one. */
static struct domain *domain_create(const char *name)
{
	size_t length = length_of(name ? name : "");
	struct table_entry *e = named_entry(2, name, length);
	struct domain *d = e ? (struct domain *)__atomic_load_n(&e->value, __ATOMIC_ACQUIRE) : NULL;

	if (!d && (d = names_take(sizeof(*d) + length))) {
		d->number = next_domain();
		d->length = (uint32_t)length;
		memcpy(d->name, name ? name : "", length);
		if (e)
			__atomic_store_n(&e->value, (uint64_t)d, __ATOMIC_RELEASE);
	}
	return d;
}

static struct domain *domain_create_wide(const wchar_t *name)
{
	char bytes[EVENT_TEXT + 1];

	return domain_create(narrow(bytes, name));
}

/* Its ranges may still be open, and its name may be created anew. */
static void domain_destroy(struct domain *d)
{
}

static void domain_name_category(struct domain *d, uint32_t number, const char *name)
{
	size_t length = length_of(name ? name : "");
	struct table_entry *e = named_entry((uint64_t)number << 13 ^ (uintptr_t)d ^ 3, name, length);
	struct category *c;

	if (!number || number >= CATEGORIES || !e || e->value || !(c = names_take(sizeof(*c) + length)))
		return;
	c->number = number;
	c->domain = d;
	c->length = (uint32_t)length;
	memcpy(c->name, name ? name : "", length);
	__atomic_store_n(&e->value, (uint64_t)c, __ATOMIC_RELEASE);
	c->next = __atomic_load_n(&categories, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&categories, &c->next, c, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static void domain_name_category_wide(struct domain *d, uint32_t number, const wchar_t *name)
{
	char bytes[EVENT_TEXT + 1];

	domain_name_category(d, number, narrow(bytes, name));
}

static void name_category(uint32_t number, const char *name)
{
	domain_name_category(NULL, number, name);
}

static void name_category_wide(uint32_t number, const wchar_t *name)
{
	domain_name_category_wide(NULL, number, name);
}

/* Threads are named when they begin, mostly before a capture range opens; so the range does not matter here. */
static void name_thread(uint32_t tid, const char *name)
{
	static bool is_noted;

	if (!name || !(process_gate.groups & 1u << TF_GROUP_NVTX) || !event_enter())
		return;
	if ((long)tid == sys_call(SYS_gettid, 0, 0, 0, 0))
		event_blob(TF_BLOB_THREAD_NAME, 0, name, length_of(name));
	else
		note_once(&is_noted, "nvtxNameOsThread names another thread than its caller: not kept");
}

static void name_thread_wide(uint32_t tid, const wchar_t *name)
{
	char bytes[EVENT_TEXT + 1];

	name_thread(tid, narrow(bytes, name));
}

static void initialize(const void *unused)
{
}

/* ---- the tables ---- */

#define ENTRY(module, slot, function) {NVTX_##module, NVTX_##slot, (void (*)(void))(function)}
static const struct entry {
	uint8_t module, slot;
	void (*function)(void);
} entries[] = {
	ENTRY(CORE, MARK_EX, mark_attributes),
	ENTRY(CORE, MARK_A, mark),
	ENTRY(CORE, MARK_W, mark_wide),
	ENTRY(CORE, START_EX, start_attributes),
	ENTRY(CORE, START_A, start),
	ENTRY(CORE, START_W, start_wide),
	ENTRY(CORE, END, end),
	ENTRY(CORE, PUSH_EX, push_attributes),
	ENTRY(CORE, PUSH_A, push),
	ENTRY(CORE, PUSH_W, push_wide),
	ENTRY(CORE, POP, pop),
	ENTRY(CORE, NAME_CATEGORY_A, name_category),
	ENTRY(CORE, NAME_CATEGORY_W, name_category_wide),
	ENTRY(CORE, NAME_THREAD_A, name_thread),
	ENTRY(CORE, NAME_THREAD_W, name_thread_wide),
	ENTRY(CORE2, DOMAIN_MARK_EX, domain_mark),
	ENTRY(CORE2, DOMAIN_START_EX, domain_start),
	ENTRY(CORE2, DOMAIN_END, domain_end),
	ENTRY(CORE2, DOMAIN_PUSH_EX, domain_push),
	ENTRY(CORE2, DOMAIN_POP, domain_pop),
	ENTRY(CORE2, DOMAIN_NAME_CATEGORY_A, domain_name_category),
	ENTRY(CORE2, DOMAIN_NAME_CATEGORY_W, domain_name_category_wide),
	ENTRY(CORE2, DOMAIN_REGISTER_A, domain_register),
	ENTRY(CORE2, DOMAIN_REGISTER_W, domain_register_wide),
	ENTRY(CORE2, DOMAIN_CREATE_A, domain_create),
	ENTRY(CORE2, DOMAIN_CREATE_W, domain_create_wide),
	ENTRY(CORE2, DOMAIN_DESTROY, domain_destroy),
	ENTRY(CORE2, DOMAIN_INITIALIZE, initialize),
};

/* A table of an older NVTX has fewer slots, or is not there at all. */
static void fill(const struct nvtx_callbacks *callbacks, enum nvtx_module module)
{
	void (***table)(void) = NULL;
	unsigned size = 0;

	if (!callbacks->module_table((int)module, &table, &size) || !table)
		return;
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		const struct entry *e = &entries[i];

		if (e->module == module && e->slot < size && table[e->slot])
			*table[e->slot] = e->function;
	}
}

HOOK_EXPORT int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id))
{
	const struct nvtx_callbacks *callbacks = export_table ? export_table(NVTX_EXPORT_CALLBACKS) : NULL;
	int error = errno;

	event_enter();
	errno = error;
	/* With nobody to record for, NVTX shall find no tool: its calls then tell the program so. */
	if (!callbacks || callbacks->size < sizeof(*callbacks) || !process_gate.groups)
		return 0;
	fill(callbacks, NVTX_CORE);
	fill(callbacks, NVTX_CORE2);
	return 1;
}
