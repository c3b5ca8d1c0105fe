/* SPDX-License-Identifier: Apache-2.0 */
/* Extended NVTX payloads as JSON, according to their schemas. Both come from the program: what does not match is
 * shown as bytes, and depth and length are bounded. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/table/json_writer.h"
#include "report/base/table/sink.h"
#include "report/base/text.h"
#include "report/events/nvtx/nvtx_define.h"

enum { DEPTH = 8, VALUES = 20000, NAME = 256 };

/* As in nvToolsExtPayload.h. */
enum {
	ENTRY_POINTER = 1 << 1,
	ENTRY_ARRAY = 7 << 4,
	ENTRY_FIXED = 1 << 4,
	ENTRY_ZERO_ENDED = 2 << 4,
	ENTRY_COUNTED = 3 << 4,
	ENTRY_HIDDEN = 1 << 9
};
enum { SCHEMA_UNION = 3, SCHEMA_UNION_SELECTING = 4 };
enum {
	TYPE_CHAR = 1,
	TYPE_UCHAR,
	TYPE_SHORT,
	TYPE_USHORT,
	TYPE_INT,
	TYPE_UINT,
	TYPE_LONG,
	TYPE_ULONG,
	TYPE_LONG_LONG,
	TYPE_ULONG_LONG,
	TYPE_INT8,
	TYPE_UINT8,
	TYPE_INT16,
	TYPE_UINT16,
	TYPE_INT32,
	TYPE_UINT32,
	TYPE_INT64,
	TYPE_UINT64,
	TYPE_FLOAT,
	TYPE_DOUBLE,
	TYPE_LONG_DOUBLE,
	TYPE_SIZE,
	TYPE_ADDRESS,
	TYPE_WCHAR,
	TYPE_CHAR8,
	TYPE_CHAR16,
	TYPE_CHAR32,
	TYPE_BYTE = 32,
	TYPE_INT128,
	TYPE_UINT128,
	TYPE_FLOAT16 = 42,
	TYPE_FLOAT32,
	TYPE_FLOAT64,
	TYPE_FLOAT128,
	TYPE_BF16 = 50,
	TYPE_TF32 = 52,
	TYPE_CATEGORY = 68,
	TYPE_COLOR,
	TYPE_SCOPE,
	TYPE_PID32,
	TYPE_PID64,
	TYPE_TID32,
	TYPE_TID64,
	TYPE_TEXT = 75,
	TYPE_UTF8,
	TYPE_UTF16,
	TYPE_UTF32,
	TYPE_REGISTERED = 80,
	TYPE_SELECTOR = 100,
	TYPES
};

static const struct {
	uint8_t size;
	char form; /* i u: integers; f: float; x: hexadecimal; s: text */
} types[TYPES] = {
	[TYPE_CHAR] = {1, 'c'},       [TYPE_UCHAR] = {1, 'u'},   [TYPE_SHORT] = {2, 'i'},
	[TYPE_USHORT] = {2, 'u'},     [TYPE_INT] = {4, 'i'},     [TYPE_UINT] = {4, 'u'},
	[TYPE_LONG] = {8, 'i'},       [TYPE_ULONG] = {8, 'u'},   [TYPE_LONG_LONG] = {8, 'i'},
	[TYPE_ULONG_LONG] = {8, 'u'}, [TYPE_INT8] = {1, 'i'},    [TYPE_UINT8] = {1, 'u'},
	[TYPE_INT16] = {2, 'i'},      [TYPE_UINT16] = {2, 'u'},  [TYPE_INT32] = {4, 'i'},
	[TYPE_UINT32] = {4, 'u'},     [TYPE_INT64] = {8, 'i'},   [TYPE_UINT64] = {8, 'u'},
	[TYPE_FLOAT] = {4, 'f'},      [TYPE_DOUBLE] = {8, 'f'},  [TYPE_LONG_DOUBLE] = {16, 'f'},
	[TYPE_SIZE] = {8, 'u'},       [TYPE_ADDRESS] = {8, 'x'}, [TYPE_WCHAR] = {4, 'c'},
	[TYPE_CHAR8] = {1, 'c'},      [TYPE_CHAR16] = {2, 'c'},  [TYPE_CHAR32] = {4, 'c'},
	[TYPE_BYTE] = {1, 'x'},       [TYPE_INT128] = {16, 'x'}, [TYPE_UINT128] = {16, 'x'},
	[TYPE_FLOAT16] = {2, 'f'},    [TYPE_FLOAT32] = {4, 'f'}, [TYPE_FLOAT64] = {8, 'f'},
	[TYPE_FLOAT128] = {16, 'x'},  [TYPE_BF16] = {2, 'f'},    [TYPE_TF32] = {4, 'f'},
	[TYPE_CATEGORY] = {4, 'u'},   [TYPE_COLOR] = {4, 'x'},   [TYPE_SCOPE] = {8, 'u'},
	[TYPE_PID32] = {4, 'u'},      [TYPE_PID64] = {8, 'u'},   [TYPE_TID32] = {4, 'u'},
	[TYPE_TID64] = {8, 'u'},      [TYPE_TEXT] = {1, 's'},    [TYPE_UTF8] = {1, 's'},
	[TYPE_UTF16] = {2, 's'},      [TYPE_UTF32] = {4, 's'},   [TYPE_REGISTERED] = {8, 's'},
	[TYPE_SELECTOR] = {4, 'u'},
};

