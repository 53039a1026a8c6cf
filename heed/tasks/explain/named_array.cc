#include "heed/tasks/explain/named_array.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file_reader.h"
#include "heed/base/printable.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/io/npy.h"

namespace heed {
namespace {

constexpr int kMostAxes = 4;
constexpr Index kMostBytes = kMostArrayNumbers * 32;          // a number and what parts it from the next takes fewer
constexpr std::size_t kMostListBytes = std::size_t{1} << 23;  // a list's values take many times its text
constexpr std::string_view kNumpy = "\x93NUMPY";

Tensor shaped(const Tensor& numbers, const std::vector<Index>& shape) {
  switch (shape.size()) {
    case 1:
      return numbers.reshape({1, shape[0]});
    case 2:
      return numbers.reshape({shape[0], shape[1]});
    case 3:
      return numbers.reshape({shape[0], shape[1], shape[2]});
    default:
      return numbers.reshape({shape[0], shape[1], shape[2], shape[3]});
  }
}

// --- Lists within lists ----------------------------------------------------------------------------------------------

class ListReader {
 public:
  explicit ListReader(std::string name) : name_(std::move(name)) {}

  Tensor read(const Json& lists) {
    for (Json list = lists; list.kind() == Json::Kind::array; list = list[0]) {
      HEED_CHECK(shape_.size() < kMostAxes, "{}: has lists within lists {} deep, but an array has at most {} axes",
                 name_, shape_.size() + 1, kMostAxes);
      HEED_CHECK(list.size() > 0, "{}: has a list without numbers", name_);
      shape_.push_back(list.size());
    }
    take(lists, 0);
    if (booleans_ == 0) return shaped(Tensor::from(numbers_, {static_cast<Index>(numbers_.size())}), shape_);
    HEED_CHECK(booleans_ == numbers_.size(), "{}: has both numbers and true or false", name_);
    const Tensor flags = Tensor::empty(DType::boolean, {static_cast<Index>(numbers_.size())});
    for (std::size_t i = 0; i < numbers_.size(); ++i) flags.data<bool>()[i] = numbers_[i] != 0;
    return shaped(flags, shape_);
  }

 private:
  // The place of what is being read, `depth` lists deep: "row 2", "matrix 1, row 2".
  std::string place(std::size_t depth) const {
    constexpr std::array<const char*, 4> kAxes{"batch element", "matrix", "row", "number"};
    if (depth == 0) return "the list";
    std::string text;
    const std::size_t axes = std::max<std::size_t>(shape_.size(), depth), first = kAxes.size() - axes;
    for (std::size_t axis = 0; axis < depth; ++axis) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kAxes[first + axis], at_[axis] + 1);
    }
    return text;
  }

  void take(const Json& value, std::size_t depth) {
    const bool list = value.kind() == Json::Kind::array;
    if (depth == shape_.size()) {
      HEED_CHECK(!list, "{}: {} must be a number, but is a list", name_, place(depth));
      return take_number(value, depth);
    }
    HEED_CHECK(list, "{}: {} must be a list, but is {}", name_, place(depth), printable(value.dump(), 40));
    const Index size = value.size();
    if (size != shape_[depth]) {
      const std::string here = place(depth);
      for (std::size_t axis = 0; axis < depth; ++axis) at_[axis] = 0;
      const char* what = depth + 1 == shape_.size() ? "numbers" : "rows";
      fail("{}: {} has {} {}, but {} has {}", name_, here, size, what, place(depth), shape_[depth]);
    }
    for (Index i = 0; i < size; ++i) {
      at_[depth] = i;
      take(value[i], depth + 1);
    }
  }

  void take_number(const Json& value, std::size_t depth) {
    const Json::Kind kind = value.kind();
    const bool flag = kind == Json::Kind::boolean;
    HEED_CHECK(flag || kind == Json::Kind::integer || kind == Json::Kind::number, "{}: {} must be a number, but is {}",
               name_, place(depth), printable(value.dump(), 40));
    HEED_CHECK(static_cast<Index>(numbers_.size()) < kMostArrayNumbers, "{}: has more than {} numbers", name_,
               kMostArrayNumbers);
    numbers_.push_back(flag ? (value.boolean() ? 1 : 0) : value.number());
    booleans_ += flag ? 1 : 0;
  }

  std::string name_;
  std::vector<Index> shape_;
  std::array<Index, kMostAxes> at_{};
  std::vector<double> numbers_;
  std::size_t booleans_ = 0;
};

// --- Rows of text ----------------------------------------------------------------------------------------------------

bool is_blank(char c) { return c == ' ' || c == '\t'; }

void skip_blanks(std::string_view& line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
}

double read_number(std::string_view word, const std::string& where) {
  std::string_view digits = word;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  HEED_CHECK(error == std::errc() && end == digits.data() + digits.size() && !digits.starts_with("+"),
             "{}: '{}' is not a number", where, printable(word, 40));
  return value;
}

