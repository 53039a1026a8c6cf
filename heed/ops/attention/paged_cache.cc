#include "heed/ops/attention/paged_cache.h"

#include <algorithm>
#include <utility>

#include "heed/base/check.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/row_storage.h"

namespace heed {

PagedCache::PagedCache(const PagedCacheOptions& options, Index batch) : options_(options) {
  const auto& o = options;
  HEED_CHECK(batch <= kMostPositions, "PagedCache: the batch must be at most {}, but is {}", kMostPositions, batch);
  HEED_CHECK(
      o.key_heads >= 1 && o.width >= 1 && o.value_width >= 1 && o.page >= 1 && o.pages >= 1 && batch >= 0,
      "PagedCache: sizes must be at least 1, but are {} heads, widths {} and {}, {} pages of {} tokens, batch {}",
      o.key_heads, o.width, o.value_width, o.pages, o.page, batch);
  HEED_CHECK(is_floating(o.dtype), "PagedCache: the type must be floating, but is {}", name_of(o.dtype));
  keys_ = Tensor::zeros(o.dtype, {o.pages, o.key_heads, o.page, o.width});
  values_ = Tensor::zeros(o.dtype, {o.pages, o.key_heads, o.page, o.value_width});
  for (Index page = o.pages - 1; page >= 0; --page) free_.push_back(page);
  users_.resize(static_cast<std::size_t>(o.pages), 0);
  tables_.resize(static_cast<std::size_t>(batch));
  lengths_.resize(static_cast<std::size_t>(batch), 0);
  publish();
}

// New pages for `rows` more rows of every sequence, and copies of last pages that are shared: one user of a page may
// keep it.
Index PagedCache::pages_wanted(Index rows) const {
  Index wanted = 0;
  std::vector<Index> users = users_;
  for (std::size_t b = 0; b < tables_.size() && rows > 0; ++b) {
    wanted += (lengths_[b] + rows + options_.page - 1) / options_.page - std::ssize(tables_[b]);
    if (lengths_[b] % options_.page == 0) continue;
    Index& sharing = users[static_cast<std::size_t>(tables_[b].back())];
    if (sharing > 1) ++wanted, --sharing;
  }
  return wanted;
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
    for (const Tensor* pool : {&keys_, &values_}) copy(select(pool->view(), 0, shared), select(pool->view(), 0, own));
    drop_page(shared);
    table.back() = own;
  }
  return table.back();
}

void PagedCache::append(ConstView k, ConstView v) {
  constexpr const char* kName = "PagedCache::append";
  for (const Operand& rows : {Operand{"k", k}, Operand{"v", v}}) {
    check_operand(kName, rows);
    check_apart(kName, {"the pool of keys", keys_.view()}, rows);
    check_apart(kName, {"the pool of values", values_.view()}, rows);
  }
  const auto fits = [&](const ConstView& rows, Index width) {
    return rows.rank == 4 && is_floating(rows.dtype) && rows.shape[0] == batch() &&
           rows.shape[1] == options_.key_heads && rows.shape[3] == width;
  };
  HEED_CHECK(fits(k, options_.width) && fits(v, options_.value_width) && k.shape[2] == v.shape[2],
             "PagedCache::append: k and v must be [{}, {}, L, {}] and [{}, {}, L, {}], but are {} and {}", batch(),
             options_.key_heads, options_.width, batch(), options_.key_heads, options_.value_width, describe(k),
             describe(v));
  const Index rows = k.shape[2], wanted = pages_wanted(rows);
  HEED_CHECK(wanted <= free_pages(), "PagedCache::append: {} pages are needed, but of {} only {} are free", wanted,
             options_.pages, free_pages());
  for (std::size_t b = 0; b < tables_.size(); ++b) {
    for (Index done = 0; done < rows;) {
      const Index page = writable_page(b), at = lengths_[b] % options_.page;
      const Index count = std::min(rows - done, options_.page - at);
      const auto write = [&](const ConstView& from, const Tensor& pool) {
        copy(slice(select(from, 0, static_cast<Index>(b)), 1, done, done + count),
             slice(select(pool.view(), 0, page), 1, at, at + count));
      };
      write(k, keys_), write(v, values_);
      lengths_[b] += count, done += count;
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
  return {.mask = mask & Mask::key_lengths(length_table_), .sequences = {.pages = page_table_}};
}

}  // namespace heed
