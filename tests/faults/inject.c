// Fails one call of a running program: for tests only, through LD_PRELOAD.
//
//   HOGBATCH_FAULT=write:3  fails the write of the third distinct call stack, once
//   HOGBATCH_FAULT_FILE     is made when the call has failed
//   HOGBATCH_FAULT_STACK=1  shows the call stack then
//
// Calls are counted once for each distinct call stack, and only those that the program itself or a
// plug-in of it makes, directly or through the standard library: what other libraries do with a
// failure is not in its hands.
#undef _FORTIFY_SOURCE  // it puts functions of its own in the place of those below
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kFrames = 24, kStacks = 1 << 16 };

static _Thread_local int inside;  // what this library calls is not counted
static atomic_flag lock = ATOMIC_FLAG_INIT;
static uint64_t seen[kStacks];
static int used;   // entries of `seen`: a full table would be searched for ever
static int count;  // of the program's own stacks
static int wanted;  // the n-th stack fails; 0: none
static char kind[16];
static int ready;  // the program has entered main: before that it cannot catch anything

__attribute__((constructor)) static void Begin(void) {
  inside = 1;
  void* frame[2];
  backtrace(frame, 2);  // loads the unwinder
  const char* fault = getenv("HOGBATCH_FAULT");
  const char* colon = fault ? strchr(fault, ':') : NULL;
  if (colon && (size_t)(colon - fault) < sizeof(kind)) {
    memcpy(kind, fault, (size_t)(colon - fault));
    wanted = atoi(colon + 1);
  }
  inside = 0;
}

static int (*program)(int, char**, char**);
static int Main(int argc, char** argv, char** environment) {
  ready = 1;
  return program(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  int (*next)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void),
              void (*)(void), void*);
  *(void**)&next = dlsym(RTLD_NEXT, "__libc_start_main");
  program = main;
  return next(Main, argc, argv, init, fini, rtld_fini, stack_end);
}

// Whether the first frame that belongs neither to this library nor to the C or C++ library is the
// program's.
static int IsOwn(void** frames, int depth) {
  for (int i = 2; i < depth; ++i) {
    Dl_info info;
    if (!dladdr(frames[i], &info) || !info.dli_fname) return 0;
    const char* slash = strrchr(info.dli_fname, '/');
    const char* name = slash ? slash + 1 : info.dli_fname;
    if (!strncmp(name, "libstdc++", 9) || !strncmp(name, "libc.", 5) ||
        !strncmp(name, "libfmt", 6) || !strncmp(name, "libinject", 9)) {
      continue;
    }
    return strstr(name, "hogbatch") != NULL;
  }
  return 0;
}

// Whether this call is to fail.
static int Fails(const char* what) {
  if (!ready || inside || wanted == 0 || strcmp(what, kind) != 0) return 0;
  inside = 1;
  void* frames[kFrames];
  const int depth = backtrace(frames, kFrames);
  uint64_t hash = 1469598103934665603u;
  for (int i = 2; i < depth; ++i) hash = (hash ^ (uintptr_t)frames[i]) * 1099511628211u;
  int fails = 0;
  while (atomic_flag_test_and_set(&lock)) {
  }
  size_t at = hash % kStacks;
  while (seen[at] != 0 && seen[at] != hash) at = (at + 1) % kStacks;
  if (seen[at] == 0 && used < kStacks / 2) {
    seen[at] = hash;
    ++used;
    if (IsOwn(frames, depth)) fails = ++count == wanted;
  }
  atomic_flag_clear(&lock);
  if (fails) {
    const char* path = getenv("HOGBATCH_FAULT_FILE");
    if (path) syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY, 0644));
    if (getenv("HOGBATCH_FAULT_STACK")) backtrace_symbols_fd(frames, depth, 2);
  }
  inside = 0;
  return fails;
}

ssize_t write(int fd, const void* bytes, size_t size) {
  if (fd > 2 && Fails("write")) return errno = ENOSPC, -1;
  return syscall(SYS_write, fd, bytes, size);
}

