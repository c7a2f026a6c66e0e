/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a line from left to right, for texts of which each takes millions of lines.
 *
 * A line has no NUL at its end and may hold NULs.  Functions that return a bool move on and say
 * true, or stay where they are and say false; outputs are untouched then.
 */
#ifndef VW_SOURCE_SCAN_H
#define VW_SOURCE_SCAN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct vw_scan {
	const char *p, *end;
};

static inline bool vw_scan_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline size_t vw_scan_left(const struct vw_scan *s)
{
	return (size_t)(s->end - s->p);
}

/* The byte here; NUL at the end. */
static inline char vw_scan_peek(const struct vw_scan *s)
{
	return s->p < s->end ? *s->p : '\0';
}

static inline void vw_scan_blanks(struct vw_scan *s)
{
	const char *p = s->p, *end = s->end;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	s->p = p;
}

static inline bool vw_scan_char(struct vw_scan *s, char c)
{
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static inline bool vw_scan_bytes(struct vw_scan *s, const char *bytes, size_t len)
{
	if (vw_scan_left(s) < len || memcmp(s->p, bytes, len) != 0)
		return false;
	s->p += len;
	return true;
}

#define vw_scan_word(s, literal) vw_scan_bytes(s, literal, sizeof(literal) - 1)

#define VW_SCAN_DIGITS 19 /* so many always fit */

/* Eight bytes in the order in which they stand, the first in the lowest bits. */
static inline uint64_t vw_scan_load8(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

static inline void vw_scan_store8(char *p, uint64_t word)
{
	word = htole64(word);
	memcpy(p, &word, sizeof(word));
}

/* The high bit of each of eight bytes that is a blank. */
static inline uint64_t vw_scan_blanks8(uint64_t word)
{
	const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
	uint64_t v = word ^ UINT64_C(0x2020202020202020);

	return ~(((v & low) + low) | v | low);
}

/* Which of 16 bytes are blanks, the first in the lowest bit. */
static inline unsigned int vw_scan_blanks16(const char *p)
{
	/* Brings the eight high bits together, in their order. */
	const uint64_t gather = UINT64_C(0x0102040810204080);
	uint64_t low = vw_scan_blanks8(vw_scan_load8(p)) >> 7;
	uint64_t high = vw_scan_blanks8(vw_scan_load8(p + 8)) >> 7;

	return (unsigned int)((low * gather) >> 56 | ((high * gather) >> 56) << 8);
}

/*
 * The digits at the beginning of eight bytes: how many, and their value.  Works on all at once: a
 * line has some thirty digits, which is most of it.
 */
static inline unsigned int vw_scan_digits8(const char *p, uint64_t *ret_value)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t v = vw_scan_load8(p) ^ (0x30 * ones);
	/* The high bit of each byte that is no digit; behind the first of them it may be wrong. */
	uint64_t other = ((v + 0x76 * ones) | v) & (0x80 * ones);
	unsigned int n = other ? (unsigned int)__builtin_ctzll(other) / 8 : 8;

	if (!n)
		return 0;
	v <<= 64 - 8 * n;
	v = (v * 10) + (v >> 8);
	*ret_value =
		(((v & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064)) +
		 (((v >> 16) & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001))) >>
		32;
	return n;
}

/* Decimal digits, 1 to VW_SCAN_DIGITS. */
static inline bool vw_scan_u64(struct vw_scan *s, uint64_t *ret_value)
{
	const char *p = s->p, *end = s->end;
	uint64_t value = 0;

	if (end - p >= 8) {
		unsigned int n = vw_scan_digits8(p, &value);

		if (n < 8) {
			if (!n)
				return false;
			s->p = p + n;
			*ret_value = value;
			return true;
		}
		p += 8;
	}
	for (; p < end && vw_scan_is_digit(*p); p++) {
		if (p - s->p == VW_SCAN_DIGITS)
			return false;
		value = 10 * value + (uint64_t)(*p - '0');
	}
	if (p == s->p)
		return false;
	s->p = p;
	*ret_value = value;
	return true;
}

/* The same, 0 to @max. */
static inline bool vw_scan_i32(struct vw_scan *s, int32_t max, int32_t *ret_value)
{
	struct vw_scan t = *s;
	uint64_t value;

	if (!vw_scan_u64(&t, &value) || value > (uint64_t)max)
		return false;
	*s = t;
	*ret_value = (int32_t)value;
	return true;
}

/* To behind the first @bytes at or after this place. */
static inline bool vw_scan_seek(struct vw_scan *s, const char *bytes, size_t len)
{
	const char *at;

	if (vw_scan_bytes(s, bytes, len))
		return true;
	at = memmem(s->p, vw_scan_left(s), bytes, len);
	if (!at)
		return false;
	s->p = at + len;
	return true;
}

#define vw_scan_seek_word(s, literal) vw_scan_seek(s, literal, sizeof(literal) - 1)

#endif
