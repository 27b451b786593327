#include "datasets/text/unpack.h"

#include <bzlib.h>
#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <new>

#include "core/error.h"

namespace hogbatch {
namespace {

constexpr std::size_t kFirstCapacity = std::size_t{1} << 20;

[[noreturn]] void ThrowDamaged(const std::string& source, std::string_view kind) {
  throw UserError(
      fmt::format("{}: the {} file is damaged; download or copy it again", source, kind));
}

[[noreturn]] void ThrowTruncated(const std::string& source, std::string_view kind) {
  throw UserError(
      fmt::format("{}: the {} file is cut off; download or copy it again", source, kind));
}

// Makes room for more output. Throws before `out` would exceed `max_bytes`.
void MakeRoom(Bytes& out, const std::string& source, std::size_t max_bytes) {
  if (out.size() < out.capacity()) return;
  if (out.capacity() >= max_bytes) {
    throw UserError(fmt::format(
        "{}: decompresses to more than {} MB, the limit for one data set or what is left of it; "
        "raise it with --memory-limit, or decompress it and use the plain file",
        source, max_bytes >> 20));
  }
  out.Grow(std::min(std::max(kFirstCapacity, out.capacity() * 2), max_bytes));
}

struct Inflater : z_stream {
  Inflater() : z_stream{} {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(this, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(this); }
};

// zlib counts in 32 bits.
uInt Slice(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

// bzip2 counts in 32 bits, too.
struct Bunzipper : bz_stream {
  Bunzipper() : bz_stream{} { Begin(); }
  Bunzipper(const Bunzipper&) = delete;
  Bunzipper& operator=(const Bunzipper&) = delete;
  ~Bunzipper() { BZ2_bzDecompressEnd(this); }

  // The next stream of the file.
  void Restart() {
    BZ2_bzDecompressEnd(this);
    static_cast<bz_stream&>(*this) = {};
    Begin();
  }

 private:
  void Begin() {
    if (BZ2_bzDecompressInit(this, /*verbosity=*/0, /*small=*/0) != BZ_OK) throw std::bad_alloc();
  }
};

struct ZstdFree {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

struct XzDecoder {
  explicit XzDecoder(std::size_t max_bytes) {
    if (lzma_stream_decoder(&stream, std::max<std::size_t>(max_bytes, kFirstCapacity * 128),
                            LZMA_CONCATENATED) != LZMA_OK) {
      throw std::bad_alloc();
    }
  }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;
  ~XzDecoder() { lzma_end(&stream); }
  lzma_stream stream = LZMA_STREAM_INIT;
};

}  // namespace

void Bytes::Grow(std::size_t capacity) {
  char* grown = static_cast<char*>(std::realloc(data_.get(), capacity));
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(data_.release());
  data_.reset(grown);
  capacity_ = capacity;
}

std::string_view PackedEnding(std::string_view name) {
  const auto ending = std::ranges::find_if(
      kPackedEndings, [&](std::string_view packed) { return name.ends_with(packed); });
  return ending == kPackedEndings.end() ? "" : *ending;
}

Packing FindPacking(std::string_view bytes, const std::string& source) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\x1f\x8b"sv)) return Packing::kGzip;
  if (bytes.starts_with("\xfd"
                        "7zXZ\0"sv)) {
    return Packing::kXz;
  }
  if (bytes.starts_with("\x28\xb5\x2f\xfd"sv)) return Packing::kZstd;
  // A file that is cut off may end within the magic number.
  if (bytes.size() > 4 && bytes.starts_with("BZh"sv) &&
      "1AY&SY"sv.starts_with(bytes.substr(4, 6))) {
    return Packing::kBzip2;
  }
  if (bytes.starts_with("PK\x03\x04"sv)) {
    throw UserError(
        fmt::format("{}: compressed with zip, which hogbatch does not read; decompress it, or "
                    "compress it with xz, gzip, bzip2 or zstd instead",
                    source));
  }
  return Packing::kNone;
}

Bytes UnpackGzip(std::string_view packed, const std::string& source, std::size_t max_bytes) {
  Inflater inflater;
  Bytes out;
  while (true) {
    MakeRoom(out, source, max_bytes);
    const uInt in = Slice(packed.size());
    const uInt room = Slice(out.capacity() - out.size());
    inflater.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    inflater.avail_in = in;
    inflater.next_out = reinterpret_cast<Bytef*>(out.data() + out.size());
    inflater.avail_out = room;
    const int code = inflate(&inflater, Z_NO_FLUSH);
    packed.remove_prefix(in - inflater.avail_in);
    out.set_size(out.size() + (room - inflater.avail_out));
    if (code == Z_STREAM_END) {
      // Like gzip(1), ignore zeros after the last member as padding.
      packed.remove_prefix(std::min(packed.find_first_not_of('\0'), packed.size()));
      if (packed.empty()) return out;
      if (inflateReset(&inflater) != Z_OK) ThrowDamaged(source, "gzip");
    } else if (code == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      ThrowDamaged(source, "gzip");
    } else if (packed.empty() && inflater.avail_out != 0) {
      ThrowTruncated(source, "gzip");
    }
  }
}

Bytes UnpackXz(std::string_view packed, const std::string& source, std::size_t max_bytes) {
  XzDecoder decoder(max_bytes);
  lzma_stream& stream = decoder.stream;
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  Bytes out;
  while (true) {
    MakeRoom(out, source, max_bytes);
    stream.next_out = reinterpret_cast<std::uint8_t*>(out.data() + out.size());
    stream.avail_out = out.capacity() - out.size();
    const lzma_ret code = lzma_code(&stream, LZMA_FINISH);
    out.set_size(out.capacity() - stream.avail_out);
    if (code == LZMA_STREAM_END) return out;
    if (code == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (code == LZMA_BUF_ERROR) ThrowTruncated(source, "xz");
    if (code != LZMA_OK) ThrowDamaged(source, "xz");
  }
}

Bytes UnpackBzip2(std::string_view packed, const std::string& source, std::size_t max_bytes) {
  Bunzipper bunzipper;
  Bytes out;
  while (true) {
    MakeRoom(out, source, max_bytes);
    const unsigned in = Slice(packed.size());
    const unsigned room = Slice(out.capacity() - out.size());
    bunzipper.next_in = const_cast<char*>(packed.data());
    bunzipper.avail_in = in;
    bunzipper.next_out = out.data() + out.size();
    bunzipper.avail_out = room;
    const int code = BZ2_bzDecompress(&bunzipper);
    packed.remove_prefix(in - bunzipper.avail_in);
    out.set_size(out.size() + (room - bunzipper.avail_out));
    if (code == BZ_STREAM_END) {
      if (packed.empty()) return out;
      bunzipper.Restart();
    } else if (code == BZ_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (code != BZ_OK) {
      ThrowDamaged(source, "bzip2");
    } else if (packed.empty() && bunzipper.avail_out != 0) {
      ThrowTruncated(source, "bzip2");
    }
  }
}

Bytes UnpackZstd(std::string_view packed, const std::string& source, std::size_t max_bytes) {
  const std::unique_ptr<ZSTD_DStream, ZstdFree> stream(ZSTD_createDStream());
  if (!stream) throw std::bad_alloc();
  ZSTD_inBuffer in{.src = packed.data(), .size = packed.size(), .pos = 0};
  Bytes out;
  while (true) {
    MakeRoom(out, source, max_bytes);
    ZSTD_outBuffer room{.dst = out.data(), .size = out.capacity(), .pos = out.size()};
    const std::size_t code = ZSTD_decompressStream(stream.get(), &room, &in);
    if (ZSTD_isError(code) != 0) ThrowDamaged(source, "zstd");
    const bool has_written = room.pos != out.size();
    out.set_size(room.pos);
    if (in.pos < in.size) continue;
    if (code == 0) return out;  // the end of a frame
    if (room.pos < room.size && !has_written) ThrowTruncated(source, "zstd");
  }
}

}  // namespace hogbatch
