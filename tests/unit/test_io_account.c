/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that the kernel has counted beside those of recorded calls. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "report/events/file_calls.h"
#include "report/events/usage.h"
#include "report/time/io_account.h"
#include "trace_writer.h"

enum { MS = 1000000 };

static struct writer w;
static struct writer_thread first, second;
static uint16_t read_id, write_id, recv_id, enter_id, open_id;
static struct model model;
static struct io_account *accounts;

static void start(void)
{
	writer_init(&w, 0xd1, 10, 0, MS);
	read_id = writer_function(&w, TF_GROUP_OSRT, "read");
	write_id = writer_function(&w, TF_GROUP_OSRT, "write");
	recv_id = writer_function(&w, TF_GROUP_OSRT, "recv");
	enter_id = writer_function(&w, TF_GROUP_OSRT, "io_uring_enter");
	open_id = writer_function(&w, TF_GROUP_OSRT, "open");
	writer_thread(&w, &first, 10, "one", TF_PAGE);
	writer_thread(&w, &second, 11, "two", TF_PAGE);
}

static void done(void)
{
	free(accounts);
	model_done(&model);
	writer_done(&w);
}

TestSuite(io_account, .init = start, .fini = done);

static void call(struct writer_thread *t, uint16_t function, uint32_t bytes)
{
	writer_call(t, function, 2 * MS, 1000, (uint64_t[]){tf_arg(TF_ARG_FD, 0, 3 | (uint64_t)bytes << 16)}, 1);
}

static void usage(uint64_t read, uint64_t written, bool is_of_living)
{
	struct tf_usage u = {.ticks = 3 * MS, .minor_faults = 1, .is_of_living = is_of_living};

	tf_usage_set_bytes(u.read_bytes, read);
	tf_usage_set_bytes(u.written_bytes, written);
	writer_usage(&first, &u);
}

static const struct io_account *account(void)
{
	struct err err;
	size_t size;
	const uint8_t *bytes;

	writer_end(&w, TF_END_EXIT, 0, 3 * MS);
	bytes = writer_bytes(&w, &size);
	cr_assert_eq(model_open_bytes(&model, bytes, size, &err), 0);
	cr_assert_eq(model.process_count, 1);
	accounts = io_accounts(&(struct report_context){.model = &model});
	return accounts;
}

Test(io_account, has_what_only_the_kernel_has_counted)
{
	const struct io_account *a;

	call(&first, read_id, 50000);
	call(&second, read_id, 10000);
	writer_traffic(&first, write_id, 3, 0, MS, (struct tf_counter){4, 900}, 7000);
	call(&first, recv_id, 1000000); /* which the kernel does not count here */
	call(&first, enter_id, 12);
	usage(160000, 7000, false);
	a = account();
	cr_assert_eq(a->compared, 1);
	cr_assert_eq(io_not_seen(a, IO_READ), 100000);
	cr_assert_eq(io_not_seen(a, IO_WRITTEN), 0);
	cr_assert_eq(io_not_counted(a, IO_READ), 0);
	cr_assert_eq(a->submitted, 12);
}

static void count_opens(struct file_calls *f, const struct file_call *call)
{
	uint64_t *counts = f->more;

	cr_assert_eq(call->role, ROLE_OPEN);
	counts[0] += call->calls;
	counts[1] += call->failed;
}

Test(io_account, opens_that_fail_are_told_apart)
{
	uint64_t counts[2] = {0};
	struct file_calls f = {.visit = count_opens, .more = counts};

	for (int i = 0; i < 5; i++) {
		uint64_t result = i < 2 ? (uint32_t)-2 : 4;

		writer_call(&first, open_id, 2 * MS, 1000,
			    (uint64_t[]){tf_arg(TF_ARG_FD, 0, result << 16 | TF_NO_DESCRIPTOR)}, 1);
	}
	account();
	file_calls_read(&f, &(struct report_context){.model = &model});
	file_calls_done(&f);
	cr_assert_eq(counts[0], 5);
	cr_assert_eq(counts[1], 2);
}

