#include "heed/ops/attention/paged_cache.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "heed/base/check.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/quantise_rows.h"
#include "heed/tensor/row_storage.h"

namespace heed {

PagedCache::PagedCache(const PagedCacheOptions& options, Index batch) : options_(options) {
  const auto& o = options;
  HEED_CHECK(batch <= kMostPositions, "PagedCache: the batch must be at most {}, but is {}", kMostPositions, batch);
  HEED_CHECK(o.key_heads >= 1 && o.width >= 1 && o.value_width >= 1 && o.page >= 1 && o.pages >= 0 && batch >= 0,
             "PagedCache: sizes must be at least 1, but are {} heads, widths {} and {}, {} pages of {} tokens, batch "
             "{}",
             o.key_heads, o.width, o.value_width, o.pages, o.page, batch);
  HEED_CHECK(is_floating(o.dtype) || o.dtype == DType::i8, "PagedCache: the type must be floating or i8, but is {}",
             name_of(o.dtype));
  resize_pools(std::max<Index>(o.pages, 1));
  admit(batch);
}

void PagedCache::resize_pools(Index pages) {
  const auto moved = [&](const Tensor& pool, const Tensor& larger) {
    const Index had = pool.is_empty() ? 0 : pool.dim(1);
    if (had > 0) copy(pool, slice(larger.view(), 1, 0, had));
    fill(slice(larger.view(), 1, had, pages), 0);
    return larger;
  };
  const auto resized = [&](const Tensor& pool, Index width) {
    return moved(pool, Tensor::empty(options_.dtype, {options_.key_heads, pages, options_.page, width}));
  };
  const auto resized_scales = [&](const Tensor& pool) {
    if (options_.dtype != DType::i8) return pool;
    return moved(pool, Tensor::empty(DType::f32, {options_.key_heads, pages, options_.page}));
  };
  // All memory is there before anything is changed.
  Tensor keys = resized(keys_, options_.width), values = resized(values_, options_.value_width);
  Tensor key_scales = resized_scales(key_scales_), value_scales = resized_scales(value_scales_);
  keys_ = std::move(keys), values_ = std::move(values);
  key_scales_ = std::move(key_scales), value_scales_ = std::move(value_scales);
  const Index had = std::ssize(users_);
  users_.resize(static_cast<std::size_t>(pages), 0);
  std::vector<Index> added(static_cast<std::size_t>(pages - had));
  std::iota(added.rbegin(), added.rend(), had);
  free_.insert(free_.begin(), added.begin(), added.end());
}

// New pages for `rows` more rows of every sequence, and copies of last pages that are shared: one user of a page may
// keep it.
Index PagedCache::pages_wanted(Index rows) const {
  Index wanted = 0;
  std::vector<Index> users = users_;
  for (std::size_t b = 0; b < tables_.size() && rows > 0; ++b) {
    wanted += ceil_div(lengths_[b] + rows, options_.page) - std::ssize(tables_[b]);
    if (lengths_[b] % options_.page == 0) continue;
    Index& sharing = users[static_cast<std::size_t>(tables_[b].back())];
    if (sharing > 1) ++wanted, --sharing;
  }
  return wanted;
}

void PagedCache::provide_pages(const char* caller, Index wanted) {
  if (wanted <= free_pages()) return;
  const Index pages = std::ssize(users_);
  HEED_CHECK(options_.pages == 0, "{}: {} pages are needed, but of {} only {} are free", caller, wanted, pages,
             free_pages());
  resize_pools(std::max(2 * pages, pages + wanted - free_pages()));
}

Index PagedCache::take_page() {
  const Index page = free_.back();
  free_.pop_back();
  users_[static_cast<std::size_t>(page)] = 1;
  return page;
}

void PagedCache::drop_page(Index page) {
  if (--users_[static_cast<std::size_t>(page)] == 0) free_.push_back(page);
}

Index PagedCache::writable_page(std::size_t b) {
  std::vector<Index>& table = tables_[b];
  if (lengths_[b] % options_.page == 0) {
    table.push_back(take_page());
  } else if (const Index shared = table.back(); users_[static_cast<std::size_t>(shared)] > 1) {
    const Index own = take_page();
    const auto rows = [&](const Tensor& pool, Index page) {
      return slice(select(pool.view(), 1, page), 1, 0, lengths_[b] % options_.page);
    };
    for (const Tensor* pool : {&keys_, &values_, &key_scales_, &value_scales_}) {
      if (!pool->is_empty()) copy(rows(*pool, shared), rows(*pool, own));
    }
    drop_page(shared);
    table.back() = own;
  }
  return table.back();
}

void PagedCache::check_rows(const char* caller, const ConstView& k, const ConstView& v, Index sequences) const {
  for (const Operand& rows : {Operand{"k", k}, Operand{"v", v}}) {
    check_operand(caller, rows);
    check_apart(caller, {"the pool of keys", keys_.view()}, rows);
    check_apart(caller, {"the pool of values", values_.view()}, rows);
  }
  const auto fits = [&](const ConstView& rows, Index width) {
    return rows.rank == 4 && is_floating(rows.dtype) && rows.shape[0] == sequences &&
           rows.shape[1] == options_.key_heads && rows.shape[3] == width;
  };
  HEED_CHECK(fits(k, options_.width) && fits(v, options_.value_width) && k.shape[2] == v.shape[2],
             "{}: k and v must be [{}, {}, L, {}] and [{}, {}, L, {}], but are {} and {}", caller, sequences,
             options_.key_heads, options_.width, sequences, options_.key_heads, options_.value_width, describe(k),
             describe(v));
}

void PagedCache::write(std::size_t b, const ConstView& k, const ConstView& v, Index from, Index count) {
  for (Index done = 0; done < count;) {
    const Index page = writable_page(b), at = lengths_[b] % options_.page;
    const Index rows = std::min(count - done, options_.page - at);
    const auto place = [&](const Tensor& pool) { return slice(select(pool.view(), 1, page), 1, at, at + rows); };
    const auto put = [&](const ConstView& all, const Tensor& pool, const Tensor& scales) {
      const ConstView given = slice(select(all, 0, from), 1, done, done + rows);
      scales.is_empty() ? copy(given, place(pool)) : quantise_rows(given, place(pool), place(scales));
    };
    put(k, keys_, key_scales_), put(v, values_, value_scales_);
    lengths_[b] += rows, done += rows;
  }
}

void PagedCache::admit(ConstView k, ConstView v, std::span<const Index> lengths) {
  constexpr const char* kName = "PagedCache::admit";
  check_rows(kName, k, v, std::ssize(lengths));
  Index wanted = 0;
  for (Index length : lengths) {
    HEED_CHECK(length >= 0 && length <= k.shape[2], "{}: a sequence of {} of {} rows is wanted", kName, length,
               k.shape[2]);
    wanted += ceil_div(length, options_.page);
  }
  provide_pages(kName, wanted);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    tables_.emplace_back();
    lengths_.push_back(0);
    write(tables_.size() - 1, k, v, static_cast<Index>(i), lengths[i]);
  }
  publish();
}

