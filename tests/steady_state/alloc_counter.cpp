#include "steady_state/alloc_counter.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <vector>

// glibc's own functions, under the names by which a replacement can call them.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace saccade::test {
namespace {

using Owner = AllocCounter::Owner;

std::atomic<bool> counting{false};
thread_local bool inside = false;  // the counter's own allocations do not count

/// A calling address and its number of allocations; in an open-addressing table, since the table must not allocate.
struct Caller {
  std::atomic<void*> address{nullptr};
  std::atomic<int> owner{0};
  std::atomic<std::int64_t> count{0};
};
constexpr std::size_t kCallers = 4096;
std::array<Caller, kCallers> callers_seen;
std::atomic<std::int64_t> counts[AllocCounter::kOwners];

std::string_view library_of(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string_view path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(), [text](std::string_view start) { return text.starts_with(start); });
}

bool is_runtime(std::string_view library) {
  return library.empty() || starts_with_any(library, {"libc.so", "libstdc++", "libgcc_s", "ld-linux", "libm.so"});
}

Owner owner_of(std::string_view library) {
  if (starts_with_any(library, {"libsaccade", "cpu.so", "cuda.so", "ffmpeg.so", "images.so", "nvdec.so", "draw.so",
                                "onnx.so", "steady_state"}))
    return Owner::kOurs;
  if (starts_with_any(library, {"libav", "libsw", "libx264", "libdav1d", "libvpx"})) return Owner::kFfmpeg;
  return library.starts_with("libdnnl") ? Owner::kOneDnn : Owner::kOther;
}

void remember(void* address, Owner owner) {
  std::size_t at = std::hash<void*>()(address) % kCallers;
  for (std::size_t tries = 0; tries < kCallers; ++tries, at = (at + 1) % kCallers) {
    void* expected = nullptr;
    if (callers_seen[at].address.compare_exchange_strong(expected, address))
      callers_seen[at].owner = static_cast<int>(owner);
    if (callers_seen[at].address != address) continue;
    ++callers_seen[at].count;
    return;
  }
}

void note() {
  if (!counting.load(std::memory_order_relaxed) || inside) return;
  inside = true;
  std::array<void*, 32> frames{};
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  // Frame 0 is note(), frame 1 the replaced function: both are in the executable.
  Owner owner = Owner::kOther;
  void* who = nullptr;
  for (int i = 2; i < depth && who == nullptr; ++i) {
    const std::string_view library = library_of(frames[static_cast<std::size_t>(i)]);
    if (is_runtime(library)) continue;
    owner = owner_of(library);
    who = frames[static_cast<std::size_t>(i)];
  }
  ++counts[static_cast<int>(owner)];
  remember(who, owner);
  inside = false;
}

std::string function_of(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_sname == nullptr) return "?";
  int status = 0;
  char* demangled = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : info.dli_sname;
  std::free(demangled);
  return name;
}

}  // namespace

void AllocCounter::start() {
  void* warm_up[1];
  backtrace(warm_up, 1);  // its first call loads a library
  for (auto& count : counts) count = 0;
  for (Caller& caller : callers_seen) {
    caller.address = nullptr;
    caller.count = 0;
  }
  counting = true;
}

void AllocCounter::stop() { counting = false; }

std::int64_t AllocCounter::count(Owner owner) { return counts[static_cast<int>(owner)]; }

std::string_view AllocCounter::name(Owner owner) {
  constexpr std::array<std::string_view, kOwners> names = {"saccade", "FFmpeg", "oneDNN", "other libraries"};
  return names[static_cast<std::size_t>(owner)];
}

std::string AllocCounter::callers(Owner owner) {
  std::map<std::string, std::int64_t> by_name;
  for (const Caller& caller : callers_seen)
    if (caller.count != 0 && caller.owner == static_cast<int>(owner))
      by_name[std::string(library_of(caller.address)) + ": " + function_of(caller.address)] += caller.count;
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [name, count] : by_name) sorted.emplace_back(count, name);
  std::sort(sorted.rbegin(), sorted.rend());
  std::string text;
  for (const auto& [count, name] : sorted) text += "    " + std::to_string(count) + " " + name + "\n";
  return text;
}

}  // namespace saccade::test

extern "C" {

void* malloc(std::size_t size) {
  saccade::test::note();
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  saccade::test::note();
  return __libc_calloc(count, size);
}

void* realloc(void* block, std::size_t size) {
  saccade::test::note();
  return __libc_realloc(block, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  saccade::test::note();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  saccade::test::note();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  saccade::test::note();
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}
}
