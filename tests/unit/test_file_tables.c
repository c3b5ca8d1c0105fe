/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of I/O on files, of two processes whose calls and sums are all of different sizes. */
#include "captured.h"
#include "reported.h"

enum { READER = 17, OTHER = 29, DATA = 2, START = 1000 };

struct process_written {
	struct writer w;
	struct writer_thread t, more;
	uint16_t open, read, write, close, stat, rename, mmap, fread;
};

static void process_begin(struct process_written *p, uint32_t pid)
{
	*p = (struct process_written){0};
	writer_init(&p->w, pid, pid, 1, START);
	p->open = writer_function(&p->w, TF_GROUP_OSRT, "open");
	p->read = writer_function(&p->w, TF_GROUP_OSRT, "read");
	p->write = writer_function(&p->w, TF_GROUP_OSRT, "write");
	p->close = writer_function(&p->w, TF_GROUP_OSRT, "close");
	p->stat = writer_function(&p->w, TF_GROUP_OSRT, "stat");
	p->rename = writer_function(&p->w, TF_GROUP_OSRT, "rename");
	p->mmap = writer_function(&p->w, TF_GROUP_OSRT, "mmap");
	p->fread = writer_function(&p->w, TF_GROUP_OSRT, "fread");
	writer_thread(&p->w, &p->t, pid, "main", TF_PAGE);
	writer_thread(&p->w, &p->more, pid + 1, "more", TF_PAGE);
	writer_descriptor(&p->t, 1, 3, START + 100, TF_DESCRIPTOR_FILE, "/data/in");
}

static void process_save(struct process_written *p)
{
	writer_end(&p->w, TF_END_EXIT, 0, START + 9000);
	writer_save(&p->w, directory);
	writer_done(&p->w);
}

/* `result` is the new descriptor of a call that opens, and bytes of the others. */
static void call(struct writer_thread *t, uint16_t function, uint64_t end, uint64_t duration, uint16_t fd,
		 int32_t result)
{
	writer_call(t, function, START + end, duration,
		    (uint64_t[]){tf_arg(TF_ARG_FD, 0, (uint64_t)(uint32_t)result << 16 | fd)}, 1);
}

static void call_path(struct writer_thread *t, uint16_t function, uint64_t end, uint64_t duration, uint32_t error)
{
	writer_call(t, function, START + end, duration,
		    (uint64_t[]){tf_arg(TF_ARG_DIRECTORY, 0, (uint64_t)error << 16 | DATA)}, 1);
}

/* The second process opens the file first, and spends more on it. */
static void write_files(void)
{
	struct process_written p;

	process_begin(&p, READER);
	writer_descriptor(&p.t, 2, 4, START + 100, TF_DESCRIPTOR_FILE, "/data/out");
	writer_descriptor_generation(&p.t, 3, TF_NO_DESCRIPTOR, START, DATA, TF_DESCRIPTOR_DIRECTORY, "/data/");
	call(&p.t, p.open, 600, 100, TF_NO_DESCRIPTOR, 3);
	call(&p.t, p.read, 800, 50, 3, 100);
	call(&p.t, p.read, 900, 60, 3, 101);
	call(&p.t, p.read, 1000, 30, 3, 1024);
	call(&p.t, p.read, 1100, 20, 3, 1025);
	call(&p.t, p.fread, 1200, 3, 3, 0); /* from its buffer */
	call(&p.t, p.read, 1300, 5, 9, 10);
	call(&p.t, p.open, 1400, 11, TF_NO_DESCRIPTOR, -2);
	call_path(&p.t, p.stat, 1500, 12, 2);
	call_path(&p.t, p.stat, 1600, 13, 0);
	call_path(&p.t, p.rename, 1700, 14, 0);
	call(&p.t, p.close, 1800, 8, 4, 0);
	call(&p.t, p.mmap, 1900, 6, 3, 4096);
	call(&p.more, p.write, 1200, 90, 4, 7000);
	writer_traffic(&p.t, p.read, 3, 0, START + 200, (struct tf_counter){4, 40}, 400);
	writer_traffic(&p.more, p.write, 4, 0, START + 200, (struct tf_counter){2, 70}, 20482);
	process_save(&p);

	process_begin(&p, OTHER);
	writer_variables(&p.w, "PMI_RANK=1\0PMI_SIZE=2", sizeof("PMI_RANK=1\0PMI_SIZE=2"));
	writer_descriptor(&p.t, 2, 5, START + 100, TF_DESCRIPTOR_FILE, "/var/log");
	call(&p.t, p.open, 400, 25, TF_NO_DESCRIPTOR, 3);
	call(&p.t, p.read, 2000, 700, 3, 102401);
	call(&p.t, p.open, 2100, 35, TF_NO_DESCRIPTOR, 5);
	call(&p.t, p.write, 2200, 45, 5, 9);
	process_save(&p);
	open_capture(&model, directory);
}

CAPTURED_SUITE(file_tables);

#define FILES_HEAD                                                                                                    \
	"Time (%),Total Time (ns),Num Calls,Max (ns),Opens,Reads,Read (bytes),Writes,Written (bytes),Path,Maps,"     \
	"Mapped (bytes)\n"

