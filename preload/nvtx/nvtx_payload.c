/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX's payload extension. A payload is kept as its bytes, and read by its schema in the report. What it only points at is
 * gone by then: the texts behind addresses and handles are copied beside it, at offsets that follow from the schema when
 * that is registered. */
#include "preload/nvtx/nvtx_tool.h"

#include <sys/uio.h>

#include "runtime/common/sys.h"
#include "runtime/record/names.h"

enum {
	PAYLOADS = 16,
	PAYLOAD_BYTES = 8192, /* of one event */
	POINTER_TEXT = 512,   /* of one text behind an address */
	POINTERS = 64,	      /* of one schema */
	ENTRIES = 1 << 10,
};

/* As in the headers. */
enum { ENTRY_POINTER = 1 << 1, ENTRY_RELATIVE = 3 << 2, ENTRY_ARRAY = 7 << 4, ENTRY_FIXED = 1 << 4, ENTRY_MESSAGE = 1 << 10 };
enum { SCHEMA_DYNAMIC = 2 };
enum { TYPE_TEXT = 75, TYPE_UTF8, TYPE_UTF16, TYPE_UTF32, TYPE_REGISTERED = 80 };
#define FIRST_DYNAMIC_ID (1ull << 32)

struct pointer {
	uint32_t offset;
	uint8_t type; /* TYPE_* of what is behind it */
	bool is_message;
};

struct schema {
	uint32_t size, alignment; /* size 0: it varies */
	uint32_t pointer_count;
	struct pointer pointers[];
};

static struct table schemas; /* hash of domain and id -> its struct */

static struct table_entry *schema_entry(struct nvtx_domain *d, uint64_t id)
{
	uint64_t key[2] = {d ? d->number : 0, id};
	uint32_t number;
	bool is_new;

	return table_add(&schemas, table_hash(4, key, sizeof(key)), &number, &is_new);
}

static const struct schema *schema_find(struct nvtx_domain *d, uint64_t id)
{
	uint64_t key[2] = {d ? d->number : 0, id};

	return (const struct schema *)table_get(&schemas, table_hash(4, key, sizeof(key)));
}

/* Bytes of one value of this type or schema, on the two architectures that we know; 0: not known. */
static size_t payload_size(uint64_t type)
{
	static const uint8_t sizes[] = {
		0, 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 4, 1, 2, 4,
		[32] = 1, 16, 16, [42] = 2, 4, 8, 16, [50] = 2, [52] = 4, [68] = 4, 4, 8, 4, 8, 4, 8, [TYPE_REGISTERED] = 8, [100] = 4,
	};

	return type < sizeof(sizes) ? sizes[type] : 0;
}

static bool is_text(uint64_t type)
{
	return type >= TYPE_TEXT && type <= TYPE_UTF32;
}

/* ---- where entries lie ---- */

struct layout {
	uint64_t at; /* the end of the entry before */
	size_t pack, alignment;
	bool is_known, is_union;
	uint32_t count;
	struct pointer pointers[POINTERS];
};

/* A handle is followed by plain loads, so not where it may be another member of a union. */
static void add_pointer(struct layout *l, uint64_t offset, uint64_t type, bool is_message)
{
	if (l->count < POINTERS && offset < PAYLOAD_BYTES && !(l->is_union && type == TYPE_REGISTERED))
		l->pointers[l->count++] = (struct pointer){(uint32_t)offset, (uint8_t)type, is_message};
}

/* Size and alignment of one value; size 0: not to be told. */
static size_t value_size(const struct nvtx_schema_entry *e, const struct schema *nested, size_t *ret_alignment)
{
	size_t size = payload_size(e->type), unit = e->type == TYPE_UTF16 ? 2 : e->type == TYPE_UTF32 ? 4 : 1;

	if (e->flags & ENTRY_POINTER || (is_text(e->type) && !(e->flags & ENTRY_ARRAY) && !e->detail)) {
		*ret_alignment = sizeof(void *);
		return sizeof(void *);
	}
	if (e->flags & ENTRY_RELATIVE && !nested) {
		*ret_alignment = size ? size : 1;
		return size;
	}
	if (is_text(e->type)) {
		*ret_alignment = unit;
		return !(e->flags & ENTRY_ARRAY) || (e->flags & ENTRY_ARRAY) == ENTRY_FIXED ? e->detail * unit : 0;
	}
	if (nested) {
		*ret_alignment = nested->alignment;
		size = nested->size;
	} else {
		*ret_alignment = size ? size : 1;
	}
	if (!(e->flags & ENTRY_ARRAY))
		return size;
	return (e->flags & ENTRY_ARRAY) == ENTRY_FIXED && e->detail < PAYLOAD_BYTES ? size * e->detail : 0;
}

