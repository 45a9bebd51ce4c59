import { basename, dirname, extname, join } from "node:path";
import { findFiles, listFolder } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readJsonItems } from "../../files/json-items.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, Input, Sink } from "../adapter.ts";
import { getEditorFolders } from "../search-roots.ts";
import { SessionBuilder } from "../session-builder.ts";
import { asFields, parseUriPath } from "../values.ts";
import { LogPlan, Replay } from "./replay.ts";
import { ChatTurn } from "./turn.ts";

const source = "vscode-copilot";

export const vscodeCopilot: Adapter = {
  name: source,
  title: "Copilot Chat in VS Code",
  version: 2,
  getSearchRoots: (host) => [
    ...getEditorFolders(host, "workspaceStorage"),
    ...getEditorFolders(host, "globalStorage", emptyWindows),
  ],
  async *discover(host) {
    const latest = new Map<string, Input>();
    for await (const input of findChats(host)) {
      if (input.stamp === "forbidden") yield input;
      else {
        const id = basename(input.path, extname(input.path));
        const before = latest.get(id);
        if (!before || isBetter(input, before)) latest.set(id, input);
      }
    }
    yield* latest.values();
  },
  async parse({ path }, sink) {
    const session = new SessionBuilder(sink, source, basename(path, extname(path)));
    session.noteFolder(await readFolder(join(dirname(dirname(path)), "workspace.json")));
    const plan = new LogPlan();
    await read(path, sink, "counted", {
      request: (_json, line) => plan.addRequest(line),
      line(line, number) {
        plan.add(line, number);
        return true;
      },
    });
    const replay = new Replay(plan, (request) => sendTurn(request, session, sink));
    await read(path, sink, "read", {
      request: (json, line) => replay.addRequest(json, line),
      line: (line, number) => replay.add(line, number),
    });
    replay.end();
    noteFields(session, replay.fields);
    session.end();
  },
};

const emptyWindows = "emptyWindowChatSessions";
const isChat = (name: string): boolean => /\.jsonl?$/.test(name);

async function* findChats(host: Host): AsyncGenerator<Input> {
  for (const { path } of getEditorFolders(host, "workspaceStorage")) {
    for (const workspace of await listFolder(path)) {
      if (workspace.isDirectory()) yield* findFiles(join(path, workspace.name, "chatSessions"), isChat);
    }
  }
  for (const { path } of getEditorFolders(host, "globalStorage", emptyWindows)) yield* findFiles(path, isChat);
}

/** In the same folder, the log is better. */
function isBetter(one: Input, other: Input): boolean {
  if (dirname(one.path) === dirname(other.path)) return one.path.endsWith(".jsonl");
  return one.modifiedAt > other.modifiedAt;
}

type Handlers = {
  request(json: string, line: number): void;
  line(line: Fields, number: number): boolean;
};

async function read(path: string, sink: Sink, pass: "counted" | "read", { request, line }: Handlers): Promise<void> {
  const isLog = path.endsWith(".jsonl");
  let number = 1;
  const take = (json: string) => {
    const value = parseJson(json);
    const operation = isLog ? value : { kind: 0, v: value };
    if (pass === "counted") sink.entry(number);
    const isKnown = isFields(value) && isFields(operation) && line(operation, number);
    if (pass === "read" && !isKnown) sink.invalid(isFields(value) ? "not a change" : "not a JSON object");
    if (pass === "counted" && isKnown) sink.skipped();
    number++;
  };
  const isComplete = await readJsonItems(
    path,
    {
      list: isLog ? ["v", "requests"] : ["requests"],
      isLines: isLog,
      item(json) {
        if (pass === "counted") sink.entry(number);
        request(json, number);
      },
      rest: take,
    },
    {
      tooLong(item) {
        if (pass === "read") sink.lost(item === 0 ? `line ${number} is too long` : `request ${item} is too long`);
        // Later lines name requests by their number.
        if (item !== 0) request("null", number);
      },
      pause: () => sink.pause(),
    },
  );
  if (isComplete || pass === "counted") return;
  sink.entry();
  sink.invalid("the file is cut off");
}

function sendTurn(request: unknown, session: SessionBuilder, sink: Sink): void {
  if (isFields(request)) new ChatTurn(sink, request).send(session);
  else sink.invalid("not a request");
}

function noteFields(session: SessionBuilder, fields: Fields): void {
  session.noteTime(fields.creationDate);
  session.noteTitle(fields.customTitle ?? fields.computedTitle);
  session.noteFolder(parseUriPath(fields.workingDirectory));
  const { repoData } = fields;
  if (!isFields(repoData)) return;
  session.noteRepository(repoData.remoteUrl);
  session.note("branch", repoData.localBranch);
}

async function readFolder(path: string): Promise<string | undefined> {
  const { folder, workspace } = asFields(await readJsonFile(path));
  return parseUriPath(folder) ?? parseUriPath(workspace)?.replace(/\.code-workspace$/, "");
}
