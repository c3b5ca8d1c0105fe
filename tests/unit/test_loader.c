/* SPDX-License-Identifier: Apache-2.0 */
/* The gate of searches in the loader's list: nested ones, and those beside a fork. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>

#include "runtime/recorder/loader/loader.h"

static int count(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info, (void)size;
	return ++*(int *)data;
}

static int visit_within(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info, (void)size;
	return loader_each(count, data) + 10;
}

Test(loader, returns_the_last_result_of_nested_searches)
{
	int visits = 0;

	cr_assert_eq(loader_each(visit_within, &visits), 11);
	cr_assert_eq(visits, 1);
}

Test(loader, searches_in_the_thread_that_forks)
{
	int visits = 0;

	loader_fork_begin();
	cr_assert_eq(loader_each(count, &visits), 1);
	cr_assert_not(loader_try_each(count, &visits));
	loader_fork_end(false);
	cr_assert(loader_try_each(count, &visits));
	cr_assert_eq(visits, 2);
}

static sem_t is_inside, may_leave;
static int is_over;

static int stay(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info, (void)size, (void)unused;
	sem_post(&is_inside);
	sem_wait(&may_leave);
	__atomic_store_n(&is_over, 1, __ATOMIC_SEQ_CST);
	return 1;
}

static void *search(void *unused)
{
	loader_each(stay, unused);
	return NULL;
}

static void *release(void *unused)
{
	sem_post(&may_leave);
	return unused;
}

Test(loader, lets_a_fork_wait_for_the_search_of_another_thread)
{
	pthread_t searcher, releaser;

	sem_init(&is_inside, 0, 0);
	sem_init(&may_leave, 0, 0);
	pthread_create(&searcher, NULL, search, NULL);
	sem_wait(&is_inside);
	pthread_create(&releaser, NULL, release, NULL);
	loader_fork_begin();
	cr_assert(__atomic_load_n(&is_over, __ATOMIC_SEQ_CST));
	loader_fork_end(false);
	pthread_join(searcher, NULL);
	pthread_join(releaser, NULL);
}
