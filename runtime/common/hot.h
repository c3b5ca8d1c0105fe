/* SPDX-License-Identifier: Apache-2.0 */
/* For variables that every call looks at: they lie together, on one line of the cache or two, wherever they are
 * defined. */
#ifndef PILLION_HOT_H
#define PILLION_HOT_H

#define HOT __attribute__((section("pillion_hot")))

/* Of a variable that is declared before it is defined: it lies in our own object, and is reached without a look at
 * where. */
#define HIDDEN __attribute__((visibility("hidden")))

#endif
