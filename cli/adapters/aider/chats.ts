import { createHash } from "node:crypto";
import { maxWholeBytes } from "../../files/line-reader.ts";
import type { Message, Sink } from "../adapter.ts";
import { makeNotice } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { TextLines } from "../text-lines.ts";

export const source = "aider";

const heading = /^# aider chat started at (.+)$/;

type Author = "user" | "program" | "model";

export class Chats {
  readonly #sink: Sink;
  readonly #folder: string;
  readonly #begun = new Map<string, number>();
  #session: SessionBuilder | undefined;
  #messages = 0;
  /** Aider's lines end with two spaces, as the chat's first one shows. */
  #isMarked: boolean | undefined;
  #author: Author | undefined;
  #lines = new TextLines();
  #number = 0;

  constructor(sink: Sink, folder: string) {
    this.#sink = sink;
    this.#folder = folder;
  }

  addLine(line: string, number: number, isOpen: boolean): void {
    const text = line.replace(/\r$/, "");
    const [, started] = heading.exec(text.trimEnd()) ?? [];
    this.#number = number;
    if (started !== undefined) this.#begin(started);
    else if (this.#session) this.#take(text);
    else if (text.trim() !== "" && !isOpen) {
      this.#sink.entry(number);
      this.#sink.invalid("before the first chat");
    }
  }

  #begin(started: string): void {
    this.end();
    const before = this.#begun.get(started) ?? 0;
    this.#begun.set(started, before + 1);
    const place = createHash("sha256").update(this.#folder).digest("hex").slice(0, 12);
    const time = started.replace(/[^\d]/g, "");
    this.#session = new SessionBuilder(
      this.#sink,
      source,
      [place, time, ...(before > 0 ? [before + 1] : [])].join("-"),
    );
    this.#session.noteFolder(this.#folder);
    // Aider writes the machine's time without its zone.
    const at = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(started)
      ? new Date(started.replace(" ", "T")).getTime()
      : undefined;
    this.#session.noteTime(at);
    this.#messages = 0;
    this.#isMarked = undefined;
  }

  #take(line: string): void {
    const [, mark, rest] = /^(####|>) (.*)$/.exec(line) ?? (line === "####" || line === ">" ? ["", line, ""] : []);
    if (mark !== undefined && rest !== undefined) {
      this.#isMarked ??= rest.endsWith("  ");
      const isOwn = !this.#isMarked || rest.endsWith("  ") || rest === "";
      if (isOwn) {
        this.#add(mark === ">" ? "program" : "user", rest.replace(/ {1,2}$/, ""));
        return;
      }
    }
    const isBlankAfter = line.trim() === "" && this.#author !== "model";
    if (!isBlankAfter) this.#add("model", line);
  }

  #add(author: Author, line: string): void {
    if (author !== this.#author) this.#flush();
    this.#author = author;
    this.#lines.add(line);
  }

  #flush(): void {
    const [author, lines] = [this.#author, this.#lines];
    this.#author = undefined;
    this.#lines = new TextLines();
    if (lines.isTooLong) this.#sink.lost(`one of its messages is larger than ${maxWholeBytes / 1024 / 1024} MiB`);
    const text = lines.toString().trim();
    if (!author || text === "" || !this.#session) return;
    this.#sink.entry(this.#number);
    if (author === "program") this.#report(text, this.#session);
    else this.#send({ role: author === "user" ? "user" : "assistant", content: text });
  }

  #send(message: Message, costUsd?: number): void {
    this.#session?.send([message], { costUsd });
    this.#messages++;
  }

  #report(text: string, session: SessionBuilder): void {
    for (const line of text.split("\n")) {
      const [, version] = /^Aider v(\S+)$/.exec(line) ?? [];
      session.note("agentVersion", version);
      const [, model] = /^(?:Main model|Model): (\S+)(?: with .*)?$/.exec(line) ?? [];
      session.noteModel(model);
      const [, hash, subject] = /^Commit ([0-9a-f]{7,40}) (.+)$/.exec(line) ?? [];
      if (hash && subject) session.evidence.addCommit({ hash, subject, position: this.#messages });
    }
    const costs = [...text.matchAll(/\bCost: \$(\d+(?:\.\d+)?) message\b/g)].map(([, cost]) => Number(cost));
    this.#send(makeNotice(text), costs.length > 0 ? costs.reduce((sum, cost) => sum + cost, 0) : undefined);
  }

  end(): void {
    this.#flush();
    this.#session?.end();
    this.#session = undefined;
  }
}
