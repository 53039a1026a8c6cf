#include "array.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "dlpack.h"
#include "heed/base/check.h"

namespace heed::python {
namespace {

// What stands for the memory of an array without elements, which need not have any.
alignas(64) std::byte g_nothing[64];

// A view of checked extents; strides that no second element is reached by mean nothing, and libraries fill in anything.
View make_shared_view(void* data, DType dtype, int rank, const std::int64_t* shape, const std::int64_t* strides) {
  View view;
  view.dtype = dtype, view.rank = rank;
  std::copy(shape, shape + rank, view.shape.begin());
  std::uint64_t row_major = 1;  // which may overflow where no stride is made of it
  const bool has_elements = std::find(shape, shape + rank, 0) == shape + rank;
  for (int axis = rank - 1; axis >= 0; --axis) {
    const bool meant = has_elements && view.shape[axis] > 1 && strides != nullptr;
    view.stride[axis] = meant ? strides[axis] : static_cast<Index>(row_major);
    row_major *= static_cast<std::uint64_t>(std::max<Index>(view.shape[axis], 1));
  }
  view.data = data != nullptr ? data : g_nothing;
  return view;
}

void check_rank(const char* caller, const char* name, std::int64_t rank) {
  HEED_CHECK(rank >= 0 && rank <= kMaxRank, "{}: {} must have at most {} axes, but has {}", caller, name, kMaxRank,
             rank);
}

void check_aligned(const char* caller, const char* name, const View& view) {
  HEED_CHECK(reinterpret_cast<std::uintptr_t>(view.data) % static_cast<std::uintptr_t>(size_of(view.dtype)) == 0,
             "{}: {} does not begin at a multiple of its elements' size, and heed copies no array: copy it", caller,
             name);
}

// --- NumPy -----------------------------------------------------------------------------------------------------------

std::optional<DType> dtype_of_numpy(char code) {
  switch (code) {
    case 'f':
      return DType::f32;
    case 'd':
      return DType::f64;
    case 'e':
      return DType::f16;
    case 'b':
      return DType::i8;
    case 'i':
      return DType::i32;
    case 'l':
    case 'q':
      return sizeof(long) == 8 || code == 'q' ? DType::i64 : DType::i32;
    case '?':
      return DType::boolean;
    default:
      return {};
  }
}

py::dtype numpy_of_dtype(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return py::dtype::of<float>();
    case DType::f64:
      return py::dtype::of<double>();
    case DType::f16:
      return py::dtype("e");
    case DType::i8:
      return py::dtype::of<std::int8_t>();
    case DType::i32:
      return py::dtype::of<std::int32_t>();
    case DType::i64:
      return py::dtype::of<std::int64_t>();
    case DType::boolean:
      return py::dtype::of<bool>();
    case DType::bf16:
      break;
  }
  fail("heed: NumPy has no {}", name_of(dtype));
}

SharedArray share_numpy(const char* caller, const char* name, py::array array) {
  const py::dtype type = array.dtype();
  const std::optional<DType> dtype = dtype_of_numpy(type.char_());
  HEED_CHECK(dtype.has_value(),
             "{}: {} holds {}, and heed takes float32, float64, float16, int8, int32, int64 and bool", caller, name,
             std::string(py::str(py::handle(type))));
  HEED_CHECK(type.byteorder() == '=' || type.byteorder() == '|',
             "{}: {} holds {}, which is not this machine's byte order, and heed copies no array: use "
             "{}.astype({}.dtype.newbyteorder('='))",
             caller, name, std::string(py::str(py::handle(type))), name, name);
  const Index bytes = size_of(*dtype);
  const int rank = static_cast<int>(array.ndim());
  check_rank(caller, name, array.ndim());
  std::array<std::int64_t, kMaxRank> shape{}, strides{};
  for (int axis = 0; axis < rank; ++axis) {
    shape[axis] = array.shape(axis);
    const py::ssize_t stride = array.strides(axis);
    HEED_CHECK(
        shape[axis] <= 1 || stride % bytes == 0,
        "{}: {} has a stride of {} bytes along axis {}, which is no multiple of its elements' {}, and heed copies "
        "no array: copy it",
        caller, name, stride, axis, bytes);
    strides[axis] = stride / bytes;
  }
  SharedArray shared;
  shared.view = make_shared_view(const_cast<void*>(array.data()), *dtype, rank, shape.data(), strides.data());
  check_aligned(caller, name, shared.view);
  shared.writable = array.writeable();
  shared.owner = std::move(array);
  return shared;
}

py::object give_numpy(const Tensor& tensor) {
  const View& view = tensor.view();
  std::vector<py::ssize_t> shape(view.shape.begin(), view.shape.begin() + view.rank);
  std::vector<py::ssize_t> strides;
  for (int axis = 0; axis < view.rank; ++axis) strides.push_back(view.stride[axis] * size_of(view.dtype));
  const py::capsule owner(new Tensor(tensor), [](void* held) { delete static_cast<Tensor*>(held); });
  return py::array(numpy_of_dtype(view.dtype), std::move(shape), std::move(strides), view.data, owner);
}

// --- DLPack ----------------------------------------------------------------------------------------------------------

// DLPack had no booleans before 1.0: libraries export them as unsigned bytes, or not at all. What they are their dtype
// says.
bool holds_booleans(py::handle object) {
  if (!py::hasattr(object, "dtype")) return false;
  const std::string type = py::str(object.attr("dtype"));
  return type.ends_with("bool");
}

std::optional<DType> dtype_of_dlpack(DlType type, py::handle object) {
  if (type.lanes != 1) return {};
  switch (type.code) {
    case DlType::kFloat:
      if (type.bits == 32) return DType::f32;
      if (type.bits == 64) return DType::f64;
      if (type.bits == 16) return DType::f16;
      return {};
    case DlType::kBfloat:
      return type.bits == 16 ? std::optional(DType::bf16) : std::nullopt;
    case DlType::kInt:
      if (type.bits == 8) return DType::i8;
      if (type.bits == 32) return DType::i32;
      if (type.bits == 64) return DType::i64;
      return {};
    case DlType::kBool:
      return type.bits == 8 ? std::optional(DType::boolean) : std::nullopt;
    case DlType::kUnsigned:
      return type.bits == 8 && holds_booleans(object) ? std::optional(DType::boolean) : std::nullopt;
    default:
      return {};
  }
}

DlType dlpack_of_dtype(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * size_of(dtype));
  switch (dtype) {
    case DType::f32:
    case DType::f64:
    case DType::f16:
      return {DlType::kFloat, bits, 1};
    case DType::bf16:
      return {DlType::kBfloat, bits, 1};
    case DType::i8:
    case DType::i32:
    case DType::i64:
      return {DlType::kInt, bits, 1};
    case DType::boolean:
      return {DlType::kBool, bits, 1};
  }
  return {};
}

