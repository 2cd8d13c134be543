#pragma once

namespace saccade::cpu {

/// OpenMP's library of the program, which oneDNN uses instead of our team if it is in the program's own scope: an
/// executable that is linked to libgomp. Our kernels use our team in any case.
struct ForeignOpenMp {
  /// omp_set_num_threads() and omp_get_max_threads(): of the calling thread.
  void (*set_num_threads)(int threads);
  int (*get_max_threads)();
  /// GOMP_parallel()
  void (*parallel)(void (*function)(void*), void* data, unsigned threads, unsigned flags);
};

/// Null if oneDNN uses our team.
const ForeignOpenMp* foreign_openmp();

}  // namespace saccade::cpu
