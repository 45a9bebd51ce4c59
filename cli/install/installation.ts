import { rm, stat } from "node:fs/promises";
import type { Context } from "../context.ts";
import { formatBytes } from "../terminal/format.ts";
import { styled } from "../terminal/terminal.ts";
import type { Edited } from "./agents/json-hook.ts";
import { computeSha256, encodeFile, listMissingFolders, type PlannedFile, readIfThere, replaceFile } from "./files.ts";
import { type FileEdit, type Manifest, writeManifest } from "./manifest.ts";

type FileOutcome = "same" | "written" | "declined" | "kept";

export class Installation {
  readonly #context: Context;
  readonly manifest: Manifest;
  readonly outcomes: Record<string, FileOutcome> = {};

  constructor(context: Context, manifest: Manifest) {
    this.#context = context;
    this.manifest = manifest;
  }

  get isDry(): boolean {
    return this.#context.values["dry-run"] === true;
  }

  async offer(title: string, files: PlannedFile[]): Promise<boolean> {
    const { terminal } = this.#context;
    const plans = await Promise.all(files.map(async (file) => ({ file, now: await readIfThere(file.path) })));
    const open = plans.filter(({ file, now }) => !now?.equals(encodeFile(file)));
    for (const { file } of plans) this.outcomes[file.path] = "same";
    if (open.length === 0) {
      terminal.say(styled("green", "✓"), ` ${title}: already installed.`);
      await this.#record(files);
      return true;
    }
    terminal.say();
    terminal.say(styled("bold", title));
    for (const { file } of open) this.#show(file);
    let isComplete = true;
    for (const { file, now } of await this.#agreed(open)) {
      if (!this.isDry) await this.#write(file, now);
      this.outcomes[file.path] = "written";
    }
    for (const { file } of open) isComplete &&= this.outcomes[file.path] === "written";
    return isComplete;
  }

  /** A foreign file is asked about alone, and left alone with `--yes`. */
  async #agreed<One extends { file: PlannedFile; now: Buffer | undefined }>(open: One[]): Promise<One[]> {
    const { terminal } = this.#context;
    const agreed: One[] = [];
    const ours = open.filter(({ file, now }) => this.#isOurs(file.path, now));
    if (ours.length > 0 && (await this.#confirm(ours.length > 1 ? "Write these files?" : "Write this file?"))) {
      agreed.push(...ours);
    }
    for (const one of ours) if (!agreed.includes(one)) this.outcomes[one.file.path] = "declined";
    for (const one of open.filter((one) => !ours.includes(one))) {
      const { path } = one.file;
      const what = `${path} exists and differs from what \`install\` wrote`;
      const isWanted =
        this.#context.values.yes !== true && !this.isDry && (await this.#confirm(`${what}. Replace it?`, false));
      if (isWanted) agreed.push(one);
      else {
        this.outcomes[path] = "kept";
        terminal.warn(`! ${what}: it was not changed.`);
      }
    }
    return agreed;
  }

  #isOurs(path: string, now: Buffer | undefined): boolean {
    return now === undefined || this.manifest.files[path]?.includes(computeSha256(now)) === true;
  }

