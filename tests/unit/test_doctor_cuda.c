/* SPDX-License-Identifier: Apache-2.0 */
/* What `pillion doctor` says of NVIDIA's driver, CUPTI and NVML, with small libraries that have their names and one
 * function each. A library that the process has loaded is found by its name in any directory. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/live/doctor/doctor.h"

enum { PAGE = 1 << 16, SYMBOLS = 0x200, HASH = 0x280, TEXTS = 0x300, CODE = 0x400, BYTES = PAGE + 0x200 };

static char directory[] = "/tmp/pillion-doctor-XXXXXX";
static struct doctor doctor;

static void begin(void)
{
	cr_assert_not_null(mkdtemp(directory));
}

static void end(void)
{
	rmdir(directory);
}

TestSuite(doctor_cuda, .init = begin, .fini = end);

/* int function(int *ret) { *ret = version; return 0; } */
static void add_code(uint8_t *ret, uint32_t version)
{
#if defined(__x86_64__)
	memcpy(ret, "\xc7\x07\0\0\0\0\x31\xc0\xc3", 9);
	memcpy(ret + 2, &version, sizeof(version));
#else
	const uint32_t code[] = {0x52800001 | (version & 0xffff) << 5, 0x72a00001 | (version >> 16) << 5, 0xb9000001,
				 0x52800000, 0xd65f03c0};

	memcpy(ret, code, sizeof(code));
#endif
}

/* Loads a library that has one function, and removes its file. */
static void load(const char *name, const char *function, uint32_t version)
{
	static uint8_t bytes[BYTES];
	const Elf64_Ehdr head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
				 .e_type = ET_DYN,
#if defined(__x86_64__)
				 .e_machine = EM_X86_64,
#else
				 .e_machine = EM_AARCH64,
#endif
				 .e_version = EV_CURRENT, .e_phoff = sizeof(head), .e_ehsize = sizeof(head),
				 .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 4};
	const Elf64_Phdr segments[] = {
		{PT_LOAD, PF_R | PF_X, 0, 0, 0, 0x800, 0x800, PAGE},
		{PT_LOAD, PF_R | PF_W, PAGE, PAGE, PAGE, BYTES - PAGE, BYTES - PAGE, PAGE},
		{PT_DYNAMIC, PF_R | PF_W, PAGE, PAGE, PAGE, 7 * sizeof(Elf64_Dyn), 7 * sizeof(Elf64_Dyn), 8},
		{PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16}};
	const Elf64_Dyn dynamic[] = {{DT_SONAME, {1}}, {DT_HASH, {HASH}}, {DT_SYMTAB, {SYMBOLS}}, {DT_STRTAB, {TEXTS}},
				     {DT_STRSZ, {CODE - TEXTS}}, {DT_SYMENT, {sizeof(Elf64_Sym)}}, {DT_NULL, {0}}};
	const Elf64_Sym symbol = {(Elf64_Word)strlen(name) + 2, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), STV_DEFAULT, 1,
				  CODE, 32};
	const uint32_t hash[] = {1, 2, 1, 0, 0}; /* one chain, which begins with the symbol 1 */
	char path[128];
	FILE *file;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), segments, sizeof(segments));
	memcpy(bytes + SYMBOLS + sizeof(symbol), &symbol, sizeof(symbol));
	memcpy(bytes + HASH, hash, sizeof(hash));
	snprintf((char *)bytes + TEXTS + 1, CODE - TEXTS - 1, "%s%c%s", name, 0, function);
	add_code(bytes + CODE, version);
	memcpy(bytes + PAGE, dynamic, sizeof(dynamic));
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "we");
	cr_assert(file && fwrite(bytes, sizeof(bytes), 1, file) == 1 && fclose(file) == 0);
	cr_assert(dlopen(path, RTLD_NOW), "%s", dlerror());
	unlink(path);
}

/* The row of that name whose text begins so; NULL: there is none. */
static const struct check *row_of(const char *name, const char *beginning)
{
	for (size_t i = 0; i < doctor.count; i++)
		if (!strcmp(doctor.checks[i].name, name) &&
		    text_begins_with(buffer_string(&doctor.checks[i].found), beginning))
			return &doctor.checks[i];
	return NULL;
}

static size_t rows_of(const char *name, const char *beginning)
{
	size_t ret = 0;

	for (size_t i = 0; i < doctor.count; i++)
		ret += !strcmp(doctor.checks[i].name, name) &&
		       text_begins_with(buffer_string(&doctor.checks[i].found), beginning);
	return ret;
}

