#include "heed/ops/rotary/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/tensor/numbers.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/row_storage.h"
#include "heed/tensor/rows.h"

namespace heed {
namespace {

void check_options(const Rotary& rotary) {
  const RotaryScaling& s = rotary.scaling;
  HEED_CHECK(rotary.width >= 2 && rotary.width % 2 == 0, "rotary: the width must be even and at least 2, but is {}",
             rotary.width);
  HEED_CHECK(rotary.base > 1 && std::isfinite(rotary.base), "rotary: the base must be above 1, but is {}", rotary.base);
  if (s.kind == RotaryScaling::Kind::none) return;
  HEED_CHECK(s.factor > 0 && std::isfinite(s.factor), "rotary: the scaling factor must be above 0, but is {}",
             s.factor);
  HEED_CHECK(s.kind != RotaryScaling::Kind::ntk || rotary.width > 2,
             "rotary: a change of base needs a width above 2, since a single pair does not depend on it");
  if (s.kind == RotaryScaling::Kind::longrope) {
    HEED_CHECK(s.attention_factor > 0, "rotary: needs attention_factor > 0, but it is {}", s.attention_factor);
    HEED_CHECK(s.factors.empty() || std::ssize(s.factors) == rotary.width / 2,
               "rotary: needs a factor for each of {} pairs, or none, but has {}", rotary.width / 2, s.factors.size());
    for (double factor : s.factors)
      HEED_CHECK(factor > 0 && std::isfinite(factor), "rotary: a pair's factor must be above 0, but is {}", factor);
    return;
  }
  if (s.kind != RotaryScaling::Kind::llama3 && s.kind != RotaryScaling::Kind::yarn) return;
  HEED_CHECK(s.original_length >= 1 && s.slow_turns > 0 && s.fast_turns > s.slow_turns && s.attention_factor > 0,
             "rotary: needs original_length >= 1, 0 < slow_turns < fast_turns and attention_factor > 0, but they are "
             "{}, {}, {} and {}",
             s.original_length, s.slow_turns, s.fast_turns, s.attention_factor);
}

// The (fractional) pair that makes `turns` turns within the original length: base^(-2i / R) length = 2 pi turns.
double pair_of_turns(const Rotary& rotary, double turns) {
  const double length = static_cast<double>(rotary.scaling.original_length);
  return static_cast<double>(rotary.width) * std::log(length / (2 * std::numbers::pi * turns)) /
         (2 * std::log(rotary.base));
}

// How much of each pair's own frequency is kept: 1 keeps it, 0 divides it by the factor.
std::vector<double> kept_shares(const Rotary& rotary, const std::vector<double>& frequencies) {
  const RotaryScaling& s = rotary.scaling;
  std::vector<double> kept;
  if (s.kind == RotaryScaling::Kind::llama3) {
    for (double frequency : frequencies) {
      const double turns = static_cast<double>(s.original_length) * frequency / (2 * std::numbers::pi);
      kept.push_back(std::clamp((turns - s.slow_turns) / (s.fast_turns - s.slow_turns), 0.0, 1.0));
    }
    return kept;
  }
  const double first = std::max(std::floor(pair_of_turns(rotary, s.fast_turns)), 0.0);
  const double last = std::min(std::ceil(pair_of_turns(rotary, s.slow_turns)), static_cast<double>(rotary.width - 1));
  const double span = last > first ? last - first : 0.001;  // a step where both fall on one pair
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    kept.push_back(1 - std::clamp((static_cast<double>(i) - first) / span, 0.0, 1.0));
  }
  return kept;
}

bool is_table(const RotaryAngles& angles) { return angles.cos.rank == 2; }

Index position_of(const RotaryAngles& angles, Index b, Index i) {
  const Index own = angles.positions ? integer_at(angles.positions, {angles.positions.shape[0] == 1 ? 0 : b, i}) : i;
  Index position = 0;  // one that overflows is in no table
  return __builtin_add_overflow(angles.offset, own, &position) ? -1 : position;
}

void check_positions(std::string_view function, const ConstView& x, const RotaryAngles& angles) {
  const ConstView& p = angles.positions;
  const auto fits = [&](const ConstView& view) {
    return (view.shape[0] == 1 || view.shape[0] == x.shape[0]) && view.shape[1] == x.shape[2];
  };
  if (!is_table(angles)) {
    HEED_CHECK(
        angles.cos.rank == 3 && fits(angles.cos) && !p && angles.offset == 0,
        "{}: angles must be [positions, R / 2], or [B|1, L, R / 2] without positions and offset, but are {} with "
        "positions {} and offset {} for x {}",
        function, describe(angles.cos), describe(p), angles.offset, describe(x));
    return;
  }
  HEED_CHECK(!p || (p.rank == 2 && fits(p) && (p.dtype == DType::i32 || p.dtype == DType::i64)),
             "{}: positions must be i32 or i64 [B|1, L], but are {} for x {}", function, describe(p), describe(x));
  const Index rows = p ? p.shape[0] : 1, limit = angles.cos.shape[0];
  for (Index b = 0; b < rows; ++b) {
    for (Index i = 0; i < x.shape[2]; ++i) {
      const Index position = position_of(angles, b, i);
      HEED_CHECK(position >= 0 && position < limit, "{}: position {} of row {} is outside the tables of {} positions",
                 function, position, i, limit);
    }
  }
}

void check(std::string_view function, const ConstView& x, const RotaryAngles& angles, const View& out) {
  HEED_CHECK(x.rank == 4 && same_shape(x, out) && x.dtype == out.dtype && is_floating(x.dtype) && has_unit_rows(x) &&
                 has_unit_rows(out),
             "{}: needs operands [B, H, L, D] of one floating type with a unit last stride, but got {} and {}",
             function, describe(x), describe(out));
  const ConstView &cos = angles.cos, &sin = angles.sin;
  HEED_CHECK(
      cos && sin && cos.rank >= 1 && same_shape(cos, sin) && is_floating(cos.dtype) && cos.dtype == sin.dtype &&
          has_unit_rows(cos) && has_unit_rows(sin) && 2 * cos.shape[cos.rank - 1] <= x.shape[3],
      "{}: needs cos and sin of one shape [..., R / 2] with R <= D, of one floating type with a unit last stride, "
      "but got {} and {} for x {}",
      function, describe(cos), describe(sin), describe(x));
  check_positions(function, x, angles);
}

// direction: 1 turns forwards, -1 back.
template <typename C>
void turn_row(RotaryPairing pairing, Index pairs, const C* cos, const C* sin, C direction, C* row) {
  const bool halves = pairing == RotaryPairing::halves;
  const Index step = halves ? 1 : 2, apart = halves ? pairs : 1;
  for (Index i = 0; i < pairs; ++i) {
    C &a = row[i * step], &b = row[i * step + apart];
    const C s = direction * sin[i], turned_a = cos[i] * a - s * b;
    b = s * a + cos[i] * b;
    a = turned_a;
  }
}

template <typename C>
void turn(ConstView x, const RotaryAngles& angles, RotaryPairing pairing, View out, C direction) {
  const Index heads = x.shape[1], length = x.shape[2], width = x.shape[3];
  const Index pairs = angles.cos.shape[angles.cos.rank - 1];
  const auto load_angles = [&](const ConstView& table, Index b, Index i, C* to) {
    const Index at =
        is_table(angles) ? table.offset({position_of(angles, b, i)}) : table.offset({table.shape[0] == 1 ? 0 : b, i});
    load_row(table, at, pairs, to);
  };
  // A task takes places in the sequence with all their heads, which share the angles.
  parallel_for(x.shape[0] * length, rows_per_task(heads * width), [&](Index begin, Index end) {
    std::vector<C> memory(static_cast<std::size_t>(2 * pairs + width));
    C *cos = memory.data(), *sin = cos + pairs, *row = sin + pairs;
    for (Index at = begin; at < end; ++at) {
      const Index b = at / length, i = at % length;
      load_angles(angles.cos, b, i, cos);
      load_angles(angles.sin, b, i, sin);
      for (Index h = 0; h < heads; ++h) {
        load_row(x, x.offset({b, h, i}), width, row);
        turn_row(pairing, pairs, cos, sin, direction, row);
        store_row(row, width, out, out.offset({b, h, i}));
      }
    }
  });
}

void run(std::string_view function, ConstView x, const RotaryAngles& angles, RotaryPairing pairing, View out,
         int direction) {
  check_operands(function, {{"cos", angles.cos}, {"sin", angles.sin}, {"positions", angles.positions, kOptional}},
                 {{function == "rotary" ? "out" : "dx", out}}, {{function == "rotary" ? "x" : "dout", x}});
  check(function, x, angles, out);
  if (x.dtype == DType::f64) return turn<double>(x, angles, pairing, out, direction);
  turn<float>(x, angles, pairing, out, static_cast<float>(direction));
}

}  // namespace

