/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a run that need code of their own to be parsed and printed. As option.h: no allocation, no I/O. */
#pragma once

#include "runtime/shared/common/options.h"

int options_set_trace(const struct option *row, void *settings, const char *value, struct text *why);
void options_print_trace(const void *settings, struct text *t);
extern const struct option_words options_trace_words;
int options_set_range_end(const struct option *row, void *settings, const char *value, struct text *why);
void options_print_range_end(const void *settings, struct text *t);
int options_set_stop_on_range_end(const struct option *row, void *settings, const char *value, struct text *why);
int options_set_profile_from_start(const struct option *row, void *settings, const char *value, struct text *why);
int options_set_cuda_backtrace(const struct option *row, void *settings, const char *value, struct text *why);
void options_print_cuda_backtrace(const void *settings, struct text *t);
int options_set_cuda_backtrace_threshold(const struct option *row, void *settings, const char *value, struct text *why);
int options_set_python_backtrace(const struct option *row, void *settings, const char *value, struct text *why);
void options_print_python_backtrace(const void *settings, struct text *t);
int options_set_sample(const struct option *row, void *settings, const char *value, struct text *why);
void options_print_sample(const void *settings, struct text *t);
int options_set_python_sampling(const struct option *row, void *settings, const char *value, struct text *why);
int options_set_python_sampling_frequency(const struct option *row, void *settings, const char *value,
		struct text *why);
int options_set_cuda_graph(const struct option *row, void *settings, const char *value, struct text *why);
void options_print_cuda_graph(const void *settings, struct text *t);
int options_set_pytorch(const struct option *row, void *settings, const char *value, struct text *why);
void options_print_pytorch(const void *settings, struct text *t);
int options_set_counters(const struct option *row, void *settings, const char *value, struct text *why);
int options_set_export(const struct option *row, void *settings, const char *value, struct text *why);
int options_set_on_signal(const struct option *row, void *settings, const char *value, struct text *why);
int options_set_kill(const struct option *row, void *settings, const char *value, struct text *why);
void options_print_slow_down(const void *settings, struct text *ret);
int options_set_slow_down(const struct option *row, void *settings, const char *value, struct text *why);
int options_set_on(const struct option *row, void *settings, const char *value, struct text *why);
int options_set_ring(const struct option *row, void *settings, const char *value, struct text *why);
void options_print_ring(const void *settings, struct text *ret);
int options_set_env_var(const struct option *row, void *settings, const char *value, struct text *why);
