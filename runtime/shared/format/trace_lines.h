/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of Python functions (--lines-of). Included by trace_format.h after what it needs of that. */
#pragma once

#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

struct tf_line_code {
	uint32_t first_line, file_length;
};

/* Hits and ticks of lines [N * TF_LINES_BLOCK, (N + 1) * TF_LINES_BLOCK) of a function in one thread, from some time
 * on; as struct tf_traffic, the recorder updates it in place, and then begins another one. */
enum { TF_LINES_BLOCK = 32 };
enum tf_lines_number {
	TF_LINES_KEY, /* id of a TF_BLOB_LINE_CODE | N << 32 */
	TF_LINES_HITS,
	TF_LINES_TICKS = TF_LINES_HITS + TF_LINES_BLOCK,
	TF_LINES_NUMBERS = TF_LINES_TICKS + TF_LINES_BLOCK
};

struct tf_lines {
	uint8_t numbers[TF_LINES_NUMBERS][TF_DATA_BYTES];
};

/* Likewise memory of the process, in KiB: how often the line ended, by how much what is resident and what is in use of
 * the recorded allocations had changed then (signed, in total), and the largest values at its ends. The first line of
 * the function's definition has what was there when the function was first entered. */
enum tf_line_memory_number {
	TF_LINE_MEMORY_KEY, /* as TF_LINES_KEY */
	TF_LINE_MEMORY_ENDS,
	TF_LINE_MEMORY_RESIDENT = TF_LINE_MEMORY_ENDS + TF_LINES_BLOCK,
	TF_LINE_MEMORY_ALLOCATED = TF_LINE_MEMORY_RESIDENT + TF_LINES_BLOCK,
	TF_LINE_MEMORY_PEAK = TF_LINE_MEMORY_ALLOCATED + TF_LINES_BLOCK,
	TF_LINE_MEMORY_NUMBERS = TF_LINE_MEMORY_PEAK + TF_LINES_BLOCK
};

struct tf_line_memory {
	uint8_t numbers[TF_LINE_MEMORY_NUMBERS][TF_DATA_BYTES];
};
