// A library to be loaded first (LD_PRELOAD): the n-th call of one kind fails once, as the system might let it fail.
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <pthread.h>
#include <sys/types.h>

namespace {

enum Kind : int { none, allocation, thread, write_call, rename_call, sync_call };

std::atomic<int> armed{none};
std::atomic<long> left{0};
std::atomic<long> fired{0};

/// Whether this is the call that fails.
bool fails(Kind kind) {
    if (armed.load() != kind || left.fetch_sub(1) != 1)
        return false;
    fired.fetch_add(1);
    return true;
}

template <class Function> Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" {

void fault_arm(int kind, long call) {
    left = call;
    fired = 0;
    armed = kind;
}

/// Returns how many calls have failed.
long fault_disarm() {
    armed = none;
    return fired;
}

int pthread_create(pthread_t* id, const pthread_attr_t* how, void* (*work)(void*), void* with) noexcept {
    static const auto real = next<decltype(&pthread_create)>("pthread_create");
    return fails(thread) ? EAGAIN : real(id, how, work, with);
}

ssize_t write(int file, const void* bytes, size_t count) {
    static const auto real = next<decltype(&write)>("write");
    if (!fails(write_call))
        return real(file, bytes, count);
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
    static const auto real = next<decltype(&pwrite64)>("pwrite64");
    if (!fails(write_call))
        return real(file, bytes, count, at);
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) { return pwrite64(file, bytes, count, at); }

int rename(const char* from, const char* to) noexcept {
    static const auto real = next<decltype(&rename)>("rename");
    if (!fails(rename_call))
        return real(from, to);
    errno = EIO;
    return -1;
}

int fsync(int file) {
    static const auto real = next<decltype(&fsync)>("fsync");
    if (!fails(sync_call))
        return real(file);
    errno = EIO;
    return -1;
}

} // extern "C"

void* operator new(std::size_t size) {
    void* memory = fails(allocation) ? nullptr : std::malloc(size ? size : 1);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