void PagedCache::admit(Index sequences) {
  tables_.resize(tables_.size() + static_cast<std::size_t>(sequences));
  lengths_.resize(tables_.size(), 0);
  publish();
}

void PagedCache::append(ConstView k, ConstView v) {
  constexpr const char* kName = "PagedCache::append";
  check_rows(kName, k, v, batch());
  provide_pages(kName, pages_wanted(k.shape[2]));
  for (std::size_t b = 0; b < tables_.size(); ++b) write(b, k, v, static_cast<Index>(b), k.shape[2]);
  publish();
}

void PagedCache::truncate(Index rows) {
  for (Index length : lengths_) {
    HEED_CHECK(rows >= 0 && rows <= length, "PagedCache::truncate: a sequence of {} rows cannot lose {}", length, rows);
  }
  for (std::size_t b = 0; b < tables_.size(); ++b) {
    lengths_[b] -= rows;
    for (; std::ssize(tables_[b]) > ceil_div(lengths_[b], options_.page); tables_[b].pop_back()) {
      drop_page(tables_[b].back());
    }
  }
  publish();
}

void PagedCache::reorder(std::span<const Index> from) {
  std::vector<std::vector<Index>> tables;
  std::vector<Index> lengths;
  for (Index source : from) {
    HEED_CHECK(source >= 0 && source < batch(), "PagedCache::reorder: sequence {} is wanted, but there are {}", source,
               batch());
    tables.push_back(tables_[static_cast<std::size_t>(source)]);
    lengths.push_back(lengths_[static_cast<std::size_t>(source)]);
  }
  for (const auto& table : tables)
    for (Index page : table) ++users_[static_cast<std::size_t>(page)];
  for (const auto& table : tables_)
    for (Index page : table) drop_page(page);
  tables_ = std::move(tables), lengths_ = std::move(lengths);
  publish();
}

void PagedCache::publish() {
  Index longest = 1;
  for (const auto& table : tables_) longest = std::max(longest, std::ssize(table));
  page_table_ = Tensor::empty(DType::i64, {batch(), longest});
  length_table_ = Tensor::empty(DType::i64, {batch()});
  fill(page_table_, -1);
  for (Index b = 0; b < batch(); ++b) {
    const auto& table = tables_[static_cast<std::size_t>(b)];
    for (Index at = 0; at < std::ssize(table); ++at) {
      page_table_.at<std::int64_t>({b, at}) = table[static_cast<std::size_t>(at)];
    }
    length_table_.at<std::int64_t>({b}) = length(b);
  }
}

AttentionSpec PagedCache::spec(const Mask& mask) const {
  const auto scales = [](const Tensor& pool) { return pool.is_empty() ? pool : pool.through(by_pages(pool.view())); };
  return {.mask = mask & Mask::key_lengths(length_table_),
          .sequences = {.pages = page_table_},
          .scales = {.k = scales(key_scales_), .v = scales(value_scales_)}};
}

}  // namespace heed
