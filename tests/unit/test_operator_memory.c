/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of PyTorch's allocators: sizes of frees, owners, the peak, blocks whose free or allocation is missing. */
#include <criterion/criterion.h>

#include "report/tables/python/operator_memory.h"
#include "runtime/shared/format/trace_tensor.h"
#include "opened.h"

enum { BEGIN = 1000, CUDA = 1, OWNERS = 16 };

static struct writer w;
static struct writer_thread t;
static struct model model;
static int64_t changes[OWNERS];
static uint32_t count;
static uint64_t peaks[TENSOR_PLACES][OWNERS];

static void setup(void)
{
	writer_init(&w, 1, 10, 1, BEGIN);
	writer_thread(&w, &t, 10, "main", 4 * TF_PAGE);
}

static void teardown(void)
{
	model_done(&model);
	writer_done(&w);
}

TestSuite(operator_memory, .init = setup, .fini = teardown);

/* bytes 0: of a free that does not tell them */
static void tensor(uint64_t time, unsigned type, unsigned last, uint64_t address, uint64_t bytes)
{
	writer_event(&t, TF_TENSOR, type, BEGIN + time, last);
	writer_slot(&t, tf_arg(TF_ARG_VALUE, 0, address));
	if (bytes)
		writer_slot(&t, tf_arg(TF_ARG_BYTES, 0, bytes));
}

/* As the recorder writes it from 1.15 on, with a size that may be too large for the common form. */
static void sized(uint64_t time, unsigned type, unsigned last, uint64_t address, uint64_t bytes)
{
	uint64_t short_size = bytes < TF_TENSOR_SHORT ? bytes : 0;

	writer_event(&t, TF_TENSOR, type, BEGIN + time, last | (uint32_t)tf_tensor_low(short_size));
	writer_slot(&t, tf_tensor_address(address, short_size));
	if (bytes >= TF_TENSOR_SHORT)
		writer_slot(&t, tf_arg(TF_ARG_BYTES, 0, bytes));
}

static uint32_t own(void *context, const struct tensor_change *change)
{
	cr_assert_lt(count, OWNERS);
	changes[count] = change->bytes;
	return count++;
}

static void peak(void *context, uint32_t owner, enum tensor_place place, uint64_t bytes)
{
	peaks[place][owner] += bytes;
}

static void replay(void)
{
	open_written(&model, &w);
	tensors_replay(&model, &model.images[0], &(struct tensor_visitor){.owner = own, .peak = peak});
}

Test(operator_memory, a_free_has_the_bytes_of_its_block)
{
	tensor(1, TF_TENSOR_CPU, 0, 0x10, 100);
	tensor(2, CUDA, 0, 0x10, 7);
	tensor(3, CUDA, 1, 0x10, 8);
	tensor(4, TF_TENSOR_CPU, TF_TENSOR_FREED, 0x10, 0);
	tensor(5, CUDA, TF_TENSOR_FREED | 1, 0x10, 8);
	tensor(6, TF_TENSOR_CPU, TF_TENSOR_FREED, 0x10, 0); /* not known */
	tensor(7, CUDA, TF_TENSOR_FREED, 0x99, 5);	    /* allocated before the recording began */
	replay();
	cr_expect_eq(count, 6);
	cr_expect(changes[3] == -100 && changes[4] == -8 && changes[5] == -5);
	cr_expect(peaks[TENSOR_CPU][0] == 100 && peaks[TENSOR_DEVICE][1] == 7 && peaks[TENSOR_DEVICE][2] == 8);
}

Test(operator_memory, the_peak_has_the_blocks_that_were_in_use)
{
	tensor(1, TF_TENSOR_CPU, 0, 0x10, 100);
	tensor(2, TF_TENSOR_CPU, 0, 0x20, 50);
	tensor(3, TF_TENSOR_CPU, TF_TENSOR_FREED, 0x10, 0);
	tensor(4, TF_TENSOR_CPU, 0, 0x30, 101);
	tensor(5, TF_TENSOR_CPU, 0, 0x20, 1); /* its free is missing */
	replay();
	cr_expect(!peaks[TENSOR_CPU][0] && peaks[TENSOR_CPU][1] == 50 && peaks[TENSOR_CPU][3] == 101);
	cr_expect_eq(peaks[TENSOR_CPU][4], 0);
}

Test(operator_memory, sizes_are_read_from_both_forms)
{
	static const uint64_t sizes[] = {1, TF_TENSOR_LOW, TF_TENSOR_LOW + 1, TF_TENSOR_SHORT - 1, TF_TENSOR_SHORT,
					 (1ull << 48) - 1};
	enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

	for (unsigned i = 0; i < SIZES; i++)
		sized(1 + i, CUDA, TF_TENSOR_DEVICE, 0x7fffffffffc0 - 64 * i, sizes[i]);
	for (unsigned i = 0; i < SIZES; i++)
		sized(10 + i, CUDA, TF_TENSOR_DEVICE | TF_TENSOR_FREED, 0x7fffffffffc0 - 64 * i, sizes[i]);
	replay();
	cr_assert_eq(count, 2 * SIZES);
	for (unsigned i = 0; i < SIZES; i++) {
		cr_expect_eq(changes[i], (int64_t)sizes[i]);
		cr_expect_eq(changes[SIZES + i], -(int64_t)sizes[i]);
	}
}

Test(operator_memory, it_is_known_whether_blocks_were_wanted)
{
	tensor(1, TF_TENSOR_CPU, 0, 0, 0);
	open_written(&model, &w);
	cr_expect(!tensors_are_recorded(&model.images[0]));
	cr_expect(tensors_are_missing(&model.images[0]));
}
