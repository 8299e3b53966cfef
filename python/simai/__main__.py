"""Becomes the program `simai`, whose commands are the programs."""

import os
import sys

from simai._programs import BIN


def main():
    program = str(BIN / "simai")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
