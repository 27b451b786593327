#!/usr/bin/env python3
"""Fails for a folder with more than 30 files and for a source file with more than 400 lines.

    tests/house.py ROOT        checks the tree
    tests/house.py --selftest  checks that the check finds what it should
"""
import os
import pathlib
import sys
import tempfile

MOST_FILES = 30
MOST_LINES = 400
SOURCES = {".cc", ".h", ".cu", ".cl", ".inc", ".py", ".cmake", ".sh", ".txt", ".yml", ""}
MADE = {"build", "runs"}  # by building and running, in the root


def folders(root):
    """Every folder with the files in it, without what is hidden or made."""
    for folder, below, files in os.walk(root):
        at_root = pathlib.Path(folder) == root
        below[:] = sorted(name for name in below if name == ".github" or not
                          (name[0] in "._" or at_root and name in MADE))
        yield pathlib.Path(folder), [name for name in files if name[0] != "."]


def violations(root):
    for folder, files in folders(root):
        place = folder.relative_to(root).as_posix()
        if len(files) > MOST_FILES:
            yield f"{place} has {len(files)} files; {MOST_FILES} are the most"
        for name in sorted(files):
            if pathlib.Path(name).suffix in SOURCES:
                lines = (folder / name).read_bytes().count(b"\n")
                if lines > MOST_LINES:
                    yield f"{place}/{name} has {lines} lines; {MOST_LINES} are the most"


def selftest():
    with tempfile.TemporaryDirectory() as made:
        root = pathlib.Path(made)
        for folder in ("a/b", "build", ".hidden"):
            (root / folder).mkdir(parents=True)
        for i in range(MOST_FILES):
            (root / "a/b" / f"{i}.cc").write_text("\n" * MOST_LINES)
        for folder in ("build", ".hidden"):
            (root / folder / "long.cc").write_text("\n" * 2 * MOST_LINES)
        (root / "data.csv").write_text("\n" * 2 * MOST_LINES)
        assert not list(violations(root))
        (root / "a/b/one_more.h").touch()
        assert list(violations(root)) == ["a/b has 31 files; 30 are the most"]
        (root / "a/b/one_more.h").unlink()
        (root / "a/b/0.cc").write_text("\n" * (MOST_LINES + 1))
        assert list(violations(root)) == ["a/b/0.cc has 401 lines; 400 are the most"]


def main():
    if sys.argv[1] == "--selftest":
        return selftest()
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "no folder is crowded and no source file is long")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
