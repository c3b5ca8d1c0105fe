/* SPDX-License-Identifier: Apache-2.0 */
/* Has the symbols of a CPython later than those that are known: its version alone says so. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

const uint32_t Py_Version = 0x031000f0; /* 3.16.0 */
struct {
	char cookie[8];
	uint64_t version, free_threaded, offsets[200];
} _PyRuntime = {{'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'}, 0x031000f0, 0, {0}};
char PyCode_Type[400], PyUnicode_Type[400], PyBytes_Type[400];
static uint64_t state[100];

void *PyGILState_GetThisThreadState(void);
void *PyGILState_GetThisThreadState(void)
{
	return state;
}

int Py_IsFinalizing(void);
int Py_IsFinalizing(void)
{
	return 0;
}

int main(void)
{
	struct timespec ten_ms = {0, 10000000};

	for (int i = 0; i < 20; i++)
		nanosleep(&ten_ms, NULL);
	return puts("done") < 0;
}
