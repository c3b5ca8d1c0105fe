/* SPDX-License-Identifier: Apache-2.0 */
/* pillion where: prologues that give the frame pointer, cycles of threads, and looks, which nothing is trusted of. */
#include <criterion/criterion.h>
#include <elf.h>
#include <string.h>

#include "report/causes/where/stuck.h"
#include "report/causes/where/wait.h"
#include "report/names/unwind.h"

/* ---- prologues ---- */

enum { CODE = 64 };

static bool distance_of(const char *bytes, size_t size, uint64_t *ret)
{
	uint8_t code[CODE];

	memset(code, 0xcc, sizeof(code)); /* not an instruction of a prologue */
	memcpy(code, bytes, size);
	return prologue_distance(code, sizeof(code), ret);
}
#define DISTANCE(bytes, ret) distance_of(bytes, sizeof(bytes) - 1, ret)

Test(prologue, counts_pushes_and_the_frame)
{
	uint64_t distance;

	/* push %rbp; mov %rsp,%rbp; sub $0x30,%rsp */
	cr_assert(DISTANCE("\x55\x48\x89\xe5\x48\x83\xec\x30", &distance));
	cr_expect_eq(distance, 0x30);
	/* endbr64; push %rbp; mov %rsp,%rbp; push %r14; push %r13; push %r12; mov %rdx,%r12; push %rbx;
	 * movslq %edi,%rbx; sub $0x150,%rsp */
	cr_assert(DISTANCE("\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x41\x56\x41\x55\x41\x54\x49\x89\xd4\x53\x48\x63\xdf"
			   "\x48\x81\xec\x50\x01\x00\x00",
			   &distance));
	cr_expect_eq(distance, 0x150 + 4 * 8);
	/* The instructions are apart: push %rbp; mov %rdi,%rax; mov %rsp,%rbp; push %rbx; mov %fs:0x28,%rax; call */
	cr_assert(DISTANCE("\x55\x48\x89\xf8\x48\x89\xe5\x53\x64\x48\x8b\x04\x25\x28\x00\x00\x00\xe8\x00\x00\x00\x00",
			   &distance));
	cr_expect_eq(distance, 8);
}

Test(prologue, is_found_behind_a_short_path)
{
	uint64_t distance;

	/* test $1,%al; jne; jmp *; push %rbp; mov %rsp,%rbp; push %rbx; sub $0x38,%rsp */
	cr_assert(DISTANCE("\xa8\x01\x75\x06\xff\x25\x00\x00\x00\x00\x55\x48\x89\xe5\x53\x48\x83\xec\x38", &distance));
	cr_expect_eq(distance, 0x40);
}

Test(prologue, may_align_the_stack_as_its_caller_does)
{
	uint64_t distance;

	/* push %rbp; mov %rsp,%rbp; push %rbx; and $-16,%rsp; sub $0x30,%rsp */
	cr_assert(DISTANCE("\x55\x48\x89\xe5\x53\x48\x83\xe4\xf0\x48\x83\xec\x30", &distance));
	cr_expect_eq(distance, 0x38);
	/* push %rbp; mov %rsp,%rbp; push %rbx; sub $0x30,%rsp; and $-16,%rsp; sub $0x60,%rsp; sub $0x10,%rsp */
	cr_assert(DISTANCE("\x55\x48\x89\xe5\x53\x48\x83\xec\x30\x48\x83\xe4\xf0\x48\x83\xec\x60"
			   "\x48\x83\xec\x10", &distance));
	cr_expect_eq(distance, 0x98);
}

Test(prologue, is_refused_if_there_is_no_frame_pointer_or_the_stack_is_realigned)
{
	uint64_t distance;

	cr_expect_not(DISTANCE("\x48\x83\xec\x18\xe8\x00\x00\x00\x00", &distance), "sub $0x18,%%rsp; call");
	cr_expect_not(DISTANCE("\x55\x53\x48\x83\xec\x18\xe8\x00\x00\x00\x00", &distance),
		      "push %%rbp, a general register");
	cr_expect_not(DISTANCE("\x41\x55\x48\x89\xe5\x48\x83\xec\x18", &distance), "push %%r13");
	cr_expect_not(DISTANCE("\x55\x48\x89\xe5\x48\x83\xe4\xe0\x48\x83\xec\x40", &distance), "and $-32,%%rsp");
	cr_expect_not(distance_of("", 0, &distance));
}

