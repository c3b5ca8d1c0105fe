/* SPDX-License-Identifier: Apache-2.0 */
/* Colours of a terminal for words that say good or bad; none where NO_COLOR (https://no-color.org) is set, TERM is
 * dumb, or standard output is no terminal. */
#pragma once

enum colour { COLOUR_GOOD, COLOUR_WARNING, COLOUR_BAD, COLOUR_BOLD };

/* What switches the colour on and off on standard output, or in the pager; "" where there is none. */
const char *colour_begin(enum colour colour);
const char *colour_end(void);