  async #confirm(question: string, usual = true): Promise<boolean> {
    const { terminal, values, signal } = this.#context;
    if (values.yes === true || this.isDry) return true;
    const isAgreed = await terminal.ask(question, signal, usual);
    signal.throwIfAborted();
    return isAgreed;
  }

  #show({ path, text, summary }: PlannedFile): void {
    const { terminal } = this.#context;
    terminal.say(`  ${path}`);
    const lines =
      summary === undefined
        ? text
            .replace(/^\uFEFF/, "")
            .trimEnd()
            .split(/\r?\n/)
        : [summary];
    for (const line of lines) terminal.say(styled("dim", `    ${line}`));
  }

  async #write(file: PlannedFile, replaces: Buffer | undefined): Promise<void> {
    const bytes = encodeFile(file);
    await this.#record([file]);
    await replaceFile(file.path, bytes, { mode: file.mode, replaces });
    this.#context.terminal.say(styled("green", "✓"), ` ${file.path} (${formatBytes(bytes.length)})`);
  }

  async #record(files: PlannedFile[]): Promise<void> {
    if (this.isDry) return;
    for (const file of files) {
      await this.noteFolders(file.path);
      const known = this.manifest.files[file.path] ?? [];
      this.manifest.files[file.path] = [...new Set([...known.slice(-2), computeSha256(encodeFile(file))])];
    }
    await this.save();
  }

  async noteFolders(path: string): Promise<void> {
    const { folders } = this.manifest;
    folders.unshift(...(await listMissingFolders(path)).filter((folder) => !folders.includes(folder)));
    // The deepest first, so that each is empty when it is removed.
    folders.sort((a, b) => b.length - a.length);
  }

  save(): Promise<void> {
    return writeManifest(this.#context.host, this.manifest);
  }

  /**
   * @param undo removes an earlier change with another command
   * @returns true if the change is in the file
   */
  async offerEdit(
    { title, path, agent }: { title: string; path: string; agent: FileEdit["agent"] },
    change: (text: string | undefined) => Edited,
    undo: (text: string, edit: FileEdit) => string | undefined,
  ): Promise<boolean> {
    const { terminal } = this.#context;
    const now = await readIfThere(path);
    const known = this.manifest.edits.find((edit) => edit.agent === agent && edit.path === path);
    const text = now?.toString("utf8");
    const edited = now && !Buffer.from(text ?? "").equals(now) ? notText : change(text);
    if (edited === undefined) {
      terminal.say(styled("green", "✓"), ` ${title}: already installed.`);
      this.outcomes[path] = "same";
      return true;
    }
    const renewed = known && text !== undefined ? change(undo(text, known) ?? text) : edited;
    if (renewed === undefined || "problem" in renewed) {
      this.outcomes[path] = "kept";
      terminal.warn(`! ${title}: ${path} was not changed: ${renewed?.problem ?? ""}.`);
      return false;
    }
    terminal.say();
    terminal.say(styled("bold", title));
    terminal.say(`  ${path}${now === undefined ? "" : ", with this addition"}`);
    for (const line of renewed.edit.inserted.trim().split(/\r?\n/)) terminal.say(styled("dim", `  + ${line}`));
    if (!(await this.#confirm("Write it?"))) {
      this.outcomes[path] = "declined";
      return false;
    }
    this.outcomes[path] = "written";
    if (this.isDry) return true;
    await this.noteFolders(path);
    this.manifest.edits = [...this.manifest.edits.filter((one) => one !== known), { path, agent, ...renewed.edit }];
    await this.save();
    await replaceFile(path, Buffer.from(renewed.text), { mode: 0o600, replaces: now });
    terminal.say(styled("green", "✓"), ` ${path}`);
    return true;
  }
}

const notText: Edited = { problem: "it is not UTF-8" };

/** @returns `kept` if the change is there but can't be removed safely, `gone` if it is not there */
export async function undoEdit(
  edit: FileEdit,
  undo: (text: string, edit: FileEdit) => string | undefined,
): Promise<"undone" | "kept" | "gone"> {
  const now = await readIfThere(edit.path);
  if (now === undefined) return "gone";
  const text = now.toString("utf8");
  const rest = Buffer.from(text).equals(now) ? undo(text, edit) : undefined;
  const forms = [edit.command, JSON.stringify(edit.command).slice(1, -1)];
  if (rest === undefined) return forms.some((form) => text.includes(form)) ? "kept" : "gone";
  if (rest.trim() === "" && edit.made.includes("file")) await rm(edit.path);
  else await replaceFile(edit.path, Buffer.from(rest), { mode: (await stat(edit.path)).mode & 0o777, replaces: now });
  return "undone";
}
