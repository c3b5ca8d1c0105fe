/* SPDX-License-Identifier: Apache-2.0 */
/* The words and numbers of option values: parsing, printing, and the options that need code of their own.
 * As options.h: no allocation, no I/O, no libc beyond <string.h>. */
#ifndef PILLION_OPTIONS_VALUE_H
#define PILLION_OPTIONS_VALUE_H

#include "runtime/common/options.h"

void text_add_seconds(struct text *t, double seconds);

/* The whole of [s, s + length) as a decimal number; false: it is none, or too large. */
bool value_number(const char *s, size_t length, uint64_t *ret);
bool value_seconds(const char *s, double *ret);
bool value_bool(const char *s, bool *ret);
/* Position of `word` in the choices "a|!b", -1: not there. *ret_mark is '!' or 0. */
int value_choice(const char *choices, const char *word, char *ret_mark);
/* The choice at `position`; its length in *ret_length. */
const char *value_choice_at(const char *choices, int position, size_t *ret_length);
/* "a, b or c" for an error, without the ones that are not yet there. */
void value_choices_print(const char *choices, struct text *t);

int set_trace(struct options *o, const char *value, struct text *why);
void print_trace(const struct options *o, struct text *t);
int set_range_end(struct options *o, const char *value, struct text *why);
void print_range_end(const struct options *o, struct text *t);
int set_stop_on_range_end(struct options *o, const char *value, struct text *why);
int set_profile_from_start(struct options *o, const char *value, struct text *why);
int set_cuda_backtrace(struct options *o, const char *value, struct text *why);
void print_cuda_backtrace(const struct options *o, struct text *t);
int set_cuda_backtrace_threshold(struct options *o, const char *value, struct text *why);
int set_python_backtrace(struct options *o, const char *value, struct text *why);
void print_python_backtrace(const struct options *o, struct text *t);
int set_kill(struct options *o, const char *value, struct text *why);
int set_wait(struct options *o, const char *value, struct text *why);
int set_env_var(struct options *o, const char *value, struct text *why);

#endif
