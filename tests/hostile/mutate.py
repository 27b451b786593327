"""Changes files at random places. The same `chance` makes the same changes."""
import re
import struct

CACHE_HEADER = 1000  # bytes, about
NASTY_NUMBERS = [b"0", b"-1", b"1e308", b"-1e308", b"nan", b"inf", b"1e-400", b"99999999999999999999",
                 b"2147483648", b"4294967296", b"9223372036854775807", b"1.5", b"", b"1e9", b"0x10", b"01"]
NASTY_TEXTS = [b"[", b"{", b"]", b"}", b'"', b"\\", b",", b":", b";", b"\n", b"\r", b"\t", b"\0", b" ", b"#",
               b"\x1b[31m", b"\xff", b"\xef\xbb\xbf", b"\xc2\x9b", b"null", b"true", b"[" * 50, b"1 " * 50,
               b"," * 50, b"\x1f\x8b", b"\xfd7zXZ\0", b"\0\0\x08\x03"]


def mutate(data, chance):
    """A few changes at random places."""
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 3, 6])):
        at = chance.randrange(len(data) + 1)
        length = min(chance.choice([1, 1, 2, 4, 8, 64]), len(data) - at)
        kind = chance.randrange(9)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = chance.randrange(256)
        elif kind == 2:
            del data[at:at + length]
        elif kind == 3:
            data[at:at] = data[at:at + length] * chance.choice([1, 2, 50])
        elif kind == 4:
            data[at:at] = chance.choice(NASTY_TEXTS)
        elif kind == 5:
            del data[at:]
        elif kind == 6:
            other = chance.randrange(len(data) + 1)
            data[at:at + length] = data[other:other + length]
        else:
            numbers = list(re.finditer(rb"-?\d+(\.\d+)?", bytes(data)))
            if numbers:
                found = chance.choice(numbers)
                data[found.start():found.end()] = chance.choice(NASTY_NUMBERS)
    return bytes(data)


def mutate_tensors(data, chance):
    """A safetensors file: mostly its header, with the length before it made right again."""
    length = struct.unpack("<Q", data[:8])[0]
    where = chance.randrange(4)
    if where == 0:
        return mutate(data, chance)
    if where == 1:
        return data[:8 + length] + mutate(data[8 + length:], chance)
    header = mutate(data[8:8 + length], chance)
    return struct.pack("<Q", len(header)) + header + data[8 + length:]


def mutate_cache(good, chance):
    length = min(CACHE_HEADER, len(good))
    if chance.random() < 0.5:
        return mutate(good[:length], chance) + good[length:]
    return mutate(good, chance)
