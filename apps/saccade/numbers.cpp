#include "numbers.hpp"

namespace saccade::app {

CLI::Validator number(double low, double high) {
  return {[low, high](std::string& text) {
            const std::optional<double> value = read_number<double>(text);
            const bool is_within = value && *value >= low && *value <= high;
            return is_within ? std::string() : fmt::format("'{}' is not a number from {} to {}", text, low, high);
          },
          ""};
}

}  // namespace saccade::app
