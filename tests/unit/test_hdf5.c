/* SPDX-License-Identifier: Apache-2.0 */
/* hdf5_sum, by a trace of calls with and without an object. */
#include "report/base/table/emit.h"
#include "report/read/operation.h"
#include "report/tables/report.h"
#include "rule_fixture.h"

enum { TEMPERATURE = 1, ROOT, UNTERMINATED, LOST };

static uint16_t f_read_set, f_close_file;

static void begin_calls(void)
{
	static const char temperature[] = "a.h5\0/g/temperature", root[] = "a.h5\0/", unterminated[] = "b.h5";

	writer_init(&w, 1, 10, 1, BEGIN);
	f_read_set = writer_function(&w, TF_GROUP_HDF5, "H5Dread");
	f_close_file = writer_function(&w, TF_GROUP_HDF5, "H5Fclose");
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	writer_blob(&host, TF_BLOB_HDF5, TEMPERATURE, temperature, sizeof(temperature) - 1);
	writer_blob(&host, TF_BLOB_HDF5, ROOT, root, sizeof(root) - 1);
	writer_blob(&host, TF_BLOB_HDF5, UNTERMINATED, unterminated, sizeof(unterminated) - 1);
}

TestSuite(hdf5, .init = begin_calls, .fini = teardown);

/* A call of 1 ms. bytes: 0: none. */
static void hdf5_call(uint16_t function, uint64_t at_ms, int64_t object, int64_t bytes)
{
	struct tf_operation op = {.count = 1, .fields = {TF_FIELD_OBJECT}, .values = {object}};
	uint64_t arg = tf_arg(TF_ARG_OPERATION, 0, at_ms);

	if (bytes) {
		op.fields[1] = TF_FIELD_COUNT;
		op.fields[2] = TF_FIELD_ELEMENT;
		op.values[1] = bytes / 8;
		op.values[2] = 8;
		op.count = 3;
	}
	writer_blob(&host, TF_BLOB_OPERATION, (uint32_t)at_ms, &op,
		    sizeof(op) - (TF_OPERATION_FIELDS - op.count) * sizeof(op.values[0]));
	writer_call(&host, function, BEGIN + at_ms * MS, MS, &arg, object != 0);
}

Test(hdf5, sums_by_function_file_and_object)
{
	struct emit emit = {.format = FORMAT_CSV};
	struct table table = {0};
	char *text = NULL;
	size_t size;

	hdf5_call(f_read_set, 1, TEMPERATURE, 800);
	hdf5_call(f_read_set, 2, TEMPERATURE, 8);
	hdf5_call(f_close_file, 3, ROOT, 0);
	hdf5_call(f_read_set, 4, UNTERMINATED, 0);
	hdf5_call(f_read_set, 5, LOST, 16);
	hdf5_call(f_read_set, 6, 0, 0);
	open_model(100 * MS);
	report_find("hdf5_sum")->run(&context, &table);
	cr_assert_null(table.lacks, "%s", table.lacks);
	emit.file = open_memstream(&text, &size);
	emit_begin(&emit);
	emit_table(&emit, "hdf5_sum", "", &table);
	emit_end(&emit);
	fclose(emit.file);
	cr_expect_str_eq(text,
			 "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name,File,"
			 "Object,Bytes,Bandwidth (GB/s)\n"
			 "33.3,2000000,2,1000000.0,1000000.0,1000000,1000000,0.0,H5Dread,,,16,0.000\n"
			 "33.3,2000000,2,1000000.0,1000000.0,1000000,1000000,0.0,H5Dread,a.h5,/g/temperature,808,"
			 "0.000\n"
			 "16.7,1000000,1,1000000.0,1000000.0,1000000,1000000,0.0,H5Dread,b.h5,,,\n"
			 "16.7,1000000,1,1000000.0,1000000.0,1000000,1000000,0.0,H5Fclose,a.h5,/,,\n",
			 "%s", text);
	free(text);
	table_done(&table);
}
