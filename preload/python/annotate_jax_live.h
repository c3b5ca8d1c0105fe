/* SPDX-License-Identifier: Apache-2.0 */
/* --jax: the buffers that are alive in JAX, when a jitted function returns and the last look is long enough ago, which
 * --jax-live sets; and what its executables need. annotate_jax.py asks JAX, and what it says is recorded here. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct nvtx_domain;

/* Adds to the namespace of annotate.py:
 *	jax_live_by(function): it is called for each look. It returns None, or (type, value, traceback) of an exception
 *		that a signal's handler of the program raised meanwhile
 *	jax_live_begin(), jax_live_end(): around what it records
 *	jax_live_frame(code, offset): a frame, the innermost one first, of the place where the next arrays were made
 *	jax_live_add(array, devices, count, bytes): arrays that were made there
 *	jax_executable(name, bytes of arguments, of outputs, of those aliased, of temporaries, of code, devices) */
void annotate_jax_live_offer(void *space, const struct nvtx_domain *domain);

extern bool annotate_jax_live_is_on;

/* To be called with the GIL and no exception. False: an exception is to be passed on. */
bool annotate_jax_live_look(void);
