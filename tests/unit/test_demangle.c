/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

#include "report/names/demangle.h"

struct name {
	char mangled[160], plain[160], base[48];
};

ParameterizedTestParameters(demangle, names_are_readable_and_short)
{
	static struct name cases[] = {
		{"_Z3addPfi", "add(float*, int)", "add"},
		{"_Z5saxpyIfEviT_PS0_S1_", "void saxpy<float>(int, float, float*, float*)", "saxpy"},
		{"_ZN2at6native3addERKNS_6TensorES3_", "at::native::add(at::Tensor const&, at::Tensor const&)", "add"},
		{"_ZN2at6native4fillILi4EZNS0_4dataEvE1xEEvT0_",
		 "void at::native::fill<4, at::native::data()::x>(at::native::data()::x)", "fill"},
		{"_ZN12_GLOBAL__N_14workEv", "(anonymous namespace)::work()", "work"},
		{"_ZN12_GLOBAL__N_14workIiEEvv", "void (anonymous namespace)::work<int>()", "work"},
		{"_Z1fIXadL_ZN12_GLOBAL__N_11gEvEEEvv", "void f<&(anonymous namespace)::g>()", "f"},
		{"_Z3addPfi.part.0", "add(float*, int) [clone .part.0]", "add"},
		/* operators */
		{"_ZlsRSoRK1X", "operator<<(std::ostream&, X const&)", "operator<<"},
		{"_ZN1XltERKS_", "X::operator<(X const&)", "operator<"},
		{"_ZltIiEbT_S0_", "bool operator< <int>(int, int)", "operator<"},
		{"_ZN1XptEv", "X::operator->()", "operator->"},
		{"_ZN1XclEi", "X::operator()(int)", "operator()"},
		{"_ZN1XclIfEEvT_", "void X::operator()<float>(float)", "operator()"},
		{"_ZN1XcvjEv", "X::operator unsigned int()", "operator unsigned int"},
		{"_ZN1XcvSt6vectorIiSaIiEEEv", "X::operator std::vector<int, std::allocator<int> >()",
		 "operator std::vector<int, std::allocator<int> >"},
		{"_Znwm", "operator new(unsigned long)", "operator new"},
		{"_ZN14operator_thing1fEv", "operator_thing::f()", "f"},
		/* lambdas, local functions */
		{"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const", "operator()"},
		{"_ZN5outer5inner5applyIZ4mainEUliE_EEvT_i",
		 "void outer::inner::apply<main::{lambda(int)#1}>(main::{lambda(int)#1}, int)", "apply"},
		{"_ZZN1X1fEiENK1Y1gEv", "X::f(int)::Y::g() const", "g"},
		{"_ZZNK1X1fEiEN1Y1gEv", "X::f(int) const::Y::g()", "g"},
		{"_Z5applyI17__nv_dl_wrapper_tI11__nv_dl_tagIPFivEXadL_Z4mainEELj1EEJPfEEEvT_i",
		 "void apply<__nv_dl_wrapper_t<__nv_dl_tag<int (*)(), &main, 1u>, float*> "
		 ">(__nv_dl_wrapper_t<__nv_dl_tag<int (*)(), "
		 "&main, 1u>, float*>, int)",
		 "apply"},
		/* comparison operators and their operands */
		{"_Z1fILb1EEvv", "void f<true>()", "f"},
		{"_Z4pickIiEvP9enable_ifIXgtstT_Li2EEvE", "void pick<int>(enable_if<((sizeof (int))>(2)), void>*)",
		 "pick"},
		{"_Z3addIiEDTplfp_fp_ET_", "decltype ({parm#1}+{parm#1}) add<int>(int)", "add"},
		{"_Z3getIiEPFvfEi", "void (*get<int>(int))(float)", "get"},
		{"_Z1fB5cxx11i", "f[abi:cxx11](int)", "f[abi:cxx11]"},
		/* Fortran */
		{"__work_MOD_compute", "work::compute", "compute"},
		{"__work_MOD_", "__work_MOD_", "__work_MOD_"},
		/* Rust */
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt::h0123456789abcdef",
		 "write_fmt"},
		{"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
		 "<Test + 'static as foo::Bar<Test>>::bar::h930b740aa94f1d3a", "bar"},
		{"_ZN4core3fmt17hello_world_abcdeE", "core::fmt::hello_world_abcde", "hello_world_abcde"},
		{"_ZN3fmt17h0123456789abcdefEv", "fmt::h0123456789abcdef()", "h0123456789abcdef"},
		/* Rust's scheme v0: without generic arguments and hashes; a closure has no name, and a digit follows */
		{"_RNvCs6GmmlP4bgsG_1r4main", "r::main", "main"},
		{"_RINvMs6_NtCsgvbsrvnw3yD_9hashbrown3rawINtB6_8RawTableTyyEE14reserve_rehashReECs6GmmlP4bgsG_1r",
		 "hashbrown::raw::RawTable::reserve_rehash", "reserve_rehash"},
		{"_RNCNCNvNtNtCsjrHSEGnQ3l9_3std3sys9backtrace10__print_fmts_00B9_",
		 "std::sys::backtrace::_print_fmt::{closure}::{closure}", "{closure}"},
		{"_RNvXs0_NtCs1_1a1bNtB5_1TNtNtCs2_4core3fmt5Debug3fmt", "<a::b::T as core::fmt::Debug>::fmt", "fmt"},
		/* types: generic arguments, lifetimes, constants and the parts of functions are left out */
		{"_RNvMC1rSh4push", "[u8]::push", "push"},
		{"_RNvMC1rAhj8_4push", "[u8]::push", "push"},
		{"_RNvMC1rATAhj8_mEj10_4push", "[([u8], u32)]::push", "push"},
		{"_RNvMC1rPh4next", "*u8::next", "next"},
		{"_RNvMC1rOh4next", "*u8::next", "next"},
		{"_RNvMC1rQL_h4next", "&u8::next", "next"},
		{"_RNvMC1rTymE4pair", "(u64, u32)::pair", "pair"},
		{"_RNvMC1rTE4unit", "()::unit", "unit"},
		{"_RNvMC1rTyE6single", "(u64,)::single", "single"},
		{"_RNvMC1rFUKCymEu4call", "fn::call", "call"},
		{"_RNvMC1rFK6systemyEu4call", "fn::call", "call"},
		{"_RNvMC1rFG_RL0_hEu4call", "fn::call", "call"},
		{"_RNvMC1rDNtC1s8IteratorEL_4poll", "dyn s::Iterator::poll", "poll"},
		{"_RNvMC1rDNtC1s8Iteratorp4ItemhEL_4poll", "dyn s::Iterator::poll", "poll"},
		{"_RNvMC1rDG_NtC1s8IteratorEL0_4poll", "dyn s::Iterator::poll", "poll"},
		{"_RNvMC1rTShB6_E4both", "([u8], [u8])::both", "both"},
		{"_RNvYhNtC1s1T4poll", "<u8 as s::T>::poll", "poll"},
		{"_RINvC1r4fillKj8_E", "r::fill", "fill"},
		{"_RINvC1r4fillKin8_E", "r::fill", "fill"},
		{"_RINvC1r4fillKpL_hE", "r::fill", "fill"},
		/* a tuple that refers to itself, one that does not end, a constant without its end */
		{"_RNvMC1rTShB5_E4both", "_RNvMC1rTShB5_E4both", "_RNvMC1rTShB5_E4both"},
		{"_RNvMC1rTyme4pair", "_RNvMC1rTyme4pair", "_RNvMC1rTyme4pair"},
		{"_RINvC1r4fillAhKE", "_RINvC1r4fillAhKE", "_RINvC1r4fillAhKE"},
		{"_RNvB_4loop", "_RNvB_4loop", "_RNvB_4loop"},
		{"_RNvC1r9short", "_RNvC1r9short", "_RNvC1r9short"},
		/* names that are not mangled stay unchanged */
		{"triton_poi_fused_0", "triton_poi_fused_0", "triton_poi_fused_0"},
		{"kernel with blanks", "kernel with blanks", "kernel with blanks"},
		{"f(int)", "f(int)", "f(int)"},
		{"_Znot mangled", "_Znot mangled", "_Znot mangled"},
		{"_ZN2at6native29vectorized_elementw", "_ZN2at6native29vectorized_elementw",
		 "_ZN2at6native29vectorized_elementw"},
		{"_ZN", "_ZN", "_ZN"},
		{"_Z", "_Z", "_Z"},
		{"", "", ""},
	};

	return cr_make_param_array(struct name, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct name *n, demangle, names_are_readable_and_short)
{
	struct buffer b = {0};

	demangle(&b, n->mangled);
	cr_assert_str_eq(b.data ? b.data : "", n->plain, "%s: %s", n->mangled, b.data);
	buffer_clear(&b);
	demangle_base(&b, n->mangled);
	cr_assert_str_eq(b.data ? b.data : "", n->base, "%s: %s", n->plain, b.data);
	buffer_done(&b);
}

