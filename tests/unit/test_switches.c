/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "summarized.h"

SUMMARIZED_SUITE(switches);

/* A program that has mapped a library, and a stack in what keeps stacks for PyTorch, called from `caller`. */
static const char *summary_with(const char *library, const char *caller)
{
	struct writer_thread host;
	struct writer w;

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/usr/bin/python3", "python3\0train.py", 17);
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	writer_module(&host, 0x1000, 0x2000, 0x1000, NULL, 0, library);
	writer_python_code(&host, 1, 498, "/venv/lib/python3.11/site-packages/torch/fx/traceback.py", "format_stack");
	writer_python_code(&host, 2, 134, caller, "forward");
	writer_python_stack(&host, 1, (uint32_t[]){1, 2}, 2);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 1000 * MS);
	return summarize(&w, "x.pillion");
}

#define PACKAGES "/venv/lib/python3.11/site-packages"

Test(switches, names_the_anomaly_mode_of_pytorch)
{
	static const char line[] = "\nswitched   anomaly mode of PyTorch (each operator keeps its stack)\n";
	static const char library[] = PACKAGES "/torch/lib/libtorch_python.so";

	cr_expect(strstr(summary_with(library, PACKAGES "/torch/nn/modules/linear.py"), line), "%s", text.data);
	forget();
	cr_expect(strstr(summary_with(library, "/home/u/train.py"), line), "%s", text.data);
	forget();
	cr_expect(!strstr(summary_with(library, PACKAGES "/torch/fx/proxy.py"), "switched"), "%s", text.data);
	forget();
	cr_expect(!strstr(summary_with(library, PACKAGES "/torch/_functorch/aot_autograd.py"), "switched"), "%s",
		  text.data);
}

Test(switches, names_what_checks_a_program)
{
	cr_expect(strstr(summary_with("/opt/cuda/compute-sanitizer/libsanitizer-collection.so", "/home/u/train.py"),
			 "\nswitched   compute-sanitizer\n"),
		  "%s", text.data);
	forget();
	cr_expect(!strstr(summary_with("/usr/lib/libsanitized.so", "/home/u/train.py"), "switched"), "%s", text.data);
}