/* Whether the instruction is known, and as long as it is: behind it, `sub $0x20,%rsp` is found. */
static bool is_passed(const char *instruction, size_t size)
{
	char bytes[32] = "\x55\x48\x89\xe5";
	uint64_t distance;

	memcpy(bytes + 4, instruction, size);
	memcpy(bytes + 4 + size, "\x48\x83\xec\x20", 4);
	cr_assert(distance_of(bytes, 4 + size + 4, &distance));
	return distance == 0x20;
}
#define IS_PASSED(bytes) is_passed(bytes, sizeof(bytes) - 1)

Test(prologue, knows_the_lengths_of_instructions)
{
	/* operands: a register; memory at a register, with a displacement of 8 and 32 bits, by an index, absolute */
	cr_expect(IS_PASSED("\x89\xd8") && IS_PASSED("\x8b\x03") && IS_PASSED("\x8b\x43\x08"));
	cr_expect(IS_PASSED("\x8b\x83\x01\x02\x03\x04") && IS_PASSED("\x8b\x04\x8b"));
	cr_expect(IS_PASSED("\x8b\x05\x01\x02\x03\x04") && IS_PASSED("\x8b\x04\x25\x01\x02\x03\x04"));
	cr_expect(IS_PASSED("\x8b\x44\x8b\x08") && IS_PASSED("\x8b\x84\x8b\x01\x02\x03\x04"));
	cr_expect(IS_PASSED("\x8b\x45\x08") && IS_PASSED("\x8b\x44\x25\x08"), "%%rbp is a base like others here");
	/* arithmetic of registers, movslq, test, xchg, lea */
	cr_expect(IS_PASSED("\x01\xd8") && IS_PASSED("\x03\xd8") && IS_PASSED("\x38\xd8") && IS_PASSED("\x3b\xd8"));
	cr_expect(IS_PASSED("\x48\x63\xd8") && IS_PASSED("\x84\xc0") && IS_PASSED("\x8d\x43\x08"));
	/* immediate operands of 8, 16, 32 and 64 bits */
	cr_expect(IS_PASSED("\x80\xc0\x01") && IS_PASSED("\x83\xc0\x01") && IS_PASSED("\xc0\xe0\x03"));
	cr_expect(IS_PASSED("\xc1\xe0\x03") && IS_PASSED("\xc6\x03\x01") && IS_PASSED("\x6b\xc0\x03"));
	cr_expect(IS_PASSED("\x81\xc3\x01\x02\x03\x04") && IS_PASSED("\xc7\x03\x01\x02\x03\x04"));
	cr_expect(IS_PASSED("\x69\xc0\x01\x02\x03\x04") && IS_PASSED("\x66\x81\xc3\x01\x02"));
	cr_expect(IS_PASSED("\xb8\x01\x02\x03\x04") && IS_PASSED("\xbf\x01\x02\x03\x04") &&
		  IS_PASSED("\x66\xb8\x01\x02") && IS_PASSED("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08"));
	/* prefixes, nop */
	cr_expect(IS_PASSED("\x90") && IS_PASSED("\x66\x90") && IS_PASSED("\x66\x0f\x1f\x44\x00\x00"));
	cr_expect(IS_PASSED("\x64\x8b\x04\x25\x28\x00\x00\x00") && IS_PASSED("\x65\x8b\x03"));
	cr_expect(IS_PASSED("\xf2\x0f\x10\xc1") && IS_PASSED("\xf3\x0f\x10\xc1") && IS_PASSED("\x41\x89\xd8"));
	/* add $1,%al; jno; movsl; lret; in; mov %cs; imul of memory with an operand that is missing here */
	cr_expect_not(IS_PASSED("\x04\x01") || IS_PASSED("\x71\x02") || IS_PASSED("\xa5") || IS_PASSED("\xcb") ||
		      IS_PASSED("\xec") || IS_PASSED("\x8c\xc8") || IS_PASSED("\x40\x62"));
	cr_expect_not(IS_PASSED("\x82\xc0\x01") || IS_PASSED("\xb7\x01") || IS_PASSED("\xc2\x01\x02"));
	cr_expect_not(IS_PASSED("\x58"), "a pop");
}

