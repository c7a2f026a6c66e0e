/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UTF-8 out of bytes that may be anything: thread names, VM names, symbol names.
 *
 * Invalid input never fails: each maximal broken sequence counts as one U+FFFD, as the Unicode
 * standard recommends (overlong forms, surrogates and code points past U+10FFFF are invalid).
 */
#ifndef VW_UTIL_UTF8_H
#define VW_UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VW_UTF8_REPLACEMENT 0xfffdU

/* Bytes that vw_utf8_clean() may need for @len bytes of input, the NUL included. */
#define VW_UTF8_ROOM(len) (3 * (size_t)(len) + 1)

/* One code point of @len bytes at @text.  Returns the bytes it took (0 only when @len is 0). */
size_t vw_utf8_decode(const char *text, size_t len, uint32_t *ret_code);

/*
 * Valid UTF-8 for @text, which ends at its NUL or after @len bytes.  Cut between characters when
 * @size is short; always terminated.  Returns the length written.
 */
size_t vw_utf8_clean(char *dst, size_t size, const char *text, size_t len);

/*
 * As vw_utf8_clean(), for terminals: what is invalid or a control character comes out as one '?'.
 * Needs no more room than the input.
 */
size_t vw_utf8_printable(char *dst, size_t size, const char *text, size_t len);

/*
 * True for what may steer a terminal or reorder what a person reads: C0, DEL, C1, line and
 * paragraph separators, bidirectional controls, the byte order mark.
 */
bool vw_utf8_is_control(uint32_t code);

#endif
