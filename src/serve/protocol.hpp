#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/job.hpp"
#include "serve/repository.hpp"
#include "serve/signature.hpp"

namespace saccade::serve {

// What the Open Inference Protocol (KServe v2) has in common by HTTP and by gRPC.

inline constexpr std::string_view kServer = "saccade";
inline constexpr std::string_view kVersion = "1";  ///< of every model
inline constexpr std::string_view kPlatform = "saccade_onnx";
inline constexpr std::string_view kBackend = "saccade";
/// Why a model that can be loaded is not there.
inline constexpr std::string_view kNotLoaded = "not loaded";

/// Why the parameter "classification" of an output is refused.
inline constexpr std::string_view kNoClassification =
    "the parameter 'classification' is not supported: use POST /predict";

/// As MODELS.with(), for the VERSION of the model; empty: any. False if there is none.
bool with_version(const Repository& models, std::string_view name, std::string_view version,
                  const std::function<void(ServedModel&)>& use);

/// The sentence for a client whose model is not there.
std::string unknown_model(const Repository& models, std::string_view name, std::string_view version);

/// The parameter "timeout", a day at most; nullopt for 0.
inline std::optional<std::chrono::microseconds> timeout_of(std::uint64_t microseconds) {
  constexpr std::uint64_t kLongest = 86'400'000'000;
  if (microseconds == 0) return std::nullopt;
  return std::chrono::microseconds(std::min(microseconds, kLongest));
}

/// The dimension of OUTPUT along which a request's images lie; nullopt: there is none.
std::optional<int> image_axis_of(const Signature& model, std::size_t output);

/// The shape of a tensor in the configuration that Triton's tools read: without the dimension of images.
std::vector<std::int64_t> configured_shape(const Signature& model, const TensorInfo& tensor);

}  // namespace saccade::serve
