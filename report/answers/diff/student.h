/* SPDX-License-Identifier: Apache-2.0 */
/* Student's t distribution. */
#pragma once

/* The probability of a value above t. */
double student_tail(double t, double freedom);

/* The value above which the probability is `tail`, which is less than 0.5. */
double student_above(double tail, double freedom);