Test(io_account, has_what_the_kernel_has_not_counted)
{
	const struct io_account *a;

	call(&first, write_id, 100000);
	usage(0, 10000, false);
	a = account();
	cr_assert_eq(io_not_counted(a, IO_WRITTEN), 90000);
	cr_assert_eq(io_not_seen(a, IO_WRITTEN), 0);
}

Test(io_account, passes_over_a_hundredth_and_a_few_bytes)
{
	const struct io_account *a;

	call(&first, read_id, 10000000);
	usage(10100000, 65536, false);
	a = account();
	cr_assert_eq(io_not_seen(a, IO_READ), 0);
	cr_assert_eq(io_not_seen(a, IO_WRITTEN), 0);
	accounts[0].kernel[IO_READ] = 10101011;
	accounts[0].kernel[IO_WRITTEN] = 65537;
	cr_assert_eq(io_not_seen(a, IO_READ), 101011);
	cr_assert_eq(io_not_seen(a, IO_WRITTEN), 65537);
}

Test(io_account, leaves_ended_threads_out_if_the_kernel_does)
{
	const struct io_account *a;

	call(&first, read_id, 50000);
	call(&second, read_id, 70000);
	writer_page(&second)->end_ticks = 2 * MS;
	usage(150000, 0, true);
	a = account();
	cr_assert_eq(a->recorded[IO_READ], 50000);
	cr_assert_eq(io_not_seen(a, IO_READ), 100000);
	cr_assert(a->is_of_living);
}

Test(io_account, does_not_compare_what_is_not_known)
{
	const struct io_account *a;

	call(&first, read_id, 50000);
	usage(TF_USAGE_UNKNOWN, TF_USAGE_UNKNOWN, false);
	a = account();
	cr_assert_eq(a->compared, 0);
	cr_assert_eq(a->unknown, 1);
	cr_assert_eq(io_not_counted(a, IO_READ), 0);
}

/* Of an image without a trace file, what most images do not have is left out. */
Test(io_account, knows_that_a_short_blob_has_no_major_faults)
{
	struct usages *usages;
	struct usage_of of;

	usage(0, TF_USAGE_UNKNOWN, false);
	writer_usage(&first, &(struct tf_usage){.ticks = 2 * MS, .cpu_ns = 5, .tid = 11});
	account();
	usages = usages_new(&model);
	of = usages_recorded(usages, &model.images[0], 0, 0, UINT64_MAX);
	cr_assert_eq(of.minor_faults, 1);
	cr_assert_eq(of.major_faults, 0);
	cr_assert_eq(of.block_ms, TF_USAGE_UNKNOWN);
	cr_assert_eq(of.read_bytes, 0);
	cr_assert_eq(of.written_bytes, TF_USAGE_UNKNOWN);
	of = usages_recorded(usages, &model.images[0], 11, 0, UINT64_MAX);
	cr_assert_eq(of.cpu_ns, 5);
	cr_assert_eq(of.major_faults, TF_USAGE_UNKNOWN);
	usages_free(usages);
}

Test(io_account, knows_the_major_faults_of_a_long_blob_and_its_only_thread)
{
	const struct tf_usage whole = {3 * MS, 500, 900, 0, 4096, 5, 6, .minor_faults = 7, .major_faults = 2,
				       .block_ms = 30, .thread_tid = 10, .thread_delay_ns = 80};
	struct usages *usages;
	struct usage_of of;

	writer_usage(&first, &whole);
	account();
	usages = usages_new(&model);
	of = usages_recorded(usages, &model.images[0], 0, 0, UINT64_MAX);
	cr_assert_eq(of.minor_faults, 7);
	cr_assert_eq(of.major_faults, 2);
	cr_assert_eq(of.block_ms, 30);
	cr_assert_eq(of.delay_ns, 900);
	cr_assert_eq(of.peak_kb, 4096);
	of = usages_recorded(usages, &model.images[0], 10, 0, UINT64_MAX);
	cr_assert_eq(of.cpu_ns, 500);
	cr_assert_eq(of.delay_ns, 80);
	cr_assert_eq(of.peak_kb, 0);
	cr_assert_eq(of.involuntary, 6);
	usages_free(usages);
}
