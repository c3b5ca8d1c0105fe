/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps of PyTorch's flight recorder and of NCCL's inspector: which files are dumps, what the reports have of them, and
 * what is said of those that cannot be read. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/base/text.h"
#include "report/read/dumps/dumps.h"
#include "reported.h"
#include "trace_writer.h"

static char directory[] = "/tmp/pillion-dumps-XXXXXX";
static struct dumps *dumps;
static struct texts problems;

static void begin(void)
{
	struct err err;

	cr_assert_not_null(mkdtemp(directory));
	cr_assert_eq(chdir(directory), 0);
	dumps = dumps_new(&err);
	cr_assert_not_null(dumps, "%s", err.text);
}

static void end(void)
{
	texts_done(&problems);
	capture_remove(directory);
}

TestSuite(dumps, .init = begin, .fini = end);

static void write_bytes(const char *name, const void *bytes, size_t size)
{
	capture_file(directory, name, bytes, size);
}

static void read_text(const char *name, const char *text)
{
	write_bytes(name, text, strlen(text));
	dumps_read(dumps, name, &problems);
}

/* The last problem; "": there is none. */
static const char *problem(void)
{
	return problems.count ? problems.items[problems.count - 1] : "";
}

static void expect_report(const char *name, const char *wanted)
{
	EXPECT_REPORT((&(struct report_context){.dumps = dumps}), name, wanted);
}

/* ---- which files are dumps ---- */

static bool recognised(const char *name, const char *bytes, size_t size)
{
	write_bytes(name, bytes, size);
	return dump_recognise(name);
}

Test(dumps, are_recognised_by_their_first_bytes)
{
	cr_expect(recognised("a", "{}", 2));
	cr_expect(recognised("a", "[", 1));
	cr_expect(recognised("a", " \n\t[1]", 6));
	cr_expect(recognised("a", " \n", 2), "nothing but blanks: an empty dump");
	cr_expect(recognised("a", "\x80\x02", 2), "a pickle of protocol 2");
	cr_expect(recognised("a", "\x80\x05}", 3), "a pickle of protocol 5");
	cr_expect_not(recognised("a", "\x80\x01", 2));
	cr_expect_not(recognised("a", "\x80\x06", 2));
	cr_expect_not(recognised("a", "\x80", 1));
	cr_expect_not(recognised("a", "\x7f" "ELF", 4));
	cr_expect_not(recognised("a.json", "text", 4), "the name says nothing of a file that has bytes");
	cr_expect(recognised("empty.json", "", 0));
	cr_expect(recognised("empty.log", "", 0));
	cr_expect_not(recognised("empty", "", 0));
	cr_expect_not(dump_recognise("absent.json"));
	cr_expect_not(dump_recognise("."));
}

Test(dumps, the_file_is_closed_whatever_its_number)
{
	write_bytes("a", "{}", 2);
	cr_assert_eq(close(STDIN_FILENO), 0);
	cr_expect(dump_recognise("a"));
	cr_expect_eq(fcntl(STDIN_FILENO, F_GETFD), -1, "it was opened as the lowest number that is free");
}

/* ---- flight recorder ---- */

#define GROUPS "\"pg_config\":{\"0\":{\"ranks\":\"[0, 1, 2]\"}}"
#define CONFIG "\"version\":\"2.10\"," GROUPS
#define ENTRY(record, seq, op, state)                                                                                \
	"{\"record_id\":" #record ",\"pg_id\":0,\"process_group\":[\"0\",\"world\"],\"collective_seq_id\":" #seq     \
	",\"p2p_seq_id\":0,\"profiling_name\":\"" op "\",\"input_sizes\":[[8, 2]],\"input_dtypes\":[\"Float\"],"     \
	"\"state\":\"" state "\",\"is_p2p\":false,\"frames\":[{\"name\":\"wrap\",\"filename\":\"/x/torch/d.py\","    \
	"\"line\":1},{\"name\":\"step\",\"filename\":\"/job/train.py\",\"line\":" #seq "0}]}"
#define SEND(record, seq)                                                                                            \
	"{\"record_id\":" #record ",\"pg_id\":0,\"process_group\":[\"0\",\"\"],\"collective_seq_id\":0,"             \
	"\"p2p_seq_id\":" #seq ",\"profiling_name\":\"send 0->1\",\"input_sizes\":[[4]],\"state\":\"completed\","    \
	"\"is_p2p\":true}"
#define FLIGHT_HEAD                                                                                                  \
	"Process Group,Sequence,Operation,Input Sizes,Ranks,Entered,Started,Completed,Not Entered,Not Known,Line,"   \
	"Finding\n"

