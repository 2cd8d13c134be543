#pragma once

#include "vision/attach.hpp"
#include "vision/fragment.hpp"

namespace saccade {

/// Says in ATTRIBUTES, as saccade.Preprocess has them, where a frame lies in CARD's image.
void set_placement(Attributes& attributes, const Card& card);

/// What a decoder builds with: its head's outputs, what is asked of them, and where its predictions go.
class Attachment {
 public:
  /// An answer and the value that holds it.
  struct Given {
    AnswerOutput answer;
    ValueId value;
  };

  /// WHERE is the geometry. Answers are added to GIVEN.
  Attachment(Graph& graph, const Card& from, const PostOptions& asked, std::size_t place, ValueId where,
             std::vector<Given>& given)
      : post(graph, Stage::kPost),
        card(from),
        head(from.heads[place]),
        options(asked),
        geometry(where),
        place_(place),
        given_(given) {}

  /// An output that the head reads, as float32.
  ValueId output(std::size_t role);

  /// The confidence asked for.
  float conf() const;
  /// bool [classes], or kNone where all classes are asked for: of heads behind the first always, since the ids asked
  /// for are the first one's.
  ValueId class_filter();
  /// The attributes that decoders of boxes take: conf, threshold, multi_label, remap.
  void set_candidate_attributes(Node& node) const;

  /// Objects that were chosen.
  struct Objects {
    ValueId detections;  ///< [N, 6 or 7]
    ValueId count;       ///< int32 [1]
    ValueId anchors;     ///< int32 [N]: where in the output each comes from
  };
  /// A decoder's node, its inputs set, to candidates, and the choice among them; both become answers.
  Objects choose(Node decoder);
  /// The same from boxes float32 [1, A, 4] (corners in the model's pixels; [1, A, 5]: turned) and scores
  /// float32 [1, A, classes].
  Objects choose(ValueId boxes, ValueId scores);
  /// Points float32 [1, N, K * NUMBERS] (x, y, ... in the model's pixels) of the chosen objects become a prediction.
  /// Throws Error (kInvalidFile) where these are no points, as under a card of another number of them.
  void give_keypoints(ValueId points, std::int64_t numbers);

  /// GRIDS of masks of COUNT objects, KIND saying how they lie, become a prediction, and the runs that are traced from
  /// them. DETECTIONS are not asked for where masks may be anywhere.
  void give_masks(Answer kind, ValueId grids, ValueId count, ValueId detections = ValueId::kNone);

  void give(Answer kind, ValueId value);

  Fragment post;
  const Card& card;
  const Head& head;
  const PostOptions& options;
  const ValueId geometry;  ///< of saccade.Preprocess

 private:
  std::size_t place_;
  std::vector<Given>& given_;
};

}  // namespace saccade
