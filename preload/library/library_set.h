/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that change one thing of a handle: what the SET rows name. */
#ifndef PILLION_LIBRARY_SET_H
#define PILLION_LIBRARY_SET_H

#include "preload/library/library.h"

extern const struct library_body library_set_lt_layout HIDDEN;
extern const struct library_body library_set_lt_descriptor HIDDEN;
extern const struct library_body library_set_dnn_groups HIDDEN;
extern const struct library_body library_set_dnn_backend HIDDEN;

#endif
