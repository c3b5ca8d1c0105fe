/* SPDX-License-Identifier: Apache-2.0 */
/* PyProf's table: each kernel with the PyTorch operator that launched it. It is made of NVTX ranges and kernels, those
 * of a capture or those of a database that Nsight Systems exported (ops_source_<from>.c). */
#pragma once

#include "report/base/table/emit.h"
#include "report/events/cuda/properties.h"
#include "report/events/nvtx/nvtx_tree.h"
#include "report/events/nvtx/operator_work.h"
#include "report/events/scan.h"

/* A kernel. The source sets what is above the line. */
struct op {
	uint64_t start_ns, duration_ns;
	uint32_t name, device, stream, tid; /* name: the source's number of it */
	uint32_t grid[3], block[3];
	uint32_t replay; /* number of the launch of the graph whose node it is; 0: of none */
	uint32_t line;	 /* the source's number of the line that launched it, 0: not known */
	uint32_t call;	 /* the source's number of the library call that launched it, 0: none */
	size_t range;	 /* the innermost range around its launch; NVTX_NO_PARENT: none */
	/* -- */
	size_t operator; /* the innermost range that is an operator */
	size_t marker;	 /* the outermost range of PyProf with arguments, of the forward operator */
	uint64_t seq;	 /* the innermost sequence number; OPERATOR_NO_SEQ: none */
	uint64_t cause;	 /* that of the forward operator, if it is backward; OPERATOR_NO_SEQ: none */
	uint64_t sub;	 /* how many kernels before it have this number and direction */
	size_t nth;	 /* how many products of matrices before it have the same marker */
	bool is_backward;
	bool has_flops; /* the kernel to which its operator's work is attributed */
};

/* What a kernel did, and what its device could do at most. */
struct ops_rate {
	bool is_known;	      /* the operations */
	uint64_t flops;
	uint64_t bytes;	      /* of inputs and results, an estimate; 0: not known */
	enum number_type type;
	bool on_tensor_cores; /* by the kernel's name */
	double peak;	      /* operations per second of the type; 0: not known */
	double bandwidth;     /* bytes per second of the device's memory; 0: not known */
};

struct ops {
	void *source;
	void (*range_text)(const void *source, size_t range, struct buffer *ret);
	void (*kernel_name)(const void *source, uint32_t name, struct buffer *ret);
	/* The line, and the modules whose forward() it is in. May be NULL: only PyProf's ranges have lines. */
	void (*line_text)(void *source, uint32_t line, struct buffer *ret);
	void (*modules_text)(void *source, uint32_t line, struct buffer *ret);
	/* False: the call is not one whose work is known. May be NULL. */
	bool (*call_work)(const void *source, uint32_t call, struct operator_work *ret);
	/* The attributes of a device. */
	const struct device_properties *(*device)(void *source, uint32_t device);

	/* Called for each kernel by start instead of adding rows. `line`: that of the forward operator, 0: not known */
	void (*visit)(void *source, const struct op *op, const struct ops_rate *rate, uint32_t line);

	const struct nvtx_node *ranges;
	size_t range_count;
	struct op *items;
	size_t count, capacity;

	struct map forward; /* seq -> range + 1 of the last forward operator that has it */
	struct map aliases; /* seq of an operator in a node of autograd -> that of the node + 1 */
	struct map results; /* seq -> range + 1 of the range that computes the gradients of a convolution */
	struct map lines;   /* seq -> line of the last forward kernel */
	uint64_t number;    /* of rows */
};

/* Adds a kernel of which the source sets its part. */
void ops_add(struct ops *o, const struct op *op);

/* The columns in PyProf's order. */
enum ops_column {
	OPS_IDX,
	OPS_SEQ,
	OPS_ALTSEQ,
	OPS_TID,
	OPS_LAYER,
	OPS_TRACE,
	OPS_DIR,
	OPS_SUB,
	OPS_MOD,
	OPS_OP,
	OPS_KERNEL,
	OPS_PARAMS,
	OPS_SIL,
	OPS_TC,
	OPS_DEVICE,
	OPS_STREAM,
	OPS_GRID,
	OPS_BLOCK,
	OPS_FLOPS,
	OPS_BYTES,
	OPS_TYPE, /* from here on not PyProf's */
	OPS_PEAK,
	OPS_COLUMNS
};

struct ops_column_row {
	const char *name, *title; /* PyProf's */
	enum column_type type;
	uint8_t width; /* in PyProf's layout, at least; 0: what the others leave */
	const char *help;
};

extern const struct ops_column_row ops_column_rows[OPS_COLUMNS];

void ops_columns(struct table *table);

/* Adds a row for each kernel by start. Ranges and kernels may be replaced afterwards, those of another process. */
void ops_rows(struct ops *o, struct table *table);

void ops_done(struct ops *o);

/* ---- the sources ---- */

/* Adds the rows of a model's processes. */
void ops_of_model(const struct report_context *c, struct table *table);

/* Whether there may be kernels whose work is known. */
bool ops_may_know_work(const struct model *m);

/* Calls visit for each kernel, with the stack of the line that caused it (0: not known). */
typedef void ops_visit_kernel(void *context, const struct image *image, const struct op *op,
			      const struct ops_rate *rate, uint32_t stack);
void ops_visit(const struct report_context *c, void *context, ops_visit_kernel *visit);

/* Adds those of a database in the form that Nsight Systems exports. 0 or -errno. */
int ops_of_database(const char *path, uint32_t seconds, struct table *table, struct err *err);
