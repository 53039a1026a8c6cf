#include "walk_page.h"

#include <fmt/core.h>

#include "heed/base/check.h"

namespace heed::cli {
namespace {

constexpr Index kMostRows = 32, kMostColumns = 64;

// "1,0.5;0,1", with what an address would read otherwise escaped: the sign of an exponent.
std::string rows_text(const Tensor& heads) {
  std::string text;
  for (Index r = 0; r < heads.dim(2); ++r) {
    for (Index c = 0; c < heads.dim(3); ++c) {
      text += c > 0 ? "," : r > 0 ? ";" : "";
      for (char letter : fmt::format("{}", heads.at<double>({0, 0, r, c}))) {
        if (letter == '+') {
          text += "%2B";
        } else {
          text += letter;
        }
      }
    }
  }
  return text;
}

}  // namespace

std::string walk_address(std::string_view example) { return fmt::format("view=walk&walk.example={}", example); }

std::string walk_address(const AttentionInputs& problem) {
  for (const Tensor* tensor : {&problem.q, &problem.k, &problem.v}) {
    HEED_CHECK(
        tensor->dim(0) == 1 && tensor->dim(1) == 1 && tensor->dim(2) <= kMostRows && tensor->dim(3) <= kMostColumns,
        "heed explain: a page walks through one head of at most {} rows of {} numbers, but one array is {}", kMostRows,
        kMostColumns, describe(tensor->view()));
  }
  return fmt::format("{}&walk.numbers=Q:{}|K:{}|V:{}{}", walk_address("attention"), rows_text(problem.q),
                     rows_text(problem.k), rows_text(problem.v), problem.causal ? "|causal:1" : "");
}

std::string positions_address(Index length, Index width) {
  return fmt::format("view=positions&positions.length={}&positions.width={}", length, width);
}

}  // namespace heed::cli
