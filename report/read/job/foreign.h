/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other tools that are given as captures: what reads them. */
#pragma once

#include "report/base/util.h"

/* Appends ", but a report of Nsight Systems; type: nsys stats x.nsys-rep" or likewise; nothing for a file of which
 * nothing is known. */
void foreign_words(const char *path, struct buffer *ret);
