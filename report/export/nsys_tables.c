/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and rows. No journal is needed: the file is discarded if it cannot be completed. */
#include "report/export/nsys_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text.h"

static const char setup[] =
	"PRAGMA page_size=8192;PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF;PRAGMA locking_mode=EXCLUSIVE;"
	"PRAGMA cache_size=-32768;BEGIN;"
	"CREATE TABLE ENUM_NSYS_EVENT_TYPE(id INTEGER NOT NULL PRIMARY KEY,name TEXT,label TEXT);"
	"INSERT INTO ENUM_NSYS_EVENT_TYPE VALUES(33,'NvtxCategory','NVTX category'),(34,'NvtxMark','NVTX mark'),"
	"(39,'NvtxThread','NVTX thread name'),(59,'NvtxPushPopRange','NVTX push/pop range'),"
	"(60,'NvtxStartEndRange','NVTX start/end range'),(75,'NvtxDomainCreate','NVTX domain create'),"
	"(76,'NvtxDomainDestroy','NVTX domain destroy');"
	"CREATE TABLE ENUM_NSYS_EVENT_CLASS(id INTEGER NOT NULL PRIMARY KEY,name TEXT,label TEXT);"
	"INSERT INTO ENUM_NSYS_EVENT_CLASS VALUES(0,'TRACE_PROCESS_EVENT_CUDA_RUNTIME','CUDA runtime'),"
	"(1,'TRACE_PROCESS_EVENT_CUDA_DRIVER','CUDA driver'),(27,'TRACE_PROCESS_EVENT_OS_RUNTIME','OS runtime');"
	"CREATE TABLE ENUM_CUDA_MEMCPY_OPER(id INTEGER NOT NULL PRIMARY KEY,name TEXT,label TEXT);"
	"INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES(0,'CUDA_MEMCPY_KIND_UNKNOWN','Unknown'),"
	"(1,'CUDA_MEMCPY_KIND_HTOD','Host-to-Device'),(2,'CUDA_MEMCPY_KIND_DTOH','Device-to-Host'),"
	"(3,'CUDA_MEMCPY_KIND_HTOA','Host-to-Array'),(4,'CUDA_MEMCPY_KIND_ATOH','Array-to-Host'),"
	"(5,'CUDA_MEMCPY_KIND_ATOA','Array-to-Array'),(6,'CUDA_MEMCPY_KIND_ATOD','Array-to-Device'),"
	"(7,'CUDA_MEMCPY_KIND_DTOA','Device-to-Array'),(8,'CUDA_MEMCPY_KIND_DTOD','Device-to-Device'),"
	"(9,'CUDA_MEMCPY_KIND_HTOH','Host-to-Host'),(10,'CUDA_MEMCPY_KIND_PTOP','Peer-to-Peer');"
	"CREATE TABLE ENUM_CUDA_MEM_KIND(id INTEGER NOT NULL PRIMARY KEY,name TEXT,label TEXT);"
	"INSERT INTO ENUM_CUDA_MEM_KIND VALUES(0,'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE','Pageable'),"
	"(1,'CUDA_MEMOPR_MEMORY_KIND_PINNED','Pinned'),(2,'CUDA_MEMOPR_MEMORY_KIND_DEVICE','Device'),"
	"(3,'CUDA_MEMOPR_MEMORY_KIND_ARRAY','Array'),(4,'CUDA_MEMOPR_MEMORY_KIND_MANAGED','Managed'),"
	"(5,'CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC','Device Static'),"
	"(6,'CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC','Managed Static'),"
	"(7,'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN','Unknown');";

#define INT " INTEGER"
#define NEED " INTEGER NOT NULL"
#define MPI "(start" NEED ",end" NEED ",globalTid" INT ",textId" INT
#define STACK "(id" NEED ",symbol" NEED ",module" NEED
#define HOST_STACK \
	STACK ",kernelMode" INT ",thumbCode" INT ",unresolved" INT ",specialEntry" INT ",originalIP" INT \
	      ",unwindMethod" INT ",stackDepth" NEED ",PRIMARY KEY(id,stackDepth))"

