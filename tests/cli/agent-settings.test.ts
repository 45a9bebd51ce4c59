import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { addNotify, removeNotify } from "../../cli/install/agents/codex-notify.ts";
import { addHook, removeHook } from "../../cli/install/agents/json-hook.ts";
import { blankComments } from "../../cli/install/agents/json-text.ts";
import type { FileEdit } from "../../cli/install/manifest.ts";

const command = "'/home/a\"da/.local/bin/spoor' service hook claude-code";
const event = "SessionEnd";
const hook = { type: "command" as const, command, timeout: 10 };
const ours = { hooks: [hook] };

type Added = { text: string; edit: Omit<FileEdit, "path" | "agent"> };

function added(edited: ReturnType<typeof addHook>): Added {
  if (!edited || "problem" in edited) throw new Error(edited?.problem ?? "nothing was to be done");
  return edited;
}
const makeEdit = ({ edit }: Added, agent: FileEdit["agent"]): FileEdit => ({ path: "/x", agent, ...edit });

const settings: [string, string][] = [
  ["{}", "nothing"],
  ["{\n}\n", "nothing, on two lines"],
  ['{"model":"opus"}', "one line"],
  ['{"hooks": {}, "a": [1, 2]}', "no hooks"],
  ['{\n  "hooks": {\n    "SessionEnd": []\n  }\n}\n', "no hooks at the end"],
  ['{\n\t"a": 1.0,\n\t"b": 1.10e2\n}', "tabs, and numbers that JavaScript would change"],
  ['{\r\n  "a": "\\u00e9 // no comment",\r\n  "hooks": {"Stop": [{"hooks": []}]}\r\n}\r\n', "Windows' line ends"],
  [
    '{\n  "hooks": {\n    "SessionEnd": [\n      {\n        "matcher": "",\n        "hooks": [{ "type": "command", "command": "x" }]\n      }\n    ]\n  },\n  "a": {"b": "}"}\n}\n',
    "another hook",
  ],
  ['{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "x"}]}]}}', "another hook on one line"],
];

