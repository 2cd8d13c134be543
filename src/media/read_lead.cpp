#include "media/read_lead.hpp"

#include <algorithm>
#include <utility>

namespace saccade {

ReadLead::ReadLead(Clock::duration period) : period_(period), value_(period) {}

void ReadLead::add(Clock::duration time) {
  slowest_ = std::max(slowest_, time);
  const bool is_complete = ++reads_ == kReads;
  // Half as much again: the next read may be slower than all before.
  const Clock::duration wanted = std::max(slowest_, before_) * 3 / 2;
  if (is_complete) {
    value_ = std::min(std::max(wanted, period_ / 3), period_);
    before_ = std::exchange(slowest_, {});
    reads_ = 0;
  } else if (wanted > value_) {
    value_ = std::min(wanted, period_);
  }
}

}  // namespace saccade
