/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeps of 50 ms and of 0.3 ms, from functions that a report can name. */
#include <unistd.h>

__attribute__((noinline)) static int long_sleep(int n)
{
	usleep(50000);
	return n + 1;
}

__attribute__((noinline)) static int caller_of_long_sleep(int n)
{
	return long_sleep(n) + 1;
}

__attribute__((noinline)) static int short_sleep(int n)
{
	usleep(300);
	return n + 1;
}

int main(void)
{
	int n = 0;

	for (int i = 0; i < 10; i++)
		n += caller_of_long_sleep(i) + short_sleep(i);
	return n > 0 ? 0 : 1;
}
