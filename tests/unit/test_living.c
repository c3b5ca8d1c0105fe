/* SPDX-License-Identifier: Apache-2.0 */
/* Which forked children the launcher knows, in each order in which they take a place in the range file, allocate it and
 * describe themselves there. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/range.h"

enum { CHILDREN = 3, ROUNDS = 3, LONG_MS = 2100 };

static struct tf_range_page page;
static struct run run;
static struct tf_images head;
static pid_t children[CHILDREN];
static int file;

/* ---- stand-ins ---- */

void calls_forget(struct living *p)
{
}

bool verdict_is_printed(const struct run *r)
{
	return false;
}

/* ---- the file ---- */

static void write_head(uint64_t places)
{
	head.next = places;
	cr_assert_eq(pwrite(file, &head, sizeof(head), TF_IMAGES_OFFSET), (ssize_t)sizeof(head));
}

static off_t place(uint64_t number)
{
	return (off_t)(TF_IMAGES_FIRST + number * TF_IMAGE_BYTES);
}

static void describe(uint64_t number, int child)
{
	struct tf_image image = {.nonce = 1 + number, .pid = (uint32_t)children[child], .process_start = UINT64_MAX,
				 .via = TF_VIA_FORK};

	cr_assert_eq(pwrite(file, &image, sizeof(image), place(number)), (ssize_t)sizeof(image));
}

static void setup(void)
{
	char path[PATH_MAX + INDEX_NAME_BYTES], directory[] = "/tmp/pillion-living.XXXXXX";

	cr_assert_not_null(mkdtemp(directory));
	run.range = &page;
	snprintf(run.directory, sizeof(run.directory), "%s", directory);
	snprintf(run.host, sizeof(run.host), "host");
	run.child = getpid();
	cr_assert(range_path(path, sizeof(path), run.directory, run.host, run.id));
	file = open(path, O_RDWR | O_CREAT, 0600);
	cr_assert_geq(file, 0);
	for (int i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (!children[i]) {
			pause();
			_exit(0);
		}
	}
}

static void teardown(void)
{
	char command[PATH_MAX + 16];

	for (int i = 0; i < CHILDREN; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	snprintf(command, sizeof(command), "rm -r %s", run.directory);
	cr_assert_eq(system(command), 0);
}

/* Whether a round of the launcher knows the child. */
static bool knows(int child)
{
	struct living *list;
	size_t count = living_processes(&run, &list);

	for (size_t i = 0; i < count; i++)
		if (list[i].pid == (uint32_t)children[child])
			return true;
	return false;
}

TestSuite(living, .init = setup, .fini = teardown);

Test(living, a_child_is_known_as_soon_as_it_has_described_itself)
{
	describe(0, 0);
	cr_assert_not(knows(0), "it has not taken its place");
	write_head(1);
	cr_assert(knows(0));
}

/* A launcher that reads between the two finds the file shorter than the place. */
Test(living, a_child_is_known_that_takes_its_place_before_it_allocates_it)
{
	write_head(2);
	cr_assert_not(knows(0));
	cr_assert_eq(ftruncate(file, place(2)), 0);
	cr_assert_not(knows(0));
	describe(0, 0);
	describe(1, 1);
	cr_assert(knows(0));
	cr_assert(knows(1));
}

/* It may be stopped, or wait for the disk, as long as that takes. */
Test(living, a_child_is_known_however_late_it_describes_itself)
{
	struct timespec rest = {LONG_MS / 1000, LONG_MS % 1000 * 1000000L};

	describe(1, 1);
	write_head(3);
	for (int i = 0; i < ROUNDS; i++) {
		cr_assert_not(knows(0));
		cr_assert(knows(1), "which follows it");
		nanosleep(&rest, NULL);
	}
	describe(0, 0);
	cr_assert(knows(0));
	describe(2, 2);
	cr_assert(knows(2));
}

/* Of more than the launcher remembers, the last ones are most probably alive. */
Test(living, the_last_of_very_many_late_children_is_known)
{
	enum { MANY = 3000 };

	write_head(MANY);
	cr_assert_not(knows(0));
	describe(MANY - 1, 0);
	cr_assert(knows(0));
}

/* No block can be allocated any more: who takes a number beyond the last one has a line in the index instead, and does
 * not replace what is remembered. */
Test(living, numbers_without_a_place_do_not_replace_late_children)
{
	enum { MANY = 3000 };

	head.is_closed = 1;
	head.end = (uint64_t)place(1);
	write_head(MANY);
	cr_assert_not(knows(0));
	describe(0, 0);
	cr_assert(knows(0));
}

/* What cannot be read has not ended: the launcher would take the run for over. */
Test(living, a_child_is_not_forgotten_while_no_file_can_be_opened)
{
	struct rlimit limit, none;

	describe(0, 0);
	write_head(1);
	cr_assert(knows(0));
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){0, limit.rlim_max};
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	cr_assert_eq(living_count(&run, false), 1);
	kill(children[0], SIGKILL);
	waitpid(children[0], NULL, 0);
	cr_assert_eq(living_count(&run, false), 0, "which the kernel tells without a file");
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
