import { chmod, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { resume } from "../../cli/commands/resume.ts";
import { startCopies } from "./copies.ts";
import { writeBelow } from "./home.ts";
import { runInside } from "./inside.ts";

const [main, helper] = ["ses_main", "ses_helper"];
const message = (id: string, text: string) => ({
  info: { role: "user", id, sessionID: main },
  parts: [{ type: "text", text, id: `prt_${id}`, sessionID: main, messageID: id }],
});
const exported = (id: string, ...messages: object[]) =>
  `{"info":${JSON.stringify({ id, title: "T", version: "1.18.33" })},"messages":[\n${messages.map((one) => JSON.stringify(one)).join(",\n")}\n]}\n`;

const schema = `
  CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, version TEXT, directory TEXT, time_created INT, time_updated INT);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INT, time_updated INT, data TEXT);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_updated INT, data TEXT);`;

/** An OpenCode that imports as the real one does: it adds rows and changes none. */
const program = (change: string) => `#!${process.execPath}
const [, , verb, file] = process.argv;
if (verb === "--version") { console.log("1.18.33"); process.exit(); }
const { readFileSync, appendFileSync } = require("node:fs");
const { DatabaseSync } = require("node:sqlite");
const db = new DatabaseSync(process.env.HOME + "/.local/share/opencode/opencode.db");
const text = readFileSync(file, "utf8");
appendFileSync(process.env.HOME + "/imported", process.cwd() + "\\n" + text);
const { info, messages } = JSON.parse(${change});
db.prepare("INSERT OR IGNORE INTO session VALUES (?, NULL, ?, ?, 1, 1)").run(info.id, info.version, process.cwd());
for (const [at, { info: own, parts }] of messages.entries()) {
  const { id, sessionID, ...data } = own;
  db.prepare("INSERT OR IGNORE INTO message VALUES (?, ?, ?, 1, ?)").run(id, info.id, at, JSON.stringify(data));
  for (const { id: part, sessionID, messageID, ...data } of parts)
    db.prepare("INSERT OR IGNORE INTO part VALUES (?, ?, ?, 1, ?)").run(part, id, info.id, JSON.stringify(data));
}
`;

async function world(files: Record<string, string>, change = "text") {
  const server = await startCopies();
  await server.add({ agent: "opencode", sourceId: main, agentVersion: "1.18.33" }, files);
  const host = await server.makeHome();
  host.env.HOME = host.home;
  host.env.PATH = join(host.home, "bin");
  host.cwd = join(host.home, "work");
  await mkdir(host.cwd);
  await chmod(await writeBelow(host.home, "bin/opencode", program(change)), 0o755);
  const path = join(host.home, ".local/share/opencode/opencode.db");
  await mkdir(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(schema);
  database.close();
  return { server, host };
}

async function back(host: Host) {
  const { code, output, message } = await runInside(resume, host, { words: [main], values: { json: true } });
  return { code, message, wrote: output ? JSON.parse(output).files?.map((file: { wrote: string }) => file.wrote) : [] };
}

const path = (id: string) => `export/${id}.json`;
const whole = exported(main, message("msg_1", "One."), message("msg_2", "Two."));

test("an OpenCode session is imported with its sub-agents in this folder, as it was sent", async () => {
  const { host } = await world({ [path(main)]: whole, [path(helper)]: exported(helper) });
  expect(await back(host)).toMatchObject({ code: 0, wrote: ["new", "new"] });
  const imported = await readFile(join(host.home, "imported"), "utf8");
  expect(imported).toBe(`${host.cwd}\n${whole}${host.cwd}\n${exported(helper)}`);
  expect((await back(host)).wrote).toEqual(["same", "same"]);
});

test("an OpenCode session that has the copy's beginning gets the rest, and one that goes on is kept", async () => {
  const { server, host } = await world({ [path(main)]: exported(main, message("msg_1", "One.")) });
  await back(host);
  const next = async (text: string) => {
    server.copies.length = 0;
    await server.add({ agent: "opencode", sourceId: main }, { [path(main)]: text });
    return back(host);
  };
  expect((await next(whole)).wrote).toEqual(["continued"]);
  expect((await next(exported(main, message("msg_1", "One.")))).wrote).toEqual(["kept"]);
  const refused = await next(exported(main, message("msg_1", "Other."), message("msg_2", "Two.")));
  expect([refused.code, refused.message]).toEqual([1, expect.stringContaining("it differs")]);
});

test("an import that changes a message is noticed, and other files are refused", async () => {
  const { host } = await world({ [path(main)]: whole }, `text.replace("One.", "1")`);
  expect((await back(host)).message).toContain("differently from the copy");
  const hostile = await world({ [path(main)]: whole, "opencode.db": "x" });
  expect((await back(hostile.host)).message).toContain("nothing was restored");
});