static const struct {
	const char *name, *columns;
	int count;
	bool always;
} tables[NSYS_TABLES] = {
	[NSYS_META] = {"EXPORT_META_DATA", "(name TEXT NOT NULL,value TEXT)", 2, true},
	[NSYS_STRINGS] = {"StringIds", "(id" NEED " PRIMARY KEY,value TEXT NOT NULL)", 2, true},
	[NSYS_START_TIME] = {"TARGET_INFO_SESSION_START_TIME", "(utcEpochNs" INT ",utcTime TEXT,localTime TEXT)", 3,
			     true},
	[NSYS_ANALYSIS] = {"ANALYSIS_DETAILS",
			   "(globalVid" NEED ",duration" NEED ",startTime" NEED ",stopTime" NEED ")", 4, true},
	/* nsys's gputrace reads it without checking. */
	[NSYS_GPU] = {"TARGET_INFO_GPU",
		      "(vmId" NEED ",id" NEED ",name TEXT,busLocation TEXT,isDiscrete" INT ",l2CacheSize" INT
		      ",totalMemory" INT ",memoryBandwidth" INT ",clockRate" INT ",smCount" INT ",uuid TEXT"
		      ",chipName TEXT,cuDevice" INT ",computeMajor" INT ",computeMinor" INT ")",
		      15, true},
	[NSYS_PROCESSES] = {"PROCESSES", "(globalPid" INT ",pid" INT ",name TEXT)", 3, true},
	[NSYS_THREADS] = {"ThreadNames", "(nameId" NEED ",priority" INT ",globalTid" INT ")", 3, true},
	[NSYS_OSRT] = {"OSRT_API",
		       "(start" NEED ",end" NEED ",eventClass" NEED ",globalTid" INT ",nameId" NEED ",returnValue" NEED
		       ",nestingLevel" INT ",callchainId" NEED ")",
		       8, false},
	[NSYS_OSRT_STACKS] = {"OSRT_CALLCHAINS", HOST_STACK, 10, false},
	[NSYS_RUNTIME] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
			  "(start" NEED ",end" NEED ",eventClass" NEED ",globalTid" INT ",correlationId" INT
			  ",nameId" NEED ",returnValue" NEED ",callchainId" INT ")",
			  8, false},
	[NSYS_CUDA_STACKS] = {"CUDA_CALLCHAINS",
			      STACK ",unresolved" INT ",originalIP" INT ",stackDepth" NEED
				    ",PRIMARY KEY(id,stackDepth))",
			      6, false},
	[NSYS_SAMPLE] = {"COMPOSITE_EVENTS",
			 "(id" NEED " PRIMARY KEY,start" NEED ",cpu" INT ",threadState" INT ",globalTid" INT
			 ",cpuCycles" NEED ")",
			 6, false},
	[NSYS_SAMPLE_STACKS] = {"SAMPLING_CALLCHAINS", HOST_STACK, 10, false},
	[NSYS_NVTX] = {"NVTX_EVENTS",
		       "(start" NEED ",end" INT ",eventType" NEED ",rangeId" INT ",category" INT ",color" INT
		       ",text TEXT"
		       ",globalTid" INT ",endGlobalTid" INT ",textId" INT ",domainId" INT ",uint64Value" INT
		       ",int64Value" INT ",doubleValue REAL,uint32Value" INT ",int32Value" INT ",floatValue REAL"
		       ",jsonTextId" INT ",jsonText TEXT)",
		       19, false},
	[NSYS_NVTX_DEVICE] = {"TARGET_INFO_NVTX_CUDA_DEVICE", "(name TEXT,hwId" INT ",vmId" INT ",deviceId" INT ")", 4,
			      false},
	[NSYS_NVTX_STREAM] = {"TARGET_INFO_NVTX_CUDA_STREAM",
			      "(name TEXT,hwId" INT ",vmId" INT ",processId" INT ",deviceId" INT ",contextId" INT
			      ",streamId" INT ")",
			      7, false},
	[NSYS_CUBLAS] = {"CUBLAS_EVENTS",
			 "(start" NEED ",end" NEED ",eventClass" NEED ",globalTid" INT ",nameId" NEED ")", 5, false},
	[NSYS_CUDNN] = {"CUDNN_EVENTS",
			"(start" NEED ",end" NEED ",eventClass" NEED ",globalTid" INT ",nameId" NEED ")", 5, false},
	[NSYS_KERNEL] = {"CUPTI_ACTIVITY_KIND_KERNEL",
			 "(start" NEED ",end" NEED ",deviceId" NEED ",contextId" NEED ",streamId" NEED
			 ",correlationId" INT ",globalPid" INT ",demangledName" NEED ",shortName" NEED
			 ",mangledName" INT ",launchType" INT ",cacheConfig" INT ",registersPerThread" NEED
			 ",gridX" NEED ",gridY" NEED ",gridZ" NEED ",blockX" NEED ",blockY" NEED ",blockZ" NEED
			 ",staticSharedMemory" NEED ",dynamicSharedMemory" NEED ",localMemoryPerThread" NEED
			 ",localMemoryTotal" NEED ",gridId" NEED ",sharedMemoryExecuted" INT ",graphNodeId" INT
			 ",sharedMemoryLimitConfig" INT ")",
			 27, false},
	[NSYS_MEMCPY] = {"CUPTI_ACTIVITY_KIND_MEMCPY",
			 "(start" NEED ",end" NEED ",deviceId" NEED ",contextId" NEED ",streamId" NEED
			 ",correlationId" INT ",globalPid" INT ",bytes" NEED ",copyKind" NEED ",deprecatedSrcId" INT
			 ",srcKind" INT ",dstKind" INT ",srcDeviceId" INT ",srcContextId" INT ",dstDeviceId" INT
			 ",dstContextId" INT ",migrationCause" INT ",graphNodeId" INT ",virtualAddress" INT ")",
			 19, false},
	[NSYS_MEMSET] = {"CUPTI_ACTIVITY_KIND_MEMSET",
			 "(start" NEED ",end" NEED ",deviceId" NEED ",contextId" NEED ",streamId" NEED
			 ",correlationId" INT ",globalPid" INT ",value" NEED ",bytes" NEED ",graphNodeId" INT
			 ",memKind" INT ")",
			 11, false},
	[NSYS_GRAPH] = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
			"(start" NEED ",end" NEED ",deviceId" NEED ",contextId" NEED ",streamId" NEED
			",correlationId" INT ",globalPid" INT ",graphId" NEED ",graphExecId" NEED ")",
			9, false},
	[NSYS_GRAPH_NODE] = {"CUDA_GRAPH_NODE_EVENTS",
			     "(start" NEED ",end" NEED ",eventClass" NEED ",globalTid" INT ",nameId" NEED
			     ",graphNodeId" INT ",originalGraphNodeId" INT ")",
			     7, false},
	[NSYS_SYNC] = {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
		       "(start" NEED ",end" NEED ",deviceId" NEED ",contextId" NEED ",streamId" NEED
		       ",correlationId" INT ",globalPid" INT ",syncType" NEED ",eventId" NEED ")",
		       9, false},
	[NSYS_MEMORY] = {"CUDA_GPU_MEMORY_USAGE_EVENTS",
			 "(start" NEED ",globalPid" NEED ",deviceId" NEED ",contextId" NEED ",address" NEED ",pc" NEED
			 ",bytes" NEED ",memKind" NEED ",memoryOperationType" NEED ",name TEXT,correlationId" INT ")",
			 11, false},
	/* nsys's mpi_event_trace reads it without checking. */
	[NSYS_MPI_RANKS] = {"MPI_RANKS", "(globalTid" NEED ",rank" NEED ")", 2, false},
	[NSYS_MPI_P2P] = {"MPI_P2P_EVENTS",
			  MPI ",commHandle" INT ",tag" INT ",remoteRank" INT ",size" INT ",requestHandle" INT ")", 9,
			  false},
	[NSYS_MPI_COLLECTIVE] = {"MPI_COLLECTIVES_EVENTS",
				 MPI ",commHandle" INT ",rootRank" INT ",size" INT ",recvSize" INT ",requestHandle" INT
				     ")",
				 9, false},
	[NSYS_MPI_WAIT] = {"MPI_START_WAIT_EVENTS", MPI ",requestHandle" INT ")", 5, false},
	[NSYS_MPI_OTHER] = {"MPI_OTHER_EVENTS", MPI ")", 4, false},
};

