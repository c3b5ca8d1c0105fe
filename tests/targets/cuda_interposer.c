/* SPDX-License-Identifier: Apache-2.0 */
/* For LD_PRELOAD: a typical interposer of cudaMalloc, as a user may have. Prints at the end what it saw. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

static int calls, failed;

int cudaMalloc(void **p, size_t n)
{
	int (*next)(void **, size_t);

	*(void **)&next = dlsym(RTLD_NEXT, "cudaMalloc");
	calls++;
	if (!next || next == cudaMalloc)
		return failed++, 2;
	return next(p, n);
}

int interposer_id(void)
{
	return 11;
}

__attribute__((destructor)) static void tell(void)
{
	printf("interposed %d, failed %d\n", calls, failed);
}
