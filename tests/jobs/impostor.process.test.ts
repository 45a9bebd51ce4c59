import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { isOutage } from "#lib/core/errors";
import { startEmbedded } from "#lib/db/embedded/embedded";
import { isFree } from "#lib/db/embedded/ports";
import { migrate } from "#lib/db/migrate";
import { LimitedPool } from "#lib/db/pool";
import { withRequiredAuth } from "#lib/db/required-auth";
import { makeWorkerBoss } from "#lib/queue/worker-boss";
import { sourceFiles } from "../support/boundaries.ts";

/** A message of PostgreSQL's protocol. */
function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const int32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const ready = message("Z", Buffer.from("I"));
const accepted = Buffer.concat([message("R", int32(0)), message("K", Buffer.alloc(8)), ready]);
const sasl = message("R", Buffer.concat([int32(10), Buffer.from("SCRAM-SHA-256\0\0")]));

/** What an impostor answers to a client's first message. */
const answers = {
  "asks for the password in clear text": message("R", int32(3)),
  "asks for an MD5 hash of the password": message("R", Buffer.concat([int32(5), Buffer.from("salt")])),
  "does not prove that it knows the password": accepted,
  "asks for SCRAM, and then does not prove that it knows the password": Buffer.concat([sasl, accepted]),
};

/** Listens in PostgreSQL's place. @returns its port, and what clients have sent after their first message */
async function impersonate(answer: Buffer, at = 0) {
  const sent: Buffer[] = [];
  const connected = { times: 0 };
  const server = createServer((socket) => {
    connected.times += 1;
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.on("data", (bytes) => sent.push(bytes));
      socket.write(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, sent, connected };
}

const makeUrl = (port: number) => `postgresql://spoor:secret@127.0.0.1:${port}/spoor?require_auth=scram-sha-256`;

/** What fails at an impostor, by each way in which a process connects. */
const ways: Record<string, (url: string) => Promise<unknown>> = {
  "the pool": async (url) => {
    const pool = new LimitedPool({ connectionString: withRequiredAuth(url) }, { usual: 0, wanted: () => 0 });
    await pool.query("select 'a statement'").finally(() => pool.end());
  },
  "the migration": (url) => migrate(url, async () => {}),
  "the queue": async (url) => {
    const boss = makeWorkerBoss(url, true);
    await boss.start().finally(() => boss.stop({ graceful: false }).catch(() => {}));
  },
};

test.each(
  Object.entries(ways).flatMap(([way, connect]) =>
    Object.entries(answers).map(([what, answer]) => [way, what, connect, answer] as const),
  ),
)("%s sends nothing to an impostor that %s", async (_way, what, connect, answer) => {
  const { port, sent } = await impersonate(answer);
  const error = await connect(makeUrl(port)).catch((caught: Error) => caught);
  expect(error).toMatchObject({ code: "08001", message: expect.stringContaining(what.replace(/^.*then /, "")) });
  expect(isOutage(error)).toBe(true);
  const told = Buffer.concat(sent).toString("latin1");
  expect(told.replace(/p\0{3}7SCRAM-SHA-256\0{4}!n,,n=\*,r=[\w+/]{24}/g, "")).toBe("");
});

describe("the embedded database that has no socket", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spoor-impostor-"));
    await (await startEmbedded(folder, { tcp: true })).stop();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("is started on another port where an impostor listens at that of the former server", async () => {
    const impostor = await impersonate(answers["asks for the password in clear text"]);
    const cluster = join(folder, "postgres");
    const left = ["999999999", cluster, "1", impostor.port, "", "127.0.0.1", "", "ready   "]; // as after a crash
    await writeFile(join(cluster, "postmaster.pid"), `${left.join("\n")}\n`);
    const database = await startEmbedded(folder, { tcp: true });
    try {
      expect(new URL(database.url).port).not.toBe(String(impostor.port));
      expect(impostor.connected.times).toBeGreaterThan(0);
      expect(impostor.sent).toEqual([]);
    } finally {
      await database.stop();
    }
  });

  test("whose port another program has taken is given up, and the port is told", async () => {
    const database = await startEmbedded(folder, { tcp: true, patienceSeconds: 1 });
    onTestFinished(database.stop);
    const port = Number(new URL(database.url).port);
    const [postmaster = ""] = (await readFile(join(folder, "postgres/postmaster.pid"), "utf8")).split("\n");
    process.kill(Number(postmaster), "SIGQUIT");
    await expect.poll(() => isFree(port), { timeout: 10_000 }).toBe(true);
    const impostor = await impersonate(answers["asks for the password in clear text"], port);
    const said: string[] = [];
    await expect(database.keep((line) => said.push(line))).rejects.toThrow(
      `Another program uses the database's port ${port}. Restart Spoor to choose another one.`,
    );
    const notStarted = expect.stringContaining("The embedded PostgreSQL did not start");
    expect(said).toEqual(["The database stopped; restarting it.", notStarted]);
    expect(impostor.sent).toEqual([]);
  });
});

test("each connection of the sources goes through what knows which proof its URL requires", async () => {
  const sources = (await sourceFiles()).filter(
    ({ path }) => /^(lib|app)\//.test(path) && !path.includes("/generated/"),
  );
  const connecting = sources.filter(({ text }) => text.includes("connectionString:"));
  expect(connecting.length).toBeGreaterThan(5);
  for (const { path, text } of connecting)
    expect([path, text]).not.toEqual([path, expect.stringMatching(/connectionString:(?! withRequiredAuth\()/)]);
});

test("a database's URL may require nothing that is not known", () => {
  expect(() => withRequiredAuth("postgres://a:b@localhost/c?require_auth=md5")).toThrow("require_auth=scram-sha-256");
  expect(withRequiredAuth("postgres://a:b@localhost/c")).toBe("postgres://a:b@localhost/c");
});
