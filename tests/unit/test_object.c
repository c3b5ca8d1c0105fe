/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the object that contains an address, with and without _dl_find_object. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/recorder/loader/loader.h"
#include "runtime/recorder/stack/object.h"
#include "runtime/shared/common/sys.h"

static void is_in_this_program(void)
{
	uintptr_t here = (uintptr_t)is_in_this_program;
	struct object found;

	cr_assert_eq(object_find(here, &found), OBJECT_FOUND);
	cr_assert_leq((uintptr_t)found.map_start, here);
	cr_assert_gt((uintptr_t)found.map_end, here);
	cr_assert_neq(found.eh_frame_hdr, NULL);
	cr_assert_geq((uintptr_t)found.eh_frame_hdr, (uintptr_t)found.map_start);
	cr_assert_lt((uintptr_t)found.eh_frame_hdr, (uintptr_t)found.map_end);
}

Test(object, finds_a_function_and_its_unwind_table_without_a_look_up)
{
	object_init(NULL);
	cr_assert_not(object_has_lookup());
	is_in_this_program();
}

Test(object, finds_the_same_by_dl_find_object)
{
	struct object listed, found;
	void *look_up = dlsym(RTLD_DEFAULT, "_dl_find_object");

	if (!look_up)
		cr_skip_test("glibc before 2.35");
	object_init(NULL);
	cr_assert_eq(object_find((uintptr_t)look_up, &listed), OBJECT_FOUND);
	object_init(look_up);
	cr_assert(object_has_lookup());
	is_in_this_program();
	cr_assert_eq(object_find((uintptr_t)look_up, &found), OBJECT_FOUND);
	cr_assert_eq(found.eh_frame_hdr, listed.eh_frame_hdr);
}

Test(object, finds_the_whole_of_a_program_with_gaps_between_its_segments)
{
	uintptr_t here = (uintptr_t)is_in_this_program;
	struct object listed, found;

	object_init(NULL);
	cr_assert_eq(object_find(here, &listed), OBJECT_FOUND);
	object_init(dlsym(RTLD_DEFAULT, "_dl_find_object"));
	cr_assert_eq(object_find(here, &found), OBJECT_FOUND);
	cr_assert_eq(found.map_start, listed.map_start);
	cr_assert_eq(found.map_end, listed.map_end);
	cr_assert_eq(found.eh_frame_hdr, listed.eh_frame_hdr);
}

Test(object, finds_none_around_the_heap_and_around_address_0)
{
	void *block = malloc(16);
	struct object found;

	for (int i = 0; i < 2; i++) {
		object_init(i ? dlsym(RTLD_DEFAULT, "_dl_find_object") : NULL);
		cr_assert_eq(object_find(0, &found), OBJECT_NONE);
		cr_assert_eq(object_find((uintptr_t)block, &found), OBJECT_NONE);
	}
	free(block);
}

Test(object, searches_no_list_while_a_fork_is_announced)
{
	struct object found;

	object_init(NULL);
	loader_fork_begin();
	loader_fork_begin();
	cr_assert_eq(object_find((uintptr_t)is_in_this_program, &found), OBJECT_UNKNOWN);
	loader_fork_end(false);
	cr_assert_eq(object_find((uintptr_t)is_in_this_program, &found), OBJECT_UNKNOWN);
	loader_fork_end(false);
	is_in_this_program();
}

Test(object, searches_the_list_in_an_announced_child)
{
	struct object found;
	int status;

	object_init(NULL);
	loader_fork_begin();
	if (fork() == 0) {
		loader_fork_end(true);
		_exit(object_find((uintptr_t)is_in_this_program, &found) == OBJECT_FOUND ? 0 : 1);
	}
	loader_fork_end(false);
	wait(&status);
	cr_assert_eq(status, 0);
}

static int fork_in_a_search(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object found;
	pid_t *child = data;

	(void)info, (void)size;
	loader_fork_begin();
	*child = fork();
	if (*child == 0) {
		loader_fork_end(true);
		_exit(object_find((uintptr_t)is_in_this_program, &found) == OBJECT_UNKNOWN ? 0 : 1);
	}
	loader_fork_end(false);
	return 1;
}

Test(object, searches_no_list_in_a_child_that_was_forked_during_a_search)
{
	pid_t child;
	int status;

	object_init(NULL);
	cr_assert(loader_try_each(fork_in_a_search, &child));
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	is_in_this_program();
}

static int note_blocked(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info, (void)size;
	sigprocmask(SIG_BLOCK, NULL, data);
	return 1;
}

Test(object, blocks_signals_for_the_time_of_a_search_alone)
{
	sigset_t within, after;

	cr_assert(loader_try_each(note_blocked, &within));
	cr_assert_eq(sigismember(&within, SIGALRM), 1);
	sigprocmask(SIG_BLOCK, NULL, &after);
	cr_assert_eq(sigismember(&after, SIGALRM), 0);
}

Test(object, searches_no_list_where_no_system_call_is_allowed)
{
	struct object found;

	object_init(NULL);
	sys_is_silent = true;
	cr_assert_eq(object_find((uintptr_t)is_in_this_program, &found), OBJECT_UNKNOWN);
	loader_fork_begin();
	loader_fork_end(false);
	sys_is_silent = false;
	is_in_this_program();
}

static uintptr_t dynamic_beside(void *address)
{
	struct object found;
	uintptr_t bias;
	const void *dynamic;

	cr_assert_eq(object_find((uintptr_t)address, &found), OBJECT_FOUND);
	dynamic = object_dynamic(&found, &bias);
	cr_assert_neq(dynamic, NULL);
	return (uintptr_t)dynamic ^ bias << 1;
}

Test(object, has_the_same_dynamic_section_with_and_without_dl_find_object)
{
	void *look_up = dlsym(RTLD_DEFAULT, "_dl_find_object"), *places[] = {is_in_this_program, malloc};

	for (int i = 0; look_up && i < 2; i++) {
		uintptr_t listed;

		object_init(NULL);
		listed = dynamic_beside(places[i]);
		object_init(look_up);
		cr_assert_eq(dynamic_beside(places[i]), listed);
	}
}
