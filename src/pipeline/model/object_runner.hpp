#pragma once

#include <string>
#include <vector>

#include "pipeline/model/model_runner.hpp"
#include "vision/cards/card.hpp"

namespace saccade {

/// The second model, on the objects of a frame. Allocates for the first frame of each size only. One thread at a
/// time.
class ObjectRunner {
 public:
  /// SECOND is that of the card. Compiles it if necessary. Throws Error.
  ObjectRunner(const SecondModel& options, const Model& second);

  /// Adds the second model's predictions to RESULT's objects, which are valid until the next call, and its time to the
  /// latency of the model. FRAME's pixels are read. Throws Error if the model can't run on a crop.
  void run(const Frame& frame, Result& result);
  /// Number of crops of the last frame.
  std::size_t crops() const { return crops_; }
  ModelRunner& runner() { return runner_; }

 private:
  /// What the model predicted for an object, by index: the vectors move while they are collected.
  struct Taken {
    std::size_t object = 0;
    std::size_t embedding = 0;
    std::size_t classes = 0;
    std::size_t text = 0;
    float text_confidence = 0;
  };

  void warm_up(const Frame& frame, const FrameView& pixels_there, bool is_oriented);
  std::optional<FrameView> crop_of(const Detection& object, const FrameView& frame);
  std::uint8_t* pixels_for(int width, int height);
  void choose(const Result& result);
  bool is_wanted(const Detection& object) const;
  void run_on(const FrameView& crop, const Frame& frame);
  /// FRAME's pixels where crops of them can be taken.
  FrameView pixels_of(const Frame& frame, bool is_oriented) const;
  void take(std::size_t object);
  void hand_over(Result& result) const;

  SecondModel options_;
  ModelRunner runner_;
  Frame crop_;
  std::vector<std::size_t> chosen_;  ///< objects, in descending order of confidence
  std::vector<Taken> taken_;
  std::vector<float> embeddings_;
  std::vector<Classification> classes_;
  std::string texts_;
  std::vector<std::uint8_t> pixels_;  ///< of the current crop, unless it is a part of the frame
  int width_ = 0;                     ///< of the second model's input
  int height_ = 0;
  std::size_t crops_ = 0;
  int warm_width_ = 0;
  int warm_height_ = 0;
};

}  // namespace saccade