Test(prologue, knows_instructions_of_two_bytes)
{
	static const uint8_t known[] = {
		0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, /* moves of SSE registers */
		0x1e, 0x1f,					/* endbr64, nop */
		0x28, 0x29, 0x57, 0x6e, 0x6f, 0x7e, 0x7f, 0xd6, 0xef, /* moves of SSE registers, xor */
		/* moves on a condition, set on a condition */
		0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f,
		0x90, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f,
		0xb6, 0xb7, 0xbe, 0xbf, /* movz, movs */
	};

	for (unsigned opcode = 0; opcode < 256; opcode++)
		cr_expect_eq(is_passed((const char[]){0x0f, (char)opcode, (char)0xc1}, 3),
			     memchr(known, (int)opcode, sizeof(known)) != NULL, "0x%x", opcode);
}

Test(prologue, takes_only_what_makes_its_frame)
{
	uint64_t distance;

	/* push %rbp; mov %rsp,%rbp by the other encoding; sub $-128,%rsp is an addition: no frame of known size */
	cr_assert(DISTANCE("\x55\x48\x8b\xec\x48\x83\xec\x08", &distance));
	cr_expect_eq(distance, 8);
	cr_expect_not(DISTANCE("\x55\x48\x89\xe5\x48\x83\xec\x80", &distance));
	cr_expect_not(DISTANCE("\x55\x48\x89\xe5\x48\x83\xc4\x08", &distance), "add $8,%%rsp");
	cr_expect_not(DISTANCE("\x55\x48\x89\xe5\x48\x81\xe4\x00\xf0\xff\xff", &distance), "and $-4096,%%rsp");
	cr_assert(DISTANCE("\x55\x48\x89\xe5\x48\x83\xfc\x08\x48\x83\xec\x10", &distance), "cmp $8,%%rsp");
	cr_expect_eq(distance, 0x10);
	cr_assert(DISTANCE("\x55\x48\x89\xe5\x48\x81\xec\x04\x03\x02\x01", &distance));
	cr_expect_eq(distance, 0x01020304);
	cr_assert(DISTANCE("\x55\x48\x89\xe5\x48\x83\xe9\x08\x83\xec\x08\x48\x83\xec\x10", &distance),
		  "sub $8,%%rcx; sub $8,%%esp");
	cr_expect_eq(distance, 0x10);
	cr_assert(DISTANCE("\x55\x48\x89\xe5\x48\x83\xec\x10\x53\x48\x83\xec\x10", &distance), "the first one ends it");
	cr_expect_eq(distance, 0x10);
	cr_expect_not(DISTANCE("\x41\x55\x89\xc0\x48\x89\xe5", &distance), "push %%r13");
}

Test(prologue, knows_calls)
{
	static const uint8_t direct[CALL_BYTES] = {0, 0, 0xe8, 1, 2, 3, 4},
			     table[CALL_BYTES] = {0, 0xff, 0x15, 1, 2, 3, 4},
			     short_register[CALL_BYTES] = {0, 0, 0, 0, 0, 0xff, 0xd0},
			     field[CALL_BYTES] = {0, 0, 0, 0, 0xff, 0x50, 8},
			     jump[CALL_BYTES] = {0, 0, 0, 0, 0, 0xff, 0xe0},
			     move[CALL_BYTES] = {0, 0, 0, 0, 0x48, 0x89, 0xe5};

	cr_expect(prologue_is_call(direct));
	cr_expect(prologue_is_call(table));
	cr_expect(prologue_is_call(short_register));
	cr_expect(prologue_is_call(field));
	cr_expect_not(prologue_is_call(jump));
	cr_expect_not(prologue_is_call(move));
}

Test(prologue, knows_which_function_a_call_is_of)
{
	static const uint8_t direct[CALL_BYTES] = {0, 0, 0xe8, 0xf0, 0xff, 0xff, 0xff},
			     table[CALL_BYTES] = {0, 0xff, 0x15, 0xf0, 0xff, 0xff, 0xff};

	cr_expect(prologue_calls(direct, -16));
	cr_expect_not(prologue_calls(direct, -15));
	cr_expect_not(prologue_calls(table, -16), "where the table has the function's address is not known");
}

#define IS_OF_ANY_SIZE(bytes) prologue_is_of_any_size((const uint8_t *)(bytes), sizeof(bytes) - 1)

