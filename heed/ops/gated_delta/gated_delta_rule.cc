#include "heed/ops/gated_delta/gated_delta_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <string_view>

#include "heed/base/check.h"
#include "heed/base/thread_scratch.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/row_storage.h"

namespace heed {
namespace {

// Extents, and the scale as a number.
struct Problem {
  GatedDeltaRule x;
  Index batch, heads, states, group, length, key_width,
      value_width;  // group: query heads that read one state
  double scale;
  Index state_size() const { return key_width * value_width; }
};

void check_view(std::string_view function, std::string_view name, const ConstView& view,
                std::initializer_list<Index> shape, bool unit_rows) {
  const bool fits = has_shape(view, shape) && is_floating(view.dtype);
  HEED_CHECK(fits && (!unit_rows || has_unit_rows(view)), "{}: {} must be floating [{}]{}, but is {}", function, name,
             fmt::join(shape, ", "), unit_rows ? " with a unit last stride" : "", describe(view));
}

// These check a view of an operand's shape: the operand, or its gradient.
void check_decay(std::string_view function, std::string_view name, const ConstView& view, const Problem& p) {
  if (view.rank == 3) return check_view(function, name, view, {p.batch, p.states, p.length}, false);
  check_view(function, name, view, {p.batch, p.states, p.length, p.key_width}, true);
}

void check_beta(std::string_view function, std::string_view name, const ConstView& view, const Problem& p) {
  check_view(function, name, view, {p.batch, p.states, p.length}, false);
}

void check_rows(std::string_view function, std::string_view name, const ConstView& view, const Problem& p, Index heads,
                Index width) {
  check_view(function, name, view, {p.batch, heads, p.length, width}, true);
}

void check_state(std::string_view function, std::string_view name, const ConstView& view, const Problem& p) {
  check_view(function, name, view, {p.batch, p.states, p.key_width, p.value_width}, false);
}

Problem make_problem(std::string_view function, const GatedDeltaRule& x) {
  const ConstView &q = x.q, &k = x.k, &v = x.v;
  HEED_CHECK(q && k && v && q.rank == 4 && k.rank == 4 && v.rank == 4 && k.shape[1] >= 1 &&
                 q.shape[1] % k.shape[1] == 0 && q.shape[3] >= 1 && q.dtype == k.dtype && q.dtype == v.dtype,
             "{}: needs q [B, H, L, Dk], k [B, Hk, L, Dk] and v [B, Hk, L, Dv] "
             "of one type with H % Hk == 0 and Dk >= "
             "1, but got "
             "{}, {} and {}",
             function, describe(q), describe(k), describe(v));
  Problem p{.x = x,
            .batch = q.shape[0],
            .heads = q.shape[1],
            .states = k.shape[1],
            .group = q.shape[1] / k.shape[1],
            .length = q.shape[2],
            .key_width = q.shape[3],
            .value_width = v.shape[3],
            .scale = x.scale.value_or(1 / std::sqrt(static_cast<double>(q.shape[3])))};
  // The states that backward keeps for a head, and what else it holds of a token.
  const double kept = (2 * std::sqrt(static_cast<double>(p.length)) + 4) * static_cast<double>(p.key_width + 16) *
                      static_cast<double>(p.value_width + 16);
  HEED_CHECK(kept < 0x1p42, "{}: states of [{}, {}] over {} tokens are more than a memory holds", function, p.key_width,
             p.value_width, p.length);
  check_rows(function, "q", q, p, p.heads, p.key_width);
  check_rows(function, "k", k, p, p.states, p.key_width);
  check_rows(function, "v", v, p, p.states, p.value_width);
  if (x.decay) check_decay(function, "decay", x.decay, p);
  if (x.beta) check_beta(function, "beta", x.beta, p);
  HEED_CHECK(!x.erase || x.beta, "{}: erase is a part of the delta rules, which need beta", function);
  if (x.erase) check_rows(function, "erase", x.erase, p, p.states, p.key_width);
  if (x.state) check_state(function, "state", x.state, p);
  return p;
}

// One token's operands and what the rule makes of them, each in memory of its
// own.
template <typename C>
struct Token {
  C *k, *keep, *erase, *erased;  // [Dk]: erased is what is looked up, erase * k
  C *v, *residual, *written;     // [Dv]
  C* state;                      // [Dk, Dv]
  C beta = 1;
};

template <typename C>
Index token_size(const Problem& p) {
  return 4 * p.key_width + 3 * p.value_width + p.state_size();
}

template <typename C>
C* take(C*& memory, Index count) {
  C* taken = memory;
  memory += count;
  return taken;
}

template <typename C>
Token<C> make_token(const Problem& p, C*& memory) {
  Token<C> token{};
  for (C** row : {&token.k, &token.keep, &token.erase, &token.erased}) *row = take(memory, p.key_width);
  for (C** row : {&token.v, &token.residual, &token.written}) *row = take(memory, p.value_width);
  token.state = take(memory, p.state_size());
  return token;
}

template <typename C>
void load_token(const Problem& p, Index b, Index h, Index t, Token<C>& token) {
  const GatedDeltaRule& x = p.x;
  load_row(x.k, x.k.offset({b, h, t}), p.key_width, token.k);
  load_row(x.v, x.v.offset({b, h, t}), p.value_width, token.v);
  if (x.decay) {
    const bool shared = x.decay.rank == 3;
    load_row(x.decay, x.decay.offset({b, h, t}), shared ? 1 : p.key_width, token.keep);
    const Index known = shared ? 1 : p.key_width;
    std::transform(token.keep, token.keep + known, token.keep, [](C g) { return std::exp(g); });
    if (shared) std::fill(token.keep, token.keep + p.key_width, token.keep[0]);
  }
  if (x.beta) load_row(x.beta, x.beta.offset({b, h, t}), 1, &token.beta);
  std::copy(token.k, token.k + p.key_width, token.erased);
  if (x.erase) {
    load_row(x.erase, x.erase.offset({b, h, t}), p.key_width, token.erase);
    for (Index d = 0; d < p.key_width; ++d) token.erased[d] *= token.erase[d];
  }
}

// to += sum over d of weight[d] matrix[d, :].
template <typename C>
void add_rows(const Problem& p, const C* weight, const C* matrix, C* to) {
  for (Index d = 0; d < p.key_width; ++d) {
    const C* row = matrix + d * p.value_width;
    for (Index m = 0; m < p.value_width; ++m) to[m] += weight[d] * row[m];
  }
}

// matrix += left right^T.
template <typename C>
void add_outer(const Problem& p, const C* left, const C* right, C* matrix) {
  for (Index d = 0; d < p.key_width; ++d) {
    C* row = matrix + d * p.value_width;
    for (Index m = 0; m < p.value_width; ++m) row[m] += left[d] * right[m];
  }
}

// Eight sums side by side, which are vector lanes to a compiler that may not
// reorder one.
template <typename C>
C dot(const C* a, const C* b, Index count) {
  constexpr Index kLanes = 8;
  C sums[kLanes] = {};
  const Index whole = count - count % kLanes;
  for (Index m = 0; m < whole; m += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) sums[lane] += a[m + lane] * b[m + lane];
  }
  for (Index m = whole; m < count; ++m) sums[m - whole] += a[m] * b[m];
  return std::accumulate(sums, sums + kLanes, C{0});
}

// matrix[d, :] *= keep[d].
template <typename C>
void decay_rows(const Problem& p, const Token<C>& token, C* matrix) {
  if (!p.x.decay) return;
  for (Index d = 0; d < p.key_width; ++d) {
    C* row = matrix + d * p.value_width;
    for (Index m = 0; m < p.value_width; ++m) row[m] *= token.keep[d];
  }
}

// What the token writes, from the decayed state: v, or beta (v - S'^T k).
template <typename C>
void compute_written(const Problem& p, const C* decayed, Token<C>& token) {
  if (!p.x.beta) {
    std::copy(token.v, token.v + p.value_width, token.written);
    return;
  }
  std::fill(token.residual, token.residual + p.value_width, C{0});
  add_rows(p, token.erased, decayed, token.residual);
  for (Index m = 0; m < p.value_width; ++m) {
    token.residual[m] = token.v[m] - token.residual[m];
    token.written[m] = token.beta * token.residual[m];
  }
}

// The whole step; `decayed`, where not null, is filled with the state between
// its decay and its writing.
template <typename C>
void advance(const Problem& p, Index b, Index h, Index t, Token<C>& token, C* decayed) {
  load_token(p, b, h, t, token);
  decay_rows(p, token, token.state);
  if (decayed != nullptr) std::copy(token.state, token.state + p.state_size(), decayed);
  compute_written(p, token.state, token);
  add_outer(p, token.k, token.written, token.state);
}

template <typename C>
View state_view(const Problem& p, C* state) {
  return make_view(state, {p.key_width, p.value_width});
}

// The state (or the gradient of one) of a sequence and head, or zeros where the
// view is empty.
template <typename C>
void load_state(const Problem& p, const ConstView& states, Index b, Index h, C* to) {
  std::fill(to, to + p.state_size(), C{0});
  if (states) copy(select(select(states, 0, b), 0, h), state_view(p, to));
}

template <typename C>
void store_state(const Problem& p, C* from, const View& states, Index b, Index h) {
  if (states) copy(state_view(p, from), select(select(states, 0, b), 0, h));
}

// Runs body(b, h, memory) for each sequence and state head, with memory for
// `count` numbers.
template <typename C, typename F>
void for_each_state(const Problem& p, Index count, Workspace& workspace, F&& body) {
  const Index bytes = count * static_cast<Index>(sizeof(C));
  parallel_for_with_scratch(workspace, bytes, p.batch * p.states, 1, [&](Index begin, Index end, char* memory) {
    for (Index at = begin; at < end; ++at) {
      body(at / p.states, at % p.states, reinterpret_cast<C*>(memory));
    }
  });
}

template <typename C>
void forward(const Problem& p, const GatedDeltaResult& result, Workspace& workspace) {
  const GatedDeltaRule& x = p.x;
  const Index count = token_size<C>(p) + p.key_width + p.value_width;
  for_each_state<C>(p, count, workspace, [&](Index b, Index h, C* memory) {
    Token<C> token = make_token(p, memory);
    C *q = take(memory, p.key_width), *out = take(memory, p.value_width);
    load_state(p, x.state, b, h, token.state);
    for (Index t = 0; t < p.length; ++t) {
      advance<C>(p, b, h, t, token, nullptr);
      if (!result.out) continue;
      for (Index reader = h * p.group; reader < (h + 1) * p.group; ++reader) {
        load_row(x.q, x.q.offset({b, reader, t}), p.key_width, q);
        std::fill(out, out + p.value_width, C{0});
        add_rows(p, q, token.state, out);
        for (Index m = 0; m < p.value_width; ++m) out[m] *= static_cast<C>(p.scale);
        store_row(out, p.value_width, result.out, result.out.offset({b, reader, t}));
      }
    }
    store_state(p, token.state, result.state, b, h);
  });
}

// The gradient's own rows.
template <typename C>
struct TokenGrad {
  C *q, *dq, *dk, *ddecay, *derase;  // [Dk]
  C *dout, *dwritten;                // [Dv]
  C* dstate;                         // [Dk, Dv]: of the state after the token, then before it
};

template <typename C>
TokenGrad<C> make_token_grad(const Problem& p, C*& memory) {
  TokenGrad<C> g{};
  for (C** row : {&g.q, &g.dq, &g.dk, &g.ddecay, &g.derase}) *row = take(memory, p.key_width);
  for (C** row : {&g.dout, &g.dwritten}) *row = take(memory, p.value_width);
  g.dstate = take(memory, p.state_size());
  return g;
}

template <typename C>
Index token_grad_size(const Problem& p) {
  return 5 * p.key_width + 2 * p.value_width + p.state_size();
}

template <typename C>
void store_rows(const C* from, Index count, const View& to, Index b, Index h, Index t) {
  if (to) store_row(from, count, to, to.offset({b, h, t}));
}

// Through o = scale S_t^T q of the heads that read the state: dq, and the
// state's gradient. S_t = S' + k written^T.
template <typename C>
void read_backward(const Problem& p, Index b, Index h, Index t, const Token<C>& token, const C* decayed,
                   const ConstView& dout, const View& dq, TokenGrad<C>& g) {
  const C scale = static_cast<C>(p.scale);
  for (Index reader = h * p.group; reader < (h + 1) * p.group; ++reader) {
    load_row(p.x.q, p.x.q.offset({b, reader, t}), p.key_width, g.q);
    load_row(dout, dout.offset({b, reader, t}), p.value_width, g.dout);
    for (Index m = 0; m < p.value_width; ++m) g.dout[m] *= scale;
    const C through_written = dot(token.written, g.dout, p.value_width);
    for (Index d = 0; d < p.key_width; ++d) {
      g.dq[d] = dot(decayed + d * p.value_width, g.dout, p.value_width) + token.k[d] * through_written;
    }
    store_rows(g.dq, p.key_width, dq, b, reader, t);
    add_outer(p, g.q, g.dout, g.dstate);
  }
}

// Through S_t = S' + k written^T and S' = diag(keep) S: from the gradient of
// S_t to that of S.
template <typename C>
void write_backward(const Problem& p, Index b, Index h, Index t, Token<C>& token, const C* decayed,
                    const GatedDeltaGrad& grad, TokenGrad<C>& g) {
  const Index keys = p.key_width, values = p.value_width;
  std::fill(g.dwritten, g.dwritten + values, C{0});
  add_rows(p, token.k, g.dstate, g.dwritten);
  for (Index d = 0; d < keys; ++d) g.dk[d] = dot(g.dstate + d * values, token.written, values);
  if (p.x.beta) {
    const C dbeta = dot(g.dwritten, token.residual, values);
    store_rows(&dbeta, 1, grad.dbeta, b, h, t);
    for (Index m = 0; m < values; ++m) g.dwritten[m] *= token.beta;  // now the gradient of v and of -S'^T (erase k)
    for (Index d = 0; d < keys; ++d) {
      const C derased = -dot(decayed + d * values, g.dwritten, values);
      g.dk[d] += p.x.erase ? token.erase[d] * derased : derased;
      g.derase[d] = token.k[d] * derased;
      token.erased[d] = -token.erased[d];
    }
    add_outer(p, token.erased, g.dwritten, g.dstate);
    store_rows(g.derase, keys, grad.derase, b, h, t);
  }
  store_rows(g.dk, keys, grad.dk, b, h, t);
  store_rows(g.dwritten, values, grad.dv, b, h, t);
  if (grad.ddecay) {
    for (Index d = 0; d < keys; ++d) g.ddecay[d] = dot(g.dstate + d * values, decayed + d * values, values);
    const bool shared = p.x.decay.rank == 3;
    if (shared) g.ddecay[0] = std::accumulate(g.ddecay, g.ddecay + keys, C{0});
    store_rows(g.ddecay, shared ? 1 : keys, grad.ddecay, b, h, t);
  }
  decay_rows(p, token, g.dstate);
}

template <typename C>
void backward(const Problem& p, const ConstView& dout, const ConstView& dstate_out, const GatedDeltaGrad& grad,
              Workspace& workspace) {
  // A state is kept at the start of each segment; within the segment at hand,
  // each token's decayed state.
  const Index root = static_cast<Index>(std::sqrt(static_cast<double>(p.length)));
  const Index segment = std::max<Index>(root, 1), segments = ceil_div(p.length, segment);
  const Index size = p.state_size();
  const Index count = token_size<C>(p) + token_grad_size<C>(p) + (segments + segment) * size;
  for_each_state<C>(p, count, workspace, [&](Index b, Index h, C* memory) {
    Token<C> token = make_token(p, memory);
    TokenGrad<C> g = make_token_grad(p, memory);
    C *kept = take(memory, segments * size), *decayed = take(memory, segment * size);
    load_state(p, p.x.state, b, h, token.state);
    load_state(p, dstate_out, b, h, g.dstate);
    for (Index t = 0; t < p.length; ++t) {
      if (t % segment == 0) std::copy(token.state, token.state + size, kept + t / segment * size);
      advance<C>(p, b, h, t, token, nullptr);
    }
    for (Index s = segments - 1; s >= 0; --s) {
      const Index begin = s * segment, end = std::min(begin + segment, p.length);
      std::copy(kept + s * size, kept + (s + 1) * size, token.state);
      for (Index t = begin; t < end; ++t) advance(p, b, h, t, token, decayed + (t - begin) * size);
      for (Index t = end - 1; t >= begin; --t) {
        const C* before = decayed + (t - begin) * size;
        load_token(p, b, h, t, token);
        compute_written(p, before, token);
        read_backward(p, b, h, t, token, before, dout, grad.dq, g);
        write_backward(p, b, h, t, token, before, grad, g);
      }
    }
    store_state(p, g.dstate, grad.dstate, b, h);
  });
}

}  // namespace

