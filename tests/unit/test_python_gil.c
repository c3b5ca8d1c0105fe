/* SPDX-License-Identifier: Apache-2.0 */
/* python_gil_sum and python_gil_trace: which waits on a condition are those of the interpreter's lock. */
#include "reported.h"
#include "rule_fixture.h"

#define TRACE_COLUMNS "Start (ns),Duration (ns),PID,TID,Thread Name,State,Line\n"
#define NO_WAITS                                                                                                     \
	"no waits for the GIL of Python by calls longer than --osrt-backtrace-threshold; without stacks "             \
	"(--python-backtrace, --osrt-backtrace-threshold) they cannot be told from others\n"
enum { OF_INTERPRETER = 1, OF_LIBRARY, NO_STACK = 0 };

static uint16_t f_timed, f_condition, f_semaphore;
static struct writer_thread worker;

static void begin_program(const char *executable)
{
	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, executable, "job", 4);
	f_timed = writer_function(&w, TF_GROUP_OSRT, "pthread_cond_timedwait");
	f_condition = writer_function(&w, TF_GROUP_OSRT, "pthread_cond_wait");
	f_semaphore = writer_function(&w, TF_GROUP_OSRT, "sem_wait");
	writer_thread(&w, &host, 10, "main", 16 * TF_PAGE);
	writer_thread(&w, &worker, 11, "worker", 16 * TF_PAGE);
	writer_module(&host, 0x1000, 0x2000, 0, NULL, 0, "/usr/bin/python3.11");
	writer_module(&host, 0x3000, 0x4000, 0, NULL, 0, "/usr/lib/libqueue.so");
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t address = i ? 0x3100 : 0x1100;

		writer_blob(&host, TF_BLOB_STACK, i ? OF_LIBRARY : OF_INTERPRETER, &address, sizeof(address));
	}
}

TestSuite(python_gil, .fini = teardown);

static void wait_of(struct writer_thread *t, uint16_t function, uint64_t at, uint64_t duration, uint32_t stack)
{
	uint64_t arg = tf_arg(TF_ARG_STACK, 0, stack);

	writer_call(t, function, BEGIN + at + duration, duration, &arg, stack ? 1 : 0);
}

/* A thread takes the lock twice and releases it once; what a library waits for is not told. */
static void waits(void)
{
	wait_of(&host, f_timed, 1 * MS, 5 * MS, OF_INTERPRETER);
	wait_of(&host, f_condition, 7 * MS, 2 * MS, OF_INTERPRETER);
	wait_of(&host, f_timed, 10 * MS, 3 * MS, OF_INTERPRETER);
	wait_of(&host, f_timed, 20 * MS, 9 * MS, OF_LIBRARY);
	wait_of(&host, f_semaphore, 40 * MS, 9 * MS, OF_INTERPRETER);
	wait_of(&worker, f_condition, 2 * MS, 1 * MS, NO_STACK);
	open_model(100 * MS);
}

Test(python_gil, waits_by_thread_and_state)
{
	begin_program("/usr/bin/python3.11");
	waits();
	EXPECT_REPORT(&context, "python_gil_sum",
		      "Time (%),Total Time (ns),Waits,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Thread,State,"
		      "Line\n"
		      "72.7,8000000,2,4000000.0,4000000.0,3000000,5000000,1414213.6,main [10],Waiting for GIL,[job]\n"
		      "18.2,2000000,1,2000000.0,2000000.0,2000000,2000000,0.0,main [10],"
		      "\"Released GIL, waiting for its next holder\",[job]\n"
		      "9.1,1000000,1,1000000.0,1000000.0,1000000,1000000,0.0,worker [11],"
		      "\"Waiting, not known for what (no stack)\",?\n");
}

Test(python_gil, each_wait)
{
	begin_program("/usr/bin/python3.11");
	waits();
	EXPECT_REPORT(&context, "python_gil_trace",
		      TRACE_COLUMNS
		      "1000000,5000000,10,10,main,Waiting for GIL,[job]\n"
		      "2000000,1000000,10,11,worker,\"Waiting, not known for what (no stack)\",?\n"
		      "7000000,2000000,10,10,main,\"Released GIL, waiting for its next holder\",[job]\n"
		      "10000000,3000000,10,10,main,Waiting for GIL,[job]\n");
}

/* An embedded interpreter: a call without a stack may be anything's. */
Test(python_gil, without_a_stack_only_the_interpreters_own_program_may_wait_for_its_lock)
{
	begin_program("/home/u/server");
	waits();
	EXPECT_REPORT(&context, "python_gil_trace",
		      TRACE_COLUMNS
		      "1000000,5000000,10,10,main,Waiting for GIL,[python3.11]\n"
		      "7000000,2000000,10,10,main,\"Released GIL, waiting for its next holder\",[python3.11]\n"
		      "10000000,3000000,10,10,main,Waiting for GIL,[python3.11]\n");
}

Test(python_gil, why_there_are_none)
{
	begin_program("/usr/bin/python3.11");
	wait_of(&host, f_timed, 20 * MS, 9 * MS, OF_LIBRARY);
	open_model(100 * MS);
	EXPECT_REPORT(&context, "python_gil_sum", NO_WAITS);
	EXPECT_REPORT(&context, "python_gil_trace", NO_WAITS);
}

Test(python_gil, without_calls_of_the_system)
{
	writer_init(&w, 1, 10, 1, BEGIN);
	writer_thread(&w, &host, 10, "main", 16 * TF_PAGE);
	writer_event(&host, TF_MARK, 0, BEGIN + MS, 0);
	open_model(100 * MS);
	EXPECT_REPORT(&context, "python_gil_sum",
		      "no OS calls were recorded: -t python-gil or -t osrt records them\n");
}
