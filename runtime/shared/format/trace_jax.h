/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of JAX: live buffers, and what executables need (--jax). From 1.15 on. */
#pragma once

#include <stdint.h>

/* The data of a TF_BLOB_JAX_LIVE: this and then struct tf_jax_buffers: a part of the buffers that were alive at
 * `ticks`. The parts of one look have its number; a look that found none has a part without them. */
struct tf_jax_live {
	uint64_t ticks;
	uint32_t number, reserved;
};

/* Arrays that have type, shape, devices and the place where they were made in common. */
struct tf_jax_buffers {
	uint64_t count;
	uint64_t bytes;		 /* of all of them, on all devices of the process */
	uint32_t array, devices; /* ids of TF_BLOB_STRING: "float32[8,128]", "gpu:0-3" */
	uint32_t stack;		 /* id of a TF_BLOB_STACK, which has Python frames only; 0: not known */
	uint32_t reserved;
};

/* The data of a TF_BLOB_JAX_EXECUTABLE: this and then the name of the module. Bytes on each of its devices. */
struct tf_jax_executable {
	uint64_t arguments, outputs, aliased, temporary, code;
	uint32_t devices, reserved;
};
