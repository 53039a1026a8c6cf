"""What is in a folder that a command has worked in, and whether its files are whole."""

import hashlib
import json
import os
import pathlib
import stat
import struct

PART = ".heed-part"


def is_part(name):
    """Whether this is a file that FileWriter has not finished, or lies in a folder that FolderWriter has not."""
    return any(part.endswith(PART) for part in pathlib.PurePath(name).parts)


def whole_name(name):
    """The name that a part will have when it is whole; any other name as it is."""
    path = pathlib.PurePath(name)
    return str(path.parent / path.name[1:-len(PART)]) if path.name.endswith(PART) else str(path)


def parse_safetensors(data):
    """(header, bytes of the tensors); ValueError where the file is not whole."""
    if len(data) < 8:
        raise ValueError("no header")
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    end = max((tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"), default=0)
    if len(data) != 8 + length + end:
        raise ValueError("cut short")
    return header, data[8 + length:]


def without_times(name, data):
    """The file without what the clock decides; ValueError where it is not whole."""
    if name.endswith(".safetensors"):
        header, tensors = parse_safetensors(data)
        state = json.loads(header.get("__metadata__", {}).get("state", "{}"))
        state.pop("seconds", None)
        header["__metadata__"] = state
        return json.dumps(header, sort_keys=True).encode() + tensors
    if name.endswith(".jsonl"):  # a log: what a fault cut off is only its last line
        lines = [json.loads(line) for line in data.split(b"\n")[:-1]]
        for line in lines:
            line.pop("seconds"), line.pop("target_tokens_per_second", None)
        return json.dumps(lines).encode()
    if name.endswith(".json"):
        json.loads(data)
    return data


class Tree:
    """What is in a folder: name to (what it is, its permissions, its bytes)."""

    def __init__(self, root):
        self.entries, self.broken = {}, []
        for path in sorted(root.rglob("*")):
            name, status = str(path.relative_to(root)), path.lstat()
            mode = stat.S_IMODE(status.st_mode) & ~stat.S_ISVTX
            if path.is_symlink():
                self.entries[name] = ("link", 0, os.readlink(path).encode())
            elif is_part(name):
                self.entries[name] = ("part", 0, b"")
            elif path.is_dir():
                self.entries[name] = ("folder", mode, b"")
            else:
                data = path.read_bytes()
                try:
                    data = without_times(name, data)
                except ValueError as error:
                    self.broken.append(f"{name} is not whole: {error}")
                self.entries[name] = ("file", mode, data)

    def key(self):
        return hashlib.sha256(repr(self.entries).encode()).digest()

    def differences(self, other):
        names = sorted(name for name in self.entries.keys() | other.entries.keys() if self.entries.get(name) != other.entries.get(name))
        return ", ".join(names)
