import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { inflate } from "#lib/ingest/decode/inflate";
import { readBatch, unpackManifest } from "#lib/ingest/decode/manifest";
import { makeOperations } from "#lib/ingest/decode/operations";
import { markOf } from "#lib/masking/masker";
import { formed } from "./secrets/made-up.ts";

const maxBytes = 64 << 20;
const content = Array.from({ length: 200_000 }, (_, n) => `${(n * 7919) % 1_000_003}`).join(" ");
const batch = JSON.stringify({ traces: [{ sourceId: "one", messages: [{ position: 0, content }] }] });

/** The batch in its own memory. */
const wholeBody = () => new Uint8Array(new TextEncoder().encode(batch));

const policy = { stamp: "1.0", key: new Uint8Array(32), masks: true, rulings: [] };
const [, secret] = formed.find(([kind]) => kind === "github") ?? [];

/** Traces of a batch that is read in several turns: some have a secret, in a text, a title, or what is no row's field. */
const traces = Array.from({ length: 40 }, (_, n) => ({
  sourceId: `s${n % 39}`,
  ...(n % 7 === 3 && { title: `fix ${secret}` }),
  messages: [0, 1].map((position) => ({
    position,
    content: `${n} ${content.slice(0, 40_000)} ${n % 5 === 1 ? secret : ""}é\n`,
    ...(n % 11 === 5 && { metadata: { env: { TOKEN: secret } } }),
  })),
}));

test.each([
  ["is plain", { traces }],
  ["is plain and has no secrets", { traces: traces.filter((_, n) => [0, 2, 4, 7].includes(n)) }],
  ["is not plain", { more: 1, traces }],
  ["turns out late not to be plain", { traces: [...traces, { ...traces[1], title: "x", "title\u0000": "y" }] }],
])("what is packed of a batch that %s is what its manifest is of", async (_, sent) => {
  const json = JSON.stringify(sent);
  for (const encoding of ["identity", "zstd"] as const) {
    const operations = makeOperations();
    const bytes = new Uint8Array(new TextEncoder().encode(json));
    operations.receive({ body: encoding === "zstd" ? zstdCompressSync(bytes) : bytes, encoding, maxBytes });
    const found = await operations.read({ policy, isPacked: true });
    const kept = inflate(await operations.pack(), "zstd", maxBytes);
    expect(unpackManifest(found.manifest, policy.stamp)).toEqual(readBatch(kept).headers);
    expect([found.isMasked, Buffer.from(kept).includes(secret ?? "")]).toEqual([json.includes(secret ?? ""), false]);
    if (!found.isMasked) expect(Buffer.from(kept).equals(bytes)).toBe(true);
  }
});

test.each([
  [
    "masks only what was decided of",
    [{ kind: "github", mark: markOf(policy.key, secret ?? ""), verdict: "mask" }],
    true,
  ],
  ["masks nothing", [{ kind: "github", mark: markOf(policy.key, secret ?? ""), verdict: "keep" }], false],
] as const)("of a policy that %s its stamp is kept, and the body as it says", async (_, rulings, isMasked) => {
  const operations = makeOperations();
  const body = new Uint8Array(new TextEncoder().encode(JSON.stringify({ traces })));
  operations.receive({ body, encoding: "identity", maxBytes });
  const found = await operations.read({ policy: { ...policy, masks: false, rulings }, isPacked: true });
  const kept = inflate(await operations.pack(), "zstd", maxBytes);
  expect(unpackManifest(found.manifest, policy.stamp)).toEqual(readBatch(kept).headers);
  expect([found.isMasked, !Buffer.from(kept).includes(secret ?? "")]).toEqual([isMasked, isMasked]);
});

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
