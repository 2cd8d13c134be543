#include "serve/parameters.hpp"

#include <algorithm>
#include <initializer_list>

#include "base/error.hpp"
#include "serve/memory_regions.hpp"

namespace saccade::serve {

void refuse_parameter(std::string_view name) {
  fail(ErrorCode::kInvalidArgument, "the parameter '{}' is not supported: a model is loaded as its file and card are",
       brief(name));
}

void check_parameter(std::string_view name, ParametersOf of) {
  using enum ParametersOf;
  const auto is_one_of = [name](std::initializer_list<std::string_view> known) {
    return std::ranges::find(known, name) != known.end();
  };
  const bool is_region = is_one_of({kRegion, kRegionBytes, kRegionOffset});
  switch (of) {
    case kRequest:
      if (is_one_of({"timeout", "binary_data_output"})) return;
      fail(ErrorCode::kInvalidArgument, "the parameter '{}' of the request is not known", brief(name));
    case kInput:
      if (is_region || name == "binary_data_size") return;
      fail(ErrorCode::kInvalidArgument, "the parameter '{}' of an input is not known", brief(name));
    case kOutput: break;
  }
  if (!is_region && !is_one_of({"binary_data", "classification"}))
    fail(ErrorCode::kInvalidArgument, "the parameter '{}' of an output is not known", brief(name));
}

}  // namespace saccade::serve
