/* SPDX-License-Identifier: Apache-2.0 */
/* A private function with the name of one of libc's. */
int killpg(int a, int b);

__attribute__((visibility("default"))) int killpg(int a, int b)
{
	return a * 2 + b;
}
