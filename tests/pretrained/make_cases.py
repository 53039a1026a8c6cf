#!/usr/bin/env python3
"""make_cases.py FOLDER: writes models of random weights with their outputs into it, a folder for each. Needs PyTorch and NumPy."""

import pathlib
import sys

sys.dont_write_bytecode = True

import torch

import decoders
import early_decoders
import encoders
import senses
import translators

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
for family in (encoders, decoders, early_decoders, translators, senses):
    family.make(pathlib.Path(sys.argv[1]))
