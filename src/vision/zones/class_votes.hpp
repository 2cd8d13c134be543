#pragma once

#include <array>
#include <cstdint>

namespace saccade {

/// The most frequent class of a track, which a wrong class in some frames does not change. Exact for up to four
/// classes; a fifth replaces the rarest (A. Metwally et al., "Efficient computation of frequent and top-k elements in
/// data streams", 2005). Among equally frequent ones it is the one that was so first.
class ClassVotes {
 public:
  void add(int class_id) {
    std::size_t at = 0;
    while (at < used_ && votes_[at].class_id != class_id) ++at;
    if (at == used_ && used_ < votes_.size()) ++used_;
    if (at == votes_.size()) {
      at = 0;
      for (std::size_t i = 1; i < votes_.size(); ++i)
        if (votes_[i].count < votes_[at].count) at = i;
    }
    votes_[at].class_id = class_id;
    if (++votes_[at].count > votes_[most_].count) most_ = at;
  }
  /// After the first add().
  int most() const { return votes_[most_].class_id; }

 private:
  struct Vote {
    int class_id = 0;
    std::int64_t count = 0;
  };
  std::array<Vote, 4> votes_{};
  std::size_t used_ = 0;
  std::size_t most_ = 0;
};

}  // namespace saccade
