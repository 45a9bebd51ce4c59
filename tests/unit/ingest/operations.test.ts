import { zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import type { SpoorError } from "#lib/core/errors";
import { convertToJson } from "#lib/ingest/decode/as-json";
import { inflate } from "#lib/ingest/decode/inflate";
import { unpackBatch, unpackManifest } from "#lib/ingest/decode/manifest";
import { type Checked, makeOperations, type Operations } from "#lib/ingest/decode/operations";
import { type MaskingPolicy, makeMark } from "#lib/masking/masker";
import { formed } from "../secrets/made-up.ts";

const maxBytes = 64 << 20;
const content = Array.from({ length: 200_000 }, (_, n) => `${(n * 7919) % 1_000_003}`).join(" ");

/** A batch in its own memory. */
const encode = (batch: unknown) => new Uint8Array(new TextEncoder().encode(JSON.stringify(batch)));
const long = { traces: [{ sourceId: "one", messages: [{ position: 0, content }] }] };

const policy: MaskingPolicy = { stamp: "1.0", key: new Uint8Array(32), masks: true, rulings: [] };
const [, secret = ""] = formed.find(([kind]) => kind === "github") ?? [];
const mark = makeMark(policy.key, secret);

/** Traces of a batch: some have a secret, in a text, a title, or metadata; one key stands twice. */
const traces = Array.from({ length: 40 }, (_, n) => ({
  sourceId: `s${n % 39}`,
  ...(n % 7 === 3 && { title: `fix ${secret}` }),
  messages: [0, 1].map((position) => ({
    position,
    content: `${n} ${content.slice(0, 40_000)} ${n % 5 === 1 ? secret : ""}é\n`,
    ...(n % 11 === 5 && { metadata: { env: { TOKEN: secret } } }),
  })),
}));

/** Reads a batch as it is accepted. */
function accept(
  batch: unknown,
  by: MaskingPolicy | undefined,
  encoding: "identity" | "zstd" = "identity",
): Promise<Checked> {
  const operations = makeOperations();
  const bytes = encode(batch);
  operations.receive({ body: encoding === "zstd" ? zstdCompressSync(bytes) : bytes, encoding, maxBytes });
  return operations.read(by ? { policy: by } : {});
}

/** The JSON of a stored batch. */
async function write({ stored }: Checked): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of convertToJson([inflate(stored, "zstd", maxBytes)])) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** What a job is told of a stored batch, and the rows that it would write. */
async function open({ stored, manifest }: Pick<Checked, "stored" | "manifest">, by: MaskingPolicy) {
  const operations: Operations = makeOperations();
  const known = operations.manifest({ packed: manifest, stamp: by.stamp });
  const opened = await operations.open({ stored, policy: by });
  const headers = known ?? opened?.headers ?? [];
  const id = "01900000-0000-7000-8000-000000000000";
  const plan = { userId: id, traces: headers.map((_, index) => ({ index, traceId: id, skipBytes: 0 })) };
  const chunks: Uint8Array[] = [];
  for (let chunk = operations.copy(plan); ; chunk = operations.copy(undefined)) {
    chunks.push(chunk.bytes);
    if (chunk.isLast) break;
  }
  return { isKnown: known !== undefined, isMasked: opened?.isMasked, headers, copy: Buffer.concat(chunks) };
}

test.each([
  ["has secrets", traces, true],
  ["has none", traces.filter((_, n) => [0, 2, 4, 7].includes(n)), false],
])("what is stored of a batch that %s is what its manifest is of, and has none", async (_, sent, isMasked) => {
  const [identity, zstd] = [await accept({ traces: sent }, policy), await accept({ traces: sent }, policy, "zstd")];
  expect(Buffer.from(identity.stored).equals(zstd.stored)).toBe(true);
  const batch = unpackBatch(identity.stored);
  expect(batch).toMatchObject({ manifest: unpackManifest(identity.manifest) });
  const json = await write(identity);
  expect([identity.isMasked, json.includes(secret), json.includes("[redacted:github:")]).toEqual([
    isMasked,
    false,
    isMasked,
  ]);
  if (!isMasked) expect(JSON.parse(json)).toMatchObject({ traces: sent });
  const job = await open(identity, policy);
  expect(job).toMatchObject({ isKnown: true, isMasked: undefined });
  expect([job.copy.includes(secret), job.copy.includes("é\n")]).toEqual([false, true]);
});

