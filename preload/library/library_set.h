/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that change one thing of a handle: what the SET rows name. words[1] is the first argument; the call succeeded. */
#ifndef PILLION_LIBRARY_SET_H
#define PILLION_LIBRARY_SET_H

#include <stdint.h>

void library_set_lt_layout(const uintptr_t *words);
void library_set_lt_descriptor(const uintptr_t *words);
void library_set_dnn_groups(const uintptr_t *words);
void library_set_dnn_backend(const uintptr_t *words);

#endif