static void nsys_note_failure(struct nsys *n, int code)
{
	if (n->code)
		return;
	n->code = code;
	snprintf(n->why, sizeof(n->why), "%s", n->db ? sqlite3_errmsg(n->db) : sqlite3_errstr(code));
}

static void nsys_execute(struct nsys *n, const char *sql)
{
	int code = n->code ? SQLITE_OK : sqlite3_exec(n->db, sql, NULL, NULL, NULL);

	if (code)
		nsys_note_failure(n, code);
}

static sqlite3_stmt *nsys_prepare_insert(struct nsys *n, enum nsys_table table, int rows)
{
	struct buffer sql = {0};
	sqlite3_stmt *ret = NULL;
	int code = SQLITE_OK;

	buffer_print(&sql, "INSERT INTO %s VALUES", tables[table].name);
	for (int row = 0; row < rows; row++) {
		buffer_text(&sql, row ? ",(?" : "(?");
		for (int i = 1; i < tables[table].count; i++)
			buffer_text(&sql, ",?");
		buffer_text(&sql, ")");
	}
	if (!n->code)
		code = sqlite3_prepare_v3(n->db, sql.data, -1, SQLITE_PREPARE_PERSISTENT, &ret, NULL);
	if (code)
		nsys_note_failure(n, code);
	buffer_done(&sql);
	return ret;
}

