/* SPDX-License-Identifier: Apache-2.0 */
#include "report/base/newer_libc.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

int rename_by_flags(const char *from, const char *to, unsigned flags)
{
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

const char *signal_name(int signal)
{
#define NAME(name) [SIG##name] = #name
	static const char *const names[] = {
		NAME(HUP),  NAME(INT),    NAME(QUIT), NAME(ILL),    NAME(TRAP), NAME(ABRT), NAME(BUS),  NAME(FPE),
		NAME(KILL), NAME(USR1),   NAME(SEGV), NAME(USR2),   NAME(PIPE), NAME(ALRM), NAME(TERM), NAME(STKFLT),
		NAME(CHLD), NAME(CONT),   NAME(STOP), NAME(TSTP),   NAME(TTIN), NAME(TTOU), NAME(URG),  NAME(XCPU),
		NAME(XFSZ), NAME(VTALRM), NAME(PROF), NAME(WINCH),  NAME(POLL), NAME(PWR),  NAME(SYS),
	};
#undef NAME

	return signal > 0 && (size_t)signal < sizeof(names) / sizeof(*names) ? names[signal] : NULL;
}

long random_bytes(void *bytes, size_t size)
{
	return syscall(SYS_getrandom, bytes, size, 1 /* GRND_NONBLOCK */);
}