struct payload_reader {
	const struct nvtx_definitions *definitions;
	uint32_t domain;
	const uint8_t *bytes; /* of the current payload */
	size_t size;
	const uint8_t *texts, *texts_end; /* what addresses in it point to */
	uint32_t text_count;
	struct buffer *out;
	int depth;
	size_t values_left; /* entries may overlap and nest, so that few bytes could become a very long text */
};

static void spend_values(struct payload_reader *r, size_t values)
{
	r->values_left -= values < r->values_left ? values : r->values_left;
}

static uint64_t integer_at(const struct payload_reader *r, uint64_t offset, size_t size)
{
	uint64_t value = 0;

	if (size <= sizeof(value) && offset <= r->size && size <= r->size - offset)
		memcpy(&value, r->bytes + offset, size);
	return value;
}

/* ---- single values ---- */

static void put_hex(struct payload_reader *r, uint64_t offset, size_t size)
{
	offset = smaller_of(offset, r->size);
	if (size > r->size - offset)
		size = r->size - offset;
	buffer_text(r->out, "\"0x");
	for (size_t i = 0; i < size; i++)
		buffer_print(r->out, "%02x", r->bytes[offset + i]);
	buffer_text(r->out, "\"");
}

static double float_at(const struct payload_reader *r, uint64_t type, uint64_t offset)
{
	uint64_t bits = integer_at(r, offset, types[type].size);
	uint32_t low = (uint32_t)bits;
	long double longest = 0;
	float single;
	double real;

	switch (type) {
	case TYPE_DOUBLE:
	case TYPE_FLOAT64:
		memcpy(&real, &bits, sizeof(real));
		return real;
	case TYPE_LONG_DOUBLE:
		memcpy(&longest, r->bytes + offset, sizeof(longest));
		return (double)longest;
	case TYPE_FLOAT16:
		real = ldexp((bits & 0x3ff) + (bits >> 10 & 31 ? 1024 : 0),
			     (bits >> 10 & 31 ? (int)(bits >> 10 & 31) : 1) - 25);
		real = (bits >> 10 & 31) == 31 ? INFINITY : real;
		return bits >> 15 ? -real : real;
	case TYPE_BF16:
		low <<= 16;
		break;
	}
	memcpy(&single, &low, sizeof(single));
	return (double)single;
}

static void put_text(struct payload_reader *r, const uint8_t *text, size_t size, size_t unit)
{
	SCOPED(buffer) copy = {0};

	for (size_t i = 0; i + unit <= size; i += unit) {
		uint32_t c = 0;

		memcpy(&c, text + i, unit);
		if (!c)
			break;
		if (unit == 1)
			buffer_add(&copy, text + i, 1);
		else
			text_add_code(&copy, c > 0x10ffff || (c & ~0x7ffu) == 0xd800 ? 0xfffd : c);
	}
	json_add(r->out, buffer_string(&copy));
}

/* What the address at `offset` points to; false: it was not recorded. */
static bool put_pointed_to(struct payload_reader *r, uint64_t offset)
{
	const uint8_t *at = r->texts;

	for (uint32_t i = 0; i < r->text_count && r->texts_end - at >= 6; i++) {
		uint32_t where;
		uint16_t length;

		memcpy(&where, at, sizeof(where));
		memcpy(&length, at + sizeof(where), sizeof(length));
		at += sizeof(where) + sizeof(length);
		if (length > r->texts_end - at)
			return false;
		if (where == offset && r->bytes + offset < r->texts_end) {
			put_text(r, at, length, 1);
			return true;
		}
		at += length;
	}
	return false;
}