Test(dumps, flight_recorders_show_who_has_not_come)
{
	read_text("trace_0.json", "{" CONFIG ",\"entries\":[" ENTRY(0, 1, "all_reduce", "completed") ","
				  ENTRY(1, 2, "all_gather", "started") "," SEND(2, 1) "]}");
	read_text("trace_1.json", "\n\n{" CONFIG ",\"entries\":[" ENTRY(0, 1, "all_reduce", "completed") "]}");
	read_text("trace_2.json", "{" CONFIG ",\"entries\":[" ENTRY(0, 1, "all_reduce", "scheduled") ","
				  ENTRY(1, 2, "broadcast", "scheduled") "]}");
	cr_expect_str_eq(problem(), "");
	cr_expect(dumps_have(dumps, DUMP_FLIGHT));
	cr_expect_not(dumps_have(dumps, DUMP_INSPECTOR));
	expect_report("nccl_flight_sum", FLIGHT_HEAD
		"0 (world),2,all_gather,\"[8,2] Float\",3,\"0,2\",0,,1,,/job/train.py:20 step,\"rank 1 has not entered "
		"it; the last one entered: 1 all_reduce at /job/train.py:10 step; operations differ: all_gather of 0, "
		"broadcast of 2\"\n"
		"0 (world),1,all_reduce,\"[8,2] Float\",3,0-2,0-1,0-1,,,/job/train.py:10 step,\n"
		"0,1,send 0->1,[4],1,0,0,0,,,,\n");
	expect_report("nccl_inspector_sum", "Communicator,Name,Ranks,Operation,Bytes from,Num Calls,Avg (ns),Min (ns),"
		"Max (ns),Bus (GB/s),Slowest Rank,Slowest Avg (ns),Fastest Rank,Fastest Avg (ns)\n");
}

Test(dumps, flight_recorders_that_cannot_be_read_are_named)
{
	read_text("a_0.json", "{" CONFIG ",\"entries\":[" ENTRY(0, 1, "barrier", "completed") "]}");
	cr_expect_eq(problems.count, 0);
	read_text("b_00.json", "{" CONFIG ",\"entries\":[]}");
	cr_expect_str_eq(problem(), "b_00.json: not read, because a_0.json is the dump of rank 0");
	read_text("c_1.json", "{\"version\":\"1.9\",\"entries\":[]}");
	cr_expect_str_eq(problem(), "c_1.json: version '1.9' of PyTorch's flight recorder cannot be read; 2.x can");
	read_text("d.json", "{" CONFIG ",\"entries\":[]}");
	cr_expect_str_eq(problem(), "d.json: the rank is not known: the name must end with it, as in "
				    "nccl_trace_rank_3.json");
	read_text("e_1234567890.json", "{" CONFIG ",\"entries\":[]}");
	cr_expect_str_eq(problem(), "e_1234567890.json: the rank is not known: the name must end with it, as in "
				    "nccl_trace_rank_3.json");
	cr_expect_eq(problems.count, 4);
	read_text("f_123456789", "{" CONFIG ",\"entries\":[]}");
	cr_expect_eq(problems.count, 4, "nine digits are a rank: %s", problem());
	read_text("g_2.json", "{\"version\":\"2.4\"," GROUPS ",\"entries\":[1,{},"
		  ENTRY(0, 1, "barrier", "completed") "]}");
	cr_assert_eq(problems.count, 6);
	cr_expect_str_eq(problems.items[4], "g_2.json: version 2.4 of the format, but a_0.json has 2.10: are they "
					    "dumps of one run?");
	cr_expect_str_eq(problem(), "g_2.json: entries that lack fields: 2; the others are read");
	expect_report("nccl_flight_sum", FLIGHT_HEAD
		"0 (world),1,barrier,\"[8,2] Float\",3,\"0,2\",\"0,2\",\"0,2\",,1,/job/train.py:10 step,\n");
}

Test(dumps, a_rank_without_a_dump_is_not_known)
{
	read_text("trace_1.json", "{" CONFIG ",\"entries\":[" ENTRY(4, 9, "all_reduce", "started") "]}");
	expect_report("nccl_flight_sum", FLIGHT_HEAD
		"0 (world),9,all_reduce,\"[8,2] Float\",3,1,1,,,\"0,2\",/job/train.py:90 step,\n");
}

/* ---- inspector ---- */

#define PERF(rank, op, bytes, us, bus)                                                                                \
	"{\"header\":{\"id\":\"0x7f\",\"comm_name\":\"world\",\"rank\":" #rank ",\"n_ranks\":2},"                    \
	"\"metadata\":{\"inspector_output_format_version\":\"v4.0\"},\"coll_perf\":{\"coll\":\"" op "\","            \
	"\"coll_msg_size_bytes\":" #bytes ",\"coll_exec_time_us\":" #us ",\"coll_busbw_gbs\":" #bus "}}\n"
