/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a program gives by NVTX: to domains, registered strings, categories, threads and other resources. */
#include "preload/nvtx/nvtx_tool.h"

#include "runtime/recorder/record/names.h"
#include "runtime/shared/common/sys.h"

enum { DOMAINS = 2048, CATEGORIES = 1 << 16, FUNCTION_TEXTS = 4096 };

struct name_definition {
	struct name_definition *next; /* the previous one */
	struct nvtx_domain *domain;
	uint32_t id, length;
	char bytes[];
};

static uint32_t domains, definitions;
struct name_definition *nvtx_defined, *nvtx_written;
uint64_t nvtx_written_generation;

/* ---- domains and strings ---- */

static struct nvtx_string *domain_register(struct nvtx_domain *d, const char *text)
{
	return nvtx_text_string(text, nvtx_text_length(text));
}

static struct nvtx_string *domain_register_wide(struct nvtx_domain *d, const wchar_t *text)
{
	char bytes[EVENT_TEXT + 1];

	return domain_register(d, nvtx_text_narrow(bytes, text));
}

static uint32_t next_domain(void)
{
	static uint64_t noted;
	uint32_t number = __atomic_add_fetch(&domains, 1, __ATOMIC_RELAXED);

	if (number < DOMAINS)
		return number;
	nvtx_note_once(&noted, "more than 2047 NVTX domains: the others count as the default domain");
	return 0;
}

/* A domain that is created twice, as when each source file has its own handle, is one domain. */
struct nvtx_domain *nvtx_domain(const char *name)
{
	size_t length = nvtx_text_length(name);
	struct intern_entry *e = nvtx_text_entry(2, name, length);
	struct nvtx_domain *d = e ? (struct nvtx_domain *)__atomic_load_n(&e->value, __ATOMIC_ACQUIRE) : NULL;

	if (!d && (d = names_take(sizeof(*d) + length + 1))) {
		d->number = next_domain();
		d->length = (uint32_t)length;
		memcpy(d->name, name, length);
		d->is_off = nvtx_filter_excludes(d->name);
		if (e)
			__atomic_store_n(&e->value, (uint64_t)d, __ATOMIC_RELEASE);
	}
	return d;
}

static struct nvtx_domain *domain_create_wide(const wchar_t *name)
{
	char bytes[EVENT_TEXT + 1];

	return nvtx_domain(nvtx_text_narrow(bytes, name));
}

/* Nothing is freed: its ranges may still be open, and the name may be created again. */
static void domain_destroy(struct nvtx_domain *d)
{
}

/* ---- definitions ---- */

void nvtx_domain_write(struct nvtx_domain *d)
{
	d->written = process.generation;
	if (d->number)
		event_blob(TF_BLOB_DOMAIN, d->number, d->name, d->length);
}

