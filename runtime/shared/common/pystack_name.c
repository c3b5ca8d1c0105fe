/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/common/pystack_name.h"

#include <string.h>

enum { MANAGED_DICT = 1 << 4, INLINE_VALUES = 1 << 2 }; /* of the flags of a type */
enum { TEXT_BYTES = 32, ATTRIBUTES = 32 };		/* of a str, and of an object: how much is looked at */
/* Offsets: in a type, a dict, and the table of its keys, before 3.11 and since. */
enum { TYPE_SIZE = 32, TYPE_FLAGS = 168, TYPE_DICT_OFFSET = 288, TYPE_BYTES = 296 };
enum { DICT_KEYS = 32, DICT_VALUES = 40, DICT_BYTES = 48 };
enum { OLD_KEYS_SIZE = 8, OLD_KEYS_COUNT = 32, OLD_KEYS_INDEX = 40 };
enum { KEYS_LOG2 = 9, KEYS_KIND = 10, KEYS_COUNT = 24, KEYS_INDEX = 32, KEYS_BYTES = 40 };
/* Before an object, and in the type of a class that a program defines: the keys of its objects. */
enum { OBJECT_DICT = -24, OBJECT_VALUES_OF_11 = -32, TYPE_KEYS_OF_11 = 872, TYPE_KEYS = 880 };
enum { VALUES_OF_13 = 8, VALUES_ARE_VALID = 3 }; /* in what has the values of an object */

static uint64_t name_word(const char *bytes, unsigned offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static uint64_t word_at(const struct pystack_memory *m, uint64_t address)
{
	uint64_t word = 0;

	return m->copy(m, address, &word, sizeof(word)) ? word : 0;
}

/* Whether an object is a str of these ASCII characters; not is_whole: which a digit follows. */
static bool is_text(const struct pystack_layout *l, const struct pystack_memory *m, uint64_t object, const char *text,
		    bool is_whole)
{
	char head[PYSTACK_STATE + 8], bytes[TEXT_BYTES];
	uint64_t length = strlen(text);
	uint32_t state;

	if (!object || !m->copy(m, object, head, sizeof(head)) || name_word(head, PYSTACK_TYPE) != m->text_type)
		return false;
	memcpy(&state, head + PYSTACK_STATE, sizeof(state));
	return (state >> 5 & 3) == 3 && /* compact, ASCII */
	       (is_whole ? name_word(head, PYSTACK_LENGTH) == length : name_word(head, PYSTACK_LENGTH) > length) &&
	       m->copy(m, object + l->ascii, bytes, length + !is_whole) && !memcmp(bytes, text, length) &&
	       (is_whole || (bytes[length] >= '0' && bytes[length] <= '9'));
}

/* Where the attributes of an object are: in a dict, or, as long as nobody has asked for it, in an array whose keys its
 * type has. */
struct attributes {
	uint64_t dict, keys, values; /* values 0: they are beside the keys */
};

static bool attributes_managed(const struct pystack_layout *l, const struct pystack_memory *m, uint64_t object,
			       uint64_t type, const char *bytes, struct attributes *ret)
{
	char valid;

	*ret = (struct attributes){word_at(m, object + OBJECT_DICT),
				   word_at(m, type + (l->version == 0x30b ? TYPE_KEYS_OF_11 : TYPE_KEYS)), 0};
	if (l->version == 0x30b) {
		ret->values = word_at(m, object + OBJECT_VALUES_OF_11);
	} else if (l->version == 0x30c && ret->dict & 1) { /* it is no dict, but values, less 1 */
		ret->values = ret->dict + 1;
		ret->dict = 0;
	} else if (l->version == 0x30d && !ret->dict && name_word(bytes, TYPE_FLAGS) & INLINE_VALUES) {
		ret->values = object + name_word(bytes, TYPE_SIZE);
		if (!m->copy(m, ret->values + VALUES_ARE_VALID, &valid, 1) || !valid)
			return false;
		ret->values += VALUES_OF_13;
	}
	return ret->dict || (ret->keys && ret->values);
}

static bool attributes_of(const struct pystack_layout *l, const struct pystack_memory *m, uint64_t object,
			  struct attributes *ret)
{
	char type_bytes[TYPE_BYTES], dict[DICT_BYTES];
	uint64_t type = word_at(m, object + PYSTACK_TYPE), offset;

	if (!type || !m->copy(m, type, type_bytes, sizeof(type_bytes)))
		return false;
	offset = name_word(type_bytes, TYPE_DICT_OFFSET);
	if (l->version >= 0x30b && name_word(type_bytes, TYPE_FLAGS) & MANAGED_DICT) {
		if (!attributes_managed(l, m, object, type, type_bytes, ret))
			return false;
	} else {
		*ret = (struct attributes){offset && !(offset >> 32) ? word_at(m, object + offset) : 0, 0, 0};
	}
	if (!ret->dict)
		return ret->values;
	if (!m->copy(m, ret->dict, dict, sizeof(dict)))
		return false;
	ret->keys = name_word(dict, DICT_KEYS);
	ret->values = name_word(dict, DICT_VALUES);
	if (ret->values && l->version == 0x30d)
		ret->values += VALUES_OF_13;
	return true;
}

/* What describes the entries of a table of keys. */
struct entries {
	uint64_t first, count, each, key; /* key: its offset in an entry; the value follows it */
};

static bool entries_of(const struct pystack_layout *l, const struct pystack_memory *m, uint64_t keys,
		       struct entries *ret)
{
	char head[KEYS_BYTES];
	uint64_t size;

	if (!keys || !m->copy(m, keys, head, sizeof(head)))
		return false;
	if (l->version < 0x30b) {
		size = name_word(head, OLD_KEYS_SIZE);
		size *= size <= 0xff ? 1 : size <= 0xffff ? 2 : 4;
		*ret = (struct entries){keys + OLD_KEYS_INDEX + size, name_word(head, OLD_KEYS_COUNT), 24, 8};
	} else {
		size = UINT64_C(1) << (head[KEYS_LOG2] & 63);
		*ret = (struct entries){keys + KEYS_INDEX + size, name_word(head, KEYS_COUNT),
					head[KEYS_KIND] ? 16 : 24, head[KEYS_KIND] ? 0 : 8};
	}
	return true;
}

/* The value of an attribute; 0: the object has none of that name. */
static uint64_t attribute(const struct pystack_layout *l, const struct pystack_memory *m, uint64_t object,
			  const char *name)
{
	struct attributes a;
	struct entries e;

	if (!attributes_of(l, m, object, &a) || !entries_of(l, m, a.keys, &e))
		return 0;
	for (uint64_t i = 0; i < e.count && i < ATTRIBUTES; i++) {
		uint64_t entry = e.first + i * e.each + e.key;

		if (is_text(l, m, word_at(m, entry), name, true))
			return word_at(m, a.values ? a.values + 8 * i : entry + 8);
	}
	return 0;
}

uint64_t pystack_thread_name(const struct pystack_layout *l, const struct pystack_memory *m, uint64_t frame)
{
	static const char *const made_up[] = {"Thread-", "ThreadPoolExecutor-"};
	uint64_t code, object, name;

	if (l->head || !l->locals)
		return 0;
	code = word_at(m, frame + l->code);
	object = word_at(m, frame + l->locals);
	if (!code || !object || !is_text(l, m, word_at(m, code + l->known), "_bootstrap", true))
		return 0;
	name = attribute(l, m, object, "_name");
	for (unsigned i = 0; i < sizeof(made_up) / sizeof(*made_up); i++)
		if (is_text(l, m, name, made_up[i], false))
			return 0;
	return name;
}
