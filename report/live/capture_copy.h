/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of a capture while its processes write to it: what was recorded before one moment. */
#pragma once

#include "report/base/util.h"

/* Copies the directory `from` to `to`, which must not exist. -errno: the copy is removed again. */
int capture_copy(const char *from, const char *to, struct err *err);