// The module that a class, or one that it derives from, is of, and that has the attribute; null where there is none.
py::object library_with(const char* attribute, py::handle object) {
  const py::dict modules = py::module_::import("sys").attr("modules");
  for (const py::handle base : py::type::of(object).attr("__mro__")) {
    const std::string module = py::str(base.attr("__module__"));
    const py::str root(module.substr(0, module.find('.')));
    if (modules.contains(root) && py::hasattr(modules[root], attribute)) return modules[root];
  }
  return {};
}

py::object capsule_of(const char* caller, const char* name, py::handle object) {
  try {
    return object.attr("__dlpack__")();
  } catch (const py::error_already_set& refused) {
    if (holds_booleans(object) &&
        py::hasattr(object, "view")) {  // torch before 2.2 exports no booleans, but their bytes
      if (const py::object library = library_with("uint8", object)) {
        return object.attr("view")(library.attr("uint8")).attr("__dlpack__")();
      }
    }
    fail("{}: {}, a {}, cannot be shared: {}", caller, name, type_name(object), std::string(py::str(refused.value())));
  }
}

// The capsule is left as it is, so that it gives the memory back when it goes: it is the view's owner.
SharedArray share_dlpack(const char* caller, const char* name, py::handle object) {
  SharedArray shared;
  shared.owner = capsule_of(caller, name, object);
  HEED_CHECK(PyCapsule_IsValid(shared.owner.ptr(), kDlCapsule) != 0,
             "{}: {}, a {}, gives no capsule of DLPack's that nobody has taken over", caller, name, type_name(object));
  const auto* managed = static_cast<DlManaged*>(PyCapsule_GetPointer(shared.owner.ptr(), kDlCapsule));
  const DlTensor& tensor = managed->tensor;
  HEED_CHECK(tensor.device.type == DlDevice::kCpu || tensor.device.type == DlDevice::kCudaHost,
             "{}: {} is in the memory of another device than the processor (DLPack's {}): move it first", caller, name,
             tensor.device.type);
  check_rank(caller, name, tensor.ndim);
  const std::optional<DType> dtype = dtype_of_dlpack(tensor.dtype, object);
  HEED_CHECK(dtype.has_value(),
             "{}: {} holds DLPack's type {} of {} bits, and heed takes floats of 16, 32 and 64 bits, bfloat16, int8, "
             "int32, int64 and bool",
             caller, name, tensor.dtype.code, tensor.dtype.bits);
  void* data = tensor.data == nullptr ? nullptr : static_cast<char*>(tensor.data) + tensor.byte_offset;
  shared.view = make_shared_view(data, *dtype, tensor.ndim, tensor.shape, tensor.strides);
  check_aligned(caller, name, shared.view);
  shared.writable = true;
  return shared;
}

