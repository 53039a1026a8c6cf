#include "heed/metrics/ngram_model.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"

namespace heed {

NgramModel::NgramModel(int order) {
  HEED_CHECK(order >= 1 && order <= 8, "NgramModel: order must be from 1 to 8, but is {}", order);
  orders_.resize(static_cast<std::size_t>(order));
}

void NgramModel::add(std::span<const int> document) {
  HEED_CHECK(ids_ == 0, "NgramModel: add after finish");
  if (document.size() < 2) return;
  Key text;
  for (int id : document) {
    HEED_CHECK(id >= 0, "NgramModel: an id must not be negative, but is {}", id);
    text.push_back(static_cast<char32_t>(id));
    greatest_ = std::max(greatest_, text.back());
  }
  // The longest n-gram that ends at each id; shorter ones follow from these.
  const std::size_t order = orders_.size();
  for (std::size_t i = 1; i < text.size(); ++i) {
    const std::size_t length = std::min(order, i + 1);
    orders_[length - 1].counts[text.substr(i + 1 - length, length)] += 1;
  }
}

void NgramModel::finish(Index ids) {
  const bool any = std::ranges::any_of(orders_, [](const Order& o) { return !o.counts.empty(); });
  HEED_CHECK(any, "NgramModel: nothing was counted");
  HEED_CHECK(static_cast<Index>(greatest_) < ids, "NgramModel: an id is {}, of {} ids", static_cast<Index>(greatest_),
             ids);
  ids_ = ids;
  // Each different n-gram is one more id before the n-gram without its first.
  for (std::size_t n = orders_.size(); n > 1; --n) {
    for (const auto& [ngram, count] : orders_[n - 1].counts) orders_[n - 2].counts[ngram.substr(1)] += 1;
  }
  for (Order& order : orders_) {
    double once = 0, twice = 0;
    for (const auto& [ngram, count] : order.counts) {
      once += count == 1, twice += count == 2;
      Order::Context& context = order.contexts[ngram.substr(0, ngram.size() - 1)];
      context.total += count;
      context.followers += 1;
    }
    // Counts without ones or twos are too few to tell.
    if (once > 0 && twice > 0) order.discount = once / (once + 2 * twice);
  }
}

double NgramModel::probability(const Key& history, char32_t id) const {
  double p = 1 / static_cast<double>(ids_);
  for (std::size_t n = 1; n <= history.size() + 1; ++n) {
    const Order& order = orders_[n - 1];
    const Key context = history.substr(history.size() + 1 - n);
    const auto found = order.contexts.find(context);
    if (found == order.contexts.end()) break;  // nor was a longer one seen
    const auto counted = order.counts.find(context + id);
    const double count = counted == order.counts.end() ? 0 : counted->second;
    const auto& [total, followers] = found->second;
    p = (std::max(count - order.discount, 0.0) + order.discount * followers * p) / total;
  }
  return p;
}

double NgramModel::log_probability(std::span<const int> history, int id) const {
  HEED_CHECK(ids_ > 0, "NgramModel: log_probability before finish");
  HEED_CHECK(id >= 0 && id < ids_, "NgramModel: an id is {}, of {} ids", id, ids_);
  history = history.last(std::min(history.size(), orders_.size() - 1));
  return std::log(probability(Key(history.begin(), history.end()), static_cast<char32_t>(id)));
}

double NgramModel::log_probability(std::span<const int> document) const {
  double sum = 0;
  for (std::size_t i = 1; i < document.size(); ++i) sum += log_probability(document.first(i), document[i]);
  return sum;
}

}  // namespace heed
