#include <array>

#include "base/error.hpp"
#include "saccade/tensor.hpp"
#include "tensor/frame.hpp"

namespace saccade {
namespace {

struct Row {
  std::string_view name;
  std::size_t bits;
};

// In the order of DType.
constexpr std::array kRows = {
    Row{"float32", 32},
    Row{"float16", 16},
    Row{"bfloat16", 16},
    Row{"float64", 64},
    Row{"int8", 8},
    Row{"uint8", 8},
    Row{"int16", 16},
    Row{"uint16", 16},
    Row{"int32", 32},
    Row{"uint32", 32},
    Row{"int64", 64},
    Row{"uint64", 64},
    Row{"bool", 8},
    Row{"string", 8 * sizeof(std::string)},
    Row{"complex64", 64},
    Row{"complex128", 128},
    Row{"float8e4m3fn", 8},
    Row{"float8e4m3fnuz", 8},
    Row{"float8e5m2", 8},
    Row{"float8e5m2fnuz", 8},
    Row{"float8e8m0", 8},
    Row{"float4e2m1", 4},
    Row{"int4", 4},
    Row{"uint4", 4},
    Row{"int2", 2},
    Row{"uint2", 2},
    Row{"frame", 8 * sizeof(FrameView)},
};
static_assert(kRows.size() == static_cast<std::size_t>(DType::kFrame) + 1);

const Row& row(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::string_view to_string(DType dtype) { return row(dtype).name; }

std::size_t bits_of(DType dtype) { return row(dtype).bits; }

}  // namespace saccade
