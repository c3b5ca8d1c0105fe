/* SPDX-License-Identifier: Apache-2.0 */
/* Uses NVTX as a program does: the tables are filled by our own injection entry point. */
#include "preload/python/annotate_range.h"

static void (*nvtx_functions[NVTX_DOMAIN_INITIALIZE + 1])(void);

static int nvtx_table(int module, void (****ret_table)(void), unsigned *ret_size)
{
	static void (**places[NVTX_DOMAIN_INITIALIZE + 1])(void);

	if (module != NVTX_CORE2)
		return 0;
	for (unsigned i = 0; i <= NVTX_DOMAIN_INITIALIZE; i++)
		places[i] = &nvtx_functions[i];
	*ret_table = places;
	*ret_size = NVTX_DOMAIN_INITIALIZE + 1;
	return 1;
}

static const void *nvtx_exports(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = {sizeof(callbacks), nvtx_table};

	return id == NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

void *annotate_range_domain(const char *name)
{
	return ((void *(*)(const char *))nvtx_functions[NVTX_DOMAIN_CREATE_A])(name);
}

void *annotate_range_text(void *domain, const char *text)
{
	return ((void *(*)(void *, const char *))nvtx_functions[NVTX_DOMAIN_REGISTER_A])(domain, text);
}

void annotate_range_push_attributes(void *domain, const struct nvtx_attributes *a)
{
	((int (*)(void *, const struct nvtx_attributes *))nvtx_functions[NVTX_DOMAIN_PUSH_EX])(domain, a);
}

void annotate_range_push(void *domain, const char *text)
{
	annotate_range_push_attributes(
		domain, &(struct nvtx_attributes){.version = 3,
						  .size = sizeof(struct nvtx_attributes),
						  .message_type = NVTX_ASCII,
						  .message = text});
}

uint64_t annotate_range_start(enum nvtx_message type, const void *message)
{
	const struct nvtx_attributes a = {
		.version = 3, .size = sizeof(a), .message_type = type, .message = message};

	return ((uint64_t(*)(void *, const struct nvtx_attributes *))nvtx_functions[NVTX_DOMAIN_START_EX])(NULL, &a);
}

void annotate_range_end(uint64_t number)
{
	((void (*)(void *, uint64_t))nvtx_functions[NVTX_DOMAIN_END])(NULL, number);
}

void annotate_range_pop(void *domain)
{
	((int (*)(void *))nvtx_functions[NVTX_DOMAIN_POP])(domain);
}

bool annotate_range_init(void)
{
	return InitializeInjectionNvtx2(nvtx_exports);
}
