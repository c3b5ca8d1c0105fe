/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "report/base/table/name.h"

static void assert_short(const char *name, const char *wanted)
{
	struct buffer text = {0};

	name_shorten(&text, name);
	cr_assert_str_eq(buffer_string(&text), wanted, "%s: %s", name, buffer_string(&text));
	buffer_done(&text);
}

Test(name, leaves_short_lists_and_other_texts_as_they_are)
{
	static const char *const names[] = {
		"",
		"main (train.cpp:12)",
		"<module> (/src/train.py:3)",
		"step(with a range of NVTX that has a long text in parentheses, and a comma)",
		"std::vector<int>::push_back(int&&)",
		"(anonymous namespace)::run()",
		"bool ns::operator<<int>(ns::x)",
		"ns::operator->()",
		"a::b <- c::d (e.cpp:3) <- f",
		"a::b < c::d and c::d > a::b, which is a comparison of two things in a long text",
		"a::b<unfinished, and long enough to be cut if it were a list of arguments",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_short(names[i], names[i]);
}

Test(name, cuts_long_lists_of_arguments)
{
	assert_short("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
		     "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
		     "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, ...>(...)");
	assert_short("std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int>"
		     "::at",
		     "std::map<std::__cxx11::basic_string<...>, int>::at");
	assert_short("x::f(int, unsigned long, std::vector<double, std::allocator<double> >) (x.cpp:7) <- main",
		     "x::f(...) (x.cpp:7) <- main");
	assert_short("x::g()::{lambda(int, unsigned long, unsigned long, unsigned long long)#1}::operator()(int) const",
		     "x::g()::{lambda(...)#1}::operator()(int) const");
}

Test(name, ends_for_any_text)
{
	static const char bytes[] = "a:<(>),o ";
	char text[12] = "a::";

	for (unsigned i = 0; i < 1u << 18; i++) {
		struct buffer out = {0};
		unsigned left = i * 2654435761u;

		for (size_t k = 3; k < sizeof(text) - 1; k++, left /= 9)
			text[k] = bytes[left % 9];
		name_shorten(&out, text);
		cr_assert_str_eq(buffer_string(&out), text); /* too short to be cut */
		buffer_done(&out);
	}
}

static void assert_brief(const char *name, const char *wanted)
{
	struct buffer text = {0};

	name_brief(&text, name);
	cr_assert_str_eq(buffer_string(&text), wanted, "%s: %s", name, buffer_string(&text));
	buffer_done(&text);
}

Test(name, is_brief_without_types_and_versions)
{
	assert_brief("absl::lts_20250127::FutexWaiter::WaitUntil(std::atomic<int>*, int, absl::KernelTimeout)",
		     "absl::FutexWaiter::WaitUntil");
	assert_brief("void at::native::add<4, float>(int, std::array<char*, 2>)", "at::native::add");
	assert_brief("std::__cxx11::basic_string<char>::append(char const*) const", "std::basic_string::append");
	assert_brief("v8::internal::(anonymous namespace)::Invoke(v8::Isolate*)",
		     "v8::internal::(anonymous namespace)::Invoke");
	assert_brief("bool ns::operator<(ns::x, ns::y)", "ns::operator<");
	assert_brief("ns::x::operator bool()", "ns::x::operator bool");
	assert_brief("core::ptr::drop_in_place<alloc::vec::Vec<u8>>::h0123456789abcdef", "core::ptr::drop_in_place");
	assert_brief("<module>", "<module>");
	assert_brief("Connection._recv", "Connection._recv");
}
