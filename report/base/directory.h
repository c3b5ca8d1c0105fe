/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Removes a directory with its files: a capture, or what an export has made. It uses no libc state, because a signal
 * handler calls it. */
void directory_remove(const char *path);
