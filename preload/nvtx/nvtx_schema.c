/* SPDX-License-Identifier: Apache-2.0 */
/* Registered schemas, enumerations and scopes. The report reads payloads by the definitions that are written here; only
 * the positions of texts to which a payload refers are kept in memory. */
#include "preload/nvtx/nvtx_schema.h"

#include "runtime/recorder/record/names.h"
#include "runtime/shared/common/sys.h"

enum { MAX_ENTRIES = 1 << 10 };

/* Flags of entries and types of schemas, as in NVTX's headers. */
enum { ENTRY_POINTER = 1 << 1, ENTRY_RELATIVE = 3 << 2, ENTRY_ARRAY = 7 << 4, ENTRY_FIXED = 1 << 4,
      ENTRY_MESSAGE = 1 << 10 };
enum { SCHEMA_DYNAMIC = 2 };
#define FIRST_DYNAMIC_ID (1ull << 32)

static struct intern_table schemas; /* hash of domain and id -> its struct */

static struct intern_entry *schema_entry(struct nvtx_domain *d, uint64_t id)
{
	uint64_t key[2] = {d ? d->number : 0, id};
	uint32_t number;
	bool is_new;

	return intern_add(&schemas, intern_hash(4, key, sizeof(key)), &number, &is_new);
}

const struct nvtx_schema_info *nvtx_schema_find(struct nvtx_domain *d, uint64_t id)
{
	uint64_t key[2] = {d ? d->number : 0, id};

	return (const struct nvtx_schema_info *)intern_get(&schemas, intern_hash(4, key, sizeof(key)));
}

/* The sizes of both architectures that are supported. */
size_t nvtx_schema_type_size(uint64_t type)
{
	static const uint8_t sizes[] = {
		0, 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 4, 1, 2, 4,
		[32] = 1, 16, 16, [42] = 2, 4, 8, 16, [50] = 2, [52] = 4, [68] = 4, 4, 8, 4, 8, 4, 8,
			[NVTX_TYPE_REGISTERED] = 8, [100] = 4,
	};

	return type < sizeof(sizes) ? sizes[type] : 0;
}

static bool is_text(uint64_t type)
{
	return type >= NVTX_TYPE_TEXT && type <= NVTX_TYPE_UTF32;
}

/* ---- layout: the offsets of entries ---- */

struct schema_layout {
	uint64_t at; /* the end of the previous entry */
	size_t pack, alignment;
	bool is_known, is_union;
	uint32_t count;
	struct nvtx_schema_pointer pointers[NVTX_SCHEMA_POINTERS];
};

/* Handles are dereferenced without a check, so not in a union, where the value may be another member's. */
static void add_pointer(struct schema_layout *l, uint64_t offset, uint64_t type, bool is_message)
{
	if (l->is_union && type == NVTX_TYPE_REGISTERED)
		return;
	if (l->count < NVTX_SCHEMA_POINTERS && offset < NVTX_PAYLOAD_BYTES)
		l->pointers[l->count++] = (struct nvtx_schema_pointer){(uint32_t)offset, (uint8_t)type, is_message};
}

/* Size and alignment of one value; size 0: not known. */
static size_t value_size(const struct nvtx_schema_entry *e, const struct nvtx_schema_info *nested,
			 size_t *ret_alignment)
{
	size_t size = nvtx_schema_type_size(e->type);
	size_t unit = e->type == NVTX_TYPE_UTF16 ? 2 : e->type == NVTX_TYPE_UTF32 ? 4 : 1;

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
	return (e->flags & ENTRY_ARRAY) == ENTRY_FIXED && e->detail < NVTX_PAYLOAD_BYTES ? size * e->detail : 0;
}

static void add_texts(struct schema_layout *l, const struct nvtx_schema_entry *e, const struct nvtx_schema_info *nested,
		      uint64_t offset)
{
	bool is_message = e->flags & ENTRY_MESSAGE;
	uint64_t copies = (e->flags & ENTRY_ARRAY) == ENTRY_FIXED ? e->detail : 1;

	if (e->type == NVTX_TYPE_REGISTERED && !(e->flags & ENTRY_POINTER))
		add_pointer(l, offset, e->type, is_message);
	else if (is_text(e->type) && (e->flags & ENTRY_POINTER || !(e->flags & ENTRY_ARRAY)) && !e->detail)
		add_pointer(l, offset, e->type, is_message);
	else if (is_text(e->type) && is_message)
		add_pointer(l, offset, NVTX_TYPE_TEXT_IN_PLACE, true); /* the text is in the payload itself */
	for (uint64_t i = 0; nested && !(e->flags & ENTRY_POINTER) && i < copies && i < NVTX_SCHEMA_POINTERS; i++)
		for (uint32_t k = 0; k < nested->pointer_count; k++)
			add_pointer(l, offset + i * nested->size + nested->pointers[k].offset,
				    nested->pointers[k].type, false);
}

