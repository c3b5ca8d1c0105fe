/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stack/module.h"

#include <elf.h>
#include <string.h>

#include "runtime/common/loaded.h"
#include "runtime/python/pystack.h"
#include "runtime/record/event.h"
#include "runtime/record/process.h"
#include "runtime/stack/object.h"

static uintptr_t ours_start, ours_end;

struct module_blob {
	struct tf_module module;
	char path[1024];
};

static void set_build_id(struct tf_module *module, const char *value, size_t size)
{
	module->build_id_length = (uint8_t)(size < sizeof(module->build_id) ? size : sizeof(module->build_id));
	memcpy(module->build_id, value, module->build_id_length);
}

static void find_build_id(uintptr_t bias, const ElfW(Phdr) *segments, unsigned count, struct tf_module *module)
{
	for (unsigned i = 0; i < count; i++) {
		const char *at = (const char *)(bias + segments[i].p_vaddr), *end = at + segments[i].p_memsz;

		if (segments[i].p_type != PT_NOTE)
			continue;
		while (end - at >= (long)sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
			const char *name = at + sizeof(*note), *value = name + ((note->n_namesz + 3) & ~3u);

			if (value + note->n_descsz > end)
				break;
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
				set_build_id(module, value, note->n_descsz);
				return;
			}
			at = value + ((note->n_descsz + 3) & ~3u);
		}
	}
}

static void write_module_blob(struct module_blob *blob, const char *path)
{
	size_t length = strlen(path);

	if (length > sizeof(blob->path))
		length = sizeof(blob->path);
	memcpy(blob->path, path, length);
	blob->module.unloads = (uint16_t)__atomic_load_n(&process.unloads, __ATOMIC_RELAXED);
	event_intern(TF_BLOB_MODULE, blob, sizeof(blob->module) + length);
}

static uint64_t module_key(const struct object *found)
{
	uint64_t identity[3] = {(uint64_t)found->map_start, (uint64_t)found->map_end, (uint64_t)found->link_map};

	return table_hash(__atomic_load_n(&process.unloads, __ATOMIC_RELAXED), identity, sizeof(identity));
}

static void write_found_module(const struct object *found)
{
	const ElfW(Ehdr) *head = found->map_start;
	uintptr_t bias = found->link_map->l_addr;
	struct module_blob blob = {{.start = (uint64_t)found->map_start, .end = (uint64_t)found->map_end, .bias = bias},
				   ""};
	struct table_entry *e;
	uint32_t number;
	bool is_new;

	e = table_add(&process.modules, module_key(found), &number, &is_new);
	if (!e || !is_new)
		return;
	__atomic_store_n(&e->value, blob.module.start, __ATOMIC_RELAXED);
	/* The first segment usually begins with the file's ELF header. */
	if (!memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_phentsize == sizeof(ElfW(Phdr)) &&
	    head->e_phoff + head->e_phnum * sizeof(ElfW(Phdr)) <= TF_PAGE)
		find_build_id(bias, (const ElfW(Phdr) *)((const char *)head + head->e_phoff), head->e_phnum,
			      &blob.module);
	write_module_blob(&blob, found->link_map->l_name);
	pystack_look(bias, found->link_map->l_ld);
}

static int write_listed_module(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct module_blob blob = {{.start = UINT64_MAX, .bias = info->dlpi_addr}, ""};
	const void *dynamic = NULL;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)start;
		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		if (start < blob.module.start)
			blob.module.start = start;
		if (start + info->dlpi_phdr[i].p_memsz > blob.module.end)
			blob.module.end = start + info->dlpi_phdr[i].p_memsz;
	}
	find_build_id(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, &blob.module);
	if (blob.module.end)
		write_module_blob(&blob, info->dlpi_name);
	if (dynamic)
		pystack_look(info->dlpi_addr, dynamic);
	return 0;
}

void module_write(void *const *addresses, int count)
{
	struct object found;

	if (!object_has_lookup()) {
		object_each(write_listed_module, NULL);
		return;
	}
	/* A return address belongs to the call before it. */
	for (int i = 0; i < count; i++)
		if (object_find((uintptr_t)addresses[i] - 1, &found) == OBJECT_FOUND && found.link_map)
			write_found_module(&found);
}

static bool is_still_loaded(struct table_entry *e)
{
	uintptr_t start = __atomic_load_n(&e->value, __ATOMIC_RELAXED);
	struct object found;

	return !start || (object_find(start, &found) == OBJECT_FOUND && found.link_map && module_key(&found) == e->key);
}

/* It is written again with the next stack that passes through it. */
static bool invalidate_module(struct table_entry *e)
{
	__atomic_store_n(&e->value, 0, __ATOMIC_RELAXED);
	return true;
}

/* Without _dl_find_object any module may have been unloaded. */
static bool has_unloaded(void)
{
	return object_has_lookup() ? !table_each(&process.modules, is_still_loaded) : process.interned.level[0] != NULL;
}

void module_gone(void)
{
	if (process.unloads == UINT16_MAX || !has_unloaded())
		return;
	table_each(&process.modules, invalidate_module);
	__atomic_fetch_add(&process.unloads, 1, __ATOMIC_RELAXED);
}

bool module_is_ours(uintptr_t address)
{
	return address >= ours_start && address < ours_end;
}

void module_init(void)
{
	loaded_ours(&ours_start, &ours_end);
}
