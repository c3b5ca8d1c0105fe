/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++ functions for a line of a table. */
#pragma once

#include "report/base/util.h"

/* Appends the text with long lists of template arguments and parameters cut: "kernel<4, add<float>, ...>(...)". A text
 * without "::" is appended as it is: it is not one of C++. */
void name_shorten(struct buffer *ret, const char *text);

/* Appends a C++ or Rust function's name for a sentence: without its type, arguments and namespaces of versions,
 * "absl::FutexWaiter::WaitUntil". Other texts are appended as they are. */
void name_brief(struct buffer *ret, const char *text);
