// The client's exact copies on a real server.
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Decrypter } from "age-encryption";
import { expect, test } from "vitest";
import { makeHome, toLines } from "../cli/home.ts";
import { runInProcess } from "../cli/in-process.ts";
import { claudeLines } from "../cli/sessions.ts";
import { claudePath, makeId } from "../cli/world.ts";
import { get, provideOwnedServer } from "../support/server.ts";
import { bearer } from "./client.ts";

const { server, token } = await provideOwnedServer({ scopes: ["ingest", "read", "delete", "originals"] });

/** A home whose client has a token for the server. */
async function makeMachine(files: Record<string, string | Buffer>) {
  const { home } = await makeHome(files);
  const run = async (...words: string[]) => {
    const ran = await runInProcess([...words, "--json"], home, { SPOOR_URL: server.url, SPOOR_TOKEN: token });
    const output = ran.output.trim().split("\n").at(-1) ?? "";
    return { code: ran.code, errors: ran.errors, ...(JSON.parse(output) as { fingerprint?: string }) };
  };
  return { home, run };
}

const getSession = (number: number) => toLines(...claudeLines(makeId(number), 2));

test("copies go to the server and come back byte for byte, take turns, and are refused for a deleted session", async () => {
  const path = claudePath(1);
  const a = await makeMachine({ [path]: getSession(1), [claudePath(2)]: getSession(2) });
  const on = await a.run("originals", "on", "--yes");
  expect(on).toMatchObject({
    code: 0,
    errors: "",
    on: true,
    fingerprint: expect.stringMatching(/^[0-9A-F]{4} [0-9A-F]{4}$/),
  });
  expect(await a.run("push")).toMatchObject({ code: 0, errors: "", originals: { copies: 2, refused: 0 } });
  await appendFile(join(a.home, path), toLines(...claudeLines(makeId(1), 1, { text: "More." })));
  expect(await a.run("push")).toMatchObject({ originals: { copies: 1 } });
  expect(await a.run("originals", "verify", "--all")).toMatchObject({ code: 0, checked: 2, verdicts: { same: 2 } });

  const stored = await (await get(server, `/api/originals/claude-code/${makeId(1)}`, token)).json();
  const key = await readFile(join(a.home, ".config/spoor/originals.key"), "utf8");
  const decrypter = new Decrypter();
  decrypter.addIdentity(/^AGE-SECRET-KEY-1.*$/m.exec(key)?.[0] ?? "");
  const parts: Buffer[] = [];
  for (const { sha256 } of stored.parts) {
    const part = await get(server, `/api/originals/parts/${sha256}`, token);
    parts.push(gunzipSync(await decrypter.decrypt(new Uint8Array(await part.arrayBuffer()))));
  }
  expect(Buffer.concat(parts).equals(await readFile(join(a.home, path)))).toBe(true);

  const elsewhere = path.replace("-home-ada-code-api", "-srv-api");
  const b = await makeMachine({ [elsewhere]: await readFile(join(a.home, path)), ".config/spoor/originals.key": key });
  expect(await b.run("originals", "on", "--yes")).toMatchObject({ code: 0, fingerprint: on.fingerprint });
  await appendFile(join(b.home, elsewhere), toLines(...claudeLines(makeId(1), 1, { text: "On the other machine." })));
  expect(await b.run("push")).toMatchObject({ errors: "", originals: { copies: 1, refused: 0 } });
  await appendFile(join(a.home, path), toLines(...claudeLines(makeId(1), 1, { text: "Here." })));
  const behind = await a.run("push");
  expect(behind).toMatchObject({ code: 0, originals: { copies: 0, refused: 1 } });

  const found = await (await get(server, "/api/traces?source=claude-code", token)).json();
  const trace = found.traces.find(({ sourceId }: { sourceId: string }) => sourceId === makeId(2));
  const deleted = await fetch(`${server.url}/api/traces/${trace.id}`, { method: "DELETE", headers: bearer(token) });
  expect(deleted.status).toBe(204);
  expect((await get(server, `/api/originals/claude-code/${makeId(2)}`, token)).status).toBe(404);
  await appendFile(join(a.home, claudePath(2)), toLines(...claudeLines(makeId(2), 1, { text: "More." })));
  expect(await a.run("push")).toMatchObject({ originals: { copies: 0 } });
  expect((await get(server, `/api/originals/claude-code/${makeId(2)}`, token)).status).toBe(404);
  expect(await a.run("originals", "status")).toMatchObject({ code: 0, stored: { copies: 1 } });
});
