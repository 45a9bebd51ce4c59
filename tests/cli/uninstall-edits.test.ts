import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { uninstall } from "../../cli/commands/uninstall.ts";
import { addNotify } from "../../cli/install/agents/codex-notify.ts";
import { addHook } from "../../cli/install/agents/json-hook.ts";
import { type Manifest, writeManifest } from "../../cli/install/manifest.ts";
import { makeHome, writeBelow } from "./home.ts";
import { runInside } from "./inside.ts";

const hookPath = ".claude/settings.json";
const notifyPath = ".codex/config.toml";

/** A home whose agents' files were edited, and then changed by somebody else. */
async function edited(changeHook: (text: string) => string | Buffer, changeNotify: (text: string) => string | Buffer) {
  const host = await makeHome();
  const hook = addHook("{}", "SessionEnd", {
    type: "command",
    command: `'/a "b"/spoor' service hook claude-code`,
  });
  const notify = addNotify("", ["/a/spoor", "service", "hook", "codex-cli"]);
  if (!hook || "problem" in hook || !notify || "problem" in notify) throw new Error("it can't be edited");
  const files = [
    { agent: "claude-code" as const, name: hookPath, content: changeHook(hook.text), edit: hook.edit },
    { agent: "codex" as const, name: notifyPath, content: changeNotify(notify.text), edit: notify.edit },
  ];
  const edits: Manifest["edits"] = [];
  for (const { agent, name, content, edit } of files) {
    edits.push({ ...edit, agent, path: await writeBelow(host.home, name, content) });
  }
  const flags = { autoUpdate: true, hasService: false, loggedIn: false, madeSettings: false, madeState: false };
  await writeManifest(host, { server: "http://localhost:3000", files: {}, folders: [], edits, ...flags });
  const { code, errors } = await runInside(uninstall, host, { values: { yes: true } });
  const contents = await Promise.all(edits.map(({ path }) => readFile(path).catch(() => undefined)));
  return { code, errors, contents, home: host.home };
}

test("what can't be taken out of an agent's file any more is left to the byte, and listed", async () => {
  const latin = (text: string) => Buffer.from(`${text}# caf\u00e9\n`, "latin1");
  const broken = (text: string) => `mine\n${text}`;
  const { code, errors, contents, home } = await edited(broken, latin);
  expect([code, errors.trimEnd().split("\n")]).toEqual([
    0,
    [hookPath, notifyPath].map((path) => `! ${join(home, path)} was changed since, so it was kept.`),
  ]);
  expect(contents[0]?.toString()).toMatch(/^mine\n[\s\S]*service hook claude-code/);
  expect(contents[1]?.toString("latin1")).toMatch(/notify = [\s\S]*# caf\u00e9\n$/);
});

test("what somebody else has taken out is not listed", async () => {
  const { code, errors } = await edited(
    () => "{}",
    () => 'model = "x"\n',
  );
  expect([code, errors]).toEqual([0, ""]);
});