uint32_t nvtx_define(struct nvtx_domain *d, const void *bytes, size_t size)
{
	struct name_definition *n = size <= NAMES_BYTES - sizeof(*n) ? names_take(sizeof(*n) + size) : NULL;

	if (!n)
		return 0;
	n->id = __atomic_add_fetch(&definitions, 1, __ATOMIC_RELAXED);
	n->domain = d;
	n->length = (uint32_t)size;
	memcpy(n->bytes, bytes, size);
	n->next = __atomic_load_n(&nvtx_defined, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&nvtx_defined, &n->next, n, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return n->id;
}

/* Two threads may write the same definition, which does no harm. */
__attribute__((noinline)) void nvtx_definitions_write(void)
{
	struct name_definition *first = __atomic_load_n(&nvtx_defined, __ATOMIC_ACQUIRE);
	struct name_definition *end = nvtx_written_generation == process.generation ? nvtx_written : NULL;

	for (struct name_definition *n = first; n != end; n = n->next) {
		nvtx_domain_number(n->domain);
		event_blob(TF_BLOB_NVTX, n->id, n->bytes, n->length);
	}
	nvtx_written = first;
	nvtx_written_generation = process.generation;
}

static size_t append_text(char *to, size_t at, const char *text)
{
	uint16_t length = (uint16_t)nvtx_text_length(text);

	memcpy(to + at, &length, sizeof(length));
	memcpy(to + at + sizeof(length), text, length);
	return at + sizeof(length) + length;
}

static bool define_name(enum tf_nvtx_kind kind, struct nvtx_domain *d, uint64_t id, uint64_t type, const char *name)
{
	struct {
		struct tf_nvtx head;
		char text[sizeof(uint16_t) + EVENT_TEXT];
	} blob = {.head = {.kind = kind, .domain = d ? d->number : 0, .id = id, .type = type}};
	size_t size = sizeof(blob.head) + append_text(blob.text, 0, name);
	struct intern_entry *e = nvtx_text_entry(3, &blob, size);

	if (!e || __atomic_exchange_n(&e->value, 1, __ATOMIC_RELAXED))
		return false; /* known */
	return nvtx_define(d, &blob, size);
}

void nvtx_name_function(struct nvtx_domain *d, const char *text, const char *name, const char *file,
			unsigned first_line)
{
	struct {
		struct tf_nvtx head;
		char texts[FUNCTION_TEXTS];
	} blob = {.head = {.kind = TF_NVTX_FUNCTION, .domain = d ? d->number : 0, .id = first_line, .count = 2}};
	const char *texts[] = {text, name, file};
	struct intern_entry *e;
	size_t at = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (at + sizeof(uint16_t) + nvtx_text_length(texts[i]) > sizeof(blob.texts))
			return;
		at = append_text(blob.texts, at, texts[i]);
	}
	e = nvtx_text_entry(3, &blob, sizeof(blob.head) + at);
	if (e && !__atomic_exchange_n(&e->value, 1, __ATOMIC_RELAXED))
		nvtx_define(d, &blob, sizeof(blob.head) + at);
}

static void domain_name_category(struct nvtx_domain *d, uint32_t number, const char *name)
{
	if (number && number < CATEGORIES && name)
		define_name(TF_NVTX_CATEGORY, d, number, 0, name);
}

static void domain_name_category_wide(struct nvtx_domain *d, uint32_t number, const wchar_t *name)
{
	char bytes[EVENT_TEXT + 1];

	domain_name_category(d, number, nvtx_text_narrow(bytes, name));
}

static void name_category(uint32_t number, const char *name)
{
	domain_name_category(NULL, number, name);
}

static void name_category_wide(uint32_t number, const wchar_t *name)
{
	domain_name_category_wide(NULL, number, name);
}

/* ---- threads and other resources ---- */

/* Resources are mostly named before a capture range opens, so the range does not matter here. */
static bool is_naming(void)
{
	return process_gate.groups & 1u << TF_GROUP_NVTX && hook_attached();
}

/* Names a resource of the program, such as a CUDA stream or a thread. `type` as in nvtxResourceAttributes_t. */
static void name_resource(struct nvtx_domain *d, uint32_t type, uint64_t handle, const char *name)
{
	if (name && define_name(TF_NVTX_RESOURCE, d, handle, type, name) && is_naming())
		nvtx_definitions();
}

static void name_thread(uint32_t tid, const char *name)
{
	if (!name || !is_naming())
		return;
	if ((long)tid == sys_call(SYS_gettid, 0, 0, 0, 0))
		event_blob(TF_BLOB_THREAD_NAME, 0, name, nvtx_text_length(name));
	else
		name_resource(NULL, TF_NVTX_OS_THREAD, tid, name);
}

static void name_thread_wide(uint32_t tid, const wchar_t *name)
{
	char bytes[EVENT_TEXT + 1];

	name_thread(tid, nvtx_text_narrow(bytes, name));
}

/* The handle is only used to destroy the resource, so it may be the string of its name. */
static void *resource_create(struct nvtx_domain *d, const struct nvtx_resource *r)
{
	char bytes[EVENT_TEXT + 1];
	const char *name = NULL;

	if (!r)
		return NULL;
	if (r->message_type == NVTX_ASCII)
		name = r->message;
	else if (r->message_type == NVTX_UNICODE)
		name = nvtx_text_narrow(bytes, r->message);
	else if (r->message_type == NVTX_REGISTERED && r->message)
		name = ((const struct nvtx_string *)r->message)->text;
	name_resource(d, (uint32_t)r->type, r->identifier, name);
	return nvtx_text_string(name ? name : "", nvtx_text_length(name));
}

