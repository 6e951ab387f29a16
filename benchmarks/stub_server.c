/* A chat server that answers every question alike, so that what is measured is the client.
 *
 *   cc -O2 -o stub stub_server.c && ./stub LATENCY_MS ANSWER_FILE
 *
 * Prints its port, listens on loopback only, and ends when its standard input is closed. Linux (epoll, timerfd).
 *   POST /v1/chat/completions   the bytes of ANSWER_FILE, LATENCY_MS after the request was read whole
 *   GET  /v1/models             an empty list
 *   GET  /stats                 chat requests so far, the most that waited at once, CPU seconds of this process
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MOST_REQUEST (16u << 20)
#define EVENTS 512

struct connection {
    char *in; /* what was read and not yet answered */
    size_t have, room;
    const char *out; /* what is left to write */
    size_t left;
    bool waiting; /* an answer is due: the next request is not looked at before it is sent */
    uint32_t generation; /* tells a connection from an earlier one with the same descriptor */
    char stats[256];
};

/* All answers wait equally long, so a queue in order of arrival is also in order of time. */
struct due {
    uint64_t when;
    int fd;
    uint32_t generation;
};

static struct connection *connections;
static int most_connections;
static struct due *queue;
static size_t queue_head, queue_tail, queue_room;
static int poller, timer, listener;
static uint64_t latency_ns;
static unsigned long requests, in_flight, most_in_flight;
static char *chat, *models;
static size_t chat_size, models_size;
static const char refusal[] = "HTTP/1.1 411 Length Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

static void die(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static char *with_head(const char *body, size_t size, size_t *whole) {
    char *answer = malloc(size + 128);
    int head = sprintf(answer, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n", size);
    memcpy(answer + head, body, size);
    *whole = (size_t)head + size;
    return answer;
}

static void hang_up(int fd) {
    struct connection *c = &connections[fd];
    if (c->waiting) in_flight--;
    free(c->in);
    uint32_t generation = c->generation + 1;
    memset(c, 0, sizeof *c);
    c->generation = generation;
    close(fd);
}

static void arm_timer(void) {
    struct itimerspec at = {0};
    if (queue_head != queue_tail) {
        at.it_value.tv_sec = (time_t)(queue[queue_head].when / 1000000000u);
        at.it_value.tv_nsec = (long)(queue[queue_head].when % 1000000000u);
    }
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static void put_off(int fd) {
    if (queue_tail == queue_room) {
        memmove(queue, queue + queue_head, (queue_tail - queue_head) * sizeof *queue);
        queue_tail -= queue_head;
        queue_head = 0;
        if (queue_tail * 2 >= queue_room) {
            queue_room = queue_room ? queue_room * 2 : 1024;
            if (!(queue = realloc(queue, queue_room * sizeof *queue))) die("realloc");
        }
    }
    queue[queue_tail++] = (struct due){now_ns() + latency_ns, fd, connections[fd].generation};
    connections[fd].waiting = true;
    if (++in_flight > most_in_flight) most_in_flight = in_flight;
    if (queue_tail - queue_head == 1) arm_timer();
}

/* Writes what is left; false when the connection is gone. */
static bool flush_out(int fd) {
    struct connection *c = &connections[fd];
    while (c->left > 0) {
        ssize_t sent = send(fd, c->out, c->left, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR) continue;
            if (errno != EAGAIN) return hang_up(fd), false;
            struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.fd = fd};
            epoll_ctl(poller, EPOLL_CTL_MOD, fd, &event);
            return true;
        }
        c->out += sent;
        c->left -= (size_t)sent;
    }
    return true;
}

static bool say(int fd, const char *bytes, size_t size) {
    connections[fd].out = bytes;
    connections[fd].left = size;
    return flush_out(fd);
}

static bool say_stats(int fd) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                 (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    char body[128];
    int size = snprintf(body, sizeof body, "{\"requests\": %lu, \"most_at_once\": %lu, \"cpu_s\": %.6f}", requests,
                        most_in_flight, cpu);
    char *out = connections[fd].stats;
    int head = sprintf(out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", size);
    memcpy(out + head, body, (size_t)size);
    return say(fd, out, (size_t)(head + size));
}

/* The size of the body that the head announces: 0 when it names none, -1 when it comes in chunks or is too long. */
static long body_size(const char *head, const char *end) {
    for (const char *line = head; line < end;) {
        if (!strncasecmp(line, "content-length:", 15)) {
            long size = strtol(line + 15, NULL, 10);
            return size >= 0 && size < (long)MOST_REQUEST ? size : -1;
        }
        if (!strncasecmp(line, "transfer-encoding:", 18)) return -1;
        line = memmem(line, (size_t)(end - line), "\r\n", 2);
        if (!line) break;
        line += 2;
    }
    return 0;
}

static bool answer(int fd, bool is_post, bool is_stats) {
    if (is_stats) return say_stats(fd);
    if (!is_post) return say(fd, models, models_size);
    requests++;
    if (latency_ns == 0) return say(fd, chat, chat_size);
    put_off(fd);
    return true;
}

/* Answers every whole request that was read, one after the other. */
static void serve(int fd) {
    struct connection *c = &connections[fd];
    while (!c->waiting && c->left == 0 && c->have > 0) {
        char *blank = memmem(c->in, c->have, "\r\n\r\n", 4);
        if (!blank) return;
        size_t head = (size_t)(blank - c->in) + 4;
        long body = body_size(c->in, blank + 2);
        if (body < 0) {
            if (say(fd, refusal, sizeof refusal - 1)) hang_up(fd);
            return;
        }
        size_t whole = head + (size_t)body;
        if (c->have < whole) return;
        bool is_post = !strncmp(c->in, "POST ", 5), is_stats = !strncmp(c->in, "GET /stats ", 11);
        memmove(c->in, c->in + whole, c->have - whole);
        c->have -= whole;
        if (!answer(fd, is_post, is_stats)) return;
    }
}

static void read_in(int fd) {
    struct connection *c = &connections[fd];
    for (;;) {
        if (c->room - c->have < 4096) {
            c->room = c->room ? c->room * 2 : 8192;
            if (c->room > 2 * MOST_REQUEST || !(c->in = realloc(c->in, c->room))) return hang_up(fd);
        }
        size_t space = c->room - c->have;
        ssize_t got = recv(fd, c->in + c->have, space, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) break;
        if (got <= 0) return hang_up(fd);
        c->have += (size_t)got;
        if ((size_t)got < space) break; /* the poll tells when there is more */
    }
    serve(fd);
}

static void write_out(int fd) {
    if (!flush_out(fd) || connections[fd].left > 0) return;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(poller, EPOLL_CTL_MOD, fd, &event);
    serve(fd);
}

static void accept_all(void) {
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) return;
        if (fd >= most_connections) {
            close(fd);
            continue;
        }
        int yes = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
    }
}

