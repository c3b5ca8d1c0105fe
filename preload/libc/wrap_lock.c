/* SPDX-License-Identifier: Apache-2.0 */
/* Locks. Most are free: a free lock is taken by a try and not recorded. Only calls that block are timed. */
#include "preload/hook/hook_record.h"
#include "runtime/recorder/record/slow_down.h"

/* try_<symbol>: the try, but EBUSY if free locks are to be recorded, too (--slow-down). That is known once the recorder
 * has started; a test in each call would cost all programs. */
#define TRY(symbol, try, type)                                                                                         \
	static int first_##symbol(type *lock);                                                                         \
	static int (*try_##symbol)(type *) = first_##symbol;                                                           \
	static __attribute__((cold)) ALIGNS_STACK int first_##symbol(type *lock)                                       \
	{                                                                                                              \
		int result;                                                                                            \
                                                                                                                       \
		if (slow_down_needs_locks())                                                                           \
			return EBUSY;                                                                                  \
		result = real_##try(lock); /* it is resolved then */                                                   \
		if (process.generation)                                                                                \
			__atomic_store_n(&try_##symbol, real_##try, __ATOMIC_RELAXED);                                 \
		return result;                                                                                         \
	}

/* All results of the try except EBUSY are those of the blocking call: 0, EOWNERDEAD, EINVAL, EAGAIN (recursive mutex).
 * For an error-checking mutex that the caller holds, the try returns EBUSY and the blocking call EDEADLK. -1: libc does
 * not have the function. `owner`: who has the lock, if that is known. `by_writer`: see wake_released(). */
#define LOCK(symbol, try, type, owner, by_writer)                                                                      \
	TRY(symbol, try, type)                                                                                         \
	static __attribute__((noinline)) ALIGNS_STACK int blocked_##symbol(type *lock)                                 \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		uint32_t holder = (uint32_t)(owner);                                                                   \
		int result;                                                                                            \
                                                                                                                       \
		HOOK_TIME(real_##symbol(lock), LOCKED((const void *)lock, holder, by_writer));                         \
		return result;                                                                                         \
	}                                                                                                              \
	HOOK_EXPORT int symbol(type *lock)                                                                             \
	{                                                                                                              \
		int result;                                                                                            \
                                                                                                                       \
		if (!event_enabled(TF_GROUP_OSRT))                                                                     \
			return real_##symbol(lock);                                                                    \
		result = __atomic_load_n(&try_##symbol, __ATOMIC_RELAXED)(lock);                                       \
		if (__builtin_expect(result != EBUSY && result != -1, 1))                                              \
			return result;                                                                                 \
		return blocked_##symbol(lock);                                                                         \
	}

LOCK(pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_t,
     __atomic_load_n(&lock->__data.__owner, __ATOMIC_RELAXED), false)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_t, 0, false)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t, 0, true)
LOCK(pthread_spin_lock, pthread_spin_trylock, pthread_spinlock_t, 0, false)

TRY(sem_wait, sem_trywait, sem_t)
int wrap_sem_wait(sem_t *s)
{
	enum { HOOK_CURRENT = HOOK_sem_wait };
	int error = errno, result;

	if (!event_enabled(TF_GROUP_OSRT))
		return real_sem_wait(s);
	real_pthread_testcancel(); /* sem_wait is a cancellation point, sem_trywait is not */
	if (!__atomic_load_n(&try_sem_wait, __ATOMIC_RELAXED)(s)) {
		wait_taken(s);
		return 0;
	}
	errno = error;
	HOOK_TIME(real_sem_wait(s), SEMAPHORE(s));
	return result;
}

/* ---- releases, for --wakes ---- */

/* Noted before the real call: after it, the waiter may have looked already, and the lock may no longer exist. A lock
 * that processes share is not noted: the last release may be one of another process. */
#define RELEASE(symbol, type, is_shared, kind)                                                                         \
	HOOK_EXPORT int symbol(type *lock)                                                                             \
	{                                                                                                              \
		WAIT_NOTE((const void *)lock, is_shared, kind);                                                        \
		return real_##symbol(lock);                                                                            \
	}

RELEASE(pthread_mutex_unlock, pthread_mutex_t, wait_is_shared_mutex(lock), WAKE_RELEASE)
RELEASE(pthread_rwlock_unlock, pthread_rwlock_t, lock->__data.__shared,
	lock->__data.__cur_writer ? WAKE_RELEASE : WAKE_READER)
RELEASE(pthread_spin_unlock, pthread_spinlock_t, false, WAKE_RELEASE)
RELEASE(sem_post, sem_t, wait_is_shared_semaphore(lock), WAKE_ONE)