// The numbers of a line: parted by blanks, by a comma or semicolon, or by both.
std::vector<double> read_row(std::string_view line, const std::string& where) {
  std::vector<double> row;
  line = line.substr(0, line.find('#'));
  skip_blanks(line);
  while (!line.empty()) {
    const std::size_t length = std::min(line.find_first_of(" \t,;"), line.size());
    HEED_CHECK(length > 0, "{}: a number is missing before '{}'", where, line.front());
    row.push_back(read_number(line.substr(0, length), where));
    line.remove_prefix(length);
    skip_blanks(line);
    if (line.starts_with(',') || line.starts_with(';')) {
      line.remove_prefix(1);
      skip_blanks(line);
    }
  }
  return row;
}

Tensor read_rows(std::string_view text, const std::string& name) {
  std::vector<double> numbers;
  Index rows = 0, columns = 0, first = 0, number = 0;
  for (const std::string& line : split_text_lines(text, name)) {
    ++number;
    const std::vector<double> row = read_row(line, fmt::format("{}: line {}", name, number));
    if (row.empty()) continue;
    const auto size = static_cast<Index>(row.size());
    if (rows++ == 0) columns = size, first = number;
    HEED_CHECK(size == columns, "{}: line {} has {} numbers, but line {} has {}", name, number, size, first, columns);
    HEED_CHECK(static_cast<Index>(numbers.size()) + size <= kMostArrayNumbers, "{}: has more than {} numbers", name,
               kMostArrayNumbers);
    numbers.insert(numbers.end(), row.begin(), row.end());
  }
  HEED_CHECK(rows > 0, "{}: has no numbers", name);
  return Tensor::from(numbers, {rows, columns});
}

// --- Either ----------------------------------------------------------------------------------------------------------

bool begins_list(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '[';
}

Tensor read_lists(std::string_view text, const std::string& name) {
  HEED_CHECK(text.size() <= kMostListBytes, "{}: a list has at most {} bytes, but this has {}; write rows of numbers",
             name, kMostListBytes, text.size());
  return ListReader(name).read(Json::parse(text, name));
}

std::string read_bytes(const std::string& name, const std::string& path) {
  constexpr Index kPart = 1 << 16;  // a pipe does not tell how much it has
  FileReader file(path);
  std::string bytes;
  for (Index got = kPart; got == kPart;) {
    const std::size_t size = bytes.size();
    bytes.resize(size + kPart);
    got = file.read(bytes.data() + size, kPart);
    bytes.resize(size + static_cast<std::size_t>(got));
    HEED_CHECK(std::ssize(bytes) <= kMostBytes, "{}: is larger than {} numbers could be", name, kMostArrayNumbers);
  }
  return bytes;
}

template <typename T>
Tensor integers_to_f64(const Tensor& from) {
  std::vector<double> numbers;
  for (Index i = 0; i < from.size(); ++i) numbers.push_back(static_cast<double>(from.data<T>()[i]));
  const Shape& shape = from.view().shape;
  return shaped(Tensor::from(numbers, {from.size()}), std::vector<Index>(shape.begin(), shape.begin() + from.rank()));
}

Tensor to_f64(const Tensor& x) {
  if (x.dtype() == DType::i32) return integers_to_f64<std::int32_t>(x);
  if (x.dtype() == DType::i64) return integers_to_f64<std::int64_t>(x);
  return x.to(DType::f64);
}

}  // namespace

std::string NamedArray::text() const { return fmt::format("{} is {}", name, describe(tensor.view())); }

NamedArray read_array(std::string_view option, const std::string& argument) {
  if (begins_list(argument)) return {std::string(option), read_lists(argument, std::string(option))};
  const std::string name = fmt::format("{} {}", option, argument);
  return parse_array(read_bytes(name, argument), name);
}

NamedArray parse_array(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with(kNumpy)) return {name, parse_npy(bytes, name)};
  return {name, begins_list(bytes) ? read_lists(bytes, name) : read_rows(bytes, name)};
}

NamedArray as_numbers(const NamedArray& array) {
  const Tensor& x = array.tensor;
  HEED_CHECK(x.rank() >= 2 && x.rank() <= kMostAxes, "{}: must be [L, D], [H, L, D] or [B, H, L, D], but is {}",
             array.name, describe(x.view()));
  HEED_CHECK(x.size() > 0, "{}: has no numbers: it is {}", array.name, describe(x.view()));
  HEED_CHECK(x.dtype() != DType::boolean, "{}: must hold numbers, but is {}", array.name, describe(x.view()));
  return {array.name, to_f64(x)};
}

NamedArray as_allowed(const NamedArray& array) {
  const Tensor& x = array.tensor;
  if (x.dtype() == DType::boolean) return array;
  const NamedArray numbers = as_numbers(array);
  const Tensor allowed = Tensor::empty(DType::boolean, {x.size()});
  for (Index i = 0; i < x.size(); ++i) {
    const double number = numbers.tensor.data<double>()[i];
    HEED_CHECK(number == 0 || number == 1,
               "{}: a mask holds 1 (or true) where a query may attend to a key and 0 (or false) where not, but has {}",
               array.name, number);
    allowed.data<bool>()[i] = number == 1;
  }
  const Shape& shape = x.view().shape;
  return {array.name, shaped(allowed, std::vector<Index>(shape.begin(), shape.begin() + x.rank()))};
}

}  // namespace heed
