// One rendering of a template: where it is, and what it may still use. A template comes with a model, and nobody has
// looked at it: whatever it says, a rendering ends, in bounded memory and on a bounded stack.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/index.h"

namespace heed::jinja {

// What lives until the rendering ends, because it can come to hold itself: namespaces, and scopes that macros see.
class Kept {
 public:
  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  virtual ~Kept() = default;
  virtual void forget() = 0;  // all that it holds
};

class Run {
 public:
  // Steps: one for each expression, statement and item, and for each kBytesOfStep bytes of a text that is made.
  static constexpr Index kMostSteps = 10'000'000;
  static constexpr Index kBytesOfStep = 32;
  static constexpr Index kStepsOfKept = 16;  // for its memory
  static constexpr int kDeepest = 400;       // expressions, statements and macros within each other
  static constexpr int kDeepestValue = 100;  // lists and the like within each other

  explicit Run(std::string_view place) : place_(place) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    for (const auto& one : kept_) one->forget();
  }

  // Throws heed::Error that names the template and the line that is being read or carried out.
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    refuse_with(fmt::format(format, std::forward<Args>(args)...));
  }

  void at_line(int line) { line_ = line; }
  int line() const { return line_; }

  void spend(Index steps) {
    if (steps > left_) refuse("the template goes on for more than {} steps", kMostSteps);
    left_ -= steps;
  }
  void spend_on_text(std::size_t bytes) { spend(static_cast<Index>(bytes) / kBytesOfStep); }

  void keep(std::shared_ptr<Kept> one) {
    spend(kStepsOfKept);
    kept_.push_back(std::move(one));
  }

  // As long as one lives, the stack is one deeper.
  class Level {
   public:
    explicit Level(Run& run) : run_(run) {
      if (run_.depth_ >= kDeepest) run_.refuse("more than {} things within each other", kDeepest);
      ++run_.depth_;
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --run_.depth_; }

   private:
    Run& run_;
  };

 private:
  [[noreturn]] void refuse_with(const std::string& what) const { fail("{}: line {}: {}", place_, line_, what); }

  std::string_view place_;
  int line_ = 1, depth_ = 0;
  Index left_ = kMostSteps;
  std::vector<std::shared_ptr<Kept>> kept_;
};

}  // namespace heed::jinja
