"""Leaves out tests of training programs without the frameworks, and the change to a normal user for a normal user."""

import importlib.util
import os

collect_ignore = []
if any(importlib.util.find_spec(name) is None for name in ("torch", "torchvision", "tensorflow")):
    if os.environ.get("STOKER_TORCH") == "1":
        raise RuntimeError("STOKER_TORCH=1 asks for torch, torchvision and tensorflow: python/env --torch")
    collect_ignore.append("test_training_programs.py")
if os.getuid() != 0:
    # All other tests of this folder run as a normal user then.
    collect_ignore.append("test_normal_user.py")
