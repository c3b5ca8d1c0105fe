/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/common/preloadable.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "runtime/shared/common/sys.h"

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_AARCH64
#endif

enum { HEADERS = 32, ENTRIES = 32, SCRIPT_DEPTH = 5, LINE = 256 };

/* An ELF file under inspection: its loaded segments, to find what the dynamic section points to. */
struct elf_file {
	int fd;
	unsigned count;
	Elf64_Phdr headers[HEADERS];
};

static bool read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
	return sys_pread(fd, bytes, size, offset) == (long)size;
}

static void verdict(struct preloadable *ret, enum preloadable_kind kind, const char *reason)
{
	ret->kind = kind;
	ret->reason = reason;
}

static const Elf64_Phdr *header_find(const struct elf_file *image, uint32_t type)
{
	for (unsigned i = 0; i < image->count; i++) {
		if (image->headers[i].p_type == type)
			return &image->headers[i];
	}
	return NULL;
}

static bool file_offset(const struct elf_file *image, uint64_t address, uint64_t *ret)
{
	for (unsigned i = 0; i < image->count; i++) {
		const Elf64_Phdr *h = &image->headers[i];

		if (h->p_type == PT_LOAD && address >= h->p_vaddr && address - h->p_vaddr < h->p_filesz) {
			*ret = h->p_offset + (address - h->p_vaddr);
			return true;
		}
	}
	return false;
}

/* Only these runtimes check at start that they are first in the list of libraries, and abort if they are not. */
static bool is_runtime(const char *name)
{
	static const char *const runtimes[] = {"libasan.so", "libtsan.so",  "libhwasan.so",
					       "libmsan.so", "liblsan.so", "libclang_rt."};

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		if (!strncmp(name, runtimes[i], strlen(runtimes[i])))
			return !strchr(name, ' ') && !strchr(name, ':');
	}
	return false;
}

/* Calls take() for each entry of the dynamic section, until it returns true or the section ends. */
static bool dynamic_each(const struct elf_file *image, bool (*take)(const struct elf_file *, const Elf64_Dyn *, void *),
			 void *context)
{
	const Elf64_Phdr *dynamic = header_find(image, PT_DYNAMIC);
	Elf64_Dyn entries[ENTRIES];
	uint64_t done = 0;

	while (dynamic && done < dynamic->p_filesz && done < 1 << 16) {
		long n = sys_pread(image->fd, entries, sizeof(entries), dynamic->p_offset + done);

		for (long i = 0; i < n / (long)sizeof(entries[0]); i++) {
			if (entries[i].d_tag == DT_NULL)
				return false;
			if (take(image, &entries[i], context))
				return true;
		}
		if (n < (long)sizeof(entries))
			return false;
		done += sizeof(entries);
	}
	return false;
}

static bool take_strings(const struct elf_file *image, const Elf64_Dyn *entry, void *context)
{
	return entry->d_tag == DT_STRTAB && file_offset(image, entry->d_un.d_ptr, context);
}

struct needed {
	uint64_t strings;
	char *name; /* char[64] of struct preloadable */
};

static bool take_needed(const struct elf_file *image, const Elf64_Dyn *entry, void *context)
{
	struct needed *needed = context;
	long n;

	if (entry->d_tag != DT_NEEDED)
		return false;
	n = sys_pread(image->fd, needed->name, 63, needed->strings + entry->d_un.d_val);
	needed->name[n > 0 ? n : 0] = '\0';
	if (n > 0 && strlen(needed->name) < 63 && is_runtime(needed->name))
		return true;
	*needed->name = '\0';
	return false;
}

/* The program's loader determines which libc it uses. */
static void check_interpreter(const struct elf_file *image, const Elf64_Phdr *header, struct preloadable *ret)
{
	char path[128];
	size_t size = header->p_filesz < sizeof(path) - 1 ? header->p_filesz : sizeof(path) - 1;
	const char *name;
	long n = sys_pread(image->fd, path, size, header->p_offset);

	path[n > 0 ? n : 0] = '\0';
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	if (!strncmp(name, "ld-musl", 7))
		verdict(ret, PRELOADABLE_HARM, "musl");
	else if (strncmp(name, "ld-linux", 8) != 0 && strncmp(name, "ld.so", 5) != 0 && strncmp(name, "ld-2", 4) != 0)
		verdict(ret, PRELOADABLE_HARM, "libc");
}

/* The loader itself as a program (`ld-linux-x86-64.so.2 ./program`) has no interpreter, but preloads. Unlike a static
 * program it has the name of a shared object. */
static bool take_soname(const struct elf_file *image, const Elf64_Dyn *entry, void *context)
{
	(void)image;
	(void)context;
	return entry->d_tag == DT_SONAME;
}