/** Settings with comments, and the same without. */
const commented: [string, string][] = [
  ['{\n  // mine\n  "a": 1\n}\n', '{ "a": 1 }'],
  ['{\n  "a": "// none", // mine, "quoted"\n  "b": [1] // the last\n}\n', '{ "a": "// none", "b": [1] }'],
  ['{ /* {"hooks": 1} */ "a": "/* none */" /* mine */ }', '{ "a": "/* none */" }'],
  ["{\r\n  // nothing yet\r\n}\r\n", "{}"],
  [
    '{\n  "hooks": { // mine\n    "SessionEnd": [\n      { "hooks": [] } // theirs\n    ]\n  } /* end */\n}\n',
    '{ "hooks": { "SessionEnd": [{ "hooks": [] }] } }',
  ],
  [
    '{\n  "hooks": {\n    "Stop": [] // other\n    // more\n  },\n  "a": 1\n} // end',
    '{ "hooks": { "Stop": [] }, "a": 1 }',
  ],
];
const commentsIn = (text: string) => text.match(/\/\/ ?(?!none)\w.*|\/\* (?!none).*?\*\//g);

describe("an agent's settings", () => {
  test.each(commented)("with comments keep them: %j", (text, plain) => {
    const result = added(addHook(text, event, hook));
    const before = JSON.parse(plain);
    const after = JSON.parse(blankComments(result.text));
    const groups = after.hooks.SessionEnd.filter((group: unknown) => !isDeepStrictEqual(group, ours));
    expect(groups).toEqual(before.hooks?.SessionEnd ?? []);
    expect({ ...after, hooks: { ...after.hooks, SessionEnd: 0 } }).toEqual({
      ...before,
      hooks: { ...before.hooks, SessionEnd: 0 },
    });
    expect(addHook(result.text, event, hook)).toBeUndefined();
    expect(removeHook(result.text, event, makeEdit(result, "gemini-cli"))).toBe(text);
    // As after a change of the user's, by which the insertion is no longer in one piece.
    const changed = result.text.replace(/"timeout":\s*10/, '"timeout": 11 /* changed */');
    const rest = removeHook(changed, event, makeEdit(result, "gemini-cli")) ?? "";
    expect(JSON.parse(blankComments(rest))).toEqual(before);
    expect(commentsIn(rest)).toEqual(commentsIn(text));
  });

  test.each(settings)("get the hook beside %j, and lose it again to the byte (%s)", (text) => {
    const result = added(addHook(text, event, hook));
    const [before, after] = [JSON.parse(text), JSON.parse(result.text)];
    const groups = before.hooks?.SessionEnd ?? [];
    expect(after).toEqual({ ...before, hooks: { ...before.hooks, SessionEnd: [...groups, ours] } });
    // Only an insertion: all that was there is there, in its order.
    const { offset, inserted } = result.edit;
    expect(text.slice(0, offset) + inserted + text.slice(offset)).toBe(result.text);
    expect(addHook(result.text, event, hook)).toBeUndefined();
    expect(removeHook(result.text, event, makeEdit(result, "claude-code"))).toBe(text);
  });

  test.each(settings)("that were written anew since lose the hook alone: %j (%s)", (text) => {
    const result = added(addHook(text, event, hook));
    const before = JSON.parse(text);
    for (const indent of [undefined, 4]) {
      const rewritten = JSON.stringify({ first: true, ...JSON.parse(result.text), more: [1] }, null, indent);
      const rest = removeHook(rewritten, event, makeEdit(result, "claude-code")) ?? "";
      expect(JSON.parse(rest)).toEqual({ first: true, ...before, more: [1] });
    }
  });

  test("keep hooks that were added beside ours, and around it", () => {
    const result = added(addHook("{}", event, hook));
    const after = JSON.parse(result.text);
    after.hooks.SessionEnd[0].hooks.unshift({ type: "command", command: "y" });
    after.hooks.Stop = [];
    const rest = JSON.parse(removeHook(JSON.stringify(after), event, makeEdit(result, "claude-code")) ?? "");
    expect(rest).toEqual({ hooks: { SessionEnd: [{ hooks: [{ type: "command", command: "y" }] }], Stop: [] } });
  });

  test("are made where there are none, and removed with their hook", () => {
    const result = added(addHook(undefined, event, hook));
    expect(JSON.parse(result.text)).toEqual({ hooks: { SessionEnd: [ours] } });
    expect(removeHook(result.text, event, makeEdit(result, "claude-code"))).toBe("");
    expect(removeHook(JSON.stringify(JSON.parse(result.text)), event, makeEdit(result, "claude-code"))).toBe("");
  });

  test("without the hook, or broken since, are left as they are", () => {
    const edit = makeEdit(added(addHook("{}", event, hook)), "claude-code");
    expect(removeHook("{}", event, edit)).toBeUndefined();
    expect(removeHook(`{"a": ${command}`, event, edit)).toBeUndefined();
  });

  test.each([
    ['{"a": 1,}', "valid JSON"],
    ['{"a": 1 /* no end }', "valid JSON"],
    ['\uFEFF{"a": 1}', "valid JSON"],
    ["", "valid JSON"],
    ["// nothing", "valid JSON"],
    ["[]", "valid JSON"],
    ['{"hooks": []}', "hooks"],
    ['{"hooks": {"SessionEnd": {}}}', "SessionEnd"],
    ['{"a": {"__proto__": 1}, "a": 2, "hooks": {}, "hooks": 3}', "hooks"],
  ])("of the form %j are left alone", (text, reason) => {
    expect(addHook(text, event, hook)).toEqual({ problem: expect.stringContaining(reason) });
  });
});

const words = ['/home/a"da/.local/bin/spoor', "service", "hook", "codex-cli"];
const line = `notify = ["/home/a\\"da/.local/bin/spoor", "service", "hook", "codex-cli"]`;

describe("Codex' config", () => {
  test.each([
    "",
    "# nothing\n",
    'model = "x"\r\n\r\n[tui]\r\nnotify = true\r\n',
    '\uFEFFmodel = "x"\n',
    "a = [\n  1, # ]\n  { b = '[' },\n]\n[x]\nnotify = 1",
    'text = """\nnotify = ["no"]\n""" # a string\n',
    "text = '''\nnotify = 1\n'''\n",
    'a.b = "\\""\n"c d" = 1979-05-27T07:32:00Z\n[[x]]\n',
  ])("%j gets notify, and loses it again to the byte", (text) => {
    const result = added(addNotify(text, words));
    expect(result.text.replace(/^\uFEFF/, "").split(/\r?\n/)[1]).toBe(line);
    expect(result.text.includes("\r\n")).toBe(text.includes("\r\n"));
    expect(addNotify(result.text, words)).toBeUndefined();
    const edit = makeEdit(result, "codex");
    expect(removeNotify(result.text, edit)).toBe(text);
    expect(removeNotify(`new = 1\n${result.text}`, edit)).toBe(`new = 1\n${text}`);
    // As a program writes it that keeps no comments.
    expect(removeNotify(`new = 1\n${line}\nrest = 2\n`, edit)).toBe("new = 1\nrest = 2\n");
    expect(removeNotify(`notify = ["mine"]\n`, edit)).toBeUndefined();
  });

  test.each([
    'notify = ["say"]\n',
    '"notify" = ["say"]',
    "'notify' = ['say']",
    "a = 1\nnotify=[]\n[x]\n",
    "notify.command = 1\n",
  ])("%j has a notify of its own, which stays", (text) => {
    expect(addNotify(text, words)).toEqual({ problem: expect.stringContaining("notify of its own") });
  });

  test.each(['a = "x\n', "a = [1\n", "nonsense\n", "a = ]\n", "a = '''\n"])("%j is broken, and left alone", (text) => {
    expect(addNotify(text, words)).toEqual({ problem: "it is not valid TOML" });
  });
});