static void resource_destroy(void *resource)
{
}

static void initialize(const void *unused)
{
}

/* Two functions per kind of handle, plain and wide. */
#define NAMES(kind, handle, type)                                                                                      \
	static void name_##kind(handle h, const char *name)                                                            \
	{                                                                                                              \
		name_resource(NULL, type, (uint64_t)h, name);                                                     \
	}                                                                                                              \
	static void name_##kind##_wide(handle h, const wchar_t *name)                                                  \
	{                                                                                                              \
		char bytes[EVENT_TEXT + 1];                                                                            \
                                                                                                                       \
		name_resource(NULL, type, (uint64_t)h, nvtx_text_narrow(bytes, name));                            \
	}
NAMES(cuda_device, int, TF_NVTX_CUDA_DEVICE)
NAMES(cuda_context, void *, TF_NVTX_CUDA_CONTEXT)
NAMES(cuda_stream, void *, TF_NVTX_CUDA_STREAM)
NAMES(cuda_event, void *, TF_NVTX_CUDA_EVENT)
#undef NAMES

const struct nvtx_slot nvtx_name_slots[] = {
	NVTX_SLOT(CORE, NAME_CATEGORY_A, name_category),
	NVTX_SLOT(CORE, NAME_CATEGORY_W, name_category_wide),
	NVTX_SLOT(CORE, NAME_THREAD_A, name_thread),
	NVTX_SLOT(CORE, NAME_THREAD_W, name_thread_wide),
	NVTX_SLOT(CORE2, DOMAIN_RESOURCE_CREATE, resource_create),
	NVTX_SLOT(CORE2, DOMAIN_RESOURCE_DESTROY, resource_destroy),
	NVTX_SLOT(CORE2, DOMAIN_NAME_CATEGORY_A, domain_name_category),
	NVTX_SLOT(CORE2, DOMAIN_NAME_CATEGORY_W, domain_name_category_wide),
	NVTX_SLOT(CORE2, DOMAIN_REGISTER_A, domain_register),
	NVTX_SLOT(CORE2, DOMAIN_REGISTER_W, domain_register_wide),
	NVTX_SLOT(CORE2, DOMAIN_CREATE_A, nvtx_domain),
	NVTX_SLOT(CORE2, DOMAIN_CREATE_W, domain_create_wide),
	NVTX_SLOT(CORE2, DOMAIN_DESTROY, domain_destroy),
	NVTX_SLOT(CORE2, DOMAIN_INITIALIZE, initialize),
	NVTX_SLOT(CUDA, NAME_CU_DEVICE_A, name_cuda_device),
	NVTX_SLOT(CUDA, NAME_CU_DEVICE_W, name_cuda_device_wide),
	NVTX_SLOT(CUDA, NAME_CU_CONTEXT_A, name_cuda_context),
	NVTX_SLOT(CUDA, NAME_CU_CONTEXT_W, name_cuda_context_wide),
	NVTX_SLOT(CUDA, NAME_CU_STREAM_A, name_cuda_stream),
	NVTX_SLOT(CUDA, NAME_CU_STREAM_W, name_cuda_stream_wide),
	NVTX_SLOT(CUDA, NAME_CU_EVENT_A, name_cuda_event),
	NVTX_SLOT(CUDA, NAME_CU_EVENT_W, name_cuda_event_wide),
	NVTX_SLOT(CUDART, NAME_CUDA_DEVICE_A, name_cuda_device),
	NVTX_SLOT(CUDART, NAME_CUDA_DEVICE_W, name_cuda_device_wide),
	NVTX_SLOT(CUDART, NAME_CUDA_STREAM_A, name_cuda_stream),
	NVTX_SLOT(CUDART, NAME_CUDA_STREAM_W, name_cuda_stream_wide),
	NVTX_SLOT(CUDART, NAME_CUDA_EVENT_A, name_cuda_event),
	NVTX_SLOT(CUDART, NAME_CUDA_EVENT_W, name_cuda_event_wide),
};
const size_t nvtx_name_slot_count = sizeof(nvtx_name_slots) / sizeof(*nvtx_name_slots);
