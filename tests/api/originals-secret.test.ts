import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { openSetup } from "#lib/auth/setup";
import { setEnv } from "#lib/core/env";
import { scopes } from "#lib/core/fields";
import { pool } from "#lib/db/client";
import { freePort } from "#lib/db/embedded/ports";
import { decodeHead, decodePart, encodeHead, encodePart } from "../../cli/originals/format.ts";
import { createIdentity } from "../../cli/originals/keys.ts";
import { SpoorProcess } from "../faults/process.ts";
import { freshDatabase, testEnvironment } from "../support/database.ts";
import { findResidue } from "../support/residue.ts";
import { startS3 } from "../support/s3.ts";
import { get, logIn, makeUser, setupToken } from "../support/server.ts";
import { bearer } from "./client.ts";

const database = await freshDatabase();
const s3 = await startS3();
const port = await freePort();
const url = `http://localhost:${port}`;
const usual = { ...testEnvironment, DATABASE_URL: database.url, PORT: String(port), BASE_URL: url };
const own = { SETUP_TOKEN: setupToken, NODE_ENV: "production", LOG_LEVEL: "debug", METRICS_TOKEN: "canary of metrics" };
setEnv({ ...usual, ...own });
await openSetup();
const userId = await makeUser();
afterAll(async () => {
  await s3.stop();
  await database.drop();
});

const secret = "zyxsecret-sk-ant-api03-of-a-session";
const [folder, file, remote] = [
  "/home/zyxadalovelace/zyxprojectname",
  "projects/zyxprojectname/zyxfile.jsonl",
  "zyxremote.example",
];
const planted = [secret, "zyxdevice", "zyxadalovelace", "zyxprojectname", "zyxfile", "zyxremote"];
const { secret: identity, recipient } = await createIdentity();
/** The planted texts, and their Base64, as an encoding would leave them. */
const forms = planted.flatMap((text) => [text, Buffer.from(text).toString("base64").slice(0, -4)]);

/** A session's files in the client's own format. */
async function makeCopy() {
  const plain = Buffer.from(`${JSON.stringify({ cwd: folder, message: secret })}\n`.repeat(500));
  const part = await encodePart(plain, recipient);
  const { sha256 } = part;
  const head = await encodeHead(
    {
      ...{
        format: 1,
        agent: "claude-code",
        agentVersion: "2.1.300",
        sourceId: "s1",
        machine: "laptop",
        device: "zyxdevice",
      },
      ...{ home: "~/.claude", cwd: folder, git: { remote, branch: "main", commit: null } },
      writtenAt: new Date().toISOString(),
      files: [
        {
          ...{ path: file, bytes: plain.length, sha256, modifiedAt: new Date().toISOString() },
          parts: [{ sha256, bytes: plain.length }],
        },
      ],
    },
    recipient,
  );
  return { plain, part, head };
}

/** Sends what a client sends, reads it back, and causes what is logged of refusals. */
async function sendCopy() {
  const { plain, part, head } = await makeCopy();
  const token = await logIn({ url, stop: async () => {} }, userId, "laptop", scopes);
  const put = (path: string, type: string, body: BodyInit) =>
    fetch(url + path, {
      method: "PUT",
      headers: { ...bearer(token), "Content-Type": type, "If-None-Match": "*" },
      body,
    });
  const partPath = `/api/originals/parts/${part.sha256}`;
  expect((await put("/api/originals/key", "application/json", JSON.stringify({ recipient }))).status).toBe(200);
  expect((await put(partPath, "application/octet-stream", part.bytes)).status).toBe(201);
  const manifest = {
    ...{ recipient, files: 1, plainBytes: plain.length, parts: [part.sha256] },
    head: Buffer.from(head).toString("base64"),
  };
  const path = "/api/originals/claude-code/s1";
  expect((await put(path, "application/json", JSON.stringify(manifest))).status).toBe(201);
  // By mistake unencrypted, or only compressed: nothing of these may stay either.
  for (const readable of [plain, gzipSync(plain)] as Buffer<ArrayBuffer>[])
    expect((await put(partPath, "application/octet-stream", readable)).status).toBe(422);
  const wrong = JSON.stringify({ ...manifest, head: Buffer.from(secret).toString("base64"), note: secret });
  expect((await put(path, "application/json", wrong)).status).toBe(400);
  const server = { url, stop: async () => {} };
  const read = await (await get(server, path, token)).json();
  expect((await decodeHead(Buffer.from(read.head, "base64"), identity)).cwd).toBe(folder);
  const bytes = Buffer.from(await (await get(server, partPath, token)).arrayBuffer());
  expect((await decodePart(bytes, identity)).equals(plain)).toBe(true);
  const metrics = await get(server, "/api/metrics", own.METRICS_TOKEN);
  return { metrics: await metrics.text(), stored: Buffer.from(part.bytes) };
}

async function readFolder(path: string): Promise<Buffer[]> {
  const found = await readdir(path, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile());
  return Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name))));
}

describe.each(["postgres", "s3"])("of a copy with a secret, stored in %s,", (where) => {
  test("nothing readable is in any table, log, metric or object", { timeout: 120_000 }, async () => {
    const store = where === "s3" ? s3.settings : {};
    const web = new SpoorProcess("web", { ...usual, ...own, ...store });
    const worker = new SpoorProcess("worker", { ...usual, ...own, ...store });
    await pool().query(
      "delete from original; delete from original_use; delete from original_part; delete from original_key",
    );
    try {
      await Promise.all([web.ready(), worker.ready()]);
      const { metrics, stored } = await sendCopy();
      await worker.kill();
      await web.kill();
      expect(metrics).toContain("spoor_originals_bytes_total");
      expect(await findResidue(forms)).toEqual([]);
      const objects = await readFolder(s3.folder);
      expect(objects.some((bytes) => bytes.equals(stored))).toBe(where === "s3");
      const texts = [web.output, worker.output, metrics, ...objects.map((bytes) => bytes.toString("latin1"))];
      expect(web.output).toContain("/api/originals");
      expect(forms.filter((form) => texts.some((text) => text.includes(form)))).toEqual([]);
    } finally {
      await Promise.all([web.kill(), worker.kill()]);
    }
  });
});

test("what was looked for is found where it is readable", async () => {
  const { plain } = await makeCopy();
  await pool().query(
    "insert into original_part (user_id, sha256, bytes, body) values ($1, '\\x00', 1, $2) on conflict do nothing",
    [userId, plain],
  );
  expect((await findResidue([secret])).map(({ table }) => table)).toEqual(["public.original_part"]);
});
