#!/usr/bin/env python3
"""Fails for a program or library that the loader would look for beside the current directory: one with
an empty or relative element in its RUNPATH.

    tests/runpath.py built BUILD      checks every ELF file of a build tree
    tests/runpath.py installed BUILD  installs it into a temporary folder and checks that
    tests/runpath.py --selftest       checks that the check finds what it should
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ELEMENT = re.compile(r"(/|\$ORIGIN(/|$)|\$\{ORIGIN\}(/|$))")
DYNAMIC = re.compile(r"\((?:RUNPATH|RPATH)\)\s+Library r(?:un)?path: \[(.*)\]")


def wrong_elements(printed):
    """Elements of what `readelf -d` printed that depend on the current directory."""
    return [element for path in DYNAMIC.findall(printed) for element in path.split(":")
            if not ELEMENT.match(element)]


def elf_files(root):
    for folder, _, names in os.walk(root):
        for path in (pathlib.Path(folder, name) for name in sorted(names)):
            if path.suffix in (".o", ".a") or path.is_symlink():
                continue
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def check(root):
    files = list(elf_files(root))
    found = 0
    for path in files:
        printed = subprocess.run(["readelf", "-dW", path], stdout=subprocess.PIPE, text=True,
                                 check=True, env=os.environ | {"LC_ALL": "C"}).stdout
        for element in wrong_elements(printed):
            found += 1
            print(f"{path.relative_to(root)}: RUNPATH has {element!r}, which depends on the current "
                  "directory")
    print(f"{len(files)} programs and libraries, {found} wrong elements")
    return 1 if found or not files else 0


def check_installed(build):
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        return check(pathlib.Path(prefix))


def selftest():
    line = " 0x000000000000001d (RUNPATH)            Library runpath: [{}]\n"
    rpath = " 0x000000000000000f (RPATH)              Library rpath: [{}]\n"
    assert wrong_elements(line.format("$ORIGIN/..::")) == ["", ""]
    assert wrong_elements(line.format("")) == [""]
    assert wrong_elements(line.format("lib:/usr/lib")) == ["lib"]
    assert wrong_elements(rpath.format("$ORIGINAL/lib")) == ["$ORIGINAL/lib"]
    assert not wrong_elements(line.format("$ORIGIN/../lib:${ORIGIN}:/usr/lib"))
    assert not wrong_elements(" 0x0000000000000001 (NEEDED)  Shared library: [libm.so.6]\n")


def main():
    if sys.argv[1] == "--selftest":
        return selftest()
    verbs = {"built": check, "installed": check_installed}
    return verbs[sys.argv[1]](pathlib.Path(sys.argv[2]))


if __name__ == "__main__":
    sys.exit(main())