/* A number of 16 bytes, in hexadecimal. */
static void put_wide(struct payload_reader *r, uint64_t offset)
{
	uint64_t high = integer_at(r, offset + sizeof(high), sizeof(high)), low = integer_at(r, offset, sizeof(low));

	if (high)
		buffer_print(r->out, "\"0x%" PRIx64 "%016" PRIx64 "\"", high, low);
	else
		buffer_print(r->out, "\"0x%" PRIx64 "\"", low);
}

static void put_scalar(struct payload_reader *r, uint64_t type, uint64_t offset)
{
	size_t size = types[type].size;
	uint64_t value = integer_at(r, offset, size);
	const struct nvtx_definition *n;
	double real;

	if (offset > r->size || size > r->size - offset) {
		buffer_text(r->out, "null");
		return;
	}
	if (type == TYPE_CATEGORY && (n = nvtx_definition_find(r->definitions, TF_NVTX_CATEGORY, r->domain, value))) {
		json_add(r->out, n->name);
		return;
	}
	switch (types[type].form) {
	case 'i':
		buffer_print(r->out, "%" PRId64, (int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size));
		break;
	case 'u':
		buffer_print(r->out, "%" PRIu64, value);
		break;
	case 'f':
		real = float_at(r, type, offset);
		if (isfinite(real))
			buffer_print(r->out, "%.*g", types[type].size > 4 ? 17 : 9, real);
		else
			buffer_text(r->out, "null"); /* JSON has no infinity */
		break;
	case 'c':
		put_text(r, r->bytes + offset, size, size);
		break;
	case 's':
		if (!put_pointed_to(r, offset))
			put_hex(r, offset, size);
		break;
	default:
		if (size > sizeof(value))
			put_wide(r, offset);
		else if (type == TYPE_BYTE)
			put_hex(r, offset, size);
		else
			buffer_print(r->out, type == TYPE_COLOR ? "\"#%08" PRIx64 "\"" : "\"0x%" PRIx64 "\"", value);
	}
}

static void put_enum(struct payload_reader *r, const struct nvtx_definition *n, uint64_t offset)
{
	uint64_t value = integer_at(r, offset, n->head.size < 8 ? n->head.size : 8), left = value;
	SCOPED(buffer) text = {0};
	struct tf_nvtx_entry e;
	char name[NAME];

	for (uint32_t i = 0; i < n->head.count && nvtx_definition_entry(n, i, &e, name, sizeof(name)); i++) {
		if (e.flags ? !e.type || (left & e.type) != e.type : value != e.type)
			continue;
		buffer_print(&text, "%s%s", text.size ? "|" : "", name);
		left = e.flags ? left & ~e.type : 0;
		if (!e.flags)
			break;
	}
	if (text.size && !left)
		json_add(r->out, text.data);
	else
		buffer_print(r->out, "%" PRIu64, value);
}

/* ---- entries of a schema ---- */

static uint64_t put_schema(struct payload_reader *r, const struct nvtx_definition *n, uint64_t offset,
			   uint64_t selected);

/* Size of a type in bytes; 0: it varies or is not known. */
static size_t size_of(const struct payload_reader *r, uint64_t type)
{
	const struct nvtx_definition *n;

	if (type < TYPES)
		return types[type].size;
	n = nvtx_definition_find(r->definitions, TF_NVTX_SCHEMA, r->domain, type);
	if (!n)
		n = nvtx_definition_find(r->definitions, TF_NVTX_ENUM, r->domain, type);
	return n && n->head.size < TF_BLOB_BYTES ? n->head.size : 0;
}

/* Appends one value and returns where it ends. */
static uint64_t put_value(struct payload_reader *r, uint64_t type, uint64_t offset, uint64_t selected)
{
	const struct nvtx_definition *schema = type >= TYPES ? nvtx_definition_find(r->definitions, TF_NVTX_SCHEMA,
										    r->domain, type)
							     : NULL,
				     *list = type >= TYPES ? nvtx_definition_find(r->definitions, TF_NVTX_ENUM,
										  r->domain, type)
							   : NULL;

	if (!r->values_left || (type < TYPES && !types[type].size)) {
		buffer_text(r->out, "null");
		return r->size;
	}
	spend_values(r, list || type < TYPES || schema ? 1 : r->size / 8 + 1);
	if (schema && r->depth < DEPTH) {
		r->depth++;
		offset = put_schema(r, schema, offset, selected);
		r->depth--;
		return offset;
	}
	if (list)
		put_enum(r, list, offset);
	else if (type < TYPES)
		put_scalar(r, type, offset);
	else
		put_hex(r, offset, r->size);
	return list || type < TYPES ? offset + size_of(r, type) : r->size;
}

