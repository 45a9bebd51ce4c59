// Members who hold the memory for bodies that are being received.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { createTokenByHand } from "#lib/auth/tokens";
import { usualWireBytes } from "#lib/core/env";
import { bearer, openRequest } from "../api/client.ts";
import { makeUser, post, provideOwnedServer } from "../support/server.ts";

const { server, token } = await provideOwnedServer({ worker: false });
const MiB = 1 << 20;

async function memberToken(name: string): Promise<string> {
  const id = await makeUser({ name, email: `${name}@example.org`, password: "correct horse battery" });
  return createTokenByHand(id, `${name}'s machine`, operator);
}

/** A chunked upload of which so many bytes are sent at once, and then one every ten seconds. */
function drip(holder: string, bytes: number) {
  const { request, answer } = openRequest(server, "/api/ingest", { headers: bearer(holder) });
  for (let sent = 0; sent < bytes; sent += MiB) request.write(Buffer.alloc(Math.min(MiB, bytes - sent), " "));
  const timer = setInterval(() => request.write(" "), 10_000);
  onTestFinished(() => {
    clearInterval(timer);
    request.destroy();
  });
  const flushed = new Promise<void>((resolve) => request.write(" ", () => resolve()));
  return { flushed, answer: answer.finally(() => clearInterval(timer)) };
}

const upload = (sourceId: string, bytes: number) => ({
  traces: [{ sourceId, messages: [{ position: 0, content: randomBytes(bytes / 2).toString("hex") }] }],
});

test.each([
  ["of which little has arrived", 100],
  ["of which nearly all has arrived", usualWireBytes - 2 * MiB],
])(
  "eight uploads of two members, %s, lock out no other",
  async (_, bytes) => {
    const name = `n${bytes}`;
    const members = await Promise.all(["a", "b"].map((one) => memberToken(`${one}${name}`)));
    const dripping = members.flatMap((one) => Array.from({ length: 4 }, () => drip(one, bytes)));
    await Promise.all(dripping.map(({ flushed }) => flushed));
    const answers: unknown[] = [];
    for (const { answer } of dripping)
      answer.then(
        ({ status, headers }) => answers.push([status, headers.get("retry-after")]),
        () => {},
      );
    await sleep(6000); // until a pace of none is seen
    const statuses: number[] = [];
    for (let n = 0; n < 90; n += 1) {
      statuses.push((await post(server, "/api/ingest", upload(`${name}-${n}`, 1000), bearer(token))).status);
    }
    expect(new Set(statuses)).toEqual(new Set([202]));
    expect((await post(server, "/api/ingest", upload(`${name}-large`, 40 * MiB), bearer(token))).status).toBe(202);
    if (bytes > MiB) expect(answers).toContainEqual([503, "5"]);
    else expect(answers).toEqual([]);
  },
  120_000,
);