RotaryScaling RotaryScaling::llama3(double factor, Index original_length, double slow_turns, double fast_turns) {
  return {.kind = Kind::llama3,
          .factor = factor,
          .original_length = original_length,
          .slow_turns = slow_turns,
          .fast_turns = fast_turns};
}

RotaryScaling RotaryScaling::yarn(double factor, Index original_length, double slow_turns, double fast_turns) {
  return {.kind = Kind::yarn,
          .factor = factor,
          .original_length = original_length,
          .slow_turns = slow_turns,
          .fast_turns = fast_turns,
          .attention_factor = factor > 1 ? 0.1 * std::log(factor) + 1 : 1};
}

RotaryScaling RotaryScaling::longrope(std::vector<double> factors, double attention_factor) {
  return {.kind = Kind::longrope, .attention_factor = attention_factor, .factors = std::move(factors)};
}

std::vector<double> rotary_frequencies(const Rotary& rotary) {
  check_options(rotary);
  const RotaryScaling& scaling = rotary.scaling;
  const double width = static_cast<double>(rotary.width);
  const bool rebased = scaling.kind == RotaryScaling::Kind::ntk;
  const double base = rebased ? rotary.base * std::pow(scaling.factor, width / (width - 2)) : rotary.base;
  std::vector<double> frequencies;
  for (Index i = 0; i < rotary.width / 2; ++i) {
    frequencies.push_back(std::pow(base, -2 * static_cast<double>(i) / width));
  }
  if (scaling.kind == RotaryScaling::Kind::none || rebased) return frequencies;
  if (scaling.kind == RotaryScaling::Kind::longrope) {
    for (std::size_t i = 0; i < scaling.factors.size(); ++i) frequencies[i] /= scaling.factors[i];
    return frequencies;
  }
  std::vector<double> kept(frequencies.size(), 0.0);
  if (scaling.kind != RotaryScaling::Kind::linear) kept = kept_shares(rotary, frequencies);
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    frequencies[i] = kept[i] * frequencies[i] + (1 - kept[i]) * frequencies[i] / scaling.factor;
  }
  return frequencies;
}

