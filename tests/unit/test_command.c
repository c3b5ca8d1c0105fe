/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "report/read/job/command.h"

/* `arguments`: each with its NUL. */
static void assert_joined(const char *arguments, size_t size, const char *wanted)
{
	char *line = command_join(arguments, arguments + size);

	cr_assert_str_eq(line, wanted, "%s", line);
	free(line);
}

#define JOINED(arguments, wanted) assert_joined(arguments, sizeof(arguments) - 1, wanted)

Test(command, quotes_what_a_shell_would_split)
{
	JOINED("sh\0-c\0a b\0\0", "sh -c 'a b' ''");
	JOINED("", "");
	JOINED("\0a\0", "'' a");
	JOINED("it's\0a[1]\0#\0~\0{a,b}\0!\0a\xc3\xa4/b-c_d.e:f@g%h+i,j=k\0",
	       "'it'\\''s' 'a[1]' '#' '~' '{a,b}' '!' a\xc3\xa4/b-c_d.e:f@g%h+i,j=k");
}

Test(command, masks_the_values_of_secret_options)
{
	JOINED("a\0--password\0x\0-v\0", "a --password [masked] -v");
	JOINED("a\0--token=x y\0z\0", "a --token=[masked] z");
	JOINED("a\0-hf-token\0x\0--db-password\0y\0", "a -hf-token [masked] --db-password [masked]");
	JOINED("env\0PGPASSWORD=x\0AWS_SECRET_ACCESS_KEY=y\0WANDB_API_KEY=z\0psql\0",
	       "env PGPASSWORD=[masked] AWS_SECRET_ACCESS_KEY=[masked] WANDB_API_KEY=[masked] psql");
	JOINED("env-var=A=b,PASSWORD=x,C=d\0", "env-var=A=b,PASSWORD=[masked],C=d");
	JOINED("curl\0-H\0Authorization: Bearer x\0", "curl -H 'Authorization: [masked]'");
}

Test(command, masks_passwords_in_urls)
{
	JOINED("postgres://joe:x@db/a@b\0", "postgres://joe:[masked]@db/a@b");
	JOINED("--url=https://u:p@q@h?r\0", "'--url=https://u:[masked]@h?r'");
	JOINED("tcp://host:80/a@b\0", "tcp://host:80/a@b");
}

Test(command, masks_within_scripts)
{
	JOINED("sh\0-c\0A=1 PGPASSWORD=x psql -h h && mysql --password y -u z\0",
	       "sh -c 'A=1 PGPASSWORD=[masked] psql -h h && mysql --password [masked] -u z'");
	JOINED("sh\0-c\0curl -H \"X-Api-Key: a b\" http://u:p@h/\0",
	       "sh -c 'curl -H \"X-Api-Key: [masked]\" http://u:[masked]@h/'");
}

/* In quoted pieces, escaped and bare bytes alike. */
Test(command, masks_the_whole_word_of_a_shell)
{
	JOINED("sh\0-c\0: --password \"aa\\\"S b\" c\0", "sh -c ': --password [masked] c'");
	JOINED("sh\0-c\0: --password aa\"S b\"'c d' e\0", "sh -c ': --password [masked] e'");
	JOINED("sh\0-c\0: --password 'aa'\"'\"'S' c\0", "sh -c ': --password [masked] c'");
	JOINED("sh\0-c\0: --password aa\\ S\\;b c\0", "sh -c ': --password [masked] c'");
	JOINED("sh\0-c\0: --password $'aa\\'S b' c\0", "sh -c ': --password [masked] c'");
	JOINED("sh\0-c\0: --password aa,S c\0", "sh -c ': --password [masked] c'");
	JOINED("sh\0-c\0x PASSWORD=aa\"S b\" c\0", "sh -c 'x PASSWORD=[masked] c'");
	JOINED("sh\0-c\0# it's\nPASSWORD=aa'S b' c\0", "sh -c '# it'\\''s\nPASSWORD=[masked] c'");
}

/* The script of a shell within a script ends with its quotes, unless its word goes on. */
Test(command, masks_in_scripts_within_scripts)
{
	JOINED("sh\0-c\0bash -c \"x --password a\" -u \"b\"\0", "sh -c 'bash -c \"x --password [masked]\" -u \"b\"'");
	JOINED("sh\0-c\0sh -c \"x --password \\\"a S\\\" b\" c\0",
	       "sh -c 'sh -c \"x --password [masked] b\" c'");
	JOINED("sh\0-c\0sh -c \"x --password 'a S' b\" c\0", "sh -c 'sh -c \"x --password [masked] b\" c'");
	JOINED("sh\0-c\0sh -c \"x --password a\"'S b' c\0", "sh -c 'sh -c \"x --password [masked] c'");
	JOINED("sh\0-c\0curl -H \"X-Api-Key: a\\\"S b\" c\0", "sh -c 'curl -H \"X-Api-Key: [masked]\" c'");
	JOINED("curl\0-H\0X-Api-Key: a\"S b\0", "curl -H 'X-Api-Key: [masked]'");
}

/* A value in quotes has its blanks; a header ends with the quotes around it. A name of 64 bytes is none. */
Test(command, masks_values_to_their_ends)
{
#define BYTES_60 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_"
	JOINED("sh\0-c\0x --password 'a b' c\0", "sh -c 'x --password [masked] c'");
	JOINED("sh\0-c\0x --password \"a 'b\" c\0", "sh -c 'x --password [masked] c'");
	JOINED("sh\0-c\0x PASSWORD=\"a b\0", "sh -c 'x PASSWORD=[masked]'");
	JOINED("a\0" BYTES_60 "pwd=x\0", "a " BYTES_60 "pwd=[masked]");
	JOINED("a\0" BYTES_60 "_pwd=x\0", "a " BYTES_60 "_pwd=x");
	JOINED("a\0--my.pass-word\0x\0--PASS\0y\0", "a --my.pass-word x --PASS [masked]");
#undef BYTES_60
}

Test(command, leaves_what_is_not_secret)
{
	JOINED("a\0--max-tokens\0x\0--eos-token\0</s>\0--tokenizer=x\0",
	       "a --max-tokens x --eos-token '</s>' --tokenizer=x");
	JOINED("a\0--password-file=/run/p\0--password\0--host=h\0", "a --password-file=/run/p --password --host=h");
	JOINED("--password\0", "--password");
	JOINED("a=\0--token=\0=\0:\0://\0://:@\0-\0--\0", "a= --token= = : :// ://:@ - --");
}

Test(command, shows_all_if_asked)
{
	command_masks_secrets = false;
	JOINED("a\0--password\0x\0--token=y\0", "a --password x --token=y");
}