void gated_delta_rule(const GatedDeltaRule& x, const GatedDeltaResult& result, Workspace& workspace) {
  constexpr std::string_view kFunction = "gated_delta_rule";
  check_operands(kFunction,
                 {{"q", x.q},
                  {"k", x.k},
                  {"v", x.v},
                  {"decay", x.decay, kOptional},
                  {"beta", x.beta, kOptional},
                  {"erase", x.erase, kOptional}},
                 {{"out", result.out, kOptional}, {"the last state", result.state, kOptional}},
                 {{"the state", x.state, kOptional}});
  check_apart(kFunction, {"out", result.out}, {"the state", x.state});
  const Problem p = make_problem(kFunction, x);
  if (result.out) check_rows(kFunction, "out", result.out, p, p.heads, p.value_width);
  if (result.state) check_state(kFunction, "the last state", result.state, p);
  if (x.q.dtype == DType::f64) return forward<double>(p, result, workspace);
  forward<float>(p, result, workspace);
}

void gated_delta_rule_backward(const GatedDeltaRule& x, ConstView dout, ConstView dstate_out,
                               const GatedDeltaGrad& grad, Workspace& workspace) {
  constexpr std::string_view kFunction = "gated_delta_rule_backward";
  check_operands(kFunction,
                 {{"q", x.q},
                  {"k", x.k},
                  {"v", x.v},
                  {"decay", x.decay, kOptional},
                  {"beta", x.beta, kOptional},
                  {"erase", x.erase, kOptional},
                  {"the state", x.state, kOptional},
                  {"dout", dout},
                  {"dstate_out", dstate_out, kOptional}},
                 {{"dq", grad.dq, kOptional},
                  {"dk", grad.dk, kOptional},
                  {"dv", grad.dv, kOptional},
                  {"ddecay", grad.ddecay, kOptional},
                  {"dbeta", grad.dbeta, kOptional},
                  {"derase", grad.derase, kOptional},
                  {"dstate", grad.dstate, kOptional}});
  const Problem p = make_problem(kFunction, x);
  check_rows(kFunction, "dout", dout, p, p.heads, p.value_width);
  if (dstate_out) check_state(kFunction, "dstate_out", dstate_out, p);
  if (grad.dq) check_rows(kFunction, "dq", grad.dq, p, p.heads, p.key_width);
  if (grad.dk) check_rows(kFunction, "dk", grad.dk, p, p.states, p.key_width);
  if (grad.dv) check_rows(kFunction, "dv", grad.dv, p, p.states, p.value_width);
  if (grad.dstate) check_state(kFunction, "dstate", grad.dstate, p);
  HEED_CHECK((!grad.ddecay || (x.decay && grad.ddecay.rank == x.decay.rank)) && (!grad.dbeta || x.beta) &&
                 (!grad.derase || x.erase),
             "{}: a gradient is asked for an operand that is not given, or in "
             "another shape",
             kFunction);
  if (grad.ddecay) check_decay(kFunction, "ddecay", grad.ddecay, p);
  if (grad.dbeta) check_beta(kFunction, "dbeta", grad.dbeta, p);
  if (grad.derase) check_rows(kFunction, "derase", grad.derase, p, p.states, p.key_width);
  if (x.q.dtype == DType::f64) return backward<double>(p, dout, dstate_out, grad, workspace);
  backward<float>(p, dout, dstate_out, grad, workspace);
}

}  // namespace heed
