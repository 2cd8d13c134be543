#pragma once

// Errors that a CPU would not trap. Kernels are compiled with sanitizer checks of alignment, array bounds, shifts and
// division by zero; these are their handlers. The first three words of their argument give the source location.
namespace {
namespace cpu {

struct CheckedPlace {
  const char* file;
  unsigned line, column;
};
inline void fail_check(const void* data, const char* text) {
  const auto* place = static_cast<const CheckedPlace*>(data);
  runtime.fail({"check", place->file, static_cast<int>(place->line)}, text);
}

}  // namespace cpu
}  // namespace

#define SACCADE_CHECK(name, text, ...)                                                                        \
  extern "C" __attribute__((used, visibility("hidden"))) void __ubsan_handle_##name##_abort(const void* data, \
                                                                                            ##__VA_ARGS__) {  \
    cpu::fail_check(data, text);                                                                              \
  }
SACCADE_CHECK(type_mismatch_v1, "an address is misaligned for what is read or written there", size_t)
SACCADE_CHECK(out_of_bounds, "an index is outside of its array", size_t)
SACCADE_CHECK(shift_out_of_bounds, "a shift by as many bits as the type has, or more", size_t, size_t)
SACCADE_CHECK(divrem_overflow, "an integer is divided by zero", size_t, size_t)
#undef SACCADE_CHECK
