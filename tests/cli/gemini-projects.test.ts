import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { gemini } from "../../cli/adapters/gemini/adapter.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

const id = "aaaa1111-2222-4333-8444-555555555555";
const computeHash = (path: string) => createHash("sha256").update(path).digest("hex");
const recording = (meta: object, ...records: object[]) =>
  toLines({ sessionId: id, startTime: "2026-11-01T10:00:00Z", ...meta }, ...records);
const said = { id: "u1", timestamp: "2026-11-01T10:00:10Z", type: "user", content: "Hi" };
const pathIn = (folder: string) => `.gemini/tmp/${folder}/chats/session-2026-11-01T10-00-aaaa1111.jsonl`;

async function readFolder(files: Record<string, string>): Promise<unknown> {
  const { sessions } = await parseAll(gemini, await makeHome(files));
  return sessions[0]?.ending.metadata?.cwd;
}

test("a project is known by the hash of a folder that the user trusts, or of one that is registered", async () => {
  const trusted = JSON.stringify({
    "/home/ada/code/api": "TRUST_FOLDER",
    "/home/ada/shop/web": "TRUST_PARENT",
    "/x": "DO_NOT_TRUST",
  });
  const files = (folder: string, meta: object = {}) => ({
    ".gemini/trustedFolders.json": trusted,
    ".gemini/projects.json": JSON.stringify({ projects: { "/home/ada/code/tools": "tools" } }),
    [pathIn(folder)]: recording(meta, said),
  });
  expect(await readFolder(files(computeHash("/home/ada/code/api")))).toBe("/home/ada/code/api");
  expect(await readFolder(files(computeHash("/home/ada/shop")))).toBe("/home/ada/shop");
  expect(await readFolder(files(computeHash("/home/ada/code/tools")))).toBe("/home/ada/code/tools");
  expect(await readFolder(files("tools"))).toBe("/home/ada/code/tools");
  // A short name that nobody registered: the recording itself has the hash.
  expect(await readFolder(files("api-2", { projectHash: computeHash("/home/ada/code/api") }))).toBe(
    "/home/ada/code/api",
  );
  expect(await readFolder(files(computeHash("/unknown")))).toBeUndefined();
});

test("files that say nothing about projects stop nothing", async () => {
  for (const broken of ["", "[]", '{"projects":7}', '{"projects":{"/a":7}}']) {
    const files = {
      ".gemini/trustedFolders.json": broken,
      ".gemini/projects.json": broken,
      [pathIn("web")]: recording({}, said),
    };
    expect(await readFolder(files)).toBeUndefined();
  }
});

test("a session that only has the program's messages is sent with them", async () => {
  const told = (type: string, content: string) => ({ id: type, timestamp: "2026-11-01T10:00:10Z", type, content });
  const records = [told("error", "Quota exceeded."), told("warning", "Slow."), told("info", "Update available.")];
  const { sessions } = await parseAll(gemini, await makeHome({ [pathIn("web")]: recording({}, ...records) }));
  expect(sessions[0]?.messages.map(({ role, content, metadata }) => [role, content, metadata?.kind])).toEqual([
    ["system", "Quota exceeded.", "notice"],
    ["system", "Slow.", "notice"],
    ["system", "Update available.", "notice"],
  ]);
});

test("attached files are named, and commits are told", async () => {
  const content = [
    { text: "Look" },
    { inlineData: { mimeType: "image/png", data: "AAAA" } },
    { fileData: { mimeType: "application/pdf", fileUri: "file:///x/plan.pdf" } },
  ];
  const call = {
    id: "c1",
    name: "run_shell_command",
    args: { command: "git commit -m Mend" },
    status: "success",
    result: [{ functionResponse: { id: "c1", response: { output: "[main 1234abc] Mend" } } }],
  };
  const records = [
    { ...said, content },
    { ...said, id: "a1", type: "gemini", content: "", toolCalls: [call] },
  ];
  const { sessions } = await parseAll(gemini, await makeHome({ [pathIn("web")]: recording({}, ...records) }));
  expect(sessions[0]?.messages[0]?.metadata).toMatchObject({
    attachments: [{ type: "image/png" }, { type: "application/pdf", name: "file:///x/plan.pdf" }],
  });
  expect(sessions[0]?.ending.metadata).toMatchObject({ commits: [{ hash: "1234abc", branch: "main", position: 2 }] });
});
