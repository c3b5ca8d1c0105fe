/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/shared/common/preloadable.h"

#if defined(__x86_64__)
#define OWN EM_X86_64
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#else
#define OWN EM_AARCH64
#define LOADER "/lib/ld-linux-aarch64.so.1"
#endif

static char directory[] = "/tmp/pillion-unit.XXXXXX";
static char path[64], second[64];

static void setup(void)
{
	cr_assert(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/program", directory);
	snprintf(second, sizeof(second), "%s/second", directory);
}

static void teardown(void)
{
	unlink(path);
	unlink(second);
	rmdir(directory);
}

TestSuite(preloadable, .init = setup, .fini = teardown);

/* The smallest program that the check accepts: headers, interpreter, dynamic section, names. */
struct program {
	Elf64_Ehdr head;
	Elf64_Phdr headers[3];
	char interpreter[64];
	Elf64_Dyn dynamic[4];
	char strings[128];
};

static struct program program(const char *interpreter, const char *needed)
{
	struct program p = {0};

	memcpy(p.head.e_ident, ELFMAG, SELFMAG);
	p.head.e_ident[EI_CLASS] = ELFCLASS64;
	p.head.e_ident[EI_DATA] = ELFDATA2LSB;
	p.head.e_type = ET_DYN;
	p.head.e_machine = OWN;
	p.head.e_phoff = offsetof(struct program, headers);
	p.head.e_phentsize = sizeof(Elf64_Phdr);
	p.head.e_phnum = 3;
	p.headers[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = sizeof(p), .p_vaddr = 0x1000};
	p.headers[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC, .p_filesz = sizeof(p.dynamic)};
	p.headers[1].p_offset = offsetof(struct program, dynamic);
	p.headers[2] = (Elf64_Phdr){.p_type = interpreter ? PT_INTERP : PT_NULL};
	p.headers[2].p_offset = offsetof(struct program, interpreter);
	if (interpreter) {
		strcpy(p.interpreter, interpreter);
		p.headers[2].p_filesz = strlen(interpreter) + 1;
	}
	strcpy(p.strings + 1, needed);
	p.dynamic[0] = (Elf64_Dyn){.d_tag = DT_NEEDED, .d_un.d_val = 1};
	p.dynamic[1] = (Elf64_Dyn){.d_tag = DT_STRTAB, .d_un.d_ptr = 0x1000 + offsetof(struct program, strings)};
	return p;
}

/* Truncates after the write: ext4 waits for the disk when a file that was opened with O_TRUNC is closed, and there are
 * thousands of files. */
static void write_file(const char *to, const void *bytes, size_t size)
{
	int fd = open(to, O_WRONLY | O_CREAT, 0700);

	cr_assert(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && !ftruncate(fd, (off_t)size));
	close(fd);
}

static struct preloadable check(const struct program *p)
{
	struct preloadable result;

	write_file(path, p, sizeof(*p));
	preloadable_check(path, &result);
	return result;
}

static void assert_verdict(const struct preloadable *result, enum preloadable_kind kind, const char *reason)
{
	cr_assert_eq(result->kind, kind, "kind %d", (int)result->kind);
	if (reason)
		cr_assert(result->reason && !strcmp(result->reason, reason), "reason %s",
			  result->reason ? result->reason : "none");
	else
		cr_assert_null(result->reason);
}

Test(preloadable, a_program_of_this_libc_is)
{
	struct program p = program(LOADER, "libc.so.6");
	struct preloadable result = check(&p);

	assert_verdict(&result, PRELOADABLE, NULL);
	cr_assert_str_empty(result.runtime);
}

Test(preloadable, this_test_is)
{
	struct preloadable result;

	preloadable_check("/proc/self/exe", &result);
	cr_assert_eq(result.kind, PRELOADABLE);
}

Test(preloadable, a_static_program_is_not_but_its_children_may_be)
{
	struct program p = program(NULL, "");
	struct preloadable result = check(&p);

	assert_verdict(&result, PRELOADABLE_BARE, "static");
}

Test(preloadable, the_loader_as_a_program_is)
{
	struct program p = program(NULL, "");
	struct preloadable result;

	p.dynamic[0].d_tag = DT_SONAME;
	result = check(&p);
	assert_verdict(&result, PRELOADABLE, NULL);
}

Test(preloadable, a_program_of_another_libc_is_harmed)
{
	struct program p = program("/lib/ld-musl-x86_64.so.1", "libc.so");
	struct preloadable result = check(&p);

	assert_verdict(&result, PRELOADABLE_HARM, "musl");
	p = program("/system/bin/linker64", "libc.so");
	result = check(&p);
	assert_verdict(&result, PRELOADABLE_HARM, "libc");
}

Test(preloadable, another_machine_or_class_is_harmed)
{
	struct program p = program(LOADER, "libc.so.6");
	struct preloadable result;

	p.head.e_machine = EM_PPC64;
	result = check(&p);
	assert_verdict(&result, PRELOADABLE_HARM, "machine");
	p = program(LOADER, "libc.so.6");
	p.head.e_ident[EI_CLASS] = ELFCLASS32;
	result = check(&p);
	assert_verdict(&result, PRELOADABLE_HARM, "machine");
}

Test(preloadable, a_setuid_program_is_not)
{
	struct program p = program(LOADER, "libc.so.6");
	struct preloadable result;

	write_file(path, &p, sizeof(p));
	if (chown(path, 12345, (gid_t)-1) || chmod(path, 04755))
		cr_skip_test("only root can make another's setuid program");
	preloadable_check(path, &result);
	assert_verdict(&result, PRELOADABLE_BARE, "setuid");
}

struct library {
	char name[80];
	bool goes_first;
};

ParameterizedTestParameters(preloadable, a_sanitizer_goes_first)
{
	static struct library libraries[] = {
		{"libasan.so.8", true},
		{"libtsan.so.2", true},
		{"libclang_rt.asan-x86_64.so", true},
		{"libubsan.so.1", false},
		{"libasan.so.8 x", false},
		{"libasan.so.000000000000000000000000000000000000000000000000000000000", false},
		{"/opt/libasan.so.8", false},
	};

	return cr_make_param_array(struct library, libraries, sizeof(libraries) / sizeof(libraries[0]));
}

ParameterizedTest(struct library *l, preloadable, a_sanitizer_goes_first)
{
	struct program p = program(LOADER, l->name);
	struct preloadable result = check(&p);

	cr_assert_eq(result.kind, PRELOADABLE);
	cr_assert_str_eq(result.runtime, l->goes_first ? l->name : "");
}

Test(preloadable, a_script_is_what_its_interpreter_is)
{
	struct program p = program("/lib/ld-musl-x86_64.so.1", "libc.so");
	struct preloadable result;
	char line[128];

	write_file(second, &p, sizeof(p));
	snprintf(line, sizeof(line), "#! \t%s -x\nrest", second);
	write_file(path, line, strlen(line));
	preloadable_check(path, &result);
	assert_verdict(&result, PRELOADABLE_HARM, "musl");
}

Test(preloadable, a_script_of_itself_comes_to_an_end)
{
	struct preloadable result;
	char line[128];

	snprintf(line, sizeof(line), "#!%s\n", path);
	write_file(path, line, strlen(line));
	preloadable_check(path, &result);
	assert_verdict(&result, PRELOADABLE, NULL);
}

Test(preloadable, nothing_is_known_against_what_cannot_be_read)
{
	struct preloadable result;

	preloadable_check("/no/such/file", &result);
	assert_verdict(&result, PRELOADABLE, NULL);
	preloadable_check("/tmp", &result);
	assert_verdict(&result, PRELOADABLE, NULL);
	write_file(path, "#!", 2);
	preloadable_check(path, &result);
	assert_verdict(&result, PRELOADABLE, NULL);
	write_file(path, ELFMAG, SELFMAG);
	preloadable_check(path, &result);
	assert_verdict(&result, PRELOADABLE, NULL);
}

static char *none[] = {NULL};

struct listing {
	bool is_loader, is_listing;
	char words[64]; /* separated by spaces */
	char variable[40];
};

ParameterizedTestParameters(preloadable, a_list_of_libraries_is_without_ours)
{
	static struct listing listings[] = {
		{true, true, "ld.so --list /bin/ls", "A=B"},
		{true, true, "ld.so --library-path /lib --inhibit-cache --list /bin/ls", "A=B"},
		{true, true, "ld.so --preload a.so --argv0 --list --list /bin/ls", "A=B"},
		{true, false, "ld.so --argv0 --list /bin/ls", "A=B"},
		{true, false, "ld.so /bin/echo --list", "A=B"},
		{true, false, "ld.so --library-path", "A=B"},
		{true, false, "ld.so", "A=B"},
		{true, false, "", "A=B"},
		{false, false, "echo --list", "A=B"},
		{false, false, "ls", "LD_TRACE_LOADED_OBJECTS"},
		{false, false, "ls", "LD_TRACE_LOADED_OBJECTS_OF=1"},
		{false, true, "ls", "LD_TRACE_LOADED_OBJECTS="},
		{false, true, "ls", "LD_TRACE_LOADED_OBJECTS=1"},
		{true, true, "ld.so /bin/ls", "LD_TRACE_LOADED_OBJECTS=1"},
	};

	return cr_make_param_array(struct listing, listings, sizeof(listings) / sizeof(listings[0]));
}

ParameterizedTest(struct listing *l, preloadable, a_list_of_libraries_is_without_ours)
{
	struct preloadable result = {.is_loader = l->is_loader};
	char *words[16] = {NULL}, *environment[] = {"C=D", l->variable, NULL};
	size_t count = 0;

	for (char *word = strtok(l->words, " "); word; word = strtok(NULL, " "))
		words[count++] = word;
	preloadable_check_listing(words, environment, &result);
	assert_verdict(&result, l->is_listing ? PRELOADABLE_HARM : PRELOADABLE, l->is_listing ? "listing" : NULL);
}

Test(preloadable, a_list_without_words_or_environment)
{
	struct preloadable result = {.is_loader = true};

	preloadable_check_listing(NULL, NULL, &result);
	assert_verdict(&result, PRELOADABLE, NULL);
	preloadable_check_listing(none, none, &result);
	assert_verdict(&result, PRELOADABLE, NULL);
}

Test(preloadable, the_loader_is_known)
{
	struct preloadable result;

	preloadable_check(LOADER, &result);
	assert_verdict(&result, PRELOADABLE, NULL);
	cr_assert(result.is_loader);
	preloadable_check("/bin/ls", &result);
	cr_assert_not(result.is_loader);
}

/* Sets each byte of a valid header to unusual values: the check must not crash or loop forever. */
Test(preloadable, damage_is_survived)
{
	struct program whole = program(LOADER, "libasan.so.8");

	for (size_t at = 0; at < offsetof(struct program, interpreter); at++) {
		for (int value = 0; value < 256; value += 51) {
			struct program p = whole;

			((unsigned char *)&p)[at] = (unsigned char)value;
			check(&p);
		}
	}
	for (size_t size = 0; size < sizeof(whole); size += 7) {
		struct preloadable result;

		write_file(path, &whole, size);
		preloadable_check(path, &result);
	}
}
