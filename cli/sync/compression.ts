import { promisify } from "node:util";
import zlib from "node:zlib";

/**
 * Compresses bodies. Pieces that follow each other make one body: gzip has members (RFC 1952, section 2.2) and zstd frames
 * (RFC 8878, section 3) that do.
 */
export type Compressor = {
  encoding: "zstd" | "gzip";
  /** A piece of a body. */
  piece(plain: Buffer): Buffer;
  /** A whole body, off this thread. */
  whole(plain: Buffer): Promise<Buffer>;
};

/** @param accepted the encodings that the server takes. Node has zstd since 22.15. */
export function createCompressor(accepted: readonly string[]): Compressor {
  if (accepted.includes("zstd") && typeof zlib.zstdCompressSync === "function") {
    const options = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };
    const compress = promisify<Buffer, zlib.ZstdOptions, Buffer>(zlib.zstdCompress);
    return {
      encoding: "zstd",
      piece: (plain) => zlib.zstdCompressSync(plain, options),
      whole: (plain) => compress(plain, options),
    };
  }
  const options = { level: 3 };
  const compress = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gzip);
  return {
    encoding: "gzip",
    piece: (plain) => zlib.gzipSync(plain, options),
    whole: (plain) => compress(plain, options),
  };
}