static void add_texts(struct layout *l, const struct nvtx_schema_entry *e, const struct schema *nested, uint64_t offset)
{
	bool is_message = e->flags & ENTRY_MESSAGE;
	uint64_t copies = (e->flags & ENTRY_ARRAY) == ENTRY_FIXED ? e->detail : 1;

	if (e->type == TYPE_REGISTERED && !(e->flags & ENTRY_POINTER))
		add_pointer(l, offset, e->type, is_message);
	else if (is_text(e->type) && (e->flags & ENTRY_POINTER || !(e->flags & ENTRY_ARRAY)) && !e->detail)
		add_pointer(l, offset, e->type, is_message);
	else if (is_text(e->type) && is_message)
		add_pointer(l, offset, TYPE_TEXT - 1, true); /* the text itself lies there */
	for (uint64_t i = 0; nested && !(e->flags & ENTRY_POINTER) && i < copies && i < POINTERS; i++)
		for (uint32_t k = 0; k < nested->pointer_count; k++)
			add_pointer(l, offset + i * nested->size + nested->pointers[k].offset, nested->pointers[k].type, false);
}

/* The entry's offset, TF_NVTX_FOLLOWS where it depends on the bytes. */
static uint64_t place(struct layout *l, struct nvtx_domain *d, const struct nvtx_schema_entry *e)
{
	const struct schema *nested = e->type >= 1 << 24 ? schema_find(d, e->type) : NULL;
	size_t alignment, size = value_size(e, nested, &alignment);
	uint64_t offset;

	if (l->pack && alignment > l->pack)
		alignment = l->pack;
	if (alignment > l->alignment)
		l->alignment = alignment;
	offset = l->is_union ? 0 : e->offset ? e->offset : (l->at + alignment - 1) / alignment * alignment;
	if (!l->is_known && !e->offset && !l->is_union)
		return TF_NVTX_FOLLOWS;
	l->is_known = size != 0;
	if (!l->is_union || size > l->at)
		l->at = offset + size;
	add_texts(l, e, nested, offset);
	return offset;
}

/* ---- registering ---- */

struct definition {
	size_t size;
	bool is_cut;
	char bytes[NAMES_BYTES - 128];
};

static void add_bytes(struct definition *n, const void *bytes, size_t size)
{
	if (n->size + size > sizeof(n->bytes)) {
		n->is_cut = true;
		return;
	}
	memcpy(n->bytes + n->size, bytes, size);
	n->size += size;
}

static void add_name(struct definition *n, const char *name)
{
	uint16_t length = (uint16_t)nvtx_text_length(name);

	add_bytes(n, &length, sizeof(length));
	add_bytes(n, name, length);
}

