import { zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { makeOperations } from "#lib/ingest/decode/operations";

const maxBytes = 64 << 20;
const content = Array.from({ length: 200_000 }, (_, n) => `${(n * 7919) % 1_000_003}`).join(" ");
const batch = JSON.stringify({ traces: [{ sourceId: "one", messages: [{ position: 0, content }] }] });

/** The batch in its own memory. */
const wholeBody = () => new Uint8Array(new TextEncoder().encode(batch));

test("closing a batch frees its memory", async () => {
  const operations = makeOperations();
  const body = wholeBody();
  operations.receive({ body, encoding: "identity", maxBytes });
  await operations.pack();
  operations.close();
  expect(body.byteLength).toBe(0);
});

test("a batch that is closed while it is being compressed keeps its memory until the end", async () => {
  const operations = makeOperations();
  operations.receive({ body: wholeBody(), encoding: "identity", maxBytes });
  const packing = operations.pack();
  operations.close();
  expect(zstdDecompressSync(await packing).toString() === batch).toBe(true);
});

test("a batch that is read in one step leaves the caller's memory untouched", async () => {
  const body = wholeBody();
  const { stored, traces } = await makeOperations().judge({ body, encoding: "identity", maxBytes });
  expect({ traces, left: body.byteLength > 0 }).toEqual({ traces: 1, left: true });
  expect(zstdDecompressSync(stored).toString() === batch).toBe(true);
});
