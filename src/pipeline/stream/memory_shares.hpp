#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "pipeline/model/model_set.hpp"
#include "saccade/source.hpp"

namespace saccade {

/// What the parts of a pipeline take of its memory limit, as far as it is known before the first frame.
class MemoryShares {
 public:
  /// Weights and activations of a model and its second model. Models that share a plan share its weights.
  void add_model(ModelRunner& model);
  /// BUFFERS frames of the size that SOURCE begins with; nothing if that is unknown.
  void add_frames(const SourceInfo& source, std::size_t buffers);
  /// RUNS results of each model, without what depends on the frame (masks, texts, second models).
  void add_results(ModelSet& models, std::size_t runs);

  /// Throws Error (kUnsupported) unless they fit into LIMIT bytes: it lists them, the largest first.
  void check(std::size_t limit) const;
  /// What LIMIT leaves for frames; at least 1, since 0 is no limit.
  std::size_t left_for_frames(std::size_t limit) const;

 private:
  struct Share {
    std::string what;
    std::size_t bytes = 0;
  };
  void add(std::string what, std::size_t bytes);

  std::vector<Share> shares_;
  std::set<const Plan*> plans_;
  std::size_t total_ = 0;
  std::size_t frames_ = 0;  ///< of the total
};

}  // namespace saccade