// A capsule of a tensor, and what it needs.
struct Exported {
  DlManaged managed;
  Tensor tensor;
  std::array<std::int64_t, kMaxRank> shape, strides;
};

py::capsule export_dlpack(const Tensor& tensor) {
  auto exported = std::make_unique<Exported>();
  exported->tensor = tensor;
  const View& view = exported->tensor.view();
  std::copy(view.shape.begin(), view.shape.end(), exported->shape.begin());
  std::copy(view.stride.begin(), view.stride.end(), exported->strides.begin());
  exported->managed = {{view.as<void>(),
                        {DlDevice::kCpu, 0},
                        view.rank,
                        dlpack_of_dtype(view.dtype),
                        exported->shape.data(),
                        exported->strides.data(),
                        0},
                       exported.get(),
                       [](DlManaged* managed) { delete static_cast<Exported*>(managed->context); }};
  PyObject* capsule = PyCapsule_New(&exported->managed, kDlCapsule, [](PyObject* made) {
    if (PyCapsule_IsValid(made, kDlCapsule) == 0) return;  // it was taken over, and is somebody else's
    auto* managed = static_cast<DlManaged*>(PyCapsule_GetPointer(made, kDlCapsule));
    managed->deleter(managed);
  });
  if (capsule == nullptr) throw py::error_already_set();
  static_cast<void>(exported.release());
  return py::reinterpret_steal<py::capsule>(capsule);
}

// from_dlpack of an array's library; None where there is none.
py::object find_from_dlpack(py::handle object) {
  if (py::hasattr(object, "__array_namespace__")) {
    const py::object library = object.attr("__array_namespace__")();
    if (py::hasattr(library, "from_dlpack")) return library.attr("from_dlpack");
  }
  const py::object library = library_with("from_dlpack", object);
  return library ? py::object(library.attr("from_dlpack")) : py::none();
}

// The same, looked up once for each class: there are few, and they are kept.
py::object from_dlpack_of(py::handle object) {
  static py::dict& found = *new py::dict;  // the interpreter may end before static objects do
  const py::type type = py::type::of(object);
  if (!found.contains(type)) found[type] = find_from_dlpack(object);
  return found[type];
}

bool is_sequence_of_numbers(py::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }

