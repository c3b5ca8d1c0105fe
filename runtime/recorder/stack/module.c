/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/stack/module.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/loader/loader.h"
#include "runtime/recorder/loader/maps.h"
#include "runtime/recorder/python/pystack.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/stack/object.h"
#include "runtime/shared/common/sys.h"

static uintptr_t ours_start, ours_end;

enum { PATH_BYTES = 1024 };

struct module_blob {
	struct tf_module module;
	char path[PATH_BYTES + 1 + sizeof(struct tf_module_file)];
};

static const ElfW(Nhdr) *elf_note_in_segment(const char *at, const char *end, const char *owner, uint32_t type)
{
	while (end - at >= (long)sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
		const char *name = at + sizeof(*note), *value = name + ((note->n_namesz + 3) & ~3u);

		if (value + note->n_descsz > end)
			break;
		if (note->n_type == type && note->n_namesz == 4 && !strncmp(name, owner, 4))
			return note;
		at = value + ((note->n_descsz + 3) & ~3u);
	}
	return NULL;
}

/* `owner` has at most three letters; the field in the note has four bytes. */
static const ElfW(Nhdr) *elf_find_note(uintptr_t bias, const ElfW(Phdr) *segments, unsigned count, const char *owner,
				       uint32_t type)
{
	const ElfW(Nhdr) *note = NULL;

	for (unsigned i = 0; i < count && !note; i++) {
		const char *at = (const char *)(bias + segments[i].p_vaddr);

		if (segments[i].p_type == PT_NOTE)
			note = elf_note_in_segment(at, at + segments[i].p_memsz, owner, type);
	}
	return note;
}

static void module_set_build_id(struct tf_module *module, const ElfW(Nhdr) *note)
{
	size_t length = note ? note->n_descsz : 0;

	module->build_id_length = (uint8_t)(length < sizeof(module->build_id) ? length : sizeof(module->build_id));
	if (note)
		memcpy(module->build_id, (const char *)(note + 1) + 4, module->build_id_length);
}

static const ElfW(Nhdr) *object_find_note(const struct object *found, const char *owner, uint32_t type)
{
	unsigned count = 0;
	const ElfW(Phdr) *headers = object_headers(found, &count);

	return elf_find_note(found->link_map->l_addr, headers, headers ? count : 0, owner, type);
}

/* The loader's path is relative to the directory in which it opened the object. The vDSO's has no slash. */
static bool is_relative(const char *path)
{
	return *path != '/' && strchr(path, '/');
}

/* What identifies the file at the path instead of a build id. */
static struct tf_module_file file_at(const char *path, bool is_gone)
{
	struct stat st;

	if (is_gone)
		return (struct tf_module_file){.size = TF_MODULE_GONE};
	if (sys_call(SYS_newfstatat, AT_FDCWD, path, &st, 0))
		return (struct tf_module_file){0};
	return (struct tf_module_file){(uint64_t)st.st_size,
				       (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec,
				       st.st_ino};
}

static void module_write_blob(struct module_blob *blob, const char *path)
{
	bool has_id = blob->module.build_id_length, is_gone;
	struct tf_module_file file = {0};
	size_t length;

	if ((!has_id || is_relative(path)) && maps_path(blob->module.start, blob->path, PATH_BYTES, &is_gone)) {
		file = file_at(blob->path, is_gone);
		path = is_relative(path) ? blob->path : path;
	}
	length = strlen(path);
	if (length > PATH_BYTES)
		length = PATH_BYTES;
	memmove(blob->path, path, length);
	if (!has_id && (file.size || file.inode)) {
		blob->path[length++] = '\0';
		memcpy(blob->path + length, &file, sizeof(file));
		length += sizeof(file);
	}
	blob->module.unloads = (uint16_t)__atomic_load_n(&process.unloads, __ATOMIC_RELAXED);
	event_intern(TF_BLOB_MODULE, blob, sizeof(blob->module) + length);
}

static uint64_t module_key(const struct object *found)
{
	uint64_t identity[3] = {(uint64_t)found->map_start, (uint64_t)found->map_end, (uint64_t)found->link_map};

	return intern_hash(__atomic_load_n(&process.unloads, __ATOMIC_RELAXED), identity, sizeof(identity));
}

static void module_write_found(const struct object *found)
{
	struct module_blob blob = {{.start = (uint64_t)found->map_start, .end = (uint64_t)found->map_end,
				    .bias = found->link_map->l_addr},
				   ""};
	struct intern_entry *e;
	uint32_t number;
	bool is_new;

	e = intern_add(&process.modules, module_key(found), &number, &is_new);
	if (!e || !is_new)
		return;
	__atomic_store_n(&e->value, blob.module.start, __ATOMIC_RELAXED);
	module_set_build_id(&blob.module, object_find_note(found, "GNU", NT_GNU_BUILD_ID));
	module_write_blob(&blob, found->link_map->l_name);
	pystack_check_module(found->link_map->l_addr, found->link_map->l_ld);
}

static int module_write_listed(struct dl_phdr_info *info, size_t size, void *unused)
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
	module_set_build_id(&blob.module,
			    elf_find_note(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, "GNU", NT_GNU_BUILD_ID));
	if (blob.module.end)
		module_write_blob(&blob, info->dlpi_name);
	if (dynamic)
		pystack_check_module(info->dlpi_addr, dynamic);
	return 0;
}

