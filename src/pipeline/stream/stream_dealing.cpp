#include "pipeline/stream/stream_dealing.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace saccade {
namespace {

double mean_of_known(std::span<const double> rates) {
  const auto is_known = [](double rate) { return rate > 0; };
  const auto known = std::ranges::count_if(rates, is_known);
  return known == 0 ? 1 : std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(known);
}

}  // namespace

std::vector<std::size_t> deal_streams(std::span<const double> rates, std::span<const double> costs) {
  const double usual = mean_of_known(rates);
  const auto rate_of = [&](std::size_t stream) { return rates[stream] > 0 ? rates[stream] : usual; };
  std::vector<std::size_t> order(rates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), rate_of);

  std::vector<std::size_t> device_of(rates.size());
  std::vector<double> busy(costs.size());  // shares of the time
  for (const std::size_t stream : order) {
    const auto share_with = [&](std::size_t device) { return busy[device] + rate_of(stream) * costs[device]; };
    std::size_t best = 0;
    for (std::size_t device = 1; device < costs.size(); ++device)
      if (share_with(device) < share_with(best)) best = device;
    busy[best] = share_with(best);
    device_of[stream] = best;
  }
  return device_of;
}

}  // namespace saccade
