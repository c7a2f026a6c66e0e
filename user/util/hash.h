/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uthash with this project's rules: running out of memory is an error to return, not an exit.
 *
 * After HASH_ADD_* ask VW_HASH_ADDED(element); when it is false the element is not in the table
 * and still belongs to the caller.
 */
#ifndef VW_UTIL_HASH_H
#define VW_UTIL_HASH_H

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->hh.tbl = NULL)
#include <uthash.h>

#define VW_HASH_ADDED(element) ((element)->hh.tbl != NULL)

#endif