Test(file_tables, files)
{
	write_files();
	EXPECT_REPORT(&(struct report_context){.model = &model}, "files",
		      FILES_HEAD
		      "80.3,1034,13,700,2,9,105051,0,0,/data/in,1,4096\n"
		      "13.1,168,4,90,0,0,0,3,27482,/data/out,0,0\n"
		      "6.2,80,2,45,1,0,0,1,9,/var/log,0,0\n"
		      "0.4,5,1,5,0,1,10,0,0,(not known),0,0\n");
	EXPECT_REPORT((&(struct report_context){.model = &model, .by = BY_THREAD}), "files",
		      "TID," FILES_HEAD
		      "29,56.3,725,2,700,1,1,102401,0,0,/data/in,0,0\n"
		      "17,24.0,309,11,100,1,8,2650,0,0,/data/in,1,4096\n"
		      "18,12.4,160,3,90,0,0,0,3,27482,/data/out,0,0\n"
		      "29,6.2,80,2,45,1,0,0,1,9,/var/log,0,0\n"
		      "17,0.6,8,1,8,0,0,0,0,0,/data/out,0,0\n"
		      "17,0.4,5,1,5,0,1,10,0,0,(not known),0,0\n");
}

Test(file_tables, files_by_rank)
{
	write_files();
	EXPECT_REPORT(&(struct report_context){.model = &model}, "files_rank_sum",
		      "Time (%),Total Time (ns),Ranks,Opens,Reads,Read (bytes),Writes,Written (bytes),"
		      "Least of a Rank (ns),Most of a Rank (ns),Slowest Rank,Least of a Rank (bytes),"
		      "Most of a Rank (bytes),First Open (ns),First Opened By,Path\n"
		      "80.3,1034,2,2,9,105051,0,0,309,725,1,2650,102401,375,1,/data/in\n"
		      "13.1,168,1,0,0,0,3,27482,168,168,pid 17 on node1,27482,27482,,,/data/out\n"
		      "6.2,80,1,1,0,0,1,9,80,80,1,9,9,2065,1,/var/log\n"
		      "0.4,5,1,0,1,10,0,0,5,5,pid 17 on node1,10,10,,,(not known)\n");
}

Test(file_tables, sizes)
{
	write_files();
	EXPECT_REPORT(&(struct report_context){.model = &model}, "files_size_sum",
		      "Operation,Size (bytes),Num Calls,By Mean,Bytes,Total Time (ns)\n"
		      "read,0 - 100,6,4,510,95\n"
		      "read,101 - 1K,2,0,1125,90\n"
		      "read,1K - 10K,1,0,1025,20\n"
		      "read,100K - 1M,1,0,102401,700\n"
		      "write,0 - 100,1,0,9,45\n"
		      "write,1K - 10K,1,0,7000,90\n"
		      "write,10K - 100K,2,2,20482,70\n");
}

Test(file_tables, metadata)
{
	write_files();
	EXPECT_REPORT(&(struct report_context){.model = &model}, "files_meta_sum",
		      "Total Time (ns),Ranks,Files,Opens,Failed Opens,Stats,Failed Stats,Changes,Failed Changes,"
		      "Directory\n"
		      "164,2,1,2,0,2,1,1,0,/data\n"
		      "35,1,1,1,0,0,0,0,0,/var\n"
		      "11,1,0,1,1,0,0,0,0,(not known)\n");
}

/* Two processes read more than their calls did, and the second wrote. Threads and sockets have no such row. */
Test(file_tables, bytes_that_only_the_kernel_has_counted)
{
	static const struct {
		uint32_t pid;
		uint64_t read, written;
	} counted[] = {{READER, 400000, 0}, {OTHER, 700000, 900000}};
	struct process_written p;

	for (size_t i = 0; i < 2; i++) {
		struct tf_usage usage = {.ticks = START + 5000, .minor_faults = 1};

		process_begin(&p, counted[i].pid);
		tf_usage_set_bytes(usage.read_bytes, counted[i].read);
		tf_usage_set_bytes(usage.written_bytes, counted[i].written);
		writer_usage(&p.t, &usage);
		call(&p.t, p.read, 800, 50, 3, 100000);
		process_save(&p);
	}
	open_capture(&model, directory);
	EXPECT_REPORT(&(struct report_context){.model = &model}, "files",
		      FILES_HEAD
		      "100.0,100,2,50,0,2,200000,0,0,/data/in,0,0\n"
		      "0.0,0,0,,0,0,900000,0,900000,(not seen),0,0\n");
	EXPECT_REPORT((&(struct report_context){.model = &model, .by = BY_PROCESS}), "files",
		      "PID," FILES_HEAD
		      "17,50.0,50,1,50,0,1,100000,0,0,/data/in,0,0\n"
		      "29,50.0,50,1,50,0,1,100000,0,0,/data/in,0,0\n"
		      "17,0.0,0,0,,0,0,300000,0,0,(not seen),0,0\n"
		      "29,0.0,0,0,,0,0,600000,0,900000,(not seen),0,0\n");
	EXPECT_REPORT((&(struct report_context){.model = &model, .by = BY_THREAD}), "files",
		      "TID," FILES_HEAD
		      "17,50.0,50,1,50,0,1,100000,0,0,/data/in,0,0\n"
		      "29,50.0,50,1,50,0,1,100000,0,0,/data/in,0,0\n");
	EXPECT_REPORT(&(struct report_context){.model = &model}, "sockets",
		      "Time (%),Total Time (ns),Num Calls,Max (ns),Connects,Receives,Received (bytes),Sends,"
		      "Sent (bytes),Peer\n");
}
