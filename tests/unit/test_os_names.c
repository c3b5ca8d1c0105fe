/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>

#include "report/events/os_names.h"

static void assert_error(uint32_t error, const char *wanted)
{
	struct buffer text = {0};

	os_error_name(error, &text);
	cr_assert_str_eq(buffer_string(&text), wanted);
	buffer_done(&text);
}

Test(os_names, errors_have_names_and_others_their_number)
{
	assert_error(ENOENT, "ENOENT");
	assert_error(EAGAIN, "EAGAIN");
	assert_error(EHWPOISON, "EHWPOISON");
	assert_error(EHWPOISON + 1, "134");
	assert_error(41, "41"); /* no error has it */
	assert_error(UINT32_MAX, "4294967295");
}

static void assert_flags(unsigned int set, uint32_t flags, const char *wanted)
{
	struct buffer text = {0};

	os_flags_text(set, flags, &text);
	cr_assert_str_eq(buffer_string(&text), wanted);
	buffer_done(&text);
}

Test(os_names, flags_have_names_and_other_bits_are_hexadecimal)
{
	assert_flags(TF_FLAGS_TIMERFD, 0, "0");
	assert_flags(TF_FLAGS_TIMERFD, TFD_CLOEXEC | TFD_NONBLOCK, "TFD_CLOEXEC|TFD_NONBLOCK");
	assert_flags(TF_FLAGS_TIMER, TFD_TIMER_ABSTIME | 8, "TFD_TIMER_ABSTIME|0x8");
	assert_flags(TF_FLAGS_WATCH, IN_ONESHOT | IN_MODIFY, "IN_MODIFY|IN_ONESHOT");
	assert_flags(0, 3, "0x3");
	assert_flags(1000, 1, "0x1"); /* of a later version */
}

Test(os_names, the_error_of_a_call_is_in_the_argument_that_has_its_result)
{
	cr_assert_eq(os_error_of(tf_arg(TF_ARG_RESULT, 0, ETIMEDOUT)), (uint32_t)ETIMEDOUT);
	cr_assert_eq(os_error_of(tf_arg(TF_ARG_DIRECTORY, 0, 3 | ENOENT << 16)), (uint32_t)ENOENT);
	cr_assert_eq(os_error_of(tf_arg(TF_ARG_FD, 0, 3 | (uint64_t)(uint32_t)-EBADF << 16)), (uint32_t)EBADF);
	cr_assert_eq(os_error_of(tf_arg(TF_ARG_TIMEOUT, 0, (uint16_t)-EINTR)), (uint32_t)EINTR);
	cr_assert_eq(os_error_of(tf_arg(TF_ARG_FD, 0, 3 | 4096 << 16)), 0u);
	cr_assert_eq(os_error_of(tf_arg(TF_ARG_VALUE, 0, EBADF)), 0u);
}
