/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "report/events/cuda/memory.h"
#include "opened.h"

enum { MALLOC, FREE, SET_DEVICE, RESET, INFO, WRITE, FUNCTIONS };

static struct writer w;
static struct writer_thread one, two;
static struct model model;
static struct memory memory;

static void setup(void)
{
	writer_init(&w, 1, 10, 1, 1000);
	cr_assert_eq(writer_function(&w, TF_GROUP_CUDA, "cudaMalloc"), MALLOC);
	writer_function(&w, TF_GROUP_CUDA, "cudaFree");
	writer_function(&w, TF_GROUP_CUDA, "cudaSetDevice");
	writer_function(&w, TF_GROUP_CUDA, "cudaDeviceReset");
	writer_function(&w, TF_GROUP_CUDA, "cudaMemGetInfo");
	writer_function(&w, TF_GROUP_OSRT, "write");
	writer_thread(&w, &one, 10, "main", 4 * TF_PAGE);
	writer_thread(&w, &two, 11, "other", 4 * TF_PAGE);
}

static void teardown(void)
{
	memory_done(&memory);
	model_done(&model);
	writer_done(&w);
}

TestSuite(memory, .init = setup, .fini = teardown);

static void take(struct writer_thread *t, uint64_t end, unsigned kind, uint64_t address, uint64_t bytes, uint32_t stack)
{
	uint64_t args[] = {tf_arg(TF_ARG_MEMORY, kind, address), tf_arg(TF_ARG_BYTES, 0, bytes),
			   tf_arg(TF_ARG_STACK, 0, stack)};

	writer_call(t, MALLOC, end, 10, args, stack ? 3 : 2);
}

static void give(struct writer_thread *t, uint64_t end, uint64_t duration, uint64_t address)
{
	writer_call(t, FREE, end, duration,
		    (uint64_t[]){tf_arg(TF_ARG_MEMORY, TF_MEMORY_FREE | TF_MEMORY_DEVICE, address)}, 1);
}

static void set_device(struct writer_thread *t, uint64_t end, uint32_t device)
{
	writer_call(t, SET_DEVICE, end, 1, (uint64_t[]){tf_arg(TF_ARG_DEVICE, 0, device)}, 1);
}

static void replay(memory_watch *watch, void *context)
{
	open_written(&model, &w);
	if (watch)
		memory_replay(&model, &model.images[0], &memory, watch, context);
	else
		memory_replay_peaks(&model, &model.images[0], &memory);
}

static const struct memory_use *use(uint32_t device, unsigned kind)
{
	for (size_t i = 0; i < memory.use_count; i++)
		if (memory.uses[i].device == device && memory.uses[i].kind == kind)
			return &memory.uses[i];
	cr_assert_fail("no memory of kind %u on device %u", kind, device);
	return NULL;
}

static const struct memory_site *site(uint32_t stack)
{
	for (size_t i = 0; i < memory.site_count; i++)
		if (memory.sites[i].stack == stack)
			return &memory.sites[i];
	cr_assert_fail("no site of stack %u", stack);
	return NULL;
}

Test(memory, knows_what_is_in_use_at_the_end_and_was_at_the_peak)
{
	take(&one, 1100, TF_MEMORY_DEVICE, 0x1000, 100, 7);
	take(&one, 1200, TF_MEMORY_MANAGED, 0x2000, 50, 8);
	give(&one, 1300, 10, 0x1000);
	take(&one, 1400, TF_MEMORY_DEVICE, 0x1000, 30, 7);
	replay(NULL, NULL);
	cr_assert_eq(use(0, 0)->peak, 150);
	cr_assert_eq(use(0, 0)->in_use, 80);
	cr_assert_eq(use(0, 0)->blocks, 2);
	cr_assert_eq(use(0, TF_MEMORY_DEVICE)->allocations, 2);
	cr_assert_eq(use(0, TF_MEMORY_DEVICE)->frees, 1);
	cr_assert_eq(use(0, TF_MEMORY_DEVICE)->bytes, 130);
	cr_assert_eq(site(7)->peak_in_use, 100);
	cr_assert_eq(site(7)->in_use, 30);
	cr_assert_eq(site(8)->peak_blocks, 1);
	cr_assert_eq(memory.unknown_frees + memory.replaced, 0);
}

Test(memory, counts_frees_of_what_it_never_saw)
{
	give(&one, 1100, 10, 0x5000);
	take(&one, 1200, TF_MEMORY_DEVICE, 0x1000, 1, 0);
	replay(NULL, NULL);
	cr_assert_eq(memory.unknown_frees, 1);
	cr_assert_eq(use(0, 0)->in_use, 1);
}

Test(memory, follows_an_address_that_another_thread_takes_over_before_the_free_returns)
{
	take(&one, 1100, TF_MEMORY_DEVICE, 0x1000, 100, 7);
	take(&two, 1205, TF_MEMORY_DEVICE, 0x1000, 40, 8);
	give(&one, 1210, 20, 0x1000); /* began at 1190 */
	replay(NULL, NULL);
	cr_assert_eq(use(0, 0)->in_use, 40);
	cr_assert_eq(memory.replaced, 0);
	cr_assert_eq(site(8)->blocks, 1);
}

