import { basename, delimiter, dirname, join, parse, sep } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import { maxLineBytes, readLines } from "../../files/json-lines.ts";
import type { Adapter, Host, Input, Message, SearchRoot, Sink } from "../adapter.ts";
import { asTimestamp, notice, projectName, truncate, withMetadata } from "../metadata.ts";

const source = "specstory";
const history = join(".specstory", "history");

/**
 * SpecStory: the sessions of other agents, written down in Markdown in the folder of a project.
 *
 * - A heading such as `_**Agent (MODEL TIME)**_` begins each message. What looks like one in a fence, a thought or a tool's
 *   output is text, and so is what a sub-agent said (`_**Agent - sidechain (…)**_`): it belongs to the call before it.
 * - Tools and thoughts stand in marks of its own within a message, which the reader knows (docs/trace-format.md).
 * - It tells no tokens. The time is UTC where it ends with Z; another one is nobody's, and is left out.
 */
export const specstory: Adapter = {
  name: source,
  title: "SpecStory",
  version: 1,
  diagnose,
  async *discover(host) {
    for (const { path } of diagnose(host)) yield* findFiles(path, (name) => name.endsWith(".md"));
  },
  async parse(input, sink) {
    const transcript = new Transcript(sink, input);
    const report = {
      tooLong: () => transcript.lose(),
      pause: () => sink.pause(),
    };
    await readLines(input.path, (line) => transcript.take(line.replace(/\r$/, "")), report);
    transcript.end();
  },
};

/** The projects that are named, else the one in which this runs: the current folder and those above it, up to the home folder. */
function diagnose({ home, cwd, env }: Host): SearchRoot[] {
  const named = (env.SPOOR_SPECSTORY ?? "").split(delimiter).filter(Boolean);
  if (named.length > 0) return named.map((path) => ({ path: historyOf(path), from: "SPOOR_SPECSTORY" }));
  const folders: string[] = [];
  for (let folder: string | undefined = cwd; folder !== undefined; folder = above(folder, home)) folders.push(folder);
  return folders.map((path) => ({ path: join(path, history) }));
}

/** A folder may be named by its project or by itself. */
const historyOf = (path: string): string => (basename(path) === "history" ? path : join(path, history));

function above(folder: string, home: string): string | undefined {
  return folder === home || folder === parse(folder).root ? undefined : dirname(folder);
}

const session = /^<!-- (.{1,64}?) Session ([\w-]{1,128})(?: \((.{1,64}?)\))? -->$/;
const heading = /^_\*\*(\w+)(?: \(([^*]{1,200})\))?\*\*_$/;
const time = /(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d(?:\.\d+)?)?Z$/;

/** A session's identity, and what is known of it. */
type About = { sourceId: string; agent?: string; createdAt?: string; title?: string };

/** A message that is being read. */
type SessionWriter = { role: string; about: string; lines: string[]; chars: number };

class Transcript {
  readonly #sink: Sink;
  readonly #name: string;
  readonly #cwd: string | undefined;
  #about: About;
  #draft: SessionWriter | undefined;
  #isOpen = false;
  #model: string | undefined;
  #hasHeader = false;
  #until: Quote | undefined;
  #isAfterRule = false;

  constructor(sink: Sink, { path }: Input) {
    this.#sink = sink;
    this.#name = basename(path, ".md");
    const at = path.lastIndexOf(`${sep}${history}${sep}`);
    this.#cwd = at === -1 ? undefined : path.slice(0, at) || sep;
    this.#about = { sourceId: this.#name };
  }