static uint64_t put_array(struct payload_reader *r, uint64_t type, uint64_t offset, uint64_t count)
{
	size_t unit = size_of(r, type);

	if (type < TYPES && strchr("cs", types[type].form) && unit <= 4) {
		uint64_t left = offset < r->size ? (r->size - offset) / unit : 0;

		count = smaller_of(count, left);
		spend_values(r, count * unit / 8 + 1);
		put_text(r, r->bytes + (offset < r->size ? offset : r->size), count * unit, unit);
		return offset + count * unit;
	}
	if (type == TYPE_BYTE) {
		spend_values(r, r->size / 8 + 1);
		put_hex(r, offset, count);
		return offset + count;
	}
	buffer_text(r->out, "[");
	for (uint64_t i = 0; i < count && offset < r->size && r->values_left; i++) {
		buffer_text(r->out, i ? "," : "");
		offset = put_value(r, type, offset, 0);
	}
	buffer_text(r->out, "]");
	return offset;
}

/* Finds the end of an array that ends with a zero value, which belongs to it. */
static uint64_t count_up_to_zero(const struct payload_reader *r, uint64_t type, uint64_t offset)
{
	static const uint8_t zeroes[16];
	size_t unit = size_of(r, type);
	uint64_t count = 0;

	if (!unit || unit > sizeof(zeroes) || offset > r->size)
		return 0;
	while (count < (r->size - offset) / unit && memcmp(r->bytes + offset + count * unit, zeroes, unit) != 0)
		count++;
	return count;
}

static bool is_text(uint64_t type)
{
	return type >= TYPE_TEXT && type <= TYPE_UTF32;
}

/* `detail`: the entry's own, or the value of the entry that it refers to. */
static uint64_t put_entry(struct payload_reader *r, const struct tf_nvtx_entry *e, uint64_t offset, uint64_t detail)
{
	uint64_t kind = e->flags & ENTRY_ARRAY, end;

	if (!r->values_left) {
		buffer_text(r->out, "null");
		return r->size;
	}
	if (e->flags & ENTRY_POINTER || (is_text(e->type) && !kind && !e->detail)) {
		if (!put_pointed_to(r, offset))
			put_scalar(r, TYPE_ADDRESS, offset);
		return offset + sizeof(uint64_t);
	}
	if (kind == ENTRY_FIXED || (is_text(e->type) && !kind)) {
		end = put_array(r, e->type, offset, e->detail);
		return size_of(r, e->type) && e->detail < r->size ? offset + e->detail * size_of(r, e->type) : end;
	}
	if (kind == ENTRY_ZERO_ENDED)
		return put_array(r, e->type, offset, count_up_to_zero(r, e->type, offset)) + size_of(r, e->type);
	if (kind == ENTRY_COUNTED)
		return put_array(r, e->type, offset, detail);
	return put_value(r, e->type, offset, detail);
}

static uint64_t aligned_offset(const struct payload_reader *r, const struct tf_nvtx_entry *e, uint64_t at)
{
	size_t unit = e->type < TYPES ? types[e->type].size : 1;

	if (is_text(e->type) && !(e->flags & ENTRY_ARRAY) && !e->detail)
		unit = sizeof(uint64_t);
	return unit && at < r->size ? (at + unit - 1) / unit * unit : at;
}