static void send_due(void) {
    uint64_t expirations, now = now_ns();
    if (read(timer, &expirations, sizeof expirations) < 0 && errno != EAGAIN) die("timer");
    while (queue_head != queue_tail && queue[queue_head].when <= now) {
        struct due due = queue[queue_head++];
        struct connection *c = &connections[due.fd];
        if (c->generation != due.generation) continue; /* the client hung up */
        c->waiting = false;
        in_flight--;
        if (say(due.fd, chat, chat_size)) serve(due.fd);
    }
    if (queue_head == queue_tail) queue_head = queue_tail = 0;
    arm_timer();
}

static void listen_on_loopback(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, SOMAXCONN)) die("listen");
    getsockname(listener, (struct sockaddr *)&address, &size);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
}

static void read_answer(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) die(path);
    static char body[1 << 20];
    size_t size = fread(body, 1, sizeof body, file);
    fclose(file);
    chat = with_head(body, size, &chat_size);
    const char *none = "{\"object\": \"list\", \"data\": []}";
    models = with_head(none, strlen(none), &models_size);
}

static void watch(int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event)) die("epoll_ctl");
}

static void set_up(const char *latency_ms, const char *answer_file) {
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max < 65536 ? files.rlim_max : 65536;
    setrlimit(RLIMIT_NOFILE, &files);
    most_connections = (int)files.rlim_cur;
    connections = calloc((size_t)most_connections, sizeof *connections);
    latency_ns = (uint64_t)(strtod(latency_ms, NULL) * 1e6);
    read_answer(answer_file);
    poller = epoll_create1(EPOLL_CLOEXEC);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    listen_on_loopback();
    watch(STDIN_FILENO);
    watch(timer);
    watch(listener);
}

static void handle(struct epoll_event *event) {
    int fd = event->data.fd;
    char byte;
    if (fd == STDIN_FILENO) {
        if (read(STDIN_FILENO, &byte, 1) <= 0) exit(0);
    } else if (fd == timer) {
        send_due();
    } else if (fd == listener) {
        accept_all();
    } else {
        uint32_t generation = connections[fd].generation;
        if (event->events & EPOLLOUT) write_out(fd);
        if (event->events & ~(uint32_t)EPOLLOUT && connections[fd].generation == generation) read_in(fd);
    }
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: stub LATENCY_MS ANSWER_FILE\n"), 2;
    set_up(arguments[1], arguments[2]);
    struct epoll_event events[EVENTS];
    for (;;) {
        int ready = epoll_wait(poller, events, EVENTS, -1);
        if (ready < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < ready; i++) handle(&events[i]);
    }
}
