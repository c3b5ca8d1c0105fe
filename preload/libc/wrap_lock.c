/* SPDX-License-Identifier: Apache-2.0 */
/* Locks. Most are free: a free lock is taken by a try and not recorded. Only calls that block are timed. */
#include "preload/hook/hook.h"

/* All results of the try except EBUSY are those of the blocking call: 0, EOWNERDEAD, EINVAL, EAGAIN (recursive mutex).
 * For an error-checking mutex that the caller holds, the try returns EBUSY and the blocking call EDEADLK. -1: libc does
 * not have the function. */
#define LOCK(symbol, try, type)                                                                                        \
	int wrap_##symbol(type *lock)                                                                                  \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		int result;                                                                                            \
                                                                                                                       \
		if (!event_enabled(TF_GROUP_OSRT))                                                                     \
			return real_##symbol(lock);                                                                    \
		result = real_##try(lock);                                                                             \
		if (__builtin_expect(result != EBUSY && result != -1, 1))                                              \
			return result;                                                                                 \
		HOOK_TIME(real_##symbol(lock), NOTHING);                                                               \
		return result;                                                                                         \
	}

LOCK(pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_t)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_t)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t)

int wrap_pthread_spin_lock(pthread_spinlock_t *lock)
{
	enum { HOOK_CURRENT = HOOK_pthread_spin_lock };
	int result;

	if (!event_enabled(TF_GROUP_OSRT))
		return real_pthread_spin_lock(lock);
	result = real_pthread_spin_trylock(lock);
	if (__builtin_expect(result != EBUSY && result != -1, 1))
		return result;
	HOOK_TIME(real_pthread_spin_lock(lock), NOTHING);
	return result;
}

int wrap_sem_wait(sem_t *s)
{
	enum { HOOK_CURRENT = HOOK_sem_wait };
	int error = errno, result;

	if (!event_enabled(TF_GROUP_OSRT))
		return real_sem_wait(s);
	real_pthread_testcancel(); /* sem_wait is a cancellation point, sem_trywait is not */
	if (!real_sem_trywait(s))
		return 0;
	errno = error;
	HOOK_TIME(real_sem_wait(s), NOTHING);
	return result;
}
