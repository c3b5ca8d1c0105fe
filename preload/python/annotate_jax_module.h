/* SPDX-License-Identifier: Apache-2.0 */
/* --jax: where the operations of a module come from, which XLA compiled: of its text (HLO) the names of its operations
 * and their metadata, that is the path of jax.named_scope and the line of the program. */
#pragma once

struct nvtx_domain;

/* Records a module once in each image, whether the capture range is open or not: modules are compiled before they are
 * executed. `text` as HloModule.to_string() returns it. Needs the GIL. */
void annotate_jax_module(const struct nvtx_domain *domain, const char *text);
