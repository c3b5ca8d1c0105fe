/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads of NVTX events. A payload is kept as bytes, which the report reads by its schema. Memory to which a payload
 * points is not available to the report, so the texts at addresses and handles are copied with the payload, from the
 * offsets that the schema gives. */
#include <sys/uio.h>

#include "preload/nvtx/nvtx_schema.h"
#include "runtime/shared/common/sys.h"

enum {
	MAX_PAYLOADS = 16,  /* of one event */
	POINTER_TEXT = 512, /* bytes of one text behind an address */
};

struct output {
	size_t size;
	bool is_cut;
	char bytes[NVTX_PAYLOAD_BYTES];
};

static bool put_bytes(struct output *o, const void *bytes, size_t size)
{
	if (o->size + size > sizeof(o->bytes)) {
		o->is_cut = true;
		return false;
	}
	memcpy(o->bytes + o->size, bytes, size);
	o->size += size;
	return true;
}

/* Copies a text from an address that may be invalid. SIZE_MAX: nothing can be read there. */
static size_t read_payload_text(const char *from, char *ret, size_t size)
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

static bool put_payload_text(struct output *o, uint32_t offset, const char *text, size_t length)
{
	uint16_t bytes = (uint16_t)length;

	if (o->size + sizeof(offset) + sizeof(bytes) + length > sizeof(o->bytes)) {
		o->is_cut = true;
		return false;
	}
	put_bytes(o, &offset, sizeof(offset));
	put_bytes(o, &bytes, sizeof(bytes));
	return put_bytes(o, text, length);
}

static bool put_pointer(struct output *o, const struct nvtx_payload *p, const struct nvtx_schema_pointer *at)
{
	char copy[POINTER_TEXT];
	const char *text;
	size_t length;

	if (at->type == NVTX_TYPE_TEXT_IN_PLACE || at->offset + sizeof(text) > p->size)
		return false;
	memcpy(&text, (const char *)p->bytes + at->offset, sizeof(text));
	if (!text)
		return false;
	if (at->type == NVTX_TYPE_REGISTERED)
		return put_payload_text(o, at->offset, ((const struct nvtx_string *)text)->text,
					((const struct nvtx_string *)text)->length);
	if (at->type != NVTX_TYPE_TEXT && at->type != NVTX_TYPE_UTF8)
		return false;
	length = read_payload_text(text, copy, sizeof(copy));
	return length != SIZE_MAX && put_payload_text(o, at->offset, copy, length);
}

static size_t payload_size(const struct nvtx_payload *p, const struct nvtx_schema_info *s)
{
	size_t size = s ? s->size : nvtx_schema_type_size(p->schema);

	if (p->size != NVTX_UNKNOWN_SIZE)
		return p->size;
	if (p->schema == NVTX_TYPE_TEXT || p->schema == NVTX_TYPE_UTF8)
		return strlen(p->bytes);
	return size;
}

static void put_payload(struct nvtx_domain *d, struct output *o, struct nvtx_payload p)
{
	const struct nvtx_schema_info *s = nvtx_schema_find(d, p.schema);
	struct tf_payload head = {.schema = p.schema};
	size_t head_at = o->size;

	p.size = payload_size(&p, s);
	if (!put_bytes(o, &head, sizeof(head)))
		return;
	head.size = (uint32_t)p.size;
	if (p.size > sizeof(o->bytes) - o->size) {
		o->is_cut = true;
		head.size = (uint32_t)(sizeof(o->bytes) - o->size);
	}
	put_bytes(o, p.bytes, head.size);
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

	if (!payloads || !count || process_options.mode == MODE_PROFILE)
		return 0;
	nvtx_definitions();
	o.size = sizeof(head);
	o.is_cut = count > MAX_PAYLOADS;
	for (size_t i = 0; i < count && i < MAX_PAYLOADS && !o.is_cut; i++) {
		if (!payloads[i].bytes)
			continue;
		put_payload(d, &o, payloads[i]);
		head.count++;
	}
	memcpy(o.bytes, &head, sizeof(head));
	if (o.is_cut)
		nvtx_note_once(&noted, "NVTX payloads of more than 8 KB are truncated");
	id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
	return event_blob(TF_BLOB_PAYLOAD, id, o.bytes, o.size) ? id : 0;
}

/* The enum nvtx_message of what a pointer of this type points at; 0: not a text that can be a message. */
static int pointer_message(unsigned type)
{
	switch (type) {
	case NVTX_TYPE_REGISTERED:
		return NVTX_REGISTERED;
	case NVTX_TYPE_UTF32:
		return NVTX_UNICODE;
	case NVTX_TYPE_UTF16:
		return 0;
	default:
		return NVTX_ASCII;
	}
}

int nvtx_payload_message(struct nvtx_domain *d, const struct nvtx_payload *payloads, size_t count,
			 const void **ret_message)
{
	*ret_message = NULL;
	for (size_t i = 0; payloads && i < count && i < MAX_PAYLOADS; i++) {
		const struct nvtx_payload *p = &payloads[i];
		const struct nvtx_schema_info *s = p->bytes ? nvtx_schema_find(d, p->schema) : NULL;

		for (uint32_t k = 0; s && k < s->pointer_count; k++) {
			const struct nvtx_schema_pointer *at = &s->pointers[k];
			const char *there = (const char *)p->bytes + at->offset;

			if (!at->is_message || at->offset + sizeof(void *) > payload_size(p, s))
				continue;
			if (at->type == NVTX_TYPE_TEXT_IN_PLACE) {
				*ret_message = there;
				return memchr(there, 0, payload_size(p, s) - at->offset) ? NVTX_ASCII : 0;
			}
			memcpy(ret_message, there, sizeof(*ret_message));
			return *ret_message ? pointer_message(at->type) : 0;
		}
	}
	return 0;
}
