#include "heed/testing/operator_call.h"

#include <algorithm>
#include <exception>

#include "heed/base/error.h"
#include "heed/tensor/tensor.h"

namespace heed::testing {
namespace {

bool is_written(const CallView& view) { return view.part == ViewPart::written || view.part == ViewPart::wanted; }
bool is_optional(const CallView& view) { return view.part == ViewPart::optional || view.part == ViewPart::wanted; }

View shaped(const CallView& view, const Extents& extents) {
  View shape;
  shape.dtype = view.dtype, shape.rank = static_cast<int>(view.axes.size());
  Index stride = 1;
  for (int axis = shape.rank - 1; axis >= 0; --axis) {
    shape.shape[axis] = extents.at(view.axes[static_cast<std::size_t>(axis)]);
    shape.stride[axis] = stride;
    stride *= shape.shape[axis];
  }
  return shape;
}

void set_integer(const View& view, Index at, Index value) {
  if (view.dtype == DType::i64) view.as<std::int64_t>()[at] = value;
  if (view.dtype == DType::i32) view.as<std::int32_t>()[at] = static_cast<std::int32_t>(value);
}

// The views of a call, each in memory of its own with as much behind it as the largest takes: one that is moved into
// another stays within what was allocated.
class Stage {
 public:
  Stage(const OperatorCall& call, const Extents& extents) {
    Index largest = 0;
    for (const CallView& view : call.views) {
      views.push_back(shaped(view, extents));
      largest = std::max(largest, views.back().size() * size_of(view.dtype));
    }
    for (std::size_t n = 0; n < views.size(); ++n) {
      memory_.push_back(Tensor::zeros(DType::i64, {2 * largest / 8 + 16}));
      views[n].data = memory_.back().view().data;
      fill(views[n], call.views[n].value);
      const std::vector<Index>& integers = call.views[n].integers;
      const Index count = std::min<Index>(std::ssize(integers), views[n].size());
      for (Index at = 0; at < count; ++at) set_integer(views[n], at, integers[static_cast<std::size_t>(at)]);
    }
  }

  CallViews views;

 private:
  std::vector<Tensor> memory_;
};

enum class Wanted { success, error, either };

class BadViews {
 public:
  BadViews(const OperatorCall& call, const Extents& extents) : call_(call), extents_(extents) {}

  std::string complaints() {
    expect(Wanted::success, Stage(call_, extents_), "as it stands");
    if (!complaints_.empty()) return complaints_;
    for (std::size_t n = 0; n < call_.views.size(); ++n) {
      take_memory_away(n);
      if (!is_written(call_.views[n])) continue;
      share_elements(n);
      for (std::size_t other = 0; other < call_.views.size(); ++other) move_into(n, other);
    }
    for (const auto& [axis, extent] : extents_) {
      empty(axis);
      enlarge(axis);
    }
    return complaints_;
  }

 private:
  const std::string& name(std::size_t n) const { return call_.views[n].name; }

  void expect(Wanted wanted, const Stage& stage, const std::string& what) {
    std::string error;
    try {
      call_.run(stage.views);
    } catch (const Error& refusal) {
      error = refusal.what();
    } catch (const std::exception& other) {
      complaints_ += call_.name + ", " + what + ": no heed::Error, but " + other.what() + "\n";
      return;
    }
    const bool named = error.empty() || error.starts_with(call_.name + ": ");
    const bool right = wanted == Wanted::either || error.empty() == (wanted == Wanted::success);
    if (!named || !right) complaints_ += call_.name + ", " + what + ": " + (error.empty() ? "no error" : error) + "\n";
  }

  void take_memory_away(std::size_t n) {
    Stage stage(call_, extents_);
    stage.views[n].data = nullptr;
    expect(is_optional(call_.views[n]) ? Wanted::either : Wanted::error, stage, name(n) + " without memory");
  }

  void share_elements(std::size_t n) {
    for (int axis = 0; axis < static_cast<int>(call_.views[n].axes.size()); ++axis)
      for (bool repeat : {true, false}) {
        Stage stage(call_, extents_);
        View& view = stage.views[n];
        if (view.shape[axis] < 2) continue;
        view.stride[axis] = repeat ? 0 : view.stride[axis] - 1;
        expect(Wanted::error, stage, name(n) + " as " + describe(view));
      }
  }

  void move_into(std::size_t n, std::size_t other) {
    constexpr Index kStep = 8;
    Stage stage(call_, extents_);
    View& moved = stage.views[n];
    const View& still = stage.views[other];
    if (n == other || moved.size() == 0 || still.size() * size_of(still.dtype) <= kStep) return;
    moved.data = still.as<char>() + kStep;
    expect(Wanted::error, stage, name(n) + " in a part of " + name(other));
  }

  void empty(char axis) {
    Extents none = extents_;
    none[axis] = 0;
    const bool legal = call_.may_be_empty.find(axis) != std::string::npos;
    expect(legal ? Wanted::success : Wanted::either, Stage(call_, none), std::string("no elements along ") + axis);
  }

  void enlarge(char axis) {
    Stage stage(call_, extents_);
    bool changed = false;
    for (std::size_t n = 0; n < call_.views.size(); ++n)
      for (int at = 0; at < stage.views[n].rank; ++at) {
        if (call_.views[n].axes[static_cast<std::size_t>(at)] != axis) continue;
        stage.views[n].shape[at] = Index{1} << 61;
        if (at + 1 < stage.views[n].rank) stage.views[n].stride[at] = 0;
        changed = true;
      }
    if (changed) expect(Wanted::error, stage, std::string("2^61 along ") + axis);
  }

  const OperatorCall& call_;
  const Extents& extents_;
  std::string complaints_;
};

}  // namespace

std::string complaints_about_bad_views(const OperatorCall& call, const Extents& extents) {
  return BadViews(call, extents).complaints();
}

}  // namespace heed::testing
