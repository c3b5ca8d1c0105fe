/* SPDX-License-Identifier: Apache-2.0 */
/* stdio_files: uses each family of stdio on a file of its own in the working directory, named after what is done, and
 * prints to stdout, which is left to exit() to write. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { LINES = 3000 };

/* What -D_FORTIFY_SOURCE substitutes; this program is compiled without it. */
extern int __fprintf_chk(FILE *f, int flag, const char *format, ...);
extern int __printf_chk(int flag, const char *format, ...);
extern int __vfprintf_chk(FILE *f, int flag, const char *format, va_list list);
extern int __dprintf_chk(int fd, int flag, const char *format, ...);

static FILE *create(const char *name)
{
	FILE *f = fopen(name, "w");

	if (!f)
		abort();
	return f;
}

static void expect(int fact)
{
	if (!fact)
		abort();
}

static int fortified(FILE *f, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = __vfprintf_chk(f, 1, format, list);
	va_end(list);
	return n;
}

static void write_all(void)
{
	static char large[20000];
	FILE *f = create("lines");

	for (int i = 0; i < LINES; i++)
		fprintf(f, "line %07d of the log\n", i);
	fclose(f);
	f = create("fortified");
	for (int i = 0; i < LINES; i++)
		expect(__fprintf_chk(f, 1, "%d\n", i) > 0 && fortified(f, "%s\n", "more") > 0);
	fclose(f);
	f = create("characters");
	for (int i = 0; i < 3 * LINES; i++)
		putc('a' + i % 26, f);
	fclose(f);
	memset(large, 'x', sizeof(large));
	f = create("blocks");
	for (int i = 0; i < 10; i++)
		expect(fwrite("few", 1, 3, f) == 3 && fwrite(large, 1, sizeof(large), f) == sizeof(large));
	fputs("and a line\n", f);
	fflush(f);
	fputs("and another one\n", f);
	fclose(f);
	f = create("unbuffered");
	setvbuf(f, NULL, _IONBF, 0);
	for (int i = 0; i < 100; i++)
		fprintf(f, "number %d\n", i);
	expect(__dprintf_chk(fileno(f), 1, "%s", "direct\n") == 7);
	fclose(f);
	f = create("by_lines");
	setvbuf(f, NULL, _IOLBF, 4096);
	for (int i = 0; i < 100; i++)
		fprintf(f, "number %d\n", i);
	fclose(f);
	f = create("all_flushed");
	fputs("with all others", f);
	fflush(NULL);
	f = freopen("reopened", "w", f);
	fputs("a new file", f);
	f = freopen("reopened_again", "w", f);
	fclose(f);
	f = create("at_exit");
	fputs("never closed", f);
}

static void read_all(void)
{
	char text[256], block[5000], *line = NULL;
	size_t room = 0;
	int n = 0, number, c;
	FILE *f = fopen("lines", "r");

	while (fscanf(f, "line %d of the log\n", &number) == 1)
		n++;
	expect(n == LINES);
	fclose(f);
	f = fopen("fortified", "r");
	while (fgets(text, sizeof(text), f))
		n++;
	expect(n == 3 * LINES);
	rewind(f);
	while (getline(&line, &room, f) > 0)
		n++;
	fclose(f);
	free(line);
	f = fopen("characters", "r");
	while ((c = getc(f)) != EOF)
		if (n++ % 7 == 0)
			expect(ungetc(c, f) == c && getc(f) == c);
	fseek(f, 5000, SEEK_SET);
	expect(getc(f) == 'a' + 5000 % 26);
	fclose(f);
	f = fopen("blocks", "r");
	while (fread(block, 1, sizeof(block), f) == sizeof(block))
		n++;
	fclose(f);
	f = fopen("unbuffered", "r+");
	expect(fread(block, 1, 10, f) == 10);
	fseek(f, 0, SEEK_END);
	fputs("appended\n", f);
	fclose(f);
}

int main(void)
{
	write_all();
	read_all();
	for (int i = 0; i < LINES; i++)
		printf("%d", i % 10);
	putchar('\n');
	puts("the end");
	__printf_chk(1, "%s\n", "after the end");
	return 0;
}