int fsync(int fd) {
  if (Fails("fsync")) return errno = EIO, -1;
  return (int)syscall(SYS_fsync, fd);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t place) {
  if (Fails("pwrite")) return errno = ENOSPC, -1;
  return syscall(SYS_pwrite64, fd, bytes, size, place);
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off_t place) {
  return pwrite(fd, bytes, size, place);
}

// The names that end in _chk are those of _FORTIFY_SOURCE.
ssize_t read(int fd, void* bytes, size_t size) {
  if (fd > 2 && Fails("read")) return errno = EIO, -1;
  return syscall(SYS_read, fd, bytes, size);
}
ssize_t __read_chk(int fd, void* bytes, size_t size, size_t room) {
  return size > room ? (abort(), -1) : read(fd, bytes, size);
}
ssize_t pread(int fd, void* bytes, size_t size, off_t place) {
  if (Fails("read")) return errno = EIO, -1;
  return syscall(SYS_pread64, fd, bytes, size, place);
}
ssize_t pread64(int fd, void* bytes, size_t size, off_t place) {
  return pread(fd, bytes, size, place);
}
ssize_t __pread_chk(int fd, void* bytes, size_t size, off_t place, size_t room) {
  return size > room ? (abort(), -1) : pread(fd, bytes, size, place);
}
ssize_t __pread64_chk(int fd, void* bytes, size_t size, off_t place, size_t room) {
  return __pread_chk(fd, bytes, size, place, room);
}

int ftruncate(int fd, off_t size) {
  if (Fails("truncate")) return errno = EIO, -1;
  return (int)syscall(SYS_ftruncate, fd, size);
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

int mkdir(const char* path, mode_t mode) {
  if (Fails("mkdir")) return errno = EACCES, -1;
  return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

char* mkdtemp(char* name) {
  if (Fails("mkdir")) return errno = EACCES, NULL;
  char* (*next)(char*);
  *(void**)&next = dlsym(RTLD_NEXT, "mkdtemp");
  return next(name);
}

int link(const char* from, const char* to) {
  if (Fails("link")) return errno = EPERM, -1;
  return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  if (Fails("link")) return errno = EPERM, -1;
  return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int flock(int fd, int operation) {
  if (Fails("flock")) return errno = ENOLCK, -1;
  return (int)syscall(SYS_flock, fd, operation);
}

int rename(const char* from, const char* to) {
  if (Fails("rename")) return errno = EACCES, -1;
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int Open(const char* path, int flags, va_list rest) {
  const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
  if (Fails("open")) return errno = EMFILE, -1;
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int fd = Open(path, flags, rest);
  va_end(rest);
  return fd;
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int fd = Open(path, flags, rest);
  va_end(rest);
  return fd;
}

int mkostemp(char* name, int flags) {
  if (Fails("open")) return errno = EMFILE, -1;
  int (*next)(char*, int);
  *(void**)&next = dlsym(RTLD_NEXT, "mkostemp");
  return next(name, flags);
}
int mkostemp64(char* name, int flags) { return mkostemp(name, flags); }

void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  if (Fails("mmap")) return errno = ENOMEM, MAP_FAILED;
  return (void*)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}
void* mmap64(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  return mmap(at, size, protection, flags, fd, offset);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) {
  if (Fails("thread")) return EAGAIN;
  int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  *(void**)&next = dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, attributes, body, argument);
}

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) { return Fails("memory") ? (errno = ENOMEM, NULL) : __libc_malloc(size); }
void* calloc(size_t n, size_t size) {
  return Fails("memory") ? (errno = ENOMEM, NULL) : __libc_calloc(n, size);
}
void* realloc(void* old, size_t size) {
  return Fails("memory") ? (errno = ENOMEM, NULL) : __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  return Fails("memory") ? (errno = ENOMEM, NULL) : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return Fails("memory") ? (errno = ENOMEM, NULL) : __libc_memalign(alignment, size);
}
int posix_memalign(void** to, size_t alignment, size_t size) {
  if (Fails("memory")) return ENOMEM;
  *to = __libc_memalign(alignment, size);
  return *to ? 0 : ENOMEM;
}
