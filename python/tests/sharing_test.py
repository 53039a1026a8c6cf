"""What heed does with other libraries' memory: it reads and writes it where it is, keeps it alive, gives its own away without a copy, and
refuses what only a copy could show."""

import array
import ctypes
import gc
import sys
import threading
import time
import unittest
import weakref

import numpy as np

import heed

B, H, L, D = 2, 4, 7, 8


def draw(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def operands(dtype=np.float32):
    return [draw(B, H, L, D, dtype=dtype, seed=n) for n in range(3)]


def address(x):
    return x.__array_interface__["data"][0]


class Reading(unittest.TestCase):
    def setUp(self):
        self.q, self.k, self.v = operands()
        self.out = heed.attention(self.q, self.k, self.v)

    def check(self, q, k, v):
        np.testing.assert_array_equal(heed.attention(q, k, v), self.out)

    def test_strided_views_are_read_in_place(self):
        rows = [np.ascontiguousarray(x.transpose(0, 2, 1, 3)) for x in (self.q, self.k, self.v)]
        self.check(*(x.transpose(0, 2, 1, 3) for x in rows))  # [B, L, H, D]
        packed = np.concatenate([x.reshape(B, L, H * D) for x in rows], axis=2)
        self.check(*(packed[..., n * H * D:(n + 1) * H * D].reshape(B, L, H, D).transpose(0, 2, 1, 3) for n in range(3)))
        wide = np.full((B, H, 2 * L, 3 * D), np.nan, np.float32)
        wide[:, :, ::2, :D] = self.k
        self.check(self.q, wide[:, :, ::2, :D], self.v)
        backwards = np.ascontiguousarray(self.k[:, :, ::-1])
        self.check(self.q, backwards[:, :, ::-1], self.v)

    def test_no_copy_is_made_of_a_large_array(self):
        """Keys and values of 64 GiB each, by their strides: a copy could not be held."""
        pages = np.lib.stride_tricks.as_strided(self.k, (B, H, 1 << 28, D), (*self.k.strides[:2], 0, 4))
        out = heed.attention(self.q, pages, pages, mask=heed.key_lengths([1, 1]))
        np.testing.assert_array_equal(out, np.broadcast_to(self.k[:, :, :1], out.shape))

    def test_broadcast_arrays(self):
        one = self.k[:1, :1]
        shared = np.broadcast_to(one, self.k.shape)
        self.assertEqual(shared.strides[:2], (0, 0))
        np.testing.assert_array_equal(heed.attention(self.q, shared, shared), heed.attention(self.q, shared.copy(), shared.copy()))

    def test_read_only_arrays(self):
        for x in (self.q, self.k, self.v):
            x.flags.writeable = False
        self.check(self.q, self.k, self.v)

    def test_the_buffer_protocol(self):
        self.check(memoryview(self.q), memoryview(self.k), memoryview(self.v))
        lengths = array.array("i", [L, L])
        np.testing.assert_array_equal(heed.attention(self.q, self.k, self.v, mask=heed.key_lengths(lengths)), self.out)

    def test_arrays_without_elements(self):
        empty = np.empty((0, H, L, D), np.float32)
        self.assertEqual(heed.attention(empty, empty, empty).shape, (0, H, L, D))
        self.assertEqual(heed.attention(self.q[:, :, :0], self.k, self.v).shape, (B, H, 0, D))
        out, lse = heed.attention(self.q, self.k[:, :, :0], self.v[:, :, :0], return_lse=True)
        self.assertTrue((out == 0).all() and (lse == -np.inf).all())

    def test_extents_of_one_may_have_any_stride(self):
        odd = np.lib.stride_tricks.as_strided(self.k[:1, :1, :, :1], (1, 1, L, 1), (3, 5, self.k.strides[2], 7))
        q, v = self.q[:1, :1, :, :1].copy(), self.v[:1, :1]
        np.testing.assert_array_equal(heed.attention(q, odd, v), heed.attention(q, odd.copy(), v))


class Refusing(unittest.TestCase):
    def setUp(self):
        self.q, self.k, self.v = operands()

    def refuses(self, pattern, q=None, **options):
        with self.assertRaisesRegex(heed.Error, pattern):
            heed.attention(self.q if q is None else q, self.k, self.v, **options)

    def test_an_error_is_a_value_error(self):
        self.assertTrue(issubclass(heed.Error, ValueError))
        self.assertEqual((heed.Error.__module__, heed.Error.__name__), ("heed", "Error"))
        with self.assertRaisesRegex(ValueError, "attention: "):
            heed.attention(self.q, self.k[..., :3], self.v)

    def test_another_byte_order(self):
        self.refuses("q holds >f4, which is not this machine's byte order", self.q.astype(">f4"))
        native = self.q.astype("<f4") if sys.byteorder == "little" else self.q.astype(">f4")
        heed.attention(native, self.k, self.v)

    def test_other_types(self):
        self.refuses("q holds uint16", self.q.astype(np.uint16))
        self.refuses("q holds complex64", self.q.astype(np.complex64))
        self.refuses("q must be an array .*, but is of type str", "text")
        self.refuses("q must be an array .*, but is of type list", [[1.0]])

    def test_what_only_a_copy_could_show(self):
        self.refuses("stride 1 along its last axis|last axis", self.q[..., ::-1])
        record = np.zeros((B, H, L, D), np.dtype([("odd", "u1"), ("x", "f4")]))["x"]
        self.refuses("no multiple of its elements' 4", record)
        odd = np.frombuffer(bytearray(self.q.nbytes + 1), np.float32, offset=1, count=self.q.size).reshape(self.q.shape)
        self.refuses("does not begin at a multiple of its elements' size", odd)

    def test_other_ranks(self):
        self.refuses(r"must be \[batch, heads, length, width\], but are f32 \[4, 7, 8\]", self.q[0])
        self.refuses("q must have at most 4 axes, but has 5", self.q[None])

    def test_options_of_another_kind(self):
        self.refuses("score must be made by heed.scaled_dot", score="dot")
        self.refuses("normaliser must be made by", normaliser="softmax")
        self.refuses("scale must be a number, but is of type str", scale="one")
        self.refuses("a mask must be a heed.Mask or a boolean array .* f32 .* are a bias", mask=np.zeros((L, L), np.float32))
        with self.assertRaisesRegex(heed.Error, "anchor must be 'end', 'start' or 'length', but is 'middle'"):
            heed.causal("middle")
        with self.assertRaisesRegex(heed.Error, "both sides of \\+ have a part of one kind: alibi"):
            heed.alibi() + heed.alibi()
        with self.assertRaises(TypeError):
            heed.attention(self.q, self.k, self.v, masks=heed.causal())

    def test_an_error_of_a_predicate_comes_through(self):
        def fails(b, h, i, j):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            heed.attention(self.q, self.k, self.v, mask=heed.predicate(fails))
        heed.attention(self.q, self.k, self.v)


class Writing(unittest.TestCase):
    def setUp(self):
        self.q, self.k, self.v = operands()
        self.wanted = heed.attention(self.q, self.k, self.v)

    def test_out_is_filled_and_returned(self):
        rows = np.full((B, L, H, 2 * D), 7, np.float32)
        out = rows[..., :D].transpose(0, 2, 1, 3)
        self.assertIs(heed.attention(self.q, self.k, self.v, out=out), out)
        np.testing.assert_array_equal(out, self.wanted)
        self.assertTrue((rows[..., D:] == 7).all())

    def test_what_must_not_be_written_is_refused(self):
        def refuses(pattern, out):
            kept = np.array(out)
            with self.assertRaisesRegex(heed.Error, pattern):
                heed.attention(self.q, self.k, self.v, out=out)
            np.testing.assert_array_equal(out, kept)

        locked = np.zeros_like(self.q)
        locked.flags.writeable = False
        refuses("out is to be written, but is read-only", locked)
        refuses("share|overlap", self.q)
        refuses("share|overlap", self.k)
        refuses("share|overlap", np.lib.stride_tricks.as_strided(np.zeros(D, np.float32), self.q.shape, (0, 0, 0, 4)))
        refuses("out must be f32 of shape", np.zeros((B, H, L, D + 1), np.float32))
        refuses("out must be f32 of shape", np.zeros((B, H, L, D)))

    def test_results_are_arrays_like_others(self):
        out, lse = heed.attention(self.q, self.k, self.v, return_lse=True)
        self.assertIs(type(out), np.ndarray)
        self.assertTrue(out.flags.writeable and out.flags.c_contiguous and out.flags.aligned)
        self.assertEqual(address(out) % 64, 0)
        out[:] = 0
        self.assertEqual(lse.dtype, np.float32)


class Lifetimes(unittest.TestCase):
    def test_a_result_keeps_its_memory(self):
        q, k, v = operands()
        wanted = heed.attention(q, k, v)
        kept = wanted.copy()
        part = wanted[0]
        del wanted
        gc.collect()
        for _ in range(20):  # what was freed would be used again
            heed.attention(q + 1, k, v)
        np.testing.assert_array_equal(part, kept[0])

    def test_options_keep_their_arrays(self):
        lengths = np.array([2, 3], np.int32)
        alive = weakref.ref(lengths)
        mask = heed.key_lengths(lengths)
        both = heed.causal() & mask
        at = address(lengths)
        del lengths, mask
        gc.collect()
        self.assertIsNotNone(alive())
        self.assertEqual(address(alive()), at)
        allowed = both.array(2, 1, 1, 4)
        np.testing.assert_array_equal(allowed[:, 0, 0], [[1, 1, 0, 0], [1, 1, 1, 0]])
        alive()[0] = 4  # it is the array itself that is read
        np.testing.assert_array_equal(both.array(2, 1, 1, 4)[0, 0, 0], [1, 1, 1, 1])
        del both
        gc.collect()
        self.assertIsNone(alive())

    def test_operands_are_let_go(self):
        arrays = [*operands(), np.zeros((L, L), np.float32)]
        before = [sys.getrefcount(x) for x in arrays]
        for _ in range(3):
            heed.attention(*arrays[:3], bias=arrays[3], return_weights=True)
        self.assertEqual([sys.getrefcount(x) for x in arrays], before)

    def test_a_capsule_of_heeds_gives_its_memory_back_whoever_had_it(self):
        """Results come from a pool: memory that is free is used again at once."""
        tensor = _an_array()
        kept = np.from_dlpack(tensor)  # takes the capsule over
        at = address(kept)
        del tensor
        others = [_an_array() for _ in range(20)]
        self.assertNotIn(at, [address(np.from_dlpack(one)) for one in others])
        np.testing.assert_allclose(kept[0, 0].sum(-1), 1, rtol=1e-6)
        del kept, others
        tensor = _an_array()
        at, capsule = address(np.from_dlpack(tensor)), tensor.__dlpack__()  # one that nobody takes over
        del tensor
        self.assertNotIn(at, [address(np.from_dlpack(one)) for one in [_an_array() for _ in range(20)]])
        del capsule
        self.assertIn(at, [address(np.from_dlpack(one)) for one in [_an_array() for _ in range(60)]])

    def test_a_deleter_is_called_once_after_each_call(self):
        q, k, v = operands()
        arrays = [Counted(x) for x in (q, k, v)]
        out = heed.attention(*arrays)
        self.assertEqual([one.deleted for one in arrays], [1, 1, 1])
        np.testing.assert_array_equal(np.from_dlpack(out), heed.attention(q, k, v))
        bad = Counted(np.zeros((1, 1, 1, 1, 1), np.float32))  # refused after it was exported
        with self.assertRaisesRegex(heed.Error, "at most 4 axes"):
            heed.attention(q, bad, v)
        wrong = Counted(k[..., :3].copy())
        with self.assertRaises(heed.Error):
            heed.attention(q, wrong, v)
        self.assertEqual((bad.deleted, wrong.deleted), (1, 1))
        kept = Counted(np.ones((L, L), np.float32))
        bias = heed.dense(kept)
        for _ in range(3):
            heed.attention(q, k, v, bias=bias)
        self.assertEqual(kept.deleted, 0)
        del bias
        gc.collect()
        self.assertEqual(kept.deleted, 1)

    def test_memory_of_another_device_is_refused(self):
        q, k, v = operands()
        with self.assertRaisesRegex(heed.Error, "k is in the memory of another device than the processor \\(DLPack's 2\\)"):
            heed.attention(q, Counted(k, device=2), v)


class DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class DlManaged(ctypes.Structure):
    _fields_ = [("tensor", DlTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
is_capsule = ctypes.pythonapi.PyCapsule_IsValid
is_capsule.restype, is_capsule.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]


@Deleter
def destroy_capsule(capsule):
    """What DLPack asks of a capsule that nobody took over."""
    if is_capsule(capsule, b"dltensor"):
        managed = ctypes.cast(pointer_of(capsule, b"dltensor"), ctypes.POINTER(DlManaged))
        Deleter(managed.contents.deleter)(ctypes.addressof(managed.contents))


class Counted:
    """A float array whose library counts how often its deleter is called. The array begins behind some bytes, and says so by byte_offset."""

    def __init__(self, numbers, device=1):
        self.numbers, self.deleted = numbers, 0
        self.shape = (ctypes.c_int64 * numbers.ndim)(*numbers.shape)
        self.strides = (ctypes.c_int64 * numbers.ndim)(*(stride // 4 for stride in numbers.strides))
        self.deleter = Deleter(self.count)
        tensor = DlTensor(address(numbers) - 64, device, 0, numbers.ndim, 2, 32, 1, self.shape, self.strides, 64)
        self.managed = DlManaged(tensor, None, ctypes.cast(self.deleter, ctypes.c_void_p))

    def count(self, _):
        self.deleted += 1

    def __dlpack__(self, **_):
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", ctypes.cast(destroy_capsule, ctypes.c_void_p))


class Foreign:
    """An array of a library that heed has not heard of: DLPack and nothing else."""

    exported, device = 0, (1, 0)

    def __init__(self, numbers):
        self.numbers = numbers

    def __dlpack__(self, **_):
        Foreign.exported += 1
        return self.numbers.__dlpack__()

    def __dlpack_device__(self):
        return self.device


def _an_array():
    x = Foreign(np.eye(2, dtype=np.float32).reshape(1, 1, 2, 2))
    return heed.attention(x, x, x)


class OtherLibraries(unittest.TestCase):
    def test_are_read_where_they_are_and_given_an_array_with_dlpack(self):
        q, k, v = operands()
        before = Foreign.exported
        out = heed.attention(Foreign(q), Foreign(k), Foreign(v))
        self.assertEqual(Foreign.exported, before + 3)
        self.assertIsInstance(out, heed.Array)
        self.assertEqual((out.shape, out.dtype), ((B, H, L, D), "f32"))
        self.assertEqual(repr(out), "heed.Array(f32 [2, 4, 7, 8])")
        shown = np.from_dlpack(out)
        np.testing.assert_array_equal(shown, heed.attention(q, k, v))
        self.assertEqual(address(shown), address(np.from_dlpack(out)))

    def test_what_a_capsule_refers_to_is_let_go(self):
        q, k, v = operands()
        counts = [sys.getrefcount(x) for x in (q, k, v)]
        for _ in range(3):
            heed.attention(Foreign(q), Foreign(k), Foreign(v))
        mask = heed.boolean(np.ones((L, L), bool))
        del mask
        gc.collect()
        self.assertEqual([sys.getrefcount(x) for x in (q, k, v)], counts)

    def test_whose_export_fails_are_named(self):
        class Broken(Foreign):
            def __dlpack__(self, **_):
                raise RuntimeError("not today")

        q, k, v = operands()
        with self.assertRaisesRegex(heed.Error, "attention: k, a Broken, cannot be shared: not today"):
            heed.attention(q, Broken(k), v)


class Threads(unittest.TestCase):
    def test_the_lock_is_released_while_heed_computes(self):
        """A thread counts while a call runs: were the lock held, it could not count within the call's own time."""
        q = draw(1, 4, 1500, 64, dtype=np.float64)  # plain loops
        counted, stop = [], threading.Event()

        def count():
            while not stop.is_set():
                counted.append(time.perf_counter())
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        begin = time.perf_counter()
        heed.attention(q, q, q)
        end = time.perf_counter()
        stop.set()
        thread.join()
        within = [at for at in counted if begin + 0.2 * (end - begin) < at < begin + 0.8 * (end - begin)]
        self.assertGreater(len(within), 1, f"a call of {end - begin:.3f} s")

    def test_calls_from_several_threads_give_the_bits_of_one(self):
        q, k, v = operands()
        lengths = [np.array([n, L - n], np.int32) for n in range(L)]
        wanted = [heed.attention(q, k, v, mask=heed.key_lengths(n)) for n in lengths]
        wrong = []

        def work():
            for _ in range(5):
                for n, expected in zip(lengths, wanted):
                    if not np.array_equal(heed.attention(q, k, v, mask=heed.key_lengths(n)), expected):
                        wrong.append(n)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
