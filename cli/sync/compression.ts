import { promisify } from "node:util";
import zlib from "node:zlib";

/** Compressed pieces can be concatenated: gzip members (RFC 1952, section 2.2), zstd frames (RFC 8878, section 3). */
export type Compressor = {
  encoding: "zstd" | "gzip";
  compressPiece(plain: Buffer): Buffer;
  compress(plain: Buffer): Promise<Buffer>;
};

/** Larger than Node's default of 16 KiB, because each chunk costs a call. */
const chunkSize = 256 * 1024;

/** @param accepted the server's encodings; Node has zstd since 22.15 */
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