RotaryTables rotary_tables(const Rotary& rotary, Index positions, DType dtype) {
  HEED_CHECK(positions >= 0 && is_floating(dtype),
             "rotary_tables: needs a number of positions and a floating type, but got {} and {}", positions,
             name_of(dtype));
  const std::vector<double> frequencies = rotary_frequencies(rotary);
  const Index pairs = static_cast<Index>(frequencies.size());
  const RotaryScaling::Kind kind = rotary.scaling.kind;
  const bool sharpens = kind == RotaryScaling::Kind::yarn || kind == RotaryScaling::Kind::longrope;
  const double scale = sharpens ? rotary.scaling.attention_factor : 1;
  RotaryTables tables{Tensor::empty(dtype, {positions, pairs}), Tensor::empty(dtype, {positions, pairs})};
  std::vector<double> cos(frequencies.size()), sin(frequencies.size());
  for (Index p = 0; p < positions; ++p) {
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      const double angle = static_cast<double>(p) * frequencies[i];
      cos[i] = scale * std::cos(angle);
      sin[i] = scale * std::sin(angle);
    }
    store_row(cos.data(), pairs, tables.cos, p * pairs);
    store_row(sin.data(), pairs, tables.sin, p * pairs);
  }
  return tables;
}

void rotary(ConstView x, const RotaryAngles& angles, RotaryPairing pairing, View out) {
  run("rotary", x, angles, pairing, out, 1);
}

void rotary_backward(ConstView dout, const RotaryAngles& angles, RotaryPairing pairing, View dx) {
  run("rotary_backward", dout, angles, pairing, dx, -1);
}

}  // namespace heed