/* A row with the path of a library, and what follows it. */
static void expect_row(const char *name, const char *beginning, const char *library, const char *rest,
		       enum check_state state)
{
	const struct check *c = row_of(name, beginning);
	SCOPED(buffer) wanted = {0};

	cr_assert_not_null(c, "%s %s", name, beginning);
	buffer_print(&wanted, "%s%s/%s%s", beginning, directory, library, rest);
	cr_expect_str_eq(buffer_string(&c->found), wanted.data, "%s", buffer_string(&c->found));
	cr_expect_eq(c->state, state, "%s", beginning);
}

Test(doctor_cuda, a_driver_has_the_version_of_cuda_that_it_supports)
{
	load("libcuda.so.1", "cuDriverGetVersion", 12040);
	load("libnvidia-ml.so.1", "nvmlInit_v2", 77);
	doctor_cuda(&doctor);
	expect_row("CUDA driver", "CUDA 12.4, ", "libcuda.so.1",
		   access("/dev/nvidiactl", F_OK) ? "; there is no /dev/nvidiactl" : "", CHECK_OK);
	expect_row("NVML", "", "libnvidia-ml.so.1", "", CHECK_OK);
}

#define HARM                                                                                                           \
	"; -t cuda-hw refuses it: hardware events before CUDA 13.4 Update 1 corrupt the program's heap, crash in "     \
	"cudaGraphInstantiate and leak memory (NVIDIA's release notes)"

/* Releases before CUDA 13 have small numbers of their own. */
Test(doctor_cuda, each_cupti_is_compared_with_the_driver)
{
	load("libcuda.so.1", "cuDriverGetVersion", 14000);
	load("libcupti.so.11", "cuptiGetVersion", 25);
	load("libcupti.so.12", "cuptiGetVersion", 26);
	load("libcupti.so.13", "cuptiGetVersion", 130400);
	load("libcupti.so.14", "cuptiGetVersion", 130401);
	load("libcupti.so.15", "cuptiGetVersion", 150203);
	load("libcupti.so.20", "cuptiGetVersion", 10000);
	load("libcupti.so.21", "cuptiGetVersion", 210000);
	doctor_cuda(&doctor);
	expect_row("CUPTI", "of CUDA 11, ", "libcupti.so.11", "", CHECK_OK);
	expect_row("CUPTI", "of CUDA 12, ", "libcupti.so.12", HARM, CHECK_OK);
	expect_row("CUPTI", "of CUDA 13.4, ", "libcupti.so.13", HARM, CHECK_OK);
	expect_row("CUPTI", "of CUDA 14.4, ", "libcupti.so.14", "", CHECK_OK);
	expect_row("CUPTI", "of CUDA 15.2, ", "libcupti.so.15", "", CHECK_LIMITED);
	expect_row("CUPTI", "of CUDA 20.0, ", "libcupti.so.20", HARM, CHECK_LIMITED);
	cr_expect_str_eq(row_of("CUPTI", "of CUDA 15")->advice.data,
			 "newer than the driver: device times come from CUDA events; "
			 "use a CUDA of the driver's major version, or a newer driver");
	cr_expect_null(row_of("CUPTI", "of CUDA 21"), "no such CUDA is known");
	cr_expect_null(row_of("CUPTI", "no libcupti"));
	cr_expect_eq(rows_of("CUPTI", "of CUDA 11, ") + rows_of("CUPTI", "of CUDA 15.2, "), 2, "one of each");
}

/* Of the paths that Pythons have, those of a major version. */
Test(doctor_cuda, a_python_may_have_a_cupti)
{
	size_t before;

	load("libcupti.so.11", "cuptiGetVersion", 25);
	doctor_cuda(&doctor);
	before = doctor.count;
	cr_assert_not_null(row_of("CUPTI", "of CUDA 11, "));
	doctor.count = 0;
	buffer_print(&doctor.cupti, "%s/libcupti.so.2024.3\nlibcupti.so.11\n%s/other.so.11\n/none/libcupti.so.12\n"
				    "libcupti.so.11", directory, directory);
	doctor_cuda(&doctor);
	cr_expect_eq(doctor.count, before + 2);
	if (!row_of("CUDA driver", "CUDA"))
		expect_row("CUPTI", "of CUDA 11, ", "libcupti.so.11", "; no driver to compare it with", CHECK_OK);
}

Test(doctor_cuda, a_library_without_the_function_is_none)
{
	load("libcuda.so.1", "cuOther", 12040);
	doctor_cuda(&doctor);
	cr_assert_not_null(row_of("CUDA driver", "no libcuda.so.1"));
	cr_expect_eq(row_of("CUDA driver", "")->state, CHECK_MISSING);
}