static void check_elf(int fd, const unsigned char *head, struct preloadable *ret)
{
	struct elf_file image = {.fd = fd};
	const Elf64_Phdr *interpreter;
	struct needed needed = {.name = ret->runtime};
	Elf64_Ehdr elf;

	memcpy(&elf, head, sizeof(elf));
	if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_ident[EI_DATA] != ELFDATA2LSB ||
	    elf.e_machine != OWN_MACHINE) {
		verdict(ret, PRELOADABLE_HARM, "machine");
		return;
	}
	if (elf.e_phentsize != sizeof(Elf64_Phdr) || !elf.e_phnum)
		return;
	image.count = elf.e_phnum < HEADERS ? elf.e_phnum : HEADERS;
	if (!read_at(fd, image.headers, image.count * sizeof(Elf64_Phdr), elf.e_phoff))
		return;
	interpreter = header_find(&image, PT_INTERP);
	if (interpreter) {
		check_interpreter(&image, interpreter, ret);
		if (ret->kind == PRELOADABLE && dynamic_each(&image, take_strings, &needed.strings))
			dynamic_each(&image, take_needed, &needed);
	} else if (dynamic_each(&image, take_soname, NULL)) {
		ret->is_loader = true;
	} else {
		verdict(ret, PRELOADABLE_BARE, "static");
	}
}

/* A program that gets other ids than its caller's, or capabilities, starts in secure mode, in which the loader preloads
 * no paths. */
static void check_privilege(int fd, struct preloadable *ret)
{
	char capability[64];
	struct stat st;

	if (sys_fstat(fd, &st) != 0)
		return;
	if (((st.st_mode & S_ISUID) && st.st_uid != (uid_t)sys_call(SYS_getuid, 0, 0, 0, 0)) ||
	    ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != (gid_t)sys_call(SYS_getgid, 0, 0, 0, 0)))
		verdict(ret, PRELOADABLE_BARE, "setuid");
	else if (sys_call(SYS_getuid, 0, 0, 0, 0) != 0 &&
		 sys_call(SYS_fgetxattr, fd, "security.capability", capability, sizeof(capability)) > 0)
		verdict(ret, PRELOADABLE_BARE, "setuid");
}

/* "#! /usr/bin/python3 -E" -> "/usr/bin/python3", in place. NULL: there is no interpreter. */
static char *script_interpreter(char *line)
{
	char *start = line + 2 + strspn(line + 2, " \t");

	start[strcspn(start, " \t\r\n")] = '\0';
	return *start ? start : NULL;
}

/* Examines one file. True: it is a script, and its interpreter (at *ret_next, in `line`) must be examined. */
static bool check_one(int fd, char line[LINE], struct preloadable *ret, char **ret_next)
{
	long n = sys_pread(fd, line, LINE - 1, 0);

	line[n > 0 ? n : 0] = '\0';
	if (n > 2 && line[0] == '#' && line[1] == '!') {
		*ret_next = script_interpreter(line);
		return *ret_next != NULL;
	}
	if (n < (long)sizeof(Elf64_Ehdr) || memcmp(line, ELFMAG, SELFMAG) != 0)
		return false;
	check_elf(fd, (unsigned char *)line, ret);
	if (ret->kind == PRELOADABLE)
		check_privilege(fd, ret);
	return false;
}

static void check_chain(int fd, struct preloadable *ret)
{
	char line[LINE], *next;

	for (int depth = 0; fd >= 0 && depth < SCRIPT_DEPTH; depth++) {
		bool is_script = check_one(fd, line, ret, &next);

		if (depth)
			sys_close(fd);
		if (!is_script)
			return;
		fd = sys_open(next, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	}
	if (fd >= 0)
		sys_close(fd);
}

void preloadable_check_fd(int fd, struct preloadable *ret)
{
	memset(ret, 0, sizeof(*ret));
	check_chain(fd, ret);
}

void preloadable_check(const char *path, struct preloadable *ret)
{
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);

	memset(ret, 0, sizeof(*ret));
	if (fd < 0)
		return;
	check_chain(fd, ret);
	sys_close(fd);
}

/* Is --list among the loader's own options, which precede the program? */
static bool loader_lists(char *const *arguments)
{
	static const char *const takes_value[] = {"--library-path", "--inhibit-rpath", "--audit", "--preload",
						  "--argv0", "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask"};

	for (arguments++; *arguments && !strncmp(*arguments, "--", 2); arguments++) {
		if (!strcmp(*arguments, "--list"))
			return true;
		for (size_t i = 0; i < sizeof(takes_value) / sizeof(*takes_value); i++) {
			if (!strcmp(*arguments, takes_value[i]) && !*++arguments)
				return false;
		}
	}
	return false;
}

void preloadable_check_listing(char *const *arguments, char *const *environment, struct preloadable *ret)
{
	static const char variable[] = "LD_TRACE_LOADED_OBJECTS=";
	bool is_listing = ret->is_loader && arguments && *arguments && loader_lists(arguments);

	for (; environment && *environment && !is_listing; environment++)
		is_listing = !strncmp(*environment, variable, sizeof(variable) - 1);
	if (is_listing && ret->kind == PRELOADABLE)
		verdict(ret, PRELOADABLE_HARM, "listing");
}
