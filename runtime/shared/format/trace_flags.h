/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Sets of flags of OS calls: which names the bits of a TF_ARG_FLAGS have. */
enum tf_flags {
	TF_FLAGS_EVENTFD = 1, /* EFD_CLOEXEC, ... */
	TF_FLAGS_SIGNALFD = 2,
	TF_FLAGS_TIMERFD = 3,
	TF_FLAGS_TIMER = 4, /* of timerfd_settime: TFD_TIMER_ABSTIME, ... */
	TF_FLAGS_EPOLL = 5,
	TF_FLAGS_INOTIFY = 6,
	TF_FLAGS_WATCH = 7, /* events of inotify_add_watch: IN_MODIFY, ... */
	TF_FLAGS_RANDOM = 8,
};

/* What an open did to what was in the file. Older traces do not tell. */
/* Of a wait for descriptors: it was for none, as a sleep. */
enum tf_polled { TF_POLLED, TF_POLLED_NOTHING };

enum tf_opened { TF_OPENED_UNKNOWN, TF_OPENED_KEPT, TF_OPENED_EMPTIED };
