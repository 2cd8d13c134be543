#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace saccade {

/// What a model runs on.
struct Device {
  /// What kind of device.
  enum class Kind : std::uint8_t {
    kAuto,       ///< chosen when a model is loaded: the device of a plan file; else the first GPU if it can be used and
                 ///< has a kernel for every operator of the model; else the CPU
    kCpu,        ///< this machine's processor
    kCuda,       ///< an NVIDIA GPU
    kReference,  ///< the slow kernels that define the correct results
  };
  Kind kind = Kind::kAuto;  ///< of device
  int ordinal = 0;          ///< of a GPU, among the visible ones

  /// This machine's processor.
  static constexpr Device cpu() noexcept { return {Kind::kCpu, 0}; }
  /// The GPU with that ORDINAL among the visible ones.
  static constexpr Device cuda(int ordinal = 0) noexcept { return {Kind::kCuda, ordinal}; }
  /// The slow kernels that define the correct results.
  static constexpr Device reference() noexcept { return {Kind::kReference, 0}; }
  /// The device of that NAME: "auto", "cpu", "cuda", "cuda:N" or "reference". Throws Error (kInvalidArgument).
  static Device parse(std::string_view name);

  friend bool operator==(const Device&, const Device&) = default;
};

/// "cpu"; "cuda" for the first GPU, else "cuda:N".
std::string to_string(const Device& device);
/// "auto", "cpu", "cuda", "reference"
std::string_view to_string(Device::Kind kind) noexcept;

/// The precision of the computation. The CPU computes in float32 or bfloat16, a GPU in any of them.
enum class Precision : std::uint8_t {
  kAuto,  ///< that of a plan file, else kFp32; decided by the command `compile` on a CPU
  kFp32,  ///< float32
  kTf32,  ///< float32 whose products have operands with 10 mantissa bits
  kFp16,  ///< IEEE binary16; values outside its range stay in float32
  kBf16,  ///< bfloat16
};

/// The precision of that NAME: "auto", "fp32", "tf32", "fp16" or "bf16". Throws Error (kInvalidArgument).
Precision parse_precision(std::string_view name);
/// "auto", "fp32", "tf32", "fp16", "bf16"
std::string_view to_string(Precision precision) noexcept;

}  // namespace saccade
