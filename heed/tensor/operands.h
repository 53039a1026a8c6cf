// What every operator asks of its views before it touches them, so that a wrong call throws instead of reading what is
// not there or writing what it still has to read.
//
//   check_operands("rotary", {{"cos", cos}, {"positions", positions, kOptional}}, {{"out", out}}, {{"x", x}});
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "heed/tensor/view.h"

namespace heed {

inline constexpr bool kOptional = true;

struct Operand {
  std::string_view name;
  ConstView view;
  bool optional = false;  // an empty view stands for "not given" or "not wanted"
};

// The operands of a call, listed in braces or in an array. It refers to them: for arguments only.
class OperandList {
 public:
  OperandList(std::initializer_list<Operand> list) : list_(list.begin(), list.size()) {}
  OperandList(std::span<const Operand> list) : list_(list) {}
  const Operand* begin() const { return list_.data(); }
  const Operand* end() const { return list_.data() + list_.size(); }

 private:
  std::span<const Operand> list_;
};

// Checks one view: it has memory unless it has no elements (or is optional), its rank is at most kMaxRank and its
// extents are not negative, and neither its elements nor the bytes that it spans are more than 2^56, so that sizes can
// be computed with. Throws heed::Error naming `function` and the view.
void check_operand(std::string_view function, const Operand& operand);

// Checks a view that is written: as above, and no two of its elements share memory.
void check_written(std::string_view function, const Operand& operand);

// Checks that a written view shares no memory with another one.
void check_apart(std::string_view function, const Operand& written, const Operand& other);

// All of that for one call. A written view shares no memory with what is read or with another written one; it may be a
// view of `replaced`, which are read too, whole, element for element. O(rank) for each pair, without an allocation.
void check_operands(std::string_view function, OperandList read, OperandList written, OperandList replaced = {});

}  // namespace heed
