/* SPDX-License-Identifier: Apache-2.0 */
/* WORDS_<n>(W): W(1), W(2), ... W(n). For parameter lists of so many words. */
#ifndef PILLION_LIBRARY_WORDS_H
#define PILLION_LIBRARY_WORDS_H

#define WORD_DECLARE(i) uintptr_t a##i
#define WORD_PASS(i) a##i

#define WORDS_1(W) W(1)
#define WORDS_2(W) WORDS_1(W), W(2)
#define WORDS_3(W) WORDS_2(W), W(3)
#define WORDS_4(W) WORDS_3(W), W(4)
#define WORDS_5(W) WORDS_4(W), W(5)
#define WORDS_6(W) WORDS_5(W), W(6)
#define WORDS_7(W) WORDS_6(W), W(7)
#define WORDS_8(W) WORDS_7(W), W(8)
#define WORDS_9(W) WORDS_8(W), W(9)
#define WORDS_10(W) WORDS_9(W), W(10)
#define WORDS_11(W) WORDS_10(W), W(11)
#define WORDS_12(W) WORDS_11(W), W(12)
#define WORDS_13(W) WORDS_12(W), W(13)
#define WORDS_14(W) WORDS_13(W), W(14)
#define WORDS_15(W) WORDS_14(W), W(15)
#define WORDS_16(W) WORDS_15(W), W(16)
#define WORDS_17(W) WORDS_16(W), W(17)
#define WORDS_18(W) WORDS_17(W), W(18)
#define WORDS_19(W) WORDS_18(W), W(19)
#define WORDS_20(W) WORDS_19(W), W(20)
#define WORDS_21(W) WORDS_20(W), W(21)
#define WORDS_22(W) WORDS_21(W), W(22)
#define WORDS_23(W) WORDS_22(W), W(23)
#define WORDS_24(W) WORDS_23(W), W(24)
#define WORDS_25(W) WORDS_24(W), W(25)
#define WORDS_26(W) WORDS_25(W), W(26)
#define WORDS_27(W) WORDS_26(W), W(27)
#define WORDS_28(W) WORDS_27(W), W(28)
#define WORDS_29(W) WORDS_28(W), W(29)
#define WORDS_30(W) WORDS_29(W), W(30)
#define WORDS_31(W) WORDS_30(W), W(31)
#define WORDS_32(W) WORDS_31(W), W(32)

#endif