/* The entry's offset, or TF_NVTX_FOLLOWS if it depends on the payload's contents. */
static uint64_t place_entry(struct schema_layout *l, struct nvtx_domain *d, const struct nvtx_schema_entry *e)
{
	const struct nvtx_schema_info *nested = e->type >= 1 << 24 ? nvtx_schema_find(d, e->type) : NULL;
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

static void add_definition_bytes(struct definition *n, const void *bytes, size_t size)
{
	if (n->size + size > sizeof(n->bytes)) {
		n->is_cut = true;
		return;
	}
	memcpy(n->bytes + n->size, bytes, size);
	n->size += size;
}

static void add_definition_name(struct definition *n, const char *name)
{
	uint16_t length = (uint16_t)nvtx_text_length(name);

	add_definition_bytes(n, &length, sizeof(length));
	add_definition_bytes(n, name, length);
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
		nvtx_note_once(&noted, "an NVTX schema or enum is too large: its payloads are shown as bytes");
	sys_munmap(n, sizeof(*n));
}

/* An id outside of the range for programs, unique in the process. */
static uint64_t next_schema_id(void)
{
	static uint64_t ids;

	return FIRST_DYNAMIC_ID + __atomic_fetch_add(&ids, 1, __ATOMIC_RELAXED);
}

static void keep_schema(struct nvtx_domain *d, uint64_t id, const struct schema_layout *l, uint64_t size)
{
	struct nvtx_schema_info *s = names_take(sizeof(*s) + l->count * sizeof(*l->pointers));
	struct intern_entry *e = s ? schema_entry(d, id) : NULL;

	if (!e)
		return;
	s->size = size < NVTX_PAYLOAD_BYTES ? (uint32_t)size : 0;
	s->alignment = l->alignment && l->alignment <= 64 ? (uint32_t)l->alignment : 1;
	s->pointer_count = l->count;
	memcpy(s->pointers, l->pointers, l->count * sizeof(*l->pointers));
	__atomic_store_n(&e->value, (uint64_t)s, __ATOMIC_RELEASE);
}

uint64_t nvtx_schema_register(struct nvtx_domain *d, const struct nvtx_schema *a)
{
	struct definition *n;
	struct schema_layout l = {.is_known = true, .is_union = a && a->type > SCHEMA_DYNAMIC};
	struct tf_nvtx head = {.kind = TF_NVTX_SCHEMA, .domain = d ? d->number : 0};

	if (!a || !(a->fields & NVTX_FIELD_ENTRIES) || !a->entries || a->count > MAX_ENTRIES ||
	    !(n = definition_begin()))
		return 0;
	head.id = a->fields & NVTX_FIELD_ID && a->id ? a->id : next_schema_id();
	head.type = a->type;
	head.flags = a->fields & NVTX_FIELD_FLAGS ? a->flags : 0;
	head.count = (uint32_t)a->count;
	l.pack = a->fields & NVTX_FIELD_ALIGNMENT ? a->alignment : 0;
	add_definition_name(n, a->fields & NVTX_FIELD_NAME ? a->name : NULL);
	for (size_t i = 0; i < a->count; i++) {
		const struct nvtx_schema_entry *e = &a->entries[i];
		struct tf_nvtx_entry entry = {e->flags, e->type, e->detail, place_entry(&l, d, e)};

		add_definition_bytes(n, &entry, sizeof(entry));
		add_definition_name(n, e->name);
	}
	if (a->fields & NVTX_FIELD_SIZE && a->size)
		head.size = a->size;
	else if (l.is_known && l.alignment)
		head.size = (l.at + l.alignment - 1) / l.alignment * l.alignment;
	definition_end(d, n, &head);
	keep_schema(d, head.id, &l, a->type == SCHEMA_DYNAMIC ? 0 : head.size);
	return head.id;
}

uint64_t nvtx_schema_register_enum(struct nvtx_domain *d, const struct nvtx_enum *a)
{
	struct definition *n;
	struct schema_layout l = {0};
	struct tf_nvtx head = {.kind = TF_NVTX_ENUM, .domain = d ? d->number : 0};

	if (!a || !(a->fields & NVTX_ENUM_FIELD_ENTRIES) || !a->entries || a->count > MAX_ENTRIES ||
	    !(n = definition_begin()))
		return 0;
	head.id = a->fields & NVTX_ENUM_FIELD_ID && a->id ? a->id : next_schema_id();
	head.size = a->fields & NVTX_ENUM_FIELD_SIZE && a->size ? a->size : sizeof(int);
	head.count = (uint32_t)a->count;
	add_definition_name(n, a->fields & NVTX_ENUM_FIELD_NAME ? a->name : NULL);
	for (size_t i = 0; i < a->count; i++) {
		struct tf_nvtx_entry entry = {.flags = a->entries[i].is_flag != 0, .type = a->entries[i].value};

		add_definition_bytes(n, &entry, sizeof(entry));
		add_definition_name(n, a->entries[i].name);
	}
	definition_end(d, n, &head);
	l.alignment = head.size;
	keep_schema(d, head.id, &l, head.size);
	return head.id;
}

uint64_t nvtx_schema_register_scope(struct nvtx_domain *d, const struct nvtx_scope *a)
{
	struct definition *n;
	struct tf_nvtx head = {.kind = TF_NVTX_SCOPE, .domain = d ? d->number : 0};

	if (!a || !a->path || !(n = definition_begin()))
		return 0;
	head.id = a->id ? a->id : next_schema_id();
	head.type = a->parent;
	add_definition_name(n, a->path);
	definition_end(d, n, &head);
	return head.id;
}