/* Too large for a thread's stack. NULL: no memory. */
static struct definition *definition_begin(void)
{
	struct definition *n = sys_mmap(NULL, sizeof(*n), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (n)
		n->size = sizeof(struct tf_nvtx);
	return n;
}

static void definition_end(struct nvtx_domain *d, struct definition *n, const struct tf_nvtx *head)
{
	static uint64_t noted;

	memcpy(n->bytes, head, sizeof(*head));
	if (n->is_cut || !nvtx_define(d, n->bytes, n->size))
		nvtx_note_once(&noted, "an NVTX schema or enum is too large: payloads of it are shown as bytes");
	sys_munmap(n, sizeof(*n));
}

/* An id that no program gives, unique in the process. */
static uint64_t next_id(void)
{
	static uint64_t ids;

	return FIRST_DYNAMIC_ID + __atomic_fetch_add(&ids, 1, __ATOMIC_RELAXED);
}

static void remember(struct nvtx_domain *d, uint64_t id, const struct layout *l, uint64_t size)
{
	struct schema *s = names_take(sizeof(*s) + l->count * sizeof(*l->pointers));
	struct table_entry *e = s ? schema_entry(d, id) : NULL;

	if (!e)
		return;
	s->size = size < PAYLOAD_BYTES ? (uint32_t)size : 0;
	s->alignment = l->alignment && l->alignment <= 64 ? (uint32_t)l->alignment : 1;
	s->pointer_count = l->count;
	memcpy(s->pointers, l->pointers, l->count * sizeof(*l->pointers));
	__atomic_store_n(&e->value, (uint64_t)s, __ATOMIC_RELEASE);
}

static uint64_t schema_register(struct nvtx_domain *d, const struct nvtx_schema *a)
{
	struct definition *n;
	struct layout l = {.is_known = true, .is_union = a && a->type > SCHEMA_DYNAMIC};
	struct tf_nvtx head = {.kind = TF_NVTX_SCHEMA, .domain = d ? d->number : 0};

	if (!a || !(a->fields & NVTX_FIELD_ENTRIES) || !a->entries || a->count > ENTRIES || !(n = definition_begin()))
		return 0;
	head.id = a->fields & NVTX_FIELD_ID && a->id ? a->id : next_id();
	head.type = a->type;
	head.flags = a->fields & NVTX_FIELD_FLAGS ? a->flags : 0;
	head.count = (uint32_t)a->count;
	l.pack = a->fields & NVTX_FIELD_ALIGNMENT ? a->alignment : 0;
	add_name(n, a->fields & NVTX_FIELD_NAME ? a->name : NULL);
	for (size_t i = 0; i < a->count; i++) {
		const struct nvtx_schema_entry *e = &a->entries[i];
		struct tf_nvtx_entry entry = {e->flags, e->type, e->detail, place(&l, d, e)};

		add_bytes(n, &entry, sizeof(entry));
		add_name(n, e->name);
	}
	if (a->fields & NVTX_FIELD_SIZE && a->size)
		head.size = a->size;
	else if (l.is_known && l.alignment)
		head.size = (l.at + l.alignment - 1) / l.alignment * l.alignment;
	definition_end(d, n, &head);
	remember(d, head.id, &l, a->type == SCHEMA_DYNAMIC ? 0 : head.size);
	return head.id;
}

static uint64_t enum_register(struct nvtx_domain *d, const struct nvtx_enum *a)
{
	struct definition *n;
	struct layout l = {0};
	struct tf_nvtx head = {.kind = TF_NVTX_ENUM, .domain = d ? d->number : 0};

	if (!a || !(a->fields & NVTX_ENUM_FIELD_ENTRIES) || !a->entries || a->count > ENTRIES || !(n = definition_begin()))
		return 0;
	head.id = a->fields & NVTX_ENUM_FIELD_ID && a->id ? a->id : next_id();
	head.size = a->fields & NVTX_ENUM_FIELD_SIZE && a->size ? a->size : sizeof(int);
	head.count = (uint32_t)a->count;
	add_name(n, a->fields & NVTX_ENUM_FIELD_NAME ? a->name : NULL);
	for (size_t i = 0; i < a->count; i++) {
		struct tf_nvtx_entry entry = {.flags = a->entries[i].is_flag != 0, .type = a->entries[i].value};

		add_bytes(n, &entry, sizeof(entry));
		add_name(n, a->entries[i].name);
	}
	definition_end(d, n, &head);
	l.alignment = head.size;
	remember(d, head.id, &l, head.size);
	return head.id;
}

static uint64_t scope_register(struct nvtx_domain *d, const struct nvtx_scope *a)
{
	struct definition *n;
	struct tf_nvtx head = {.kind = TF_NVTX_SCOPE, .domain = d ? d->number : 0};

	if (!a || !a->path || !(n = definition_begin()))
		return 0;
	head.id = a->id ? a->id : next_id();
	head.type = a->parent;
	add_name(n, a->path);
	definition_end(d, n, &head);
	return head.id;
}

/* ---- payloads ---- */

struct output {
	size_t size;
	bool is_cut;
	char bytes[PAYLOAD_BYTES];
};

static bool put(struct output *o, const void *bytes, size_t size)
{
	if (o->size + size > sizeof(o->bytes)) {
		o->is_cut = true;
		return false;
	}
	memcpy(o->bytes + o->size, bytes, size);
	o->size += size;
	return true;
}

/* A text behind an address that the program may have got wrong. SIZE_MAX: nothing can be read there. */
static size_t read_text(const char *from, char *ret, size_t size)
{
	size_t used = 0;

	while (used < size) {
		size_t page = 4096 - ((uintptr_t)from + used) % 4096, left = page < size - used ? page : size - used;
		struct iovec here = {ret + used, left}, there = {(char *)from + used, left};
		long got = sys_call6(SYS_process_vm_readv, sys_getpid(), (long)&here, 1, (long)&there, 1, 0);
		const char *end = got > 0 ? memchr(ret + used, 0, (size_t)got) : NULL;

		if (got <= 0)
			return used ? used : SIZE_MAX;
		if (end)
			return (size_t)(end - ret);
		used += (size_t)got;
	}
	return used;
}

static bool put_text(struct output *o, uint32_t offset, const char *text, size_t length)
{
	uint16_t bytes = (uint16_t)length;

	if (o->size + sizeof(offset) + sizeof(bytes) + length > sizeof(o->bytes)) {
		o->is_cut = true;
		return false;
	}
	put(o, &offset, sizeof(offset));
	put(o, &bytes, sizeof(bytes));
	return put(o, text, length);
}

static bool put_pointer(struct output *o, const struct nvtx_payload *p, const struct pointer *at)
{
	char copy[POINTER_TEXT];
	const char *text;
	size_t length;

	if (at->type < TYPE_TEXT || at->offset + sizeof(text) > p->size)
		return false;
	memcpy(&text, (const char *)p->bytes + at->offset, sizeof(text));
	if (!text)
		return false;
	if (at->type == TYPE_REGISTERED)
		return put_text(o, at->offset, ((const struct nvtx_string *)text)->text, ((const struct nvtx_string *)text)->length);
	if (at->type != TYPE_TEXT && at->type != TYPE_UTF8)
		return false;
	length = read_text(text, copy, sizeof(copy));
	return length != SIZE_MAX && put_text(o, at->offset, copy, length);
}

static size_t size_of(const struct nvtx_payload *p, const struct schema *s)
{
	size_t size = s ? s->size : payload_size(p->schema);

	if (p->size != NVTX_UNKNOWN_SIZE)
		return p->size;
	if (p->schema == TYPE_TEXT || p->schema == TYPE_UTF8)
		return strlen(p->bytes);
	return size;
}

static void put_payload(struct nvtx_domain *d, struct output *o, struct nvtx_payload p)
{
	const struct schema *s = schema_find(d, p.schema);
	struct tf_payload head = {.schema = p.schema};
	size_t head_at = o->size;

	p.size = size_of(&p, s);
	if (!put(o, &head, sizeof(head)))
		return;
	head.size = (uint32_t)p.size;
	if (p.size > sizeof(o->bytes) - o->size) {
		o->is_cut = true;
		head.size = (uint32_t)(sizeof(o->bytes) - o->size);
	}
	put(o, p.bytes, head.size);
	for (uint32_t i = 0; s && i < s->pointer_count; i++)
		head.texts += put_pointer(o, &p, &s->pointers[i]);
	memcpy(o->bytes + head_at, &head, sizeof(head));
}

uint32_t nvtx_payload(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count)
{
	static uint64_t noted;
	static uint32_t ids;
	struct output o;
	struct tf_payloads head = {.domain = d ? d->number : 0};
	uint32_t id;

	if (!payloads || !count)
		return 0;
	nvtx_definitions();
	o.size = sizeof(head);
	o.is_cut = count > PAYLOADS;
	for (size_t i = 0; i < count && i < PAYLOADS && !o.is_cut; i++) {
		if (!payloads[i].bytes)
			continue;
		put_payload(d, &o, payloads[i]);
		head.count++;
	}
	memcpy(o.bytes, &head, sizeof(head));
	if (o.is_cut)
		nvtx_note_once(&noted, "NVTX payloads of more than 8 KB are cut");
	id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
	return event_blob(TF_BLOB_PAYLOAD, id, o.bytes, o.size) ? id : 0;
}

int nvtx_payload_message(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count, const void **ret_message)
{
	*ret_message = NULL;
	for (size_t i = 0; payloads && i < count && i < PAYLOADS; i++) {
		const struct nvtx_payload *p = &payloads[i];
		const struct schema *s = p->bytes ? schema_find(d, p->schema) : NULL;

		for (uint32_t k = 0; s && k < s->pointer_count; k++) {
			const struct pointer *at = &s->pointers[k];
			const char *there = (const char *)p->bytes + at->offset;

			if (!at->is_message || at->offset + sizeof(void *) > size_of(p, s))
				continue;
			if (at->type < TYPE_TEXT) {
				*ret_message = there;
				return memchr(there, 0, size_of(p, s) - at->offset) ? NVTX_ASCII : 0;
			}
			memcpy(ret_message, there, sizeof(*ret_message));
			return !*ret_message ? 0 : at->type == TYPE_REGISTERED ? NVTX_REGISTERED : at->type == TYPE_UTF32 ? NVTX_UNICODE : at->type == TYPE_UTF16 ? 0 : NVTX_ASCII;
		}
	}
	return 0;
}

/* ---- the table ---- */

static uint8_t domain_is_enabled(struct nvtx_domain *d)
{
	return !(d ? d->is_off : nvtx_default_is_off);
}

static int64_t timestamp(void)
{
	return (int64_t)clock_now();
}

static void note_deferred(void)
{
	static uint64_t noted;

	nvtx_note_once(&noted, "NVTX's deferred events (nvtxEventSubmit, nvtxEventBatchSubmit) are not recorded");
}

static void event_submit(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count)
{
	note_deferred();
}

static void event_batch_submit(struct nvtx_domain *d, const void *batch)
{
	note_deferred();
}

/* For deferred events alone, which are not recorded; 0: the domain is not registered. All that there is to say of times comes here,
 * whatever its arguments are. */
static uint64_t time_domain(struct nvtx_domain *d)
{
	static uint64_t noted;

	nvtx_note_once(&noted, "NVTX's time domains (nvtxTimeDomainRegister, nvtxTimerSource, nvtxTimeSyncPoint ...) are not recorded");
	return 0;
}

#define SLOT(slot, function) [NVTX_##slot] = (intptr_t)(function)
void nvtx_payload_fill(struct nvtx_extension_module *module)
{
	const intptr_t functions[] = {
		SLOT(SCHEMA_REGISTER, schema_register),
		SLOT(ENUM_REGISTER, enum_register),
		SLOT(PAYLOAD_MARK, nvtx_event_mark),
		SLOT(PAYLOAD_PUSH, nvtx_event_push),
		SLOT(PAYLOAD_POP, nvtx_event_pop),
		SLOT(PAYLOAD_START, nvtx_event_start),
		SLOT(PAYLOAD_END, nvtx_event_end),
		SLOT(DOMAIN_IS_ENABLED, domain_is_enabled),
		SLOT(TIMESTAMP_GET, timestamp),
		SLOT(TIME_DOMAIN_REGISTER, time_domain),
		SLOT(TIMER_SOURCE, time_domain),
		SLOT(TIMER_SOURCE_DATA, time_domain),
		SLOT(SCOPE_REGISTER, scope_register),
		SLOT(TIME_SYNC_POINT, time_domain),
		SLOT(TIME_SYNC_TABLE, time_domain),
		SLOT(TIME_CONVERSION, time_domain),
		SLOT(EVENT_SUBMIT, event_submit),
		SLOT(EVENT_BATCH_SUBMIT, event_batch_submit),
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions) && i < module->segments[0].count; i++)
		if (functions[i])
			module->segments[0].slots[i] = functions[i];
}
