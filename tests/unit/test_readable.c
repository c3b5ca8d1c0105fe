/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "runtime/recorder/loader/readable.h"

static void *return_alone(void *unused)
{
	(void)unused;
	return (void *)(uintptr_t)readable_is_alone();
}

Test(readable, a_process_with_a_second_thread_is_not_alone)
{
	pthread_t thread;
	void *alone;

	cr_assert_not(readable_is_alone());
	readable_init();
	cr_assert_eq(pthread_create(&thread, NULL, return_alone, NULL), 0);
	pthread_join(thread, &alone);
	cr_assert_null(alone);
}

Test(readable, unmapped_pages_are_not)
{
	char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(two, MAP_FAILED);
	cr_assert(readable_bytes(two, 8192));
	munmap(two + 4096, 4096);
	cr_assert(readable_bytes(two, 4096));
	cr_assert_not(readable_bytes(two + 4000, 200));
}

/* The interpreter's words may be anything. */
Test(readable, the_ends_of_the_address_space_are_not)
{
	cr_assert_not(readable_bytes(NULL, 8));
	cr_assert_not(readable_bytes((void *)(UINTPTR_MAX - 7), 56));
	cr_assert_not(readable_bytes((void *)(UINTPTR_MAX / 2), 8));
}

/* Arguments of exec, which the kernel reads to their ends. */
Test(readable, strings_are_up_to_their_ends)
{
	char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *strings[] = {"first", two + 4094, NULL}, **last = (char **)(two + 4096) - 1;

	cr_assert_neq(two, MAP_FAILED);
	cr_assert(readable_strings(NULL));
	cr_assert(readable_string(NULL));
	munmap(two + 4096, 4096);
	two[4094] = 'a';
	cr_assert(readable_string(two + 4094));
	cr_assert(readable_strings(strings));
	two[4095] = 'b';
	cr_assert_not(readable_string(two + 4094), "it has no end");
	cr_assert_not(readable_strings(strings));
	*last = NULL;
	cr_assert(readable_strings(last));
	*last = "a string, and no end";
	cr_assert_not(readable_strings(last));
	cr_assert_not(readable_strings((char **)8));
}
