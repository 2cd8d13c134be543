#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "graph/graph.hpp"
#include "onnx.pb.h"

namespace saccade::fuzz {

/// What a model may take while it is fuzzed: small, so that limits are met often and at once.
inline constexpr std::size_t kMaxMemory = std::size_t{64} << 20;

/// Runs WORK; being refused is a good end. A std::bad_alloc gets through, and an Error of kInternal aborts: that is
/// what fuzzing looks for.
void expect_refusal_or_success(const std::function<void()>& work);

/// The graph of a file's bytes as the reader hands it out, through a file on disk or from the parsed protobuf.
Graph import_bytes(const std::uint8_t* data, std::size_t size);
Graph import_model(onnx::ModelProto model);

}  // namespace saccade::fuzz
