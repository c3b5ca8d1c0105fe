/* SPDX-License-Identifier: Apache-2.0 */
/* The module map, from dl_iterate_phdr: it takes the loader's lock for the list only, not the one that dlopen holds while
 * constructors run. */
#include "module.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "event.h"
#include "loaded.h"
#include "process.h"

static uintptr_t ours_start, ours_end;

static void span(const struct dl_phdr_info *info, uint64_t *ret_start, uint64_t *ret_end)
{
	*ret_start = UINT64_MAX;
	*ret_end = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		if (start < *ret_start)
			*ret_start = start;
		if (start + segment->p_memsz > *ret_end)
			*ret_end = start + segment->p_memsz;
	}
}

static void find_build_id(const struct dl_phdr_info *info, struct tf_module *module)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr), *end = at + segment->p_memsz;

		if (segment->p_type != PT_NOTE)
			continue;
		while (end - at >= (long)sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
			const char *name = at + sizeof(*note), *value = name + ((note->n_namesz + 3) & ~3u);

			if (value + note->n_descsz > end)
				break;
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
				module->build_id_length = note->n_descsz < sizeof(module->build_id) ? (uint8_t)note->n_descsz : sizeof(module->build_id);
				memcpy(module->build_id, value, module->build_id_length);
				return;
			}
			at = value + ((note->n_descsz + 3) & ~3u);
		}
	}
}

static int write_module(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct {
		struct tf_module module;
		char path[1024];
	} blob = {0};
	size_t length = strlen(info->dlpi_name);

	(void)size;
	(void)unused;
	if (length > sizeof(blob.path))
		length = sizeof(blob.path);
	span(info, &blob.module.start, &blob.module.end);
	blob.module.bias = info->dlpi_addr;
	find_build_id(info, &blob.module);
	memcpy(blob.path, info->dlpi_name, length);
	if (blob.module.end > blob.module.start)
		event_intern(TF_BLOB_MODULE, &blob, sizeof(blob.module) + length);
	return 0;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *ret_loads)
{
	(void)size;
	*(uint64_t *)ret_loads = info->dlpi_adds;
	return 1;
}

void module_write_new(void)
{
	uint64_t loads = 0;

	dl_iterate_phdr(count_loads, &loads);
	if (loads == process.modules_seen)
		return;
	process.modules_seen = loads;
	dl_iterate_phdr(write_module, NULL);
}

bool module_is_ours(uintptr_t address)
{
	return address >= ours_start && address < ours_end;
}

void module_init(void)
{
	loaded_ours(&ours_start, &ours_end);
}
