#include "cpu/team/foreign_openmp.hpp"

#include <dlfcn.h>

#include <optional>

namespace saccade::cpu {
namespace {

const void* base_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

std::optional<ForeignOpenMp> find() {
  // oneDNN's symbols are looked up in the same order: the program's scope, then that of this module.
  void* parallel = dlsym(RTLD_DEFAULT, "GOMP_parallel");
  void* set_num_threads = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
  void* get_max_threads = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
  if (parallel == nullptr || set_num_threads == nullptr || get_max_threads == nullptr) return std::nullopt;
  if (base_of(parallel) == base_of(reinterpret_cast<const void*>(&foreign_openmp))) return std::nullopt;
  return ForeignOpenMp{.set_num_threads = reinterpret_cast<decltype(ForeignOpenMp::set_num_threads)>(set_num_threads),
                       .get_max_threads = reinterpret_cast<decltype(ForeignOpenMp::get_max_threads)>(get_max_threads),
                       .parallel = reinterpret_cast<decltype(ForeignOpenMp::parallel)>(parallel)};
}

}  // namespace

const ForeignOpenMp* foreign_openmp() {
  static const std::optional<ForeignOpenMp> found = find();
  return found ? &*found : nullptr;
}

}  // namespace saccade::cpu