/* The second free cannot be that of the previous block, though it began as early. */
Test(memory, frees_the_block_that_took_over_an_address_next)
{
	take(&one, 1100, TF_MEMORY_DEVICE, 0x1000, 100, 7);
	take(&two, 1205, TF_MEMORY_DEVICE, 0x1000, 40, 8);
	give(&one, 1210, 20, 0x1000);
	give(&two, 1220, 30, 0x1000);
	replay(NULL, NULL);
	cr_expect_eq(use(0, 0)->in_use, 0);
	cr_expect_eq(site(8)->blocks, 0);
	cr_expect_eq(memory.replaced, 0);
	cr_expect_eq(memory.unknown_frees, 0);
}

Test(memory, counts_an_address_given_out_twice)
{
	take(&one, 1100, TF_MEMORY_DEVICE, 0x1000, 100, 7);
	take(&one, 1200, TF_MEMORY_DEVICE, 0x1000, 40, 8);
	replay(NULL, NULL);
	cr_assert_eq(memory.replaced, 1);
	cr_assert_eq(use(0, 0)->in_use, 40);
}

Test(memory, keeps_devices_and_the_host_apart)
{
	set_device(&two, 1050, 3);
	take(&one, 1100, TF_MEMORY_DEVICE, 0x1000, 1, 0);
	take(&two, 1200, TF_MEMORY_DEVICE, 0x2000, 2, 0);
	take(&two, 1300, TF_MEMORY_HOST, 0x3000, 4, 0);
	give(&one, 1400, 10, 0x2000);
	replay(NULL, NULL);
	cr_assert_eq(use(0, 0)->in_use, 1);
	cr_assert_eq(use(3, 0)->in_use, 0);
	cr_assert_eq(use(3, 0)->peak, 2);
	cr_assert_eq(use(MEMORY_HOST, TF_MEMORY_HOST)->in_use, 4);
}

Test(memory, is_all_given_back_by_a_reset_of_its_device)
{
	set_device(&two, 1050, 1);
	for (uint64_t i = 0; i < 50; i++)
		take(&one, 1100 + i, TF_MEMORY_DEVICE, 0x1000 + i, 1, 0);
	take(&two, 1200, TF_MEMORY_DEVICE, 0x9000, 2, 0);
	writer_call(&one, RESET, 1300, 10, NULL, 0);
	give(&one, 1400, 10, 0x1000);
	replay(NULL, NULL);
	cr_assert_eq(use(0, 0)->in_use, 0);
	cr_assert_eq(use(0, 0)->frees, 50);
	cr_assert_eq(use(1, 0)->in_use, 2);
	cr_assert_eq(memory.unknown_frees, 1);
}

Test(memory, shows_who_had_it_when_a_call_got_none)
{
	uint64_t requested[] = {tf_arg(TF_ARG_MEMORY, TF_MEMORY_DEVICE, 0), tf_arg(TF_ARG_BYTES, 0, 900),
				tf_arg(TF_ARG_RESULT, 0, 2)};
	uint64_t info[] = {tf_arg(TF_ARG_LEFT, 0, 500), tf_arg(TF_ARG_BYTES, 0, 1000)};

	for (uint32_t i = 1; i <= 12; i++)
		take(&one, 1100 + i, TF_MEMORY_DEVICE, 0x1000 * i, 10 + i % 7, i);
	writer_call(&one, INFO, 1200, 10, info, 2);
	writer_call(&one, MALLOC, 1300, 10, requested, 3);
	writer_call(&one, WRITE, 1400, 10, (uint64_t[]){tf_arg(TF_ARG_RESULT, 0, 2)}, 1); /* not CUDA's */
	replay(NULL, NULL);
	cr_assert_eq(memory.failure_count, 1);
	cr_assert_eq(memory.failures[0].requested, 900);
	cr_assert_eq(memory.failures[0].left, 500);
	cr_assert_eq(memory.failures[0].total, 1000);
	cr_assert_eq(memory.failures[0].in_use, use(0, 0)->in_use);
	cr_assert_eq(memory.failures[0].owner_count, MEMORY_OWNERS);
	cr_assert_eq(memory.failures[0].owners[0].in_use, 16);
	for (size_t i = 1; i < MEMORY_OWNERS; i++)
		cr_assert_geq(memory.failures[0].owners[i - 1].in_use, memory.failures[0].owners[i].in_use);
	cr_assert_eq(use(0, 0)->allocations, 12);
}

static void sum_up(void *context, const struct memory *m, const struct memory_use *u, uint64_t ns)
{
	uint64_t *seen = context;

	(void)m;
	(void)ns;
	if (!u->kind)
		seen[seen[0]++ + 1] = u->in_use;
}

Test(memory, tells_of_each_change)
{
	uint64_t seen[8] = {0};

	take(&one, 1100, TF_MEMORY_POOL, 0x1000, 100, 0);
	take(&one, 1200, TF_MEMORY_DEVICE, 0x2000, 20, 0);
	give(&one, 1300, 10, 0x1000);
	replay(sum_up, seen);
	cr_assert_eq(seen[0], 3);
	cr_assert_eq(seen[1], 100);
	cr_assert_eq(seen[2], 120);
	cr_assert_eq(seen[3], 20);
}
