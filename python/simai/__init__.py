"""Predicts how long large models take on GPU clusters, and why.

Each command of the program `simai` is a function here, and its keywords are
the options of that command, with underscores:

    import simai

    plan = simai.plan(model="llama3-70b", gpu_type="H100", gpus=512,
                      global_batch=512, seq_length=8192)
    plan.summary            # the best plan in numbers
    plan.frame("plans")     # all plans as a data frame of pandas

A call runs the program, which comes with this package, as a process of its
own: it may be interrupted, and calls of several threads run side by side. What
a program refuses raises simai.Error with the program's message.
"""

from simai._functions import functions
from simai._process import Error, InputWarning
from simai._programs import load
from simai._result import Result, Table, read

_known = load()
__version__ = _known.version
_made = functions(_known)
globals().update(_made)
__all__ = ["Error", "InputWarning", "Result", "Table", "read", *_made]