  take(line: string): void {
    const isAfterRule = this.#isAfterRule;
    if (line !== "") this.#isAfterRule = line === "---";
    const [, speaker, about] = heading.exec(line) ?? [];
    // A fence that somebody forgot to close ends with their message.
    const isForgotten = isAfterRule && about !== undefined && this.#until?.isFence === true;
    if (this.#until && !isForgotten) {
      if (this.#until.end.test(line)) this.#until = undefined;
      this.#add(line);
      return;
    }
    const [, agent, id, began] = session.exec(line) ?? [];
    if (agent !== undefined && id !== undefined) this.#begin(agent, id, began);
    else if (speaker !== undefined) this.#hear(speaker, about ?? "");
    else if (!this.#draft) this.#head(line);
    else {
      this.#until = quoteIn(line);
      this.#add(line);
    }
  }

  /** A part of the session can't be read. */
  lose(): void {
    this.#sink.lost(`one of its messages is larger than the ${maxLineBytes / 1024 / 1024} MiB that this client reads`);
  }

  end(): void {
    this.#say();
    if (this.#isOpen) this.#sink.end(this.#ending());
    else this.#tellEmpty();
    this.#isOpen = false;
  }

  /** A file without any message: a session in which nothing was said, or some other Markdown. */
  #tellEmpty(): void {
    this.#sink.entry();
    if (this.#hasHeader) this.#sink.skipped();
    else this.#sink.invalid();
  }

  #begin(agent: string, id: string, began: string | undefined): void {
    // One that is named again in its own file has not ended.
    this.#hasHeader = true;
    if (id === this.#about.sourceId) return;
    if (this.#isOpen || this.#draft) this.end();
    const createdAt = momentOf(began);
    this.#model = undefined;
    const { title } = this.#about;
    this.#about = { sourceId: id, agent, ...(createdAt && { createdAt }), ...(title && { title }) };
  }

  /** A line before the first message. */
  #head(line: string): void {
    const [, title = ""] = /^# (.+)$/.exec(line) ?? [];
    const told = title.replace(/ \(\d{4}-\d\d-\d\d[^)]*\)$/, "");
    if (told && !/^\d{4}-\d\d-\d\d[ \d:TZ.+-]*$/.test(told)) this.#about.title = told;
  }

  #hear(speaker: string, about: string): void {
    this.#say();
    const role = roles.get(speaker);
    if (role === undefined) this.#sink.unhandled(`heading.${speaker}`);
    this.#draft = { role: role ?? "notice", about, lines: [], chars: 0 };
  }

  #add(line: string): void {
    if (!this.#draft) return;
    this.#draft.chars += line.length + 1;
    if (this.#draft.chars <= maxLineBytes) this.#draft.lines.push(line);
  }

  #say(): void {
    const draft = this.#draft;
    this.#draft = undefined;
    this.#until = undefined;
    if (!draft) return;
    this.#sink.entry();
    if (draft.chars > maxLineBytes) this.lose();
    const content = draft.lines
      .join("\n")
      .replace(/\n---\s*$/, "")
      .trim();
    if (content === "") {
      this.#sink.skipped();
      return;
    }
    if (!this.#isOpen) this.#sink.begin(source, this.#about.sourceId);
    this.#isOpen = true;
    this.#sink.message(this.#messageOf(draft, content));
  }

  #messageOf({ role, about }: SessionWriter, content: string): Message {
    const createdAt = momentOf(about);
    if (createdAt) this.#about.createdAt ??= createdAt;
    const model = role === "assistant" ? modelOf(about) : undefined;
    const isNew = model !== undefined && model !== this.#model;
    if (isNew) this.#model = model;
    const message = role === "notice" ? notice(content) : { role, content };
    const told = withMetadata(message, { model: isNew ? model : undefined });
    return createdAt ? { ...told, createdAt } : told;
  }

  #ending() {
    const { agent, createdAt, title = slugOf(this.#name) } = this.#about;
    const project = projectName(this.#cwd);
    return {
      ...(this.#model && { model: truncate(this.#model, 256) }),
      ...(title && { title: truncate(title, 512) }),
      ...(project && { project }),
      ...(createdAt && { createdAt }),
      metadata: { ...(this.#cwd && { cwd: this.#cwd }), ...(agent && { agent }) },
    };
  }
}

const roles = new Map([
  ["User", "user"],
  ["Agent", "assistant"],
  ["Assistant", "assistant"],
]);

/** What is quoted, up to a line that matches. */
type Quote = { end: RegExp; isFence: boolean };

/** What begins in a line that is quoted: headings count for nothing in it. */
function quoteIn(line: string): Quote | undefined {
  const [, fence = ""] = /^ {0,3}(`{3,}|~{3,})[^`]*$/.exec(line) ?? [];
  if (fence) return { end: new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`), isFence: true };
  const [, mark] = /^<(tool-use|think)\b/.exec(line) ?? [];
  return mark && !line.includes(`</${mark}>`) ? { end: new RegExp(`</${mark}>\\s*$`), isFence: false } : undefined;
}

/** UTC, with or without seconds. */
function momentOf(text: string | undefined): string | undefined {
  const [, date, minute, seconds = ":00"] = time.exec(text ?? "") ?? [];
  return date && asTimestamp(`${date}T${minute}${seconds}Z`);
}

/** `MODEL TIME`, or `model MODEL, mode MODE`. */
function modelOf(about: string): string | undefined {
  const [, named] = /^model ([^,]+)/.exec(about) ?? [];
  const model = named ?? about.replace(/\s*\d{4}-\d\d-\d\d.*$/, "");
  return model.trim() || undefined;
}

/** The words in a file's name, after the time. */
function slugOf(name: string): string | undefined {
  const [, slug] = /^\d{4}-\d\d-\d\d_\d\d-\d\d(?:-\d\d)?Z?(?:-(.+))?$/.exec(name) ?? [];
  return slug?.replaceAll("-", " ");
}
