// WANE_TESTS_THREAD_SANITIZER is defined where a test is compiled for the thread sanitizer.
// SPDX-License-Identifier: MIT
#pragma once

#if defined(__SANITIZE_THREAD__)
#define WANE_TESTS_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WANE_TESTS_THREAD_SANITIZER
#endif
#endif
