import { randomBytes } from "node:crypto";
import { constants, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { inflateFrames } from "#lib/ingest/raw/zstd-frames";

const { ZSTD_c_checksumFlag, ZSTD_c_contentSizeFlag, ZSTD_c_windowLog } = constants;

async function inflated(stream: Uint8Array, chunkBytes = stream.byteLength): Promise<Buffer> {
  async function* pieces() {
    for (let at = 0; at < stream.byteLength; at += chunkBytes) yield stream.subarray(at, at + chunkBytes);
  }
  const parts: Buffer[] = [];
  for await (const part of inflateFrames(pieces())) parts.push(part);
  return Buffer.concat(parts);
}

// Raw, repeated and compressed blocks, several blocks in a frame, and every form of a frame's header.
const contents = [Buffer.from("short"), randomBytes(300_000), Buffer.alloc(400_000, "a"), Buffer.alloc(0)];
const frames = contents.flatMap((content) =>
  [0, 1].flatMap((checksum) =>
    [0, 1].map((size) =>
      zstdCompressSync(content, { params: { [ZSTD_c_checksumFlag]: checksum, [ZSTD_c_contentSizeFlag]: size } }),
    ),
  ),
);
const skippable = Buffer.concat([Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0]), Buffer.from("abc")]);
const stream = Buffer.concat([...frames.slice(0, 5), skippable, ...frames.slice(5)]);
const content = Buffer.concat(contents.flatMap((one) => Array(4).fill(one)));

describe("a zstd stream of several frames", () => {
  test.each([4096, 65_537, stream.byteLength])("is inflated completely in chunks of %i bytes", async (chunkBytes) => {
    expect((await inflated(stream, chunkBytes)).equals(content)).toBe(true);
  });

  test("is inflated completely when every byte is a chunk", async () => {
    const small = Buffer.concat([frames[0] as Buffer, skippable, frames[3] as Buffer]);
    expect((await inflated(small, 1)).toString()).toBe("shortshort");
  });

  test.each([
    ["cut off inside of a block", stream.subarray(0, -500)],
    ["cut off in a header", Buffer.concat([stream, (frames[0] as Buffer).subarray(0, 5)])],
    ["followed by something else", Buffer.concat([stream, Buffer.from("something else")])],
    ["empty of sense", Buffer.from("not zstd at all")],
  ])("ends with an error if it is %s", async (_case, broken) => {
    await expect(inflated(broken)).rejects.toThrow();
  });

  test("ends with an error if a byte is corrupt", async () => {
    const damaged = zstdCompressSync(randomBytes(1000), { params: { [ZSTD_c_checksumFlag]: 1 } });
    damaged.writeUInt8(damaged.readUInt8(500) ^ 1, 500);
    await expect(inflated(damaged)).rejects.toThrow();
  });

  test("ends with an error if it needs a window over 8 MiB", async () => {
    const params = { [ZSTD_c_windowLog]: 27, [ZSTD_c_contentSizeFlag]: 0 };
    await expect(inflated(zstdCompressSync(Buffer.alloc(20_000_000, "ab"), { params }))).rejects.toThrow();
  });
});

test("no more is read and inflated than is requested", async () => {
  let read = 0;
  const compressed = zstdCompressSync(randomBytes(8 << 20));
  async function* pieces() {
    for (let at = 0; at < compressed.byteLength; at += 65_536) {
      read += 65_536;
      yield compressed.subarray(at, at + 65_536);
    }
  }
  const parts = inflateFrames(pieces());
  expect((await parts.next()).value?.byteLength).toBeLessThan(1 << 20);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(read).toBeLessThan(2 << 20);
  await parts.return(undefined);
});