#define INSPECTOR_HEAD                                                                                               \
	"Communicator,Name,Ranks,Operation,Bytes from,Num Calls,Avg (ns),Min (ns),Max (ns),Bus (GB/s),Slowest Rank," \
	"Slowest Avg (ns),Fastest Rank,Fastest Avg (ns)\n"

Test(dumps, inspectors_show_the_slow_rank)
{
	read_text("node-pid1.log", PERF(0, "AllReduce", 4096, 10, 2.0) PERF(0, "AllReduce", 8191, 20, 1.0)
		  PERF(1, "AllReduce", 4096, 30, 3.0) PERF(0, "AllReduce", 4095, 1, 4.0));
	read_text("node-pid2.log", "\n" PERF(1, "AllGather", 0, 5, null) " \n" PERF(1, "AllReduce", 8192, -1, 1.0)
		  "{\"header\":{}}\n");
	cr_expect(dumps_have(dumps, DUMP_INSPECTOR));
	cr_expect_not(dumps_have(dumps, DUMP_FLIGHT));
	cr_assert_eq(problems.count, 1);
	cr_expect_str_eq(problem(), "node-pid2.log: damaged lines: 2, the first is line 4; the others are read");
	expect_report("nccl_inspector_sum", INSPECTOR_HEAD
		"0x7f,world,2,AllReduce,4096,3,20000.0,10000,30000,2,1,30000.0,0,15000.0\n"
		"0x7f,world,2,AllGather,0,1,5000.0,5000,5000,,1,5000.0,1,5000.0\n"
		"0x7f,world,2,AllReduce,2048,1,1000.0,1000,1000,4,0,1000.0,0,1000.0\n");
	expect_report("nccl_flight_sum", FLIGHT_HEAD);
}

Test(dumps, one_object_of_an_inspector_may_have_several_lines)
{
	read_text("pretty.json", "{\n\"header\":{\"rank\":3,\"n_ranks\":4},\n\"version\":\"v4.1\",\n\"p2p_perf\":"
		  "{\"p2p\":\"Send\",\"p2p_msg_size_bytes\":1,\"p2p_exec_time_us\":2}\n}\n");
	cr_expect_str_eq(problem(), "");
	expect_report("nccl_inspector_sum", INSPECTOR_HEAD ",,4,Send,1,1,2000.0,2000,2000,,3,2000.0,3,2000.0\n");
	read_text("lacks.json", "{\n\"header\":{\"n_ranks\":4},\n\"version\":\"v4.1\",\n\"p2p_perf\":{}\n}\n");
	cr_expect_str_eq(problem(), "lacks.json: the fields of the inspector's format v4 are missing");
	read_text("later.json", "{\n\"header\":{\"rank\":1},\n\"version\":\"v5\",\n\"p2p_perf\":{}\n}\n");
	cr_expect_str_eq(problem(), "later.json: the fields of the inspector's format v4 are missing");
	read_text("later.log", "{\"header\":{\"rank\":1},\"version\":\"v5\",\"p2p_perf\":{}}\n"
			       "{\"header\":{\"rank\":1},\"version\":\"v6\",\"p2p_perf\":{}}\n");
	cr_expect_str_eq(problem(), "later.log: lines of format v5, which cannot be read (v4 can): 2");
}

/* ---- what is neither ---- */

Test(dumps, other_files_are_named_with_the_reason)
{
	read_text("empty.json", "");
	cr_expect_str_eq(problem(), "empty.json: the file is empty");
	read_text("blank.json", " \n\n");
	cr_expect_str_eq(problem(), "blank.json: the file is empty");
	read_text("cut.json", "{\"entries\":[");
	cr_expect_str_eq(problem(), "cut.json: damaged: it is not valid JSON");
	read_text("other.json", "{\"a\":[1]}\n");
	cr_expect_str_eq(problem(), "other.json: neither a dump of PyTorch's flight recorder nor of NCCL's inspector");
	read_text("pickle", "\x80\x04}.");
	cr_expect_eq(strncmp(problem(), "pickle: a pickle is not read, because", 37), 0, "%s", problem());
	dumps_read(dumps, "absent", &problems);
	cr_expect_str_eq(problem(), "absent: No such file or directory");
	cr_expect_eq(problems.count, 6);
	expect_report("nccl_flight_sum", FLIGHT_HEAD);
	EXPECT_REPORT((&(struct report_context){0}), "nccl_flight_sum",
		      "no dump of PyTorch's flight recorder is given\n");
	EXPECT_REPORT((&(struct report_context){0}), "nccl_inspector_sum", "no output of NCCL's inspector is given\n");
	cr_expect_not(dumps_have(NULL, DUMP_FLIGHT));
}