Test(prologue, knows_frames_of_any_size)
{
	cr_expect(IS_OF_ANY_SIZE("\x90\x48\x29\xc4"), "sub %%rax,%%rsp");
	cr_expect(IS_OF_ANY_SIZE("\x4c\x29\xdc"), "sub %%r11,%%rsp");
	cr_expect(IS_OF_ANY_SIZE("\x48\x89\xc4"), "mov %%rax,%%rsp");
	cr_expect_not(IS_OF_ANY_SIZE("\x48\x89\xec"), "mov %%rbp,%%rsp");
	cr_expect_not(IS_OF_ANY_SIZE("\x48\x89\xe5"), "mov %%rsp,%%rbp");
	cr_expect_not(IS_OF_ANY_SIZE("\x48\x29\xc3"), "sub %%rax,%%rbx");
	cr_expect_not(IS_OF_ANY_SIZE("\x48\x83\xec\x18"), "sub $0x18,%%rsp");
	cr_expect_not(IS_OF_ANY_SIZE("\x48\x29"));
}

/* ---- cycles ---- */

Test(cycles, are_found_and_chains_are_not)
{
	const size_t none = SIZE_MAX;
	/* 0 and 1 wait for each other, 2 for 0; 3 -> 4 -> 5; 6 for itself; 7, 8, 9 in a circle */
	const size_t owners[] = {1, 0, 0, 4, 5, none, 6, 8, 9, 7};
	struct stuck_node *n = stuck_new(10);

	for (size_t i = 0; i < 10; i++) {
		n[i].may_be = owners[i] != none;
		stuck_wait(&n[i]);
		if (owners[i] != none)
			stuck_add(&n[i], owners[i]);
	}
	cr_assert_eq(stuck_solve(n, 10), 3);
	cr_expect(n[0].set && n[0].set == n[1].set);
	cr_expect_not(n[2].set || n[3].set || n[4].set || n[5].set);
	cr_expect(n[2].is && !n[3].is && !n[5].is, "2 only waits for the cycle; 5 goes on");
	cr_expect(n[6].set && n[6].set != n[0].set);
	cr_expect(n[7].set && n[7].set == n[8].set && n[8].set == n[9].set);
	stuck_free(n, 10);
	stuck_free(stuck_new(0), 0);
}

Test(cycles, need_all_wakers_of_one_wait)
{
	struct stuck_node *n = stuck_new(4);

	for (size_t i = 0; i < 4; i++)
		n[i].may_be = i != 3;
	for (size_t other = 1; other < 3; other++) { /* 0 waits for 1 and for 2 */
		stuck_wait(&n[0]);
		stuck_add(&n[0], other);
	}
	stuck_wait(&n[1]); /* 1 waits for 0 */
	stuck_add(&n[1], 0);
	stuck_wait(&n[2]); /* 2 waits for 0 or 3, which goes on */
	stuck_add(&n[2], 0);
	stuck_add(&n[2], 3);
	cr_assert_eq(stuck_solve(n, 4), 1);
	cr_expect(n[0].set == 1 && n[1].set == 1, "one endless wait is enough");
	cr_expect_not(n[2].is || n[3].is, "one waker that goes on is enough");
	stuck_free(n, 4);
}

/* ---- looks ---- */

static struct {
	uint8_t bytes[16384];
	size_t size;
} file;

static void add(uint32_t kind, const void *head, size_t head_size, const void *bytes, size_t size)
{
	struct tf_where_record record = {kind, (uint32_t)(head_size + size)};

	memcpy(file.bytes + file.size, &record, sizeof(record));
	file.size += sizeof(record);
	memcpy(file.bytes + file.size, head, head_size);
	memcpy(file.bytes + file.size + head_size, bytes, size);
	file.size += (head_size + size + 7) & ~(size_t)7;
}

static void add_text(uint32_t kind, const char *text)
{
	add(kind, "", 0, text, strlen(text));
}

