// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "util/utf8.h"

/* Length of the sequence that @first leads, and the range of its second byte; 0: no lead. */
static size_t lead_length(unsigned char first, unsigned char *ret_low, unsigned char *ret_high)
{
	*ret_low = 0x80;
	*ret_high = 0xbf;
	if (first < 0x80)
		return 1;
	if (first < 0xc2)
		return 0; /* a continuation byte, or an overlong form */
	if (first < 0xe0)
		return 2;
	if (first < 0xf0) {
		if (first == 0xe0)
			*ret_low = 0xa0; /* below: overlong */
		if (first == 0xed)
			*ret_high = 0x9f; /* above: surrogates */
		return 3;
	}
	if (first > 0xf4)
		return 0;
	if (first == 0xf0)
		*ret_low = 0x90; /* below: overlong */
	if (first == 0xf4)
		*ret_high = 0x8f; /* above: past U+10FFFF */
	return 4;
}

size_t vw_utf8_decode(const char *text, size_t len, uint32_t *ret_code)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char low, high;
	size_t need, i;
	uint32_t code;

	if (!len)
		return 0;
	*ret_code = VW_UTF8_REPLACEMENT;
	need = lead_length(s[0], &low, &high);
	if (!need)
		return 1;
	code = need == 1 ? s[0] : s[0] & (0x7fU >> need);
	for (i = 1; i < need; i++) {
		if (i == len || s[i] < low || s[i] > high)
			return i;
		code = code << 6 | (s[i] & 0x3fU);
		low = 0x80;
		high = 0xbf;
	}
	*ret_code = code;
	return need;
}

static size_t copy(char *dst, size_t size, const char *text, size_t len, bool printable)
{
	const char *replacement = printable ? "?" : "\xef\xbf\xbd";
	size_t out = 0, in, step, n;
	uint32_t code;

	if (!size)
		return 0;
	len = strnlen(text, len);
	for (in = 0; in < len; in += step) {
		const char *from = text + in;

		step = vw_utf8_decode(from, len - in, &code);
		n = step;
		if (code == VW_UTF8_REPLACEMENT || (printable && vw_utf8_is_control(code))) {
			from = replacement;
			n = strlen(replacement);
		}
		if (n >= size - out)
			break;
		memcpy(dst + out, from, n);
		out += n;
	}
	dst[out] = '\0';
	return out;
}

size_t vw_utf8_clean(char *dst, size_t size, const char *text, size_t len)
{
	return copy(dst, size, text, len, false);
}

size_t vw_utf8_printable(char *dst, size_t size, const char *text, size_t len)
{
	return copy(dst, size, text, len, true);
}

bool vw_utf8_is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}
