#include "measure/limits/ceilings.hpp"

#include <algorithm>

namespace saccade {

double Bandwidth::most() const { return std::max({read, write, copy, mixed}); }

double Ceilings::peak(OperandType precision) const {
  double peak = 0;
  for (const ComputeCeiling& ceiling : compute)
    if (bits_of(ceiling.precision) >= bits_of(precision)) peak = std::max(peak, ceiling.all);
  return peak;
}

double Ceilings::winograd_peak(OperandType precision) const {
  constexpr double kSaved = 4;
  return std::max(peak(precision), winograd ? kSaved * peak(OperandType::kFloat32) : 0);
}

void raise(Bandwidth& bandwidth, const Bandwidth& other) {
  bandwidth.read = std::max(bandwidth.read, other.read);
  bandwidth.write = std::max(bandwidth.write, other.write);
  bandwidth.copy = std::max(bandwidth.copy, other.copy);
  bandwidth.mixed = std::max(bandwidth.mixed, other.mixed);
}

void raise(Ceilings& ceilings, const Ceilings& other) {
  for (const ComputeCeiling& from : other.compute) {
    const auto found = std::ranges::find_if(ceilings.compute, [&](const ComputeCeiling& to) {
      return to.instructions == from.instructions && to.precision == from.precision;
    });
    if (found == ceilings.compute.end()) {
      ceilings.compute.push_back(from);
      continue;
    }
    found->one_core = std::max(found->one_core, from.one_core);
    found->all = std::max(found->all, from.all);
  }
  for (const MemoryCeiling& from : other.memory) {
    for (MemoryCeiling& to : ceilings.memory) {
      if (to.level != from.level) continue;
      raise(to.one_core, from.one_core);
      raise(to.all, from.all);
    }
  }
  ceilings.clock = std::min(ceilings.clock, other.clock);
  ceilings.syscall = std::min(ceilings.syscall, other.syscall);
  ceilings.launch = std::min(ceilings.launch, other.launch);
  ceilings.parallel = std::min(ceilings.parallel, other.parallel);
  ceilings.run = std::min(ceilings.run, other.run);
}

}  // namespace saccade