/* A process with a thread that waits for a mutex of another one, a pipe and some Python. */
static void add_look(uint64_t request, uint32_t flags)
{
	const struct tf_where_begin begin = {.request = request, .ticks = request};
	const struct tf_where_process process = {.pid = 10, .parent_pid = 1, .start = 5};
	const struct tf_where_thread thread = {.tid = 11, .flags = flags, .state = 'S', .name = "one", .call = 202,
					       .arguments = {0x1000, 128}};
	const struct tf_where_thread owner = {.tid = 12, .flags = flags, .state = 'S', .name = "a-name-of-15-by",
					      .call = 202};
	const uint32_t mutex[] = {2, 0, 12, 1};
	const struct tf_where_memory memory = {0x1000};
	const struct tf_where_python python = {.tid = 11};
	const struct tf_python_frame frames[] = {{1, 4}, {2, TF_PYTHON_ENTRY}};

	add(TF_WHERE_BEGIN, &begin, sizeof(begin), "", 0);
	add(TF_WHERE_PROCESS, &process, sizeof(process), "/bin/program", 12);
	add_text(TF_WHERE_MAPS, "00400000-00452000 r-xp 00001000 08:02 173521      /bin/pro gram\n"
				"7f00-8f00 rw-p 00000000 00:00 0 \nx\n\n7ffd-7fff r-xp 00000000 00:00 0   [vdso]\n");
	add(TF_WHERE_MEMORY, &memory, sizeof(memory), mutex, sizeof(mutex));
	add(TF_WHERE_THREAD, &thread, sizeof(thread), "", 0);
	add(TF_WHERE_THREAD, &owner, sizeof(owner), "", 0);
	add_text(TF_WHERE_DESCRIPTORS, "0 r pipe:[77]\n1 rw /dev/null\nx\n7 w socket:[5]\n");
	add(TF_WHERE_PYTHON_STACK, &python, sizeof(python), frames, sizeof(frames));
	add(TF_WHERE_END, &begin, sizeof(begin), "", 0);
}

static bool read_look(uint64_t request, struct look *ret)
{
	const struct where_file f = {.run = 1, .machine = EM_X86_64, .bytes = file.bytes, .size = file.size};

	return look_read(&f, request, ret);
}

Test(look, has_what_was_recorded)
{
	struct look l;
	uint32_t word;

	add_look(7, TF_WHERE_IN_CALL);
	cr_assert(read_look(7, &l));
	cr_assert(l.is_complete && l.count == 1);
	cr_assert_eq(l.processes[0].thread_count, 2);
	cr_expect_str_eq(l.processes[0].executable, "/bin/program");
	cr_expect_str_eq(l.processes[0].threads[1].name, "a-name-of-15-by");
	cr_assert_eq(l.processes[0].module_count, 1, "a file, and neither anonymous memory nor the vdso");
	cr_expect_str_eq(l.processes[0].modules[0].path, "/bin/pro gram");
	cr_expect_eq(look_module(&l.processes[0], 0x451fff), &l.processes[0].modules[0]);
	cr_expect_null(look_module(&l.processes[0], 0x452000));
	cr_expect_eq(look_module(&l.processes[0], 0x400000), &l.processes[0].modules[0]);
	cr_expect_null(look_module(&l.processes[0], 0x3fffff));
	cr_expect(l.processes[0].modules[0].is_executable && l.processes[0].modules[0].device == (8 << 20 | 2));
	cr_expect(l.processes[0].modules[0].offset == 0x1000 && l.processes[0].modules[0].inode == 173521);
	cr_expect(l.processes[0].descriptors[0].kind == LINK_PIPE && l.processes[0].descriptors[0].inode == 77);
	cr_expect_eq(l.processes[0].descriptors[1].kind, LINK_OTHER);
	cr_expect(look_memory(&l.processes[0], 0x1010, &word, 0) && !look_memory(&l.processes[0], 0x1011, &word, 0));
	cr_expect_eq(l.processes[0].descriptor_count, 3);
	cr_expect(look_descriptor(&l.processes[0], 7)->may_write && !look_descriptor(&l.processes[0], 7)->may_read);
	cr_expect(look_memory(&l.processes[0], 0x100c, &word, sizeof(word)));
	cr_expect_not(look_memory(&l.processes[0], 0x100d, &word, sizeof(word)));
	cr_expect_not(look_memory(&l.processes[0], 0xfff, &word, sizeof(word)));
	cr_expect_eq(look_thread(&l.processes[0], 11)->python_count, 2);
	look_done(&l);
}

