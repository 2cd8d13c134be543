#include "pipeline/sinks/mask_json.hpp"

namespace saccade {

void append_mask(JsonBuffer& out, std::span<const MaskRun> runs, int width, int height, RunLengths& lengths) {
  append(out, R"({{"size":[{},{}],"counts":)", height, width);
  append_json_string(out, lengths.encode_text(runs, width, height));
  append(out, "}}");
}

}  // namespace saccade