// A torch tensor with a gradient is exported only without it.
bool is_learned(py::handle object) {
  return py::hasattr(object, "requires_grad") && object.attr("requires_grad").cast<bool>();
}

py::array as_numpy(py::handle object) { return py::module_::import("numpy").attr("asarray")(object); }

}  // namespace

std::string type_name(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

SharedArray share(const char* caller, const char* name, py::handle object) {
  if (py::isinstance<py::array>(object)) return share_numpy(caller, name, py::reinterpret_borrow<py::array>(object));
  if (py::hasattr(object, "__dlpack__")) return share_dlpack(caller, name, object);
  HEED_CHECK(PyObject_CheckBuffer(object.ptr()) != 0,
             "{}: {} must be an array (NumPy's, or of any library with DLPack or the buffer protocol), but is {}",
             caller, name, object.is_none() ? "None" : "of type " + type_name(object));
  return share_numpy(caller, name, as_numpy(object));
}

SharedArray share_writable(const char* caller, const char* name, py::handle object) {
  SharedArray shared = share(caller, name, object);
  HEED_CHECK(shared.writable, "{}: {} is to be written, but is read-only", caller, name);
  return shared;
}

Tensor share_tensor(const char* caller, const char* name, py::handle object) {
  if (object.is_none()) return {};
  if (is_sequence_of_numbers(object)) return share_tensor(caller, name, as_numpy(object));
  SharedArray shared =
      share(caller, name,
            is_learned(object) ? py::object(object.attr("detach")()) : py::reinterpret_borrow<py::object>(object));
  return Tensor::borrow(shared.view, hold(std::move(shared.owner)));
}

Tensor with_leading_axes(const Tensor& tensor, int rank) {
  View view = tensor.view();
  if (!view || view.rank >= rank) return tensor;
  const int added = rank - view.rank;
  for (int axis = rank - 1; axis >= 0; --axis) {
    view.shape[axis] = axis < added ? 1 : view.shape[axis - added];
    view.stride[axis] = axis < added ? 0 : view.stride[axis - added];
  }
  view.rank = rank;
  return tensor.through(view);
}

std::shared_ptr<void> hold(py::object object) {
  return {object.release().ptr(), [](void* held) {
            if (Py_IsInitialized() == 0) return;  // the interpreter is gone, and all of its objects
            const py::gil_scoped_acquire lock;
            Py_DECREF(static_cast<PyObject*>(held));
          }};
}

Library Library::of(py::handle operand) {
  Library library;
  if (!py::isinstance<py::array>(operand) && py::hasattr(operand, "__dlpack__")) {
    library.from_dlpack_ = from_dlpack_of(operand);
  }
  return library;
}

py::object Library::give(const Tensor& tensor) const {
  if (tensor.is_empty()) return py::none();
  if (!from_dlpack_) return give_numpy(tensor);
  const py::object array = py::cast(tensor);
  return from_dlpack_.is_none() ? array : from_dlpack_(array);
}

void add_array(py::module_& module) {
  py::class_<Tensor>(module, "Array",
                     "Numbers of heed's that any array library takes over by from_dlpack, without a copy.")
      .def(
          "__dlpack__", [](const Tensor& tensor, const py::kwargs&) { return export_dlpack(tensor); },
          "The memory as a DLPack capsule.")
      .def("__dlpack_device__", [](const Tensor&) { return std::pair(DlDevice::kCpu, 0); })
      .def_property_readonly("shape",
                             [](const Tensor& tensor) {
                               py::tuple shape(tensor.rank());
                               for (int axis = 0; axis < tensor.rank(); ++axis) shape[axis] = tensor.dim(axis);
                               return shape;
                             })
      .def_property_readonly("dtype", [](const Tensor& tensor) { return std::string(name_of(tensor.dtype())); })
      .def("__repr__", [](const Tensor& tensor) { return "heed.Array(" + describe(tensor.view()) + ")"; });
}

}  // namespace heed::python