Test(look, names_the_owner_of_a_mutex)
{
	struct where_stack stack = {0};
	struct where_wait wait;
	struct look l;

	add_look(7, TF_WHERE_IN_CALL);
	cr_assert(read_look(7, &l));
	if (!l.has_registers)
		return; /* numbers of system calls are those of this machine */
	where_wait_find(&l, &l.processes[0], look_thread(&l.processes[0], 11), &stack, "pthread_mutex_lock", &wait);
	cr_expect_str_eq(wait.text.data, "waits for the mutex 0x1000, held by thread 12 (a-name-of-15-by)");
	cr_expect_eq(wait.owner, 12);
	where_wait_done(&wait);
	where_wait_find(&l, &l.processes[0], look_thread(&l.processes[0], 11), &stack, "sem_wait", &wait);
	cr_expect_str_eq(wait.text.data, "waits for the semaphore 0x1000, owner unknown");
	where_wait_done(&wait);
	look_done(&l);
}

Test(look, is_the_one_that_was_asked_for)
{
	struct look l;

	add_look(7, TF_WHERE_IN_CALL | TF_WHERE_HAS_STACK);
	add_look(8, TF_WHERE_IS_RUNNING);
	cr_assert(read_look(7, &l));
	cr_expect_eq(l.begin.request, 7);
	look_done(&l);
	cr_assert(read_look(0, &l));
	cr_expect_eq(l.begin.request, 7, "the last one with a stack");
	look_done(&l);
	cr_expect_not(read_look(9, &l));
	look_done(&l);
}

Test(look, survives_any_truncation)
{
	size_t size;

	add_look(7, TF_WHERE_IN_CALL);
	size = file.size;
	for (file.size = 0; file.size < size; file.size++) {
		struct look l;

		if (read_look(7, &l))
			cr_assert(!l.is_complete || file.size >= size - 8);
		look_done(&l);
	}
}

Test(look, survives_any_byte)
{
	add_look(7, TF_WHERE_IN_CALL);
	for (size_t i = 0; i < file.size; i++) {
		uint8_t old = file.bytes[i];
		struct look l;

		file.bytes[i] = 0xff;
		read_look(7, &l);
		for (size_t p = 0; p < l.count; p++)
			for (size_t t = 0; t < l.processes[p].thread_count; t++) {
				struct where_stack stack = {0};
				struct where_wait wait;

				where_wait_find(&l, &l.processes[p], &l.processes[p].threads[t], &stack,
						"pthread_mutex_lock", &wait);
				where_wait_done(&wait);
			}
		look_done(&l);
		file.bytes[i] = old;
	}
}

/* ---- what a look has of Python and of calls ---- */

static void add_python(uint32_t kind, uint32_t tid, const void *bytes, size_t size)
{
	const struct tf_where_python head = {.tid = tid};

	add(kind, &head, sizeof(head), bytes, size);
}

