#define CURL_DISABLE_TYPECHECK
#include "CCurl.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sys/socket.h>

// Every function of libcurl's that is used.
#define FUNCTIONS(each)                                                                                                                             \
    each(global_init) each(easy_init) each(easy_cleanup) each(easy_setopt) each(easy_getinfo) each(slist_append)                                    \
    each(slist_free_all) each(multi_init) each(multi_cleanup) each(multi_setopt) each(multi_add_handle) each(multi_remove_handle)                   \
    each(multi_perform) each(multi_poll) each(multi_info_read) each(version_info)

#define DECLARE(name) static __typeof__(curl_##name) *name;
FUNCTIONS(DECLARE)

static int is_loaded;

static void load(void) {
    void *handle = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) return;
#define FIND(name)                                                                                                                                  \
    name = (__typeof__(curl_##name) *)dlsym(handle, "curl_" #name);                                                                                 \
    if (!name) return;
    FUNCTIONS(FIND)
    // CURLOPT_REDIR_PROTOCOLS_STR came with 7.85.
    is_loaded = version_info(CURLVERSION_NOW)->version_num >= 0x075500 && global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

int ccurl_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded;
}

// libcurl's own sockets would stay open in programs that this one starts.
static curl_socket_t open_socket(void *unused, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)unused, (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

CURL *ccurl_easy_init(void) {
    CURL *easy = easy_init();
    if (easy) easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    return easy;
}

void ccurl_easy_cleanup(CURL *easy) { easy_cleanup(easy); }
CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value) { return easy_setopt(easy, option, value); }
CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) { return easy_setopt(easy, option, value); }
CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) { return easy_setopt(easy, option, value); }

CURLcode ccurl_set_receivers(
    CURL *easy, size_t (*line)(char *, size_t, size_t, void *), size_t (*bytes)(char *, size_t, size_t, void *), void *receiver) {
    CURLcode status = easy_setopt(easy, CURLOPT_HEADERFUNCTION, line);
    if (status == CURLE_OK) status = easy_setopt(easy, CURLOPT_HEADERDATA, receiver);
    if (status == CURLE_OK) status = easy_setopt(easy, CURLOPT_WRITEFUNCTION, bytes);
    return status == CURLE_OK ? easy_setopt(easy, CURLOPT_WRITEDATA, receiver) : status;
}

long ccurl_get_number(CURL *easy, CURLINFO what) {
    long value = 0;
    return easy_getinfo(easy, what, &value) == CURLE_OK ? value : 0;
}

curl_off_t ccurl_get_offset(CURL *easy, CURLINFO what) {
    curl_off_t value = -1;
    return easy_getinfo(easy, what, &value) == CURLE_OK ? value : -1;
}

const char *ccurl_get_text(CURL *easy, CURLINFO what) {
    char *value = NULL;
    return easy_getinfo(easy, what, &value) == CURLE_OK ? value : NULL;
}

struct curl_slist *ccurl_slist_append(struct curl_slist *list, const char *text) { return slist_append(list, text); }
void ccurl_slist_free_all(struct curl_slist *list) { slist_free_all(list); }

CURLM *ccurl_multi_init(void) {
    CURLM *multi = multi_init();
    // Of each server that a film leads to.
    if (multi) multi_setopt(multi, CURLMOPT_MAXCONNECTS, 4L);
    return multi;
}

void ccurl_multi_cleanup(CURLM *multi) { multi_cleanup(multi); }
CURLMcode ccurl_multi_add_handle(CURLM *multi, CURL *easy) { return multi_add_handle(multi, easy); }
void ccurl_multi_remove_handle(CURLM *multi, CURL *easy) { multi_remove_handle(multi, easy); }

CURLMcode ccurl_multi_perform(CURLM *multi) {
    int running = 0;
    return multi_perform(multi, &running);
}

CURLMcode ccurl_multi_poll(CURLM *multi, int milliseconds) { return multi_poll(multi, NULL, 0, milliseconds, NULL); }

int ccurl_multi_ended(CURLM *multi, CURLcode *result) {
    int left = 0;
    for (CURLMsg *message; (message = multi_info_read(multi, &left));)
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return 1;
        }
    return 0;
}
