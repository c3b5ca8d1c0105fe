/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/nvtx/nvtx_define.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Copies the NUL-terminated name at *at into `ret`, truncated; `ret` may be NULL. False: the bytes end before the
 * name does. */
static bool copy_name(const uint8_t **at, const uint8_t *end, char *ret, size_t size)
{
	uint16_t length;
	size_t kept;

	if ((size_t)(end - *at) < sizeof(length))
		return false;
	memcpy(&length, *at, sizeof(length));
	*at += sizeof(length);
	if (length > end - *at)
		return false;
	kept = ret && length < size ? length : ret ? size - 1 : 0;
	if (ret) {
		memcpy(ret, *at, kept);
		ret[kept] = '\0';
	}
	*at += length;
	return true;
}

static void nvtx_add_definition(struct nvtx_definitions *d, const struct blob *b)
{
	struct nvtx_definition n = {0};
	const uint8_t *at, *end;
	uint16_t length = 0;

	if (b->length < sizeof(n.head) + sizeof(length))
		return;
	n.bytes = mem_alloc(b->length);
	trace_blob(d->trace, b, n.bytes, b->length);
	memcpy(&n.head, n.bytes, sizeof(n.head));
	at = n.bytes + sizeof(n.head);
	end = n.bytes + b->length;
	memcpy(&length, at, sizeof(length));
	n.name = mem_alloc((size_t)length + 1);
	if (!copy_name(&at, end, n.name, (size_t)length + 1)) {
		free(n.name);
		free(n.bytes);
		return;
	}
	n.more = at;
	n.more_size = (size_t)(end - at);
	if (n.head.count > n.more_size / sizeof(length))
		n.head.count = (uint32_t)(n.more_size / sizeof(length));
	d->items = mem_grow(d->items, d->count, &d->capacity, sizeof(n));
	*map_put(&d->by_id, (uint64_t)n.head.kind << 32 | n.head.domain, n.head.id, NULL) = d->count;
	d->items[d->count++] = n;
}

void nvtx_definitions_make(struct nvtx_definitions *d, const struct trace *t)
{
	*d = (struct nvtx_definitions){.trace = t};
	blobs_each(b, t, TF_BLOB_NVTX)
		nvtx_add_definition(d, b);
}

void nvtx_definitions_done(struct nvtx_definitions *d)
{
	for (size_t i = 0; i < d->count; i++) {
		free(d->items[i].name);
		free(d->items[i].bytes);
	}
	free(d->items);
	map_done(&d->by_id);
	*d = (struct nvtx_definitions){0};
}

const struct nvtx_definition *nvtx_definition_find(const struct nvtx_definitions *d, enum tf_nvtx_kind kind,
						   uint32_t domain, uint64_t id)
{
	const uint64_t *place = map_find(&d->by_id, (uint64_t)kind << 32 | domain, id);

	return place ? &d->items[*place] : NULL;
}

bool nvtx_definition_entry(const struct nvtx_definition *n, uint32_t i, struct tf_nvtx_entry *ret, char *name,
			   size_t size)
{
	const uint8_t *at = n->more, *end = n->more + n->more_size;
	bool has_head = n->head.kind != TF_NVTX_COUNTER && n->head.kind != TF_NVTX_FUNCTION;

	for (uint32_t k = 0; k <= i && k < n->head.count; k++) {
		if (has_head && (size_t)(end - at) < sizeof(*ret))
			return false;
		if (has_head && k == i && ret)
			memcpy(ret, at, sizeof(*ret));
		at += has_head ? sizeof(*ret) : 0;
		if (!copy_name(&at, end, k == i ? name : NULL, size))
			return false;
		if (k == i)
			return true;
	}
	return false;
}

void nvtx_payload_plain(const uint64_t *args, uint32_t count, struct buffer *ret)
{
	const struct event e = {.args = args, .args_count = count};
	uint64_t arg = event_arg(&e, TF_ARG_PAYLOAD),
		 bits = tf_arg_value(arg) | tf_arg_value(event_arg(&e, TF_ARG_PAYLOAD_HIGH)) << 48;
	uint32_t low = (uint32_t)bits;
	double real;
	float single;

	memcpy(&real, &bits, sizeof(real));
	memcpy(&single, &low, sizeof(single));
	if (tf_arg_small(arg) == 6)
		real = (double)single;
	switch (tf_arg_small(arg)) {
	case 1: /* nvtxPayloadType_t */
		buffer_print(ret, "%" PRIu64, bits);
		break;
	case 2:
		buffer_print(ret, "%" PRId64, (int64_t)bits);
		break;
	case 3:
	case 6:
		if (real - real != 0.0)
			buffer_text(ret, "null"); /* JSON has no infinity */
		else
			buffer_print(ret, "%.17g", real);
		break;
	case 4:
		buffer_print(ret, "%" PRIu32, low);
		break;
	case 5:
		buffer_print(ret, "%" PRId32, (int32_t)low);
		break;
	default:
		buffer_text(ret, "null");
	}
}

bool nvtx_category(const struct nvtx_definitions *d, uint32_t domain, const uint64_t *args, uint32_t count,
		   struct buffer *ret)
{
	const struct event e = {.args = args, .args_count = count};
	uint64_t number = tf_arg_value(event_arg(&e, TF_ARG_COLOR)) >> 32;
	const struct nvtx_definition *n = number ? nvtx_definition_find(d, TF_NVTX_CATEGORY, domain, number) : NULL;

	if (n)
		buffer_text(ret, n->name);
	else if (number)
		buffer_print(ret, "%" PRIu64, number);
	return number != 0;
}

bool nvtx_color(const uint64_t *args, uint32_t count, struct buffer *ret)
{
	const struct event e = {.args = args, .args_count = count};
	uint32_t color = (uint32_t)tf_arg_value(event_arg(&e, TF_ARG_COLOR));

	if (color)
		buffer_print(ret, "#%08" PRIx32, color);
	return color != 0;
}
