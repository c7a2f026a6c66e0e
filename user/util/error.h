/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One failure, said once: a word for programs and a sentence for people.
 *
 * Functions that can fail return 0 or a negative errno and, where a caller will have to explain the
 * failure to a person, fill a struct vw_error that the caller owns.  Nothing below cmd/ and load/
 * prints it.
 */
#ifndef VW_UTIL_ERROR_H
#define VW_UTIL_ERROR_H

#define VW_REASON_LEN 24
#define VW_MESSAGE_LEN 384

struct vw_error {
	char reason[VW_REASON_LEN];   /* one word of docs/FORMATS.md: usage, lockdown, ... */
	char message[VW_MESSAGE_LEN]; /* one line, no line feed, cause and remedy */
};

/*
 * Fills @e (may be NULL) and returns @err unchanged, so that callers can write
 * `return vw_error_set(e, -EINVAL, "usage", ...)`.
 */
int vw_error_set(struct vw_error *e, int err, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