void module_write(void *const *addresses, int count)
{
	struct object found;

	if (!object_has_lookup()) {
		loader_try_each(module_write_listed, NULL);
		return;
	}
	/* A return address is attributed to the call instruction before it. */
	for (int i = 0; i < count; i++)
		if (object_find((uintptr_t)addresses[i] - 1, &found) == OBJECT_FOUND && found.link_map)
			module_write_found(&found);
}

static bool module_is_loaded(struct intern_entry *e)
{
	uintptr_t start = __atomic_load_n(&e->value, __ATOMIC_RELAXED);
	struct object found;

	return !start || (object_find(start, &found) == OBJECT_FOUND && found.link_map && module_key(&found) == e->key);
}

/* The module is written again with the next stack that contains it. */
static bool module_invalidate(struct intern_entry *e)
{
	__atomic_store_n(&e->value, 0, __ATOMIC_RELAXED);
	return true;
}

/* Without _dl_find_object, any module may have been unloaded. */
static bool module_any_unloaded(void)
{
	return object_has_lookup() ? !intern_each(&process.modules, module_is_loaded)
				   : process.interned.level[0] || process.ring;
}

void module_unloaded(void)
{
	if (process.unloads == UINT16_MAX || !module_any_unloaded())
		return;
	intern_each(&process.modules, module_invalidate);
	__atomic_fetch_add(&process.unloads, 1, __ATOMIC_RELAXED);
}

bool module_is_ours(uintptr_t address)
{
	return address >= ours_start && address < ours_end;
}

enum { GO_BUILD_ID = 4 };

static bool program_has(uintptr_t address, uintptr_t bias, const ElfW(Phdr) *headers, unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		if (headers[i].p_type == PT_LOAD && address - bias - headers[i].p_vaddr < headers[i].p_memsz)
			return true;
	return false;
}

/* Takes no lock, because a signal handler may call sigaction() while its thread holds the loader's. */
static bool program_is_go(uintptr_t address)
{
	const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	unsigned long count = getauxval(AT_PHNUM);

	for (unsigned long i = 0; headers && i < count; i++) {
		uintptr_t bias = (uintptr_t)headers - headers[i].p_vaddr;

		if (headers[i].p_type == PT_PHDR)
			return program_has(address, bias, headers, count) &&
			       elf_find_note(bias, headers, count, "Go", GO_BUILD_ID);
	}
	return false;
}

bool module_is_go(const void *address)
{
	struct object found;

	if (!object_has_lookup())
		return program_is_go((uintptr_t)address);
	return object_find((uintptr_t)address, &found) == OBJECT_FOUND && found.link_map &&
	       object_find_note(&found, "Go", GO_BUILD_ID);
}

void module_init(void)
{
	object_init(dso_next("_dl_find_object"));
	dso_own_range(&ours_start, &ours_end);
}
