/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/diff/student.h"

#include <math.h>

enum { TERMS = 500, STEPS = 200 };

/* Keeps a denominator of the continued fraction away from zero. */
static double nonzero(double x)
{
	return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), f = d;

	for (int m = 1; m < TERMS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
		       odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

		d = 1 / nonzero(1 + even * d);
		c = nonzero(1 + even / c);
		f *= c * d;
		d = 1 / nonzero(1 + odd * d);
		c = nonzero(1 + odd / c);
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return f;
}

/* The regularized incomplete beta function. */
static double beta(double x, double a, double b)
{
	double front;
	int sign;

	if (x <= 0 || x >= 1)
		return x >= 1;
	front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
					 : 1 - front * beta_fraction(1 - x, b, a) / b;
}

double student_tail(double t, double freedom)
{
	double both = beta(freedom / (freedom + t * t), freedom / 2, 0.5);

	return t > 0 ? both / 2 : 1 - both / 2;
}

double student_above(double tail, double freedom)
{
	double low = 0, high = 1;

	while (student_tail(high, freedom) > tail && high < 1e12)
		high *= 2;
	for (int i = 0; i < STEPS; i++) {
		double middle = (low + high) / 2;

		if (student_tail(middle, freedom) > tail)
			low = middle;
		else
			high = middle;
	}
	return high;
}
