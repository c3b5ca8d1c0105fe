/* SPDX-License-Identifier: Apache-2.0 */
/* A part of trace_format.h: arguments of library calls: cuBLAS, cuDNN, NCCL, MPI ... */
#pragma once

#include <stdint.h>

/* A list of fields, each a byte (enum tf_field | enum tf_role) and a value as the call passed it; enumerators are
 * the library's own. A field may occur several times, for example for the dimensions of a tensor. Arguments that a
 * call lacks are omitted. */
enum { TF_OPERATION_FIELDS = 31 };

struct tf_operation {
	uint8_t count, fields[TF_OPERATION_FIELDS]; /* elements from count on are 0 */
	int64_t values[TF_OPERATION_FIELDS];	    /* only `count` of them are written */
};

enum tf_field {
	TF_FIELD_M = 1,
	TF_FIELD_N = 2,
	TF_FIELD_K = 3,
	TF_FIELD_BATCH = 4,
	TF_FIELD_TRANSPOSE = 5,
	TF_FIELD_LEADING = 6, /* dimension */
	TF_FIELD_STRIDE = 7,  /* between the matrices of a batch, in elements */
	TF_FIELD_TYPE = 8,
	TF_FIELD_COMPUTE = 9, /* type */
	TF_FIELD_ALGORITHM = 10,
	TF_FIELD_DIMENSION = 11,
	TF_FIELD_PADDING = 12,
	TF_FIELD_STEP = 13, /* of a chunk */
	TF_FIELD_DILATION = 14,
	TF_FIELD_GROUPS = 15,
	TF_FIELD_MODE = 16,
	TF_FIELD_DIRECTION = 17,
	TF_FIELD_NONZEROS = 18,
	TF_FIELD_COUNT = 19,	/* elements of a message */
	TF_FIELD_REDUCTION = 20,
	TF_FIELD_PEER = 21,	/* or root */
	/* MPI: 0x44000000 is MPI_COMM_WORLD, 0x44000001 is MPI_COMM_SELF, for every implementation */
	TF_FIELD_COMMUNICATOR = 22,
	TF_FIELD_RANK = 23, /* of the caller */
	TF_FIELD_RANKS = 24,
	TF_FIELD_ELEMENT = 25, /* bytes per element */
	TF_FIELD_TAG = 26,
	TF_FIELD_ENGINE = 27,
	TF_FIELD_KIND = 28, /* of a descriptor: cudnnBackendDescriptorType_t */
	/* NCCL: equal in all ranks of a communicator, and different for each communicator */
	TF_FIELD_COMMUNICATOR_ID = 29,
	/* MPI: likewise, with RANK and RANKS, of communicators that the program has made from others */
	TF_FIELD_COMMUNICATOR_OF_MPI = 30,
	TF_FIELD_OBJECT = 31, /* HDF5: id of a TF_BLOB_HDF5. From 1.14 on */
	TF_FIELDS = 32
};

/* The operand that the field describes. */
enum tf_role {
	TF_ROLE_NONE = 0,
	TF_ROLE_A = 1 << 5,
	TF_ROLE_B = 2 << 5,
	TF_ROLE_C = 3 << 5,
	TF_ROLE_D = 4 << 5,
	TF_ROLE_MASK = 7 << 5
};
