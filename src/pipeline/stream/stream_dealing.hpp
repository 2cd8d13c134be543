#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace saccade {

/// Deals streams out to devices. RATES of the streams in frames per second; 0: unknown, taken as the mean of the
/// others. COSTS: seconds that each device needs for a frame. Returns the index of the device of each stream. The
/// streams of the highest rates come first, and each gets the device that is then busy for the smallest share of the
/// time (longest processing time first: R. L. Graham, "Bounds on Multiprocessing Timing Anomalies", 1969).
std::vector<std::size_t> deal_streams(std::span<const double> rates, std::span<const double> costs);

}  // namespace saccade