/* Brackets may be nested deeply or left open, and the text may end anywhere. */
Test(demangle, every_beginning_of_a_name_has_a_base)
{
	static const char name[] = "_ZZN1XltIZ4mainEUliE_XgtstT_Li2EEEEvP9enable_ifIXgtstT_Li2EEvEENK1Y1gEv";
	static const char rust[] =
		"_ZN71_$LT$Test$u20$$u2b$$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE";
	static const char v0[] =
		"_RINvMs6_NtCsgvbsrvnw3yD_9hashbrown3rawINtB6_8RawTableTyyEE7reserveReECs6GmmlP4bgsG_1r";
	static const char *const names[] = {name, rust, v0};
	struct buffer b = {0};
	char part[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (size_t length = 1; length <= strlen(names[i]); length++) {
			snprintf(part, sizeof(part), "%.*s", (int)length, names[i]);
			buffer_clear(&b);
			demangle_base(&b, part);
			cr_assert_gt(b.size, 0);
		}
	buffer_done(&b);
}

Test(demangle, functions_of_libc_have_the_names_that_programs_call)
{
	static const char *const cases[][2] = {{"__libc_recv", "recv"}, {"_libc_read", "read"},
					       {"libc_write", "write"}, {"libcurl_read", "libcurl_read"},
					       {"__read", "read"}, {"read", "read"}, {"__", ""}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(demangle_libc(cases[i][0]), cases[i][1]);
}