test.each([
  ["masks only what was decided of", "mask", true],
  ["masks nothing", "keep", false],
] as const)("of a policy that %s its stamp is kept, and the batch as it says", async (_, verdict, isMasked) => {
  const rulings = [{ kind: "github", mark, verdict }];
  const checked = await accept({ traces }, { ...policy, masks: false, rulings });
  expect(unpackManifest(checked.manifest)?.stamp).toBe(policy.stamp);
  expect([checked.isMasked, !(await write(checked)).includes(secret)]).toEqual([isMasked, isMasked]);
});

test("a job masks by the policy of its time what was accepted under another, and loses nothing", async () => {
  const kept = { ...policy, stamp: "0.9", masks: false };
  const sent = { traces: [...traces, { sourceId: "nul", messages: [{ position: 0, content: "a\0" }] }] };
  const [before, now] = [await accept(sent, kept), await accept(sent, policy)];
  const job = await open(before, policy);
  expect(job).toMatchObject({ isKnown: false, isMasked: true });
  const direct = await open(now, policy);
  const places = direct.headers.map(() => ({ at: expect.any(Number) })); // of what stood twice, the last alone is read again
  expect(job.headers).toEqual(direct.headers.map((header, index) => ({ ...header, ...places[index] })));
  expect(job.headers.at(-1)).toMatchObject({ sanitized: true });
  expect(job.copy.equals(direct.copy)).toBe(true);
  const again = await makeOperations().readAgain({ stored: before.stored, policy });
  expect([again.isMasked, await write(again)]).toEqual([true, await write(now)]);
});

test.each([
  ["one frame", (json: Buffer) => zstdCompressSync(json)],
  [
    "several frames",
    (json: Buffer) => Buffer.concat([zstdCompressSync(json.subarray(0, 99)), zstdCompressSync(json.subarray(99))]),
  ],
])(
  "the JSON that 0.2 stored, in %s, is read by a job as if it came now, and downloaded as it is",
  async (_, compress) => {
    const json = Buffer.from(encode({ traces }));
    const stored = new Uint8Array(compress(json));
    const old = Buffer.from(JSON.stringify({ version: 6, stamp: policy.stamp, headers: [] }));
    const direct = await open(await accept({ traces }, policy), policy);
    for (const manifest of [new Uint8Array(old), (await accept({ traces }, policy)).manifest]) {
      const job = await open({ stored: new Uint8Array(stored), manifest }, policy);
      expect([job.headers, job.copy.equals(direct.copy)]).toEqual([direct.headers, true]);
    }
    expect(await write({ stored } as Checked)).toBe(json.toString());
  },
);

test("a body that was masked after its job had read the manifest is not written with that manifest's places", async () => {
  const [unmasked, masked] = [await accept({ traces }, { ...policy, masks: false }), await accept({ traces }, policy)];
  await expect(open({ ...masked, manifest: unmasked.manifest }, policy)).rejects.toThrow("masked meanwhile");
});

test("closing a batch frees its memory", async () => {
  const operations = makeOperations();
  const body = encode(long);
  operations.receive({ body, encoding: "identity", maxBytes });
  await operations.read({});
  operations.close();
  expect(body.byteLength).toBe(0);
});

test("a batch that is read in one step leaves the caller's memory untouched", async () => {
  const body = encode(long);
  const checked = await makeOperations().judge({ body, encoding: "identity", maxBytes });
  expect([checked.traces, body.byteLength > 0]).toEqual([1, true]);
  expect(JSON.parse(await write(checked))).toMatchObject(long);
});

test("a stored batch that is cut off is refused, unless all of its rows are there", async () => {
  const { stored } = await accept({ traces: traces.slice(0, 3) }, undefined);
  const whole = unpackBatch(stored);
  const cut = (length: number) => {
    try {
      return unpackBatch(stored.subarray(0, length));
    } catch (error) {
      return (error as SpoorError).code;
    }
  };
  const read = Array.from({ length: stored.length }, (_, length) => cut(length));
  const readable = read.filter((batch) => batch !== "invalid_request");
  expect(readable).toEqual(readable.map(() => whole));
  expect(readable.length).toBeLessThan(2);
});
