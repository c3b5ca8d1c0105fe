/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX's counter extension: a sample is a mark with a value. */
#include "preload/nvtx/nvtx_tool.h"

#include "runtime/recorder/record/names.h"

enum { PAYLOAD_INT64 = 2, PAYLOAD_DOUBLE = 3 };
#define FIRST_DYNAMIC_ID (1ull << 32)

struct counter {
	uint64_t schema;
	struct nvtx_string *name;
};

static struct intern_table counters; /* hash of domain and id -> its struct */

static uint64_t counter_key(struct nvtx_domain *d, uint64_t id)
{
	uint64_t key[2] = {d ? d->number : 0, id};

	return intern_hash(5, key, sizeof(key));
}

static void append_counter_text(char **at, const char *name, size_t limit)
{
	size_t length = nvtx_text_length(name);
	uint16_t bytes = (uint16_t)(length < limit ? length : limit);

	memcpy(*at, &bytes, sizeof(bytes));
	memcpy(*at + sizeof(bytes), name ? name : "", bytes);
	*at += sizeof(bytes) + bytes;
}

static const char *counter_unit(const struct nvtx_counter *a)
{
	for (const struct nvtx_semantics *s = a->semantics; s; s = s->next)
		if (s->id == NVTX_SEMANTICS_COUNTER && s->size >= sizeof(struct nvtx_counter_semantics))
			return ((const struct nvtx_counter_semantics *)s)->unit;
	return NULL;
}

static uint64_t counter_register(struct nvtx_domain *d, const struct nvtx_counter *a)
{
	enum { NAME = 1024, UNIT = 64 };
	static uint64_t ids;
	char bytes[sizeof(struct tf_nvtx) + 2 * NAME + UNIT + 3 * sizeof(uint16_t)];
	char *at = bytes + sizeof(struct tf_nvtx);
	struct tf_nvtx head = {.kind = TF_NVTX_COUNTER, .domain = d ? d->number : 0, .count = 2};
	struct counter *c;

	if (!a || a->size < sizeof(*a) || !(c = names_take(sizeof(*c))))
		return 0;
	head.id = a->id ? a->id : FIRST_DYNAMIC_ID + __atomic_fetch_add(&ids, 1, __ATOMIC_RELAXED);
	head.type = a->schema;
	head.flags = a->scope;
	memcpy(bytes, &head, sizeof(head));
	append_counter_text(&at, a->name, NAME);
	append_counter_text(&at, counter_unit(a), UNIT);
	append_counter_text(&at, a->description, NAME);
	c->schema = a->schema;
	c->name = nvtx_text_string(a->name ? a->name : "", nvtx_text_length(a->name));
	intern_set(&counters, counter_key(d, head.id), (uint64_t)c);
	nvtx_define(d, bytes, (size_t)(at - bytes));
	return head.id;
}

static void record_sample(struct nvtx_domain *d, uint64_t id, unsigned why, const uint64_t *more, unsigned count)
{
	const struct counter *c = (const struct counter *)intern_get(&counters, counter_key(d, id));
	uint64_t args[EVENT_ARGS] = {tf_arg(TF_ARG_COUNTER, why, id)};

	for (unsigned i = 0; i < count; i++)
		args[1 + i] = more[i];
	nvtx_definitions();
	event_instant(TF_MARK, nvtx_domain_number(d), nvtx_text_registered(c ? c->name : NULL), args, 1 + count);
}

static void record_number(struct nvtx_domain *d, uint64_t id, unsigned type, uint64_t bits)
{
	uint64_t args[] = {tf_arg(TF_ARG_PAYLOAD, type, bits), tf_arg(TF_ARG_PAYLOAD_HIGH, 0, bits >> 48)};

	record_sample(d, id, 0, args, bits >> 48 ? 2 : 1);
}

static void counter_int64(struct nvtx_domain *d, uint64_t id, int64_t value)
{
	if (nvtx_wanted(d))
		record_number(d, id, PAYLOAD_INT64, (uint64_t)value);
}

static void counter_float64(struct nvtx_domain *d, uint64_t id, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (nvtx_wanted(d))
		record_number(d, id, PAYLOAD_DOUBLE, bits);
}

static void counter_values(struct nvtx_domain *d, uint64_t id, const void *values, size_t size)
{
	const struct counter *c = (const struct counter *)intern_get(&counters, counter_key(d, id));
	uint32_t payload;

	if (!values || !nvtx_wanted(d))
		return;
	payload = nvtx_payload(d, &(struct nvtx_payload){c ? c->schema : 0, size, values}, 1);
	if (payload)
		record_sample(d, id, 0, (uint64_t[]){tf_arg(TF_ARG_EXTENDED, 0, payload)}, 1);
}

static void counter_no_value(struct nvtx_domain *d, uint64_t id, uint8_t reason)
{
	if (nvtx_wanted(d))
		record_sample(d, id, reason, NULL, 0);
}

/* Their times are on clocks that the program chooses. */
static void counter_batch(struct nvtx_domain *d, const struct nvtx_counter_batch *batch)
{
	static uint64_t noted;

	nvtx_note_once(&noted, "NVTX's batches of counter samples are not recorded");
}

#define SLOT(slot, function) [NVTX_##slot] = (intptr_t)(function)
void nvtx_counter_fill(struct nvtx_extension_module *module)
{
	const intptr_t functions[] = {
		SLOT(COUNTER_REGISTER, counter_register),
		SLOT(COUNTER_INT64, counter_int64),
		SLOT(COUNTER_FLOAT64, counter_float64),
		SLOT(COUNTER_VALUES, counter_values),
		SLOT(COUNTER_NO_VALUE, counter_no_value),
		SLOT(COUNTER_BATCH, counter_batch),
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions) && i < module->segments[0].count; i++)
		module->segments[0].slots[i] = functions[i];
}
