#pragma once

#include <cstddef>
#include <memory>

#include "pipeline/model/model_impl.hpp"
#include "vision/result_reader.hpp"

namespace saccade {

/// The tiles of a frame, and one result from theirs. Reuses its memory. One thread at a time.
class Tiling {
 public:
  virtual ~Tiling() = default;
  /// Lays out the tiles of FRAME, whose pixels must stay valid until finish(). Returns their number. Throws Error if
  /// there are too many, or the region of interest lies outside of FRAME.
  virtual std::size_t begin(const FrameView& frame) = 0;
  /// Whether begin() reads the pixels of FRAME, which must be on the host then.
  virtual bool reads_pixels() const { return false; }
  /// The pixels of tile I.
  virtual FrameView tile(std::size_t i) const = 0;
  /// Takes over the PREDICTIONS for tile I. Tiles are added in order; those for the last one must stay valid until
  /// finish().
  virtual void add(std::size_t i, const Result& predictions) = 0;
  /// Writes the predictions for the frame to RESULT, except for its faults. What they refer to is valid until the next
  /// begin().
  virtual void finish(Result& result) = 0;
};

/// Whether a model with CARD runs on tiles. Throws Error (kInvalidArgument) for tiles whose predictions cannot be
/// joined.
bool is_tiled(const Card& card, const ModelOptions& options);

/// Turns CARD into that of a tile, which is used as a whole. Returns the frame's region of interest.
std::optional<Region> take_region(Card& card);

/// How VISION runs on tiles by EXECUTION, with READER's limits; null if it runs on whole frames. VISION and EXECUTION's
/// memory outlive it.
std::unique_ptr<Tiling> make_tiling(const ModelOptions& options, const VisionPlan& vision, const ResultReader& reader,
                                    const Execution& execution);

}  // namespace saccade
