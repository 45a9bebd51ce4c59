import { basename, join, sep } from "node:path";
import { maxWholeBytes } from "../../files/line-reader.ts";
import type { Input, Sink } from "../adapter.ts";
import { toNotices, toTexts } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { TextLines } from "../text-lines.ts";
import { asTimestamp } from "../values.ts";

export const source = "specstory";
export const history = join(".specstory", "history");

const session = /^<!-- (.{1,64}?) Session ([\w-]{1,128})(?: \((.{1,64}?)\))? -->$/;
const heading = /^_\*\*(\w+)(?: \(([^*]{1,200})\))?\*\*_$/;
const sidechain = /^_\*\*(?:User|Agent) - sidechain(?: \(([^*]{1,200})\))?\*\*_$/;
const messageId = /^<!-- message-id: (\S{1,128}) -->$/;
const time = /(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;

type MessageDraft = { role: string; about: string; lines: TextLines; id?: string };

export class Transcript {
  readonly #sink: Sink;
  readonly #name: string;
  readonly #cwd: string | undefined;
  #session: SessionBuilder;
  #title: string | undefined;
  #draft: MessageDraft | undefined;
  #hasHeader = false;
  #quote: Quote | undefined;
  #isAfterRule = false;
  /** The heading of a sub-agent's message whose text is still to come. */
  #side: { line: string; about: string } | undefined;
  #isSuggesting = false;

  constructor(sink: Sink, { path }: Input) {
    this.#sink = sink;
    this.#name = basename(path, ".md");
    const at = path.lastIndexOf(`${sep}${history}${sep}`);
    this.#cwd = at === -1 ? undefined : path.slice(0, at) || sep;
    this.#session = this.#makeSession(this.#name);
  }

  #makeSession(id: string): SessionBuilder {
    const session = new SessionBuilder(this.#sink, source, id);
    session.noteFolder(this.#cwd);
    return session;
  }

  addLine(line: string): void {
    const isAfterRule = this.#isAfterRule;
    if (line !== "") this.#isAfterRule = line === "---";
    const [, speaker, about] = heading.exec(line) ?? [];
    // A fence that was never closed ends with its message.
    const isUnclosed = isAfterRule && about !== undefined && this.#quote?.isFence === true;
    if (this.#quote && !isUnclosed) {
      if (this.#quote.end.test(line)) this.#quote = undefined;
      this.#add(line);
      return;
    }
    if (this.#side && line === "") return;
    const [, agent, id, began] = session.exec(line) ?? [];
    const side = this.#draft && sidechain.exec(line);
    if (side || speaker !== undefined || agent !== undefined) this.#endSide();
    else if (this.#side) this.#beginSide(line);
    if (side) this.#side = { line, about: side[1] ?? "" };
    else if (agent !== undefined && id !== undefined) this.#beginSession(agent, id, began);
    else if (speaker !== undefined) this.#beginMessage(speaker, about ?? "");
    else if (!this.#draft) this.#readTitle(line);
    else {
      this.#quote = findQuote(line);
      this.#add(line);
    }
  }

  /** Claude Code's agent that guesses what the user types next was not called: its messages are notices. */
  #beginSide(line: string): void {
    const { about = "" } = this.#side ?? {};
    this.#isSuggesting ||= line.startsWith("[SUGGESTION MODE: ");
    if (!this.#isSuggesting) {
      this.#endSide();
      return;
    }
    this.#side = undefined;
    this.#endMessage();
    this.#draft = { role: "notice", about, lines: new TextLines() };
  }

  #endSide(): void {
    if (!this.#side) return;
    this.#add(this.#side.line);
    this.#add("");
    this.#side = undefined;
  }

  reportTooLong(): void {
    this.#sink.lost(`one of its messages is larger than ${maxWholeBytes / 1024 / 1024} MiB`);
  }

  end(): void {
    this.#endSide();
    this.#endMessage();
    if (this.#session.isOpen) {
      this.#session.noteTitle(this.#title ?? makeTitle(this.#name));
      this.#session.end();
      return;
    }
    this.#sink.entry();
    if (this.#hasHeader) this.#sink.skipped();
    else this.#sink.invalid();
  }

  #beginSession(agent: string, id: string, began: string | undefined): void {
    this.#hasHeader = true;
    if (id === this.#session.id) return;
    if (this.#session.isOpen || this.#draft) this.end();
    this.#session = this.#makeSession(id);
    this.#session.note("agent", agent);
    this.#session.noteTime(parseTime(began));
  }

  #readTitle(line: string): void {
    const [, title = ""] = /^# (.+)$/.exec(line) ?? [];
    const name = title.replace(/ \(\d{4}-\d\d-\d\d[^)]{0,64}\)$/, "");
    if (name && !/^\d{4}-\d\d-\d\d[ \d:TZ.+-]*$/.test(name)) this.#title = name;
  }

  #beginMessage(speaker: string, about: string): void {
    this.#isSuggesting = false;
    this.#endMessage();
    const role = roles.get(speaker);
    if (role === undefined) this.#sink.unhandled(`heading.${speaker}`);
    this.#draft = { role: role ?? "notice", about, lines: new TextLines() };
  }

  #add(line: string): void {
    if (!this.#draft) return;
    const [, id] = (this.#draft.lines.isEmpty && messageId.exec(line)) || [];
    if (id !== undefined) {
      this.#draft.id = id;
      return;
    }
    this.#draft.lines.add(line);
  }

  #endMessage(): void {
    const draft = this.#draft;
    this.#draft = undefined;
    this.#quote = undefined;
    if (!draft) return;
    this.#sink.entry();
    if (draft.lines.isTooLong) this.reportTooLong();
    const content = draft.lines
      .toString()
      .replace(/\n---\s*$/, "")
      .trim();
    const { role, about, id } = draft;
    const messages = role === "notice" ? toNotices(content) : toTexts(role, content);
    this.#session.add(messages, {
      at: parseTime(about),
      uuid: id,
      model: role === "assistant" ? parseModel(about) : undefined,
    });
  }
}

const roles = new Map([
  ["User", "user"],
  ["Agent", "assistant"],
  ["Assistant", "assistant"],
]);

type Quote = { end: RegExp; isFence: boolean };

function findQuote(line: string): Quote | undefined {
  const [, fence = ""] = /^ {0,3}(`{3,100}(?!`)|~{3,100}(?!~))[^`]*$/.exec(line) ?? [];
  if (fence) return { end: new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`), isFence: true };
  const [, mark] = /^<(tool-use|think)(?=[\s>])/.exec(line) ?? [];
  return mark && !line.includes(`</${mark}>`) ? { end: new RegExp(`</${mark}>\\s*$`), isFence: false } : undefined;
}

/** Seconds are optional. */
function parseTime(text: string | undefined): string | undefined {
  const [, date, minute, seconds = ":00", zone = "Z"] = time.exec(text ?? "") ?? [];
  return date && asTimestamp(`${date}T${minute}${seconds}${zone.replace(/^([+-]\d\d)(\d\d)$/, "$1:$2")}`);
}

/** `MODEL TIME`, or `model MODEL, mode MODE`. */
function parseModel(about: string): string | undefined {
  const [, named] = /^model ([^,]+)/.exec(about) ?? [];
  const model = named ?? about.replace(/\s*\d{4}-\d\d-\d\d.*$/, "");
  return model.trim() || undefined;
}

function makeTitle(name: string): string | undefined {
  const [, slug] = /^\d{4}-\d\d-\d\d_\d\d-\d\d(?:-\d\d)?Z?(?:-(.+))?$/.exec(name) ?? [];
  return slug?.replaceAll("-", " ");
}
