// An array and what it is called in messages; read from the command line, from a file, or given by a caller.
//
//   NamedArray q = read_array("--q", "[[1, 0, 1], [0, 1, 1]]");       // written out
//   NamedArray k = read_array("--k", "k.npy");                         // or in a file: NumPy's, JSON, or rows of text
//   read_array("--q", "[[1, 0, 1], [0, 1]]");                          // "--q: row 2 has 2 numbers, but row 1 has 3"
#pragma once

#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/tensor/tensor.h"

namespace heed {

struct NamedArray {
  std::string name{};
  Tensor tensor{};

  bool is_empty() const { return name.empty(); }  // nothing was given
  // "--q is f64 [2, 3]": for messages.
  std::string text() const;
};

// The array that an option's argument is or names: lists within lists of numbers or of true and false, as JSON has
// them, where it begins with "["; else a file. A file is NumPy's, or JSON's lists, or text: a row of numbers a line,
// parted by spaces, tabs, commas or semicolons, where '#' begins a comment and empty lines mean nothing. A single list
// of numbers is one row. Numbers become f64, of rank 2 to 4; true and false become boolean. Throws heed::Error of one
// line that names the option and the place: for rows of unequal lengths, for what is no number, for no numbers at all,
// for more than kMostArrayNumbers numbers or a file that is larger than so many could be.
NamedArray read_array(std::string_view option, const std::string& argument);
// The same of a file's bytes.
NamedArray parse_array(std::string_view bytes, const std::string& name);

inline constexpr Index kMostArrayNumbers = Index{1} << 20;

// f64 [...] of an array of numbers of any type, contiguous. Throws heed::Error that names the array where it holds no
// numbers, and where its rank is not 2 to 4.
NamedArray as_numbers(const NamedArray& array);
// boolean [...] of an array of true and false, or of numbers that are 0 or 1. Throws heed::Error that names the array.
NamedArray as_allowed(const NamedArray& array);

}  // namespace heed