static void nsys_create_table(struct nsys *n, enum nsys_table table)
{
	struct buffer sql = {0};

	buffer_print(&sql, "CREATE TABLE %s%s;", tables[table].name, tables[table].columns);
	nsys_execute(n, sql.data);
	buffer_done(&sql);
	n->tables[table].one = nsys_prepare_insert(n, table, 1);
}

int nsys_open(struct nsys *n, const char *path, struct err *err)
{
	int code;

	*n = (struct nsys){0};
	code = sqlite3_open_v2(path, &n->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (code)
		nsys_note_failure(n, code);
	nsys_execute(n, setup);
	for (int i = 0; i < NSYS_TABLES; i++)
		if (tables[i].always)
			nsys_create_table(n, (enum nsys_table)i);
	return n->code ? nsys_close(n, err) : 0;
}

sqlite3_stmt *nsys_insert(struct nsys *n, enum nsys_table table)
{
	if (!n->tables[table].one && !n->code)
		nsys_create_table(n, table);
	return n->code ? NULL : n->tables[table].one;
}

void nsys_bind(sqlite3_stmt *insert, int first_column, const int64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i] == NSYS_NULL)
			sqlite3_bind_null(insert, first_column + (int)i);
		else
			sqlite3_bind_int64(insert, first_column + (int)i, values[i]);
}

void nsys_step(struct nsys *n, sqlite3_stmt *insert)
{
	int code = sqlite3_step(insert);

	if (code != SQLITE_DONE)
		nsys_note_failure(n, code);
	sqlite3_reset(insert);
}

static void send_batch(struct nsys *n, enum nsys_table table)
{
	struct nsys_rows *t = &n->tables[table];

	if (!t->batch)
		t->batch = nsys_prepare_insert(n, table, NSYS_BATCH);
	t->count = 0;
	if (n->code)
		return;
	nsys_bind(t->batch, 1, t->waiting, NSYS_BATCH * (size_t)tables[table].count);
	nsys_step(n, t->batch);
}

/* The last rows, fewer than a batch. */
static void send_rest(struct nsys *n, enum nsys_table table)
{
	struct nsys_rows *t = &n->tables[table];
	size_t columns = (size_t)tables[table].count;

	for (size_t i = 0; i < t->count && !n->code; i++) {
		nsys_bind(t->one, 1, t->waiting + i * columns, columns);
		nsys_step(n, t->one);
	}
}

void nsys_row(struct nsys *n, enum nsys_table table, const int64_t *values, size_t count)
{
	struct nsys_rows *t = &n->tables[table];
	size_t columns = (size_t)tables[table].count;
	int64_t *row;

	if (!nsys_insert(n, table))
		return;
	if (!t->waiting)
		t->waiting = mem_alloc(NSYS_BATCH * columns * sizeof(*t->waiting));
	row = t->waiting + t->count * columns;
	memcpy(row, values, count * sizeof(*row));
	for (size_t i = count; i < columns; i++)
		row[i] = NSYS_NULL;
	if (++t->count == NSYS_BATCH)
		send_batch(n, table);
}

int nsys_close(struct nsys *n, struct err *err)
{
	for (int i = 0; i < NSYS_TABLES; i++) {
		send_rest(n, (enum nsys_table)i);
		sqlite3_finalize(n->tables[i].one);
		sqlite3_finalize(n->tables[i].batch);
		free(n->tables[i].waiting);
	}
	nsys_execute(n, "COMMIT");
	if (sqlite3_close(n->db) && !n->code)
		nsys_note_failure(n, SQLITE_ERROR);
	n->db = NULL;
	aggregate_done(&n->strings);
	return n->code ? err_set(err, -EIO, "sqlite: %s", n->why) : 0;
}

void nsys_bind_text(sqlite3_stmt *insert, int column, const char *text)
{
	struct buffer safe = {0};

	text_escape(&safe, text, "\n\t");
	sqlite3_bind_text(insert, column, safe.size ? safe.data : "", (int)safe.size, SQLITE_TRANSIENT);
	buffer_done(&safe);
}

int64_t nsys_string(struct nsys *n, const char *text)
{
	size_t before = n->strings.count;
	int64_t id = (int64_t)aggregate_row(&n->strings, text, strlen(text)) + 1;
	sqlite3_stmt *insert = n->strings.count > before ? nsys_insert(n, NSYS_STRINGS) : NULL;

	if (insert) {
		sqlite3_bind_int64(insert, 1, id);
		nsys_bind_text(insert, 2, text);
		nsys_step(n, insert);
	}
	return id;
}