/* Each record twice: a whole one, and one that is too short for its head. */
Test(look, has_what_was_found_of_python_and_of_calls)
{
	const struct tf_where_begin begin = {.request = 7, .ticks = 7};
	const struct tf_where_process process = {.pid = 10};
	const struct tf_where_thread thread = {.tid = 11, .name = "one"};
	const struct tf_where_lock lock = {.tid = 11, .semaphore = 0x1000, .owner = 12};
	const struct tf_where_arguments arguments = {.tid = 11, .frame = 0x2000, .words = {5, 6}};
	const struct tf_python_frame frames[] = {{1, 4}, {2, 6}, {3, 8}};
	const uint32_t code = 21;
	const struct look_process *p;
	struct look l;

	add(TF_WHERE_BEGIN, &begin, sizeof(begin), "", 0);
	add(TF_WHERE_PROCESS, &process, sizeof(process), "", 0);
	add(TF_WHERE_PROCESS, &process, sizeof(process) - 1, "", 0);
	add(TF_WHERE_THREAD, &thread, sizeof(thread), "", 0);
	add(TF_WHERE_THREAD, &thread, sizeof(thread) - 1, "", 0);
	add(TF_WHERE_MEMORY, "\0\0\0\0\0\0\0", 7, "", 0);
	add(TF_WHERE_PYTHON_CODE, &code, sizeof(code), "abc", 3);
	add(TF_WHERE_PYTHON_CODE, &code, sizeof(code) - 1, "", 0);
	add_python(TF_WHERE_PYTHON_TASK, 11, frames, sizeof(frames));
	add_python(TF_WHERE_PYTHON_TASK, 99, frames, sizeof(frames));
	add_python(TF_WHERE_TASK_RAISED, 99, "of no thread", 12);
	add_python(TF_WHERE_PYTHON_TASK, 11, frames, sizeof(frames[0]));
	add_python(TF_WHERE_TASK_RAISED, 11, "ValueError: xy", 13);
	add_python(TF_WHERE_PYTHON_NAME, 11, "a long name of Python", 13);
	add_python(TF_WHERE_PYTHON_STACK, 11, frames, 2 * sizeof(frames[0]));
	add_python(TF_WHERE_PYTHON_STACK, 11, frames, sizeof(frames)); /* the first one is kept */
	add(TF_WHERE_PYTHON_LOCK, &lock, sizeof(lock), "", 0);
	add(TF_WHERE_PYTHON_LOCK, &lock, sizeof(lock) - 1, "", 0);
	add(TF_WHERE_ARGUMENTS, &arguments, sizeof(arguments), "", 0);
	add(TF_WHERE_ARGUMENTS, &arguments, sizeof(arguments) - 1, "", 0);
	add(TF_WHERE_END, &begin, sizeof(begin), "", 0);
	cr_assert(read_look(7, &l));
	cr_assert(l.is_complete && l.count == 1);
	p = &l.processes[0];
	cr_assert_eq(p->thread_count, 1);
	cr_expect_str_eq(p->threads[0].name, "a long name o");
	cr_assert_eq(p->threads[0].python_count, 2);
	cr_expect(p->threads[0].python[1].code == 2 && p->threads[0].python[1].place == 6);
	cr_expect_eq(p->memory_count, 0);
	cr_assert_eq(p->code_count, 1);
	cr_assert_not_null(look_code(p, 21));
	cr_expect(look_code(p, 21)->size == 3 && !memcmp(look_code(p, 21)->bytes, "abc", 3));
	cr_expect_null(look_code(p, 20));
	cr_assert_eq(p->task_count, 2);
	cr_expect(p->tasks[0].tid == 11 && p->tasks[0].count == 3 && p->tasks[0].frames[2].place == 8);
	cr_expect_null(p->tasks[0].raised);
	cr_expect_eq(p->tasks[1].count, 1);
	cr_expect_str_eq(p->tasks[1].raised, "ValueError: x");
	cr_assert_eq(p->lock_count, 1);
	cr_expect_eq(p->locks[0].owner, 12);
	cr_assert_eq(p->argument_count, 1);
	cr_expect_eq(look_arguments(p, 11)->words[1], 6);
	cr_expect_null(look_arguments(p, 12));
	look_done(&l);
}

/* ---- looks into quiet processes, and at signals ---- */

struct one_look {
	uint64_t ticks;
	uint32_t reason, signal, pid, tid; /* tid 0: no thread */
	uint64_t cpu_ns;
	int32_t error;
};

static void add_one(const struct one_look *o)
{
	const struct tf_where_begin begin = {.ticks = o->ticks, .realtime_ns = 10 * o->ticks, .reason = o->reason,
					     .signal = o->signal};
	const struct tf_where_process process = {.pid = o->pid, .start = 5, .error = o->error};
	const struct tf_where_thread thread = {.tid = o->tid, .flags = TF_WHERE_HAS_STACK, .cpu_ns = o->cpu_ns};

	add(TF_WHERE_BEGIN, &begin, sizeof(begin), "", 0);
	add(TF_WHERE_PROCESS, &process, sizeof(process), "", 0);
	if (o->tid)
		add(TF_WHERE_THREAD, &thread, sizeof(thread), "", 0);
	add(TF_WHERE_END, &begin, sizeof(begin), "", 0);
}

