// Calls of operators as data, so that one test can spoil each view of each call in turn.
//
//   const OperatorCall call{"softmax", {{"x", "BD"}, {"y", "BD", ViewPart::written}},
//                           [](const CallViews& v) { softmax(v[0], v[1]); }};
//   EXPECT_EQ(complaints_about_bad_views(call, {{'B', 2}, {'D', 3}}), "");
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "heed/tensor/view.h"

namespace heed::testing {

enum class ViewPart {
  read,
  optional,  // read; may be an empty view
  written,
  wanted,  // written; may be an empty view
};

// A view of a call. Its numbers are all `value`, and so are its integers, unless these are listed.
struct CallView {
  std::string name;
  std::string axes;  // a letter for each axis, whose extent the test says
  ViewPart part = ViewPart::read;
  DType dtype = DType::f32;
  double value = 0.5;
  std::vector<Index> integers = {};
};

using CallViews = std::vector<View>;
using Extents = std::map<char, Index>;

struct OperatorCall {
  std::string name;  // which its errors begin with
  std::vector<CallView> views;
  std::function<void(const CallViews&)> run;
  std::string may_be_empty = {};  // axes of which an extent of 0 is no error
};

// Makes the call as it stands, which must succeed, and then with each view in turn
// - without memory, but with its extents: an error, unless the view is optional;
// - of each written one, with a stride of 0, or rows that reach into each other: an error;
// - of each written one, moved so that it lies partly in another view: an error;
// and with the extent of each axis
// - 0: no error where the call says so, else none or one;
// - 2^61, in views that repeat what they have: an error.
// An error is a heed::Error that begins with the call's name. Returns a line for each thing that is otherwise; "" where
// nothing is. What crashes, crashes.
std::string complaints_about_bad_views(const OperatorCall& call, const Extents& extents);

}  // namespace heed::testing
