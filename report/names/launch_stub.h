/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a CUDA compiler generates to launch a kernel. With nvcc, a launch in a function `step` has the
 * frames, innermost first: __device_stub__Z3addPf, of a temporary file; for a template also
 * __wrapper__device_stub_add<float>; add(float*), at the line where the kernel is defined; step. The last but one may
 * be inlined or replaced by a jump. With clang and HIP there is only __device_stub__add. */
#pragma once

#include "report/base/util.h"

/* What the stub inside of the next frame launches. All zero: there was no stub. */
struct launch_stub {
	struct buffer base;	 /* the base name of the kernel */
	struct buffer signature; /* demangled; empty: not known */
};

/* Whether a function is a stub. Both may be NULL. */
bool launch_stub_is(const char *function, const char *file);

/* Sets what a stub launches. `function`: mangled or plain; may be NULL. */
void launch_stub_enter(struct launch_stub *s, const char *function);

/* Whether a function is the one that is called as the kernel is; only the first function around stubs can be it. */
bool launch_stub_is_kernel(struct launch_stub *s, const char *function);

void launch_stub_done(struct launch_stub *s);
