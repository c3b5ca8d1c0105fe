/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects and frames of Python, operators of PyTorch. Included by trace_format.h. */
#pragma once

#include <stdint.h>

/* The format of the line table depends on the version: lnotab pairs up to 3.9, line deltas in 3.10, location entries
 * from 3.11 on. */
struct tf_python_code {
	uint32_t first_line;
	uint16_t version; /* of CPython: major << 8 | minor */
	uint16_t file_bytes, name_bytes, reserved;
};

/* One invocation of the interpreter loop, which is one native frame, may run several Python frames. The outermost of
 * them has TF_PYTHON_ENTRY set. */
#define TF_PYTHON_ENTRY (1u << 31)

struct tf_python_frame {
	/* id of a TF_BLOB_PYTHON_CODE; 0: no frame to show, or without TF_PYTHON_ENTRY: further frames were not read */
	uint32_t code;
	uint32_t place; /* offset of the instruction in bytes, | TF_PYTHON_ENTRY */
};

/* While the program uses PyTorch's own profiler on a thread, --pytorch has no ranges of its operators. */
struct tf_operator_gap {
	uint64_t ticks; /* of the begin or the end */
	uint32_t is_end, reserved;
};

/* The interpreter has written an exception. The text that follows has some lines of what was written: that which begins
 * a traceback, those that name files, the first line of what was raised, and a line of three quotation marks after a
 * traceback that a worker has sent. Of a long text, the first lines are missing. */
struct tf_exception {
	uint64_t ticks;
	uint32_t tid;
	uint32_t stack; /* of the thread that wrote it, with its Python frames, if any; 0: it could not be walked */
};
