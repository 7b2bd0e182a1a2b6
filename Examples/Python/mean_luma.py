#!/usr/bin/env python3
"""Prints the mean luma of each frame of a film, computed by NumPy in the decoder's memory.

    pip install ./bindings/python numpy
    python3 Examples/Python/mean_luma.py film.mkv
"""

import sys

import numpy
import scanout


def main() -> None:
    if len(sys.argv) != 2:
        print("usage: mean_luma.py FILM", file=sys.stderr)
        sys.exit(64)
    try:
        with scanout.Player(sys.argv[1]) as player:
            for frame in player:
                with frame:
                    luma = numpy.asarray(frame.planes[0])
                    print(f"{frame.time:.3f} {luma.mean():.3f}")
    except scanout.Error as error:
        print(f"mean_luma.py: {error}", file=sys.stderr)
        sys.exit(65 if isinstance(error, scanout.DataError) else 66)


if __name__ == "__main__":
    main()
