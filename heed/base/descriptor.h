// What is open, and closed by its owner.
//
//   const Descriptor file(uninterrupted([&] { return ::open(path, O_RDONLY | O_CLOEXEC); }));
#pragma once

#include <unistd.h>

#include <utility>

namespace heed {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    close();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  ~Descriptor() { close(); }

  bool open() const { return number_ >= 0; }
  int number() const { return number_; }
  // What close says is not asked for: the descriptor is gone in any case, and what must last was flushed before.
  void close() {
    if (open()) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace heed
