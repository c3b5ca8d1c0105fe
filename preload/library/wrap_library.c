/* SPDX-License-Identifier: Apache-2.0 */
/* The wrappers that the libraries' rows generate. */
#include "preload/library/wrap_library.h"

/* ---- shapes ---- */

#define PART(field_, how_, position_, other_) {field_, how_, position_, other_}
#define ENUM(field, position) PART(TF_FIELD_##field, LIBRARY_ENUM, position, 0)
#define ENUM_A(field, position) PART(TF_FIELD_##field | TF_ROLE_A, LIBRARY_ENUM, position, 0)
#define ENUM_B(field, position) PART(TF_FIELD_##field | TF_ROLE_B, LIBRARY_ENUM, position, 0)
#define ENUM_C(field, position) PART(TF_FIELD_##field | TF_ROLE_C, LIBRARY_ENUM, position, 0)
#define INT(field, position) PART(TF_FIELD_##field, LIBRARY_INT, position, 0)
#define INT_A(field, position) PART(TF_FIELD_##field | TF_ROLE_A, LIBRARY_INT, position, 0)
#define INT_B(field, position) PART(TF_FIELD_##field | TF_ROLE_B, LIBRARY_INT, position, 0)
#define INT_C(field, position) PART(TF_FIELD_##field | TF_ROLE_C, LIBRARY_INT, position, 0)
#define WIDE(field, position) PART(TF_FIELD_##field, LIBRARY_WIDE, position, 0)
#define WIDE_A(field, position) PART(TF_FIELD_##field | TF_ROLE_A, LIBRARY_WIDE, position, 0)
#define WIDE_B(field, position) PART(TF_FIELD_##field | TF_ROLE_B, LIBRARY_WIDE, position, 0)
#define WIDE_C(field, position) PART(TF_FIELD_##field | TF_ROLE_C, LIBRARY_WIDE, position, 0)
#define LIST(field, count, address) PART(TF_FIELD_##field, LIBRARY_LIST, count, address)
#define LIST_B(field, count, address) PART(TF_FIELD_##field | TF_ROLE_B, LIBRARY_LIST, count, address)
#define LIST_WIDE(field, count, address) PART(TF_FIELD_##field, LIBRARY_LIST_WIDE, count, address)
#define OF(role, position) PART(TF_ROLE_##role, LIBRARY_OF, position, 0)
#define OF_INT(role, position) PART(TF_ROLE_##role, LIBRARY_OF_INT, position, 0)
#define BYTES(position) PART(TF_FIELD_ELEMENT, LIBRARY_BYTES, position, 0)
#define COMMUNICATOR(position) PART(TF_FIELD_COMMUNICATOR, LIBRARY_COMMUNICATOR, position, 0)
#define KEY_NONE LIBRARY_KEY_NONE, 0
#define KEY_AT(position) LIBRARY_KEY_AT, position
#define KEY_OUT(position) LIBRARY_KEY_OUT, position
#define KEY_INT(position) LIBRARY_KEY_INT, position
#define KEY_INT_OUT(position) LIBRARY_KEY_INT_OUT, position

/* The parts' list is counted; the one of NOTHING is empty. */
#define LIBRARY_SHAPE(name, key_and_position, ...)                                                                     \
	static const struct library_shape shape_##name = {sizeof((const struct library_part[]){__VA_ARGS__}) /         \
								  sizeof(struct library_part),                         \
							  key_and_position, {__VA_ARGS__}};
SHAPES_LIBRARY(LIBRARY_SHAPE)

/* ---- the exported symbols ---- */

#define DECLARE(words) WORDS_##words(WORD_DECLARE)
#define PASS(words) WORDS_##words(WORD_PASS)
#define LIST_OF(words) ((const uintptr_t[]){0, PASS(words)})

#define LIBRARY_EXPORT_CALL(group, symbol, name, words, shape)                                                         \
	LIBRARY_UNNOTED(group, symbol, name, (DECLARE(words)), (PASS(words)),                                          \
			library_end(&event_, HOOK_##name, result, &shape_##shape, LIST_OF(words), false))
#define LIBRARY_EXPORT_TWIN(group, symbol, name, words, shape)                                                         \
	LIBRARY_UNNOTED(group, symbol, name, (DECLARE(words)), (PASS(words)),                                          \
			library_end(&event_, HOOK_##name, result, &shape_##shape, LIST_OF(words), true))
#define LIBRARY_EXPORT_MAKER(group, symbol, name, words, shape)                                                        \
	LIBRARY_ENTRY(group, symbol, name, (DECLARE(words)), (PASS(words)),                                            \
		      library_end(&event_, HOOK_##name, result, &shape_##shape, LIST_OF(words), false),             \
		      library_note(&shape_##shape, LIST_OF(words)))
#define LIBRARY_EXPORT_NOTE(group, symbol, name, words, shape)                                                         \
	LIBRARY_UNTIMED(group, symbol, (DECLARE(words)), (PASS(words)), library_note(&shape_##shape, LIST_OF(words)))
#define LIBRARY_EXPORT_SET(group, symbol, name, words, set)                                                            \
	LIBRARY_UNTIMED(group, symbol, (DECLARE(words)), (PASS(words)), set(LIST_OF(words)))
#define LIBRARY_EXPORT_OWN(group, symbol, name, words, shape)
#define LIBRARY_EXPORT(kind, group, symbol, name, words, shape) LIBRARY_EXPORT_##kind(group, symbol, name, words, shape)
HOOK_LIBRARY(LIBRARY_EXPORT)
