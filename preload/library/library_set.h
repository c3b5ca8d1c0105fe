/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that set one property of a handle: the bodies of SET rows. */
#pragma once

#include "preload/library/library.h"

extern const struct library_body library_set_lt_layout HIDDEN;
extern const struct library_body library_set_lt_descriptor HIDDEN;
extern const struct library_body library_set_dnn_groups HIDDEN;
extern const struct library_body library_set_dnn_backend HIDDEN;
