// Door to libcurl, which is loaded when the first web server is asked: a film on the disk needs neither it nor the ten libraries that it needs.

#ifndef CCURL_H
#define CCURL_H

#include <curl/curl.h>

// Names and passwords may be asked for in these ways.
static const long ccurl_password_ways = CURLAUTH_BASIC | CURLAUTH_DIGEST;

// Loads the library: Debian's build with GnuTLS, which libavformat uses there, too, else the usual one. 0 where there is none that has all of what
// follows (libcurl 7.85). The functions below may be called after it has returned 1. From any thread.
int ccurl_load(void);

// As those of libcurl of the same name, whose options and values have types here: memory, threads and errors are libcurl's. A handle's sockets are
// closed in programs that this one starts.
CURL *ccurl_easy_init(void);
void ccurl_easy_cleanup(CURL *easy);
CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value);
CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value);
CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
// What receives header lines or bytes, as CURLOPT_HEADERFUNCTION and CURLOPT_WRITEFUNCTION say.
CURLcode ccurl_set_receivers(
    CURL *easy, size_t (*line)(char *, size_t, size_t, void *), size_t (*bytes)(char *, size_t, size_t, void *), void *receiver);
long ccurl_get_number(CURL *easy, CURLINFO what);
curl_off_t ccurl_get_offset(CURL *easy, CURLINFO what);
const char *ccurl_get_text(CURL *easy, CURLINFO what);
struct curl_slist *ccurl_slist_append(struct curl_slist *list, const char *text);
void ccurl_slist_free_all(struct curl_slist *list);

CURLM *ccurl_multi_init(void);
void ccurl_multi_cleanup(CURLM *multi);
CURLMcode ccurl_multi_add_handle(CURLM *multi, CURL *easy);
void ccurl_multi_remove_handle(CURLM *multi, CURL *easy);
CURLMcode ccurl_multi_perform(CURLM *multi);
// Waits until something can be done, at most so long.
CURLMcode ccurl_multi_poll(CURLM *multi, int milliseconds);
// Whether a transfer has ended, and how.
int ccurl_multi_ended(CURLM *multi, CURLcode *result);

#endif
