import { promisify } from "node:util";
import zlib from "node:zlib";

/**
 * Compresses bodies. Compressed pieces may be concatenated into one body: gzip members (RFC 1952, section 2.2) and zstd
 * frames (RFC 8878, section 3).
 */
export type Compressor = {
  encoding: "zstd" | "gzip";
  /** Compresses a piece of a body. */
  compressPiece(plain: Buffer): Buffer;
  /** Compresses a whole body in another thread. */
  compress(plain: Buffer): Promise<Buffer>;
};

/** What is compressed comes out in pieces of so many bytes: Node's 16 KiB cost a call each. */
const chunkSize = 256 * 1024;

/** @param accepted the encodings that the server accepts. Node has zstd since 22.15. */
export function createCompressor(accepted: readonly string[]): Compressor {
  if (accepted.includes("zstd") && typeof zlib.zstdCompressSync === "function") {
    const options = { chunkSize, params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };
    const compress = promisify<Buffer, zlib.ZstdOptions, Buffer>(zlib.zstdCompress);
    return {
      encoding: "zstd",
      compressPiece: (plain) => zlib.zstdCompressSync(plain, options),
      compress: (plain) => compress(plain, options),
    };
  }
  const options = { chunkSize, level: 3 };
  const compress = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gzip);
  return {
    encoding: "gzip",
    compressPiece: (plain) => zlib.gzipSync(plain, options),
    compress: (plain) => compress(plain, options),
  };
}
