#pragma once

#include <span>
#include <string>

#include "base/log.hpp"
#include "pipeline/model/model_impl.hpp"

namespace saccade {

/// Warns that the file or folder PATH, which a sink has opened, does not hold what second models of MODELS predict for
/// objects.
inline void warn_of_second_models(const std::string& path, std::span<const Model> models) {
  for (const Model& model : models)
    if (impl_of(model).card().second)
      log(LogLevel::kWarning, "{} does not hold what {}'s second model predicts for the objects; --jsonl does", path,
          model.name());
}

}  // namespace saccade
