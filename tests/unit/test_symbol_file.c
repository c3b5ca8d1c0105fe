/* SPDX-License-Identifier: Apache-2.0 */
/* Names of addresses in a file, which is this program. */
#include <criterion/criterion.h>
#include <link.h>

#include "report/names/symbol_file.h"

/* Code without a name in a section behind another one, which ends with a label, as .plt is behind .init. */
__asm__(".pushsection labelled, \"ax\", @progbits\nsection_label: .byte 0\n.byte 0\n.popsection\n"
	".pushsection labelless, \"ax\", @progbits\n.Lnameless: .byte 0\n.byte 0\n.popsection\n"
	".pushsection .data.rel.ro, \"aw\"\n.balign 8\n.globl nameless_code\n"
	".type nameless_code, @object\nnameless_code: .8byte .Lnameless\n.size nameless_code, 8\n"
	".globl labelled_code\n.type labelled_code, @object\n"
	"labelled_code: .8byte section_label\n.size labelled_code, 8\n.popsection\n");
extern const uint64_t nameless_code, labelled_code;

static int find_bias(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	*(uint64_t *)context = info->dlpi_addr;
	return 1;
}

Test(symbol_file, a_label_names_only_the_code_of_its_section)
{
	struct symbol_file *file;
	uint64_t bias;

	dl_iterate_phdr(find_bias, &bias);
	cr_assert_eq(symbol_file_open("/proc/self/exe", NULL, &file), 0);
	cr_assert_str_eq(symbol_file_name(file, labelled_code - bias + 1), "section_label");
	cr_assert_null(symbol_file_name(file, nameless_code - bias));
	symbol_file_close(file);
}
