import { expect, test } from "vitest";
import { indexedOf } from "#lib/search/packed";
import { maxMetadataBytes } from "#lib/search/sql/read";

test("of a packed message, metadata up to its bound and the beginning of the content are indexed, as of a row", () => {
  const message = (metadataBytes: number) => ({
    ...{ position: 7, role: "tool", tokenCount: null, createdAt: null },
    content: Buffer.from("one two three"),
    metadata: Buffer.from(JSON.stringify("x".repeat(metadataBytes - 2))),
  });
  const indexed = indexedOf(message(maxMetadataBytes), 7);
  expect(indexed).toMatchObject({ position: 7, role: "tool", content: "one two" });
  expect(indexed.metadata).toHaveLength(maxMetadataBytes - 2);
  expect(indexedOf(message(maxMetadataBytes + 1), 7).metadata).toBeNull();
});
