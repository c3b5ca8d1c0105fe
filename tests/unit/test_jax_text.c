/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the texts of JAX and XLA, and what is read from them. */
#include <criterion/criterion.h>
#include <string.h>

#include "report/events/jax/jax_text.h"

static void reads(const char *domain, const char *text, enum jax_kind kind, const char *name, const char *full)
{
	struct jax_text t;

	cr_expect_eq(jax_text_parse(domain, text, &t), kind != JAX_NONE, "%s", text);
	cr_expect_eq(t.kind, kind, "%s: %d", text, t.kind);
	if (!kind)
		return;
	cr_expect(t.length == strlen(name) && !strncmp(t.name, name, t.length), "%s: %.*s", text, (int)t.length,
		  t.name);
	cr_expect(t.full_length == strlen(full) && !strncmp(t.full, full, t.full_length), "%s: %.*s", text,
		  (int)t.full_length, t.full);
}

Test(jax_text, texts)
{
	reads("JAX", "run f (train.py:17)", JAX_RUN, "f", "f (train.py:17)");
	reads("JAX", "run <lambda> (a (1).py:2)", JAX_RUN, "<lambda>", "<lambda> (a (1).py:2)");
	reads("JAX", "run f", JAX_RUN, "f", "f");
	reads("JAX", "trace f", JAX_TRACE, "f", "f");
	reads("JAX", "trace jit_f", JAX_TRACE, "jit_f", "jit_f");
	reads("JAX", "lower jit(f)", JAX_LOWER, "f", "f");
	reads("JAX", "compile jit(<lambda>)", JAX_COMPILE, "<lambda>", "<lambda>");
	reads("JAX", "compile pmap(f)", JAX_COMPILE, "f", "f");
	reads("JAX", "compile jit_f", JAX_COMPILE, "f", "f");
	reads("JAX", "compile jit", JAX_COMPILE, "jit", "jit");
	reads("JAX", "compile jit()", JAX_COMPILE, "jit()", "jit()");
	reads("JAX", "compiles", JAX_NONE, "", "");
	reads("JAX", "cache request", JAX_REQUEST, "", "");
	reads("JAX", "cache hit", JAX_HIT, "", "");
	reads("JAX", "cache write", JAX_WRITE, "", "");
	reads("JAX", "miss f: x, now f32[4] and before f32[3]", JAX_MISS, "f", "x, now f32[4] and before f32[3]");
	reads("JAX", "miss f", JAX_MISS, "f", "");
	reads("JAX", "cache", JAX_NONE, "", "");
	reads("", "run f (train.py:17)", JAX_NONE, "", "");
	reads("TSL", "run f (train.py:17)", JAX_NONE, "", "");
	reads("TSL", "XlaModule:#hlo_module=jit_f,program_id=7#", JAX_MODULE, "f", "jit_f");
	reads("TSL", "XlaModule:#prefix=a/b,hlo_module=jit_f,program_id=7#", JAX_MODULE, "f", "jit_f");
	reads("TSL", "XlaModule:#program_id=7#", JAX_NONE, "", "");
	reads("TSL", "XlaModule:#hlo_module=main", JAX_NONE, "", "");
	reads("TSL", "XlaModule:#hlo_module=main#", JAX_MODULE, "main", "main");
	reads("TSL", "Thunk:#hlo_op=fusion.1#", JAX_OP, "fusion.1", "fusion.1");
	reads("TSL", "Thunk:#name=jit_f#", JAX_OP, "jit_f", "jit_f");
	reads("TSL", "Thunk:#hlo_op=#", JAX_OP, "", "");
	reads("TSL", "XlaCompileBackend:#module=jit_f,program_id=7#", JAX_PART, "f", "jit_f");
	reads("TSL", "XlaCompile:#module=jit_f,program_id=7#", JAX_BUILD, "f", "jit_f");
	reads("TSL", "XlaCompile:#", JAX_NONE, "", "");
	reads("TSL", "", JAX_NONE, "", "");
}

Test(jax_text, fields_are_whole)
{
	const char *value;
	size_t length;

	cr_expect(jax_text_field("X:#ab=1,b=2#", "b", &value, &length) && length == 1 && *value == '2');
	cr_expect(jax_text_field("X:#b=#", "b", &value, &length) && !length);
	cr_expect_not(jax_text_field("X:#ab=1#", "b", &value, &length));
	cr_expect_not(jax_text_field("b=1", "b", &value, &length));
	cr_expect_not(jax_text_field("#", "b", &value, &length));
	cr_expect_not(jax_text_field("", "b", &value, &length));
}

Test(jax_text, path_within_the_function)
{
	cr_expect_str_eq(jax_text_within("jit(f)/a/sin"), "a/sin");
	cr_expect_str_eq(jax_text_within("pmap(<lambda>)/sin"), "sin");
	cr_expect_str_eq(jax_text_within("jit(f)"), "jit(f)");
	cr_expect_str_eq(jax_text_within("jit(f)/"), "jit(f)/");
	cr_expect_str_eq(jax_text_within("jitter(f)/sin"), "jitter(f)/sin");
	cr_expect_str_eq(jax_text_within("a/jit(f)/sin"), "a/jit(f)/sin");
	cr_expect_str_eq(jax_text_within(""), "");
}
