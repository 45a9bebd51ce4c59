import { randomBytes } from "node:crypto";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { isLong } from "../support/long.ts";
import { get, jobEnd, provideOwnedServer } from "../support/server.ts";
import { accepted, expectProblem, makeSender } from "./client.ts";

const { server, token } = await provideOwnedServer();
const send = makeSender(server, token);

const quickBrotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const encoders = {
  identity: (text: string) => Buffer.from(text),
  gzip: (text: string) => gzipSync(text),
  br: (text: string) => brotliCompressSync(text, quickBrotli),
  zstd: (text: string) => zstdCompressSync(text),
};

/** Text that takes over a megabyte in any encoding. */
const noise = () => randomBytes(900_000).toString("base64");

/** A batch with unique content; one that is not plain goes through the careful reading. */
const makeBody = (sourceId: string, content: string, plain: boolean) => {
  const body = JSON.stringify({ traces: [{ source: "large", sourceId, messages: [{ position: 0, content }] }] });
  return plain ? body : body.replace('"traces"', '"trace\\u0073"');
};

// They are received in reused memory: none may contain another's bytes, whatever happens to concurrent ones.
test("concurrent large bodies are stored unchanged, next to some that are refused", async () => {
  const sent = Object.entries(encoders).flatMap(([encoding, encode]) =>
    [true, false].flatMap((plain) =>
      (isLong ? [1, 2] : [1]).map((n) => ({ encoding, encode, plain, sourceId: `${encoding} ${plain} ${n}` })),
    ),
  );
  const uploads = sent.map(async ({ encoding, encode, plain, sourceId }) => {
    const content = noise();
    const headers: Record<string, string> = encoding === "identity" ? {} : { "Content-Encoding": encoding };
    const body = Uint8Array.from(encode(makeBody(sourceId, content, plain)));
    const jobId = await accepted(await send(body, headers));
    return { sourceId, content, job: await jobEnd(server, jobId, token) };
  });
  const refused = [1, 2, 3].map(() => send(`{"traces":[{"sourceId":"broken","messages":["${noise()}"]}]}`));
  for (const response of await Promise.all(refused)) await expectProblem(response, 400, "invalid_request");
  const stored = await Promise.all(uploads);
  const list = await (await get(server, "/api/traces?source=large&limit=200", token)).json();
  const { traces } = list as { traces: { id: string; sourceId: string }[] };
  expect(traces).toHaveLength(sent.length);
  for (const { sourceId, content, job } of stored) {
    expect(job).toMatchObject({ status: "succeeded", traces: { created: 1 } });
    const trace = traces.find((one) => one.sourceId === sourceId);
    const page = await (await get(server, `/api/traces/${trace?.id}/messages`, token)).json();
    const [message] = (page as { messages: { content: string }[] }).messages;
    expect({ sourceId, isItsOwn: message?.content === content }).toEqual({ sourceId, isItsOwn: true });
  }
});