/* Appends an object with one member for each entry, of a union only the selected one. Returns where it ends. */
static uint64_t put_schema(struct payload_reader *r, const struct nvtx_definition *n, uint64_t base, uint64_t selected)
{
	uint64_t at = base, *offsets = mem_alloc((n->head.count + 1) * sizeof(*offsets));
	bool is_union = n->head.type == SCHEMA_UNION, is_first = true;
	struct tf_nvtx_entry e, other;
	char name[NAME], number[32];

	if (n->head.type == SCHEMA_UNION_SELECTING) {
		free(offsets);
		put_hex(r, base, n->head.size);
		return base + n->head.size;
	}
	buffer_text(r->out, "{");
	for (uint32_t i = 0; i < n->head.count && nvtx_definition_entry(n, i, &e, name, sizeof(name)); i++) {
		struct buffer hidden = {0}, *out = r->out;
		uint64_t detail = e.detail;

		offsets[i] = e.offset == TF_NVTX_FOLLOWS ? aligned_offset(r, &e, at)
							 : base + (e.offset < TF_BLOB_BYTES ? e.offset : TF_BLOB_BYTES);
		if (is_union && i != selected)
			continue;
		if ((e.type >= TYPES || (e.flags & ENTRY_ARRAY) == ENTRY_COUNTED) && e.detail < i &&
		    nvtx_definition_entry(n, (uint32_t)e.detail, &other, NULL, 0))
			detail = integer_at(r, offsets[e.detail], size_of(r, other.type));
		if (e.flags & ENTRY_HIDDEN) {
			r->out = &hidden;
		} else {
			buffer_text(r->out, is_first ? "" : ",");
			snprintf(number, sizeof(number), "%" PRIu32, i);
			json_add(r->out, *name ? name : number);
			buffer_text(r->out, ":");
			is_first = false;
		}
		at = put_entry(r, &e, offsets[i], detail);
		r->out = out;
		buffer_done(&hidden);
	}
	buffer_text(r->out, "}");
	free(offsets);
	return n->head.type != 2 && n->head.size && n->head.size < TF_BLOB_BYTES ? base + n->head.size : at;
}

/* ---- payloads of an event ---- */

static void put_payload(struct payload_reader *r, uint64_t schema)
{
	if (is_text(schema))
		put_text(r, r->bytes, r->size, types[schema].size);
	else if (schema < TYPES && types[schema].size && r->size >= 2u * types[schema].size)
		put_array(r, schema, 0, r->size / types[schema].size);
	else if (schema < TYPES || nvtx_definition_find(r->definitions, TF_NVTX_SCHEMA, r->domain, schema) ||
		 nvtx_definition_find(r->definitions, TF_NVTX_ENUM, r->domain, schema))
		put_value(r, schema, 0, 0);
	else
		put_hex(r, 0, r->size);
}

/* Appends the payload at `at` and returns where the next one begins; NULL: its bytes are incomplete. */
static const uint8_t *read_payload(struct payload_reader *r, const uint8_t *at, const uint8_t *end)
{
	struct tf_payload head;

	if ((size_t)(end - at) < sizeof(head))
		return NULL;
	memcpy(&head, at, sizeof(head));
	at += sizeof(head);
	if (head.size > end - at)
		return NULL;
	r->bytes = at;
	r->size = head.size;
	r->texts = at + head.size;
	r->texts_end = end;
	r->text_count = head.texts;
	put_payload(r, head.schema);
	at = r->texts;
	for (uint32_t i = 0; i < head.texts; i++) {
		uint16_t length;

		if (end - at < 6)
			return NULL;
		memcpy(&length, at + 4, sizeof(length));
		at += 6;
		if (length > end - at)
			return NULL;
		at += length;
	}
	return at;
}

void nvtx_payload_json(const struct nvtx_definitions *d, const uint64_t *payload, struct buffer *ret)
{
	const struct trace *t = d->trace;
	struct blob b = {.offset = (uint64_t)((const uint8_t *)(payload + 1) - t->bytes.data),
			 .length = (uint16_t)tf_blob_length(*payload)};
	uint8_t *bytes = mem_alloc((size_t)b.length + 16); /* a long double may be read past its end */
	const uint8_t *at = bytes, *end = bytes + trace_blob(t, &b, bytes, b.length);
	struct payload_reader r = {.definitions = d, .out = ret, .values_left = VALUES};
	struct tf_payloads head = {0};

	if (b.length >= sizeof(head)) {
		memcpy(&head, at, sizeof(head));
		at += sizeof(head);
	}
	r.domain = head.domain;
	if (head.count != 1)
		buffer_text(ret, "[");
	for (uint32_t i = 0; i < head.count && at; i++) {
		size_t before = ret->size;

		buffer_text(ret, i ? "," : "");
		at = read_payload(&r, at, end);
		if (!at && ret->size <= before + (i > 0))
			buffer_text(ret, "null");
	}
	if (head.count != 1)
		buffer_text(ret, "]");
	free(bytes);
}

bool nvtx_payload_any(const struct nvtx_definitions *d, const uint64_t *args, uint32_t count, const uint64_t *payload,
		      struct buffer *ret)
{
	const struct event e = {.args = args, .args_count = count};

	if (payload)
		nvtx_payload_json(d, payload, ret);
	else if (event_arg(&e, TF_ARG_PAYLOAD))
		nvtx_payload_plain(args, count, ret);
	else
		return false;
	return true;
}