/* A thread that the signal has woken may have used 0.2 s. */
Test(look, a_quiet_process_was_where_it_had_been_until_a_signal)
{
	enum { LEAST = 200000000, ASKED = TF_WHERE_ASKED, QUIET = TF_WHERE_QUIET };
	static const struct {
		struct one_look quiet, other;
		uint64_t ticks, until;
		bool is_quiet;
	} cases[] = {
		{{100, QUIET, 0, 10, 11, 5}, {120, ASKED, 15, 10, 11, 5 + LEAST}, 100, 120, true},
		{{100, QUIET, 0, 10, 11, 5}, {120, ASKED, 15, 10, 11, 6 + LEAST}, 120, 0, false},
		{{100, QUIET, 0, 10, 11, 5}, {120, ASKED, 15, 10, 12, 5}, 120, 0, false},
		{{100, QUIET, 0, 10, 11, 5}, {120, ASKED, 15, 10, 11, 5, -13}, 120, 0, false},
		{{100, QUIET, 0, 10, 11, 5}, {100, ASKED, 15, 10, 11, 5}, 100, 100, true},
		{{100, QUIET, 0, 10, 11, 5}, {99, ASKED, 15, 10, 11, 5}, 100, 0, true},
		{{100, QUIET, 0, 10, 11, 5}, {120, ASKED, 0, 10, 11, 5}, 120, 0, false},
		{{100, QUIET, 0, 10, 0, 5}, {99, ASKED, 0, 10, 11, 5}, 99, 0, false},
		{{100, QUIET, 0, 10, 11, 5}, {120, QUIET, 0, 10, 12, 5}, 120, 0, true},
		{{100, QUIET, 0, 10, 11, 5}, {120, ASKED, 15, 20, 21, 5}, 100, 120, true},
		{{100, QUIET, 0, 10, 11, 5}, {100, ASKED, 15, 20, 21, 5}, 100, 0, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct one_look *other = &cases[i].other;
		const struct look_process *p;
		struct look l;

		file.size = 0;
		add_one(&cases[i].quiet);
		add_one(other);
		cr_assert(read_look(0, &l), "case %zu", i);
		p = array_find(one, l.processes, l.count, one->head.pid == 10);
		cr_assert_not_null(p, "case %zu", i);
		cr_expect_eq(l.count, other->pid == 10 ? 1 : 2, "case %zu", i);
		cr_expect(p->ticks == cases[i].ticks && p->realtime_ns == 10 * cases[i].ticks, "case %zu", i);
		cr_expect_eq(p->until_ticks, cases[i].until, "case %zu: %llu", i, (unsigned long long)p->until_ticks);
		cr_expect_eq(p->is_quiet, cases[i].is_quiet, "case %zu", i);
		cr_expect_eq(l.begin.ticks, other->ticks > 100 ? other->ticks : 100, "case %zu", i);
		cr_expect_eq(look_first_signal(&(struct where_file){.bytes = file.bytes, .size = file.size}),
			     other->signal ? other->ticks : 0, "case %zu", i);
		look_done(&l);
	}
}

Test(look, a_quiet_process_may_be_confirmed)
{
	struct one_look quiet = {100, TF_WHERE_QUIET, 0, 10, 11};
	const struct tf_where_process same[] = {{.pid = 10, .start = 5}, {.pid = 10, .start = 6}};
	const struct tf_where_begin later = {.ticks = 150, .realtime_ns = 1500, .reason = TF_WHERE_QUIET},
				    asked = {.ticks = 160, .realtime_ns = 1600};
	struct look l;

	add_one(&quiet);
	add(TF_WHERE_BEGIN, &later, sizeof(later), "", 0);
	add(TF_WHERE_SAME, &same[0], sizeof(same[0]), "", 0);
	add(TF_WHERE_END, &later, sizeof(later), "", 0);
	add(TF_WHERE_BEGIN, &asked, sizeof(asked), "", 0);
	add(TF_WHERE_SAME, &same[0], sizeof(same[0]), "", 0); /* only a look into a quiet one confirms it */
	cr_assert(read_look(0, &l));
	cr_assert_eq(l.count, 1);
	cr_expect(l.processes[0].ticks == 150 && l.processes[0].realtime_ns == 1500);
	cr_expect(l.is_complete);
	look_done(&l);
	file.size = 0;
	add_one(&quiet);
	add(TF_WHERE_BEGIN, &later, sizeof(later), "", 0);
	add(TF_WHERE_SAME, &same[1], sizeof(same[1]), "", 0); /* another process of that PID */
	add(TF_WHERE_SAME, &same[0], sizeof(same[0]) - 1, "", 0);
	cr_assert(read_look(0, &l));
	cr_expect_eq(l.processes[0].ticks, 100);
	look_done(&l);
}
