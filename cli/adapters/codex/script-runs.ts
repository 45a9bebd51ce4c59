import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { withMetadata } from "../messages.ts";
import { asCount, asFields, asString, dropOldest } from "../values.ts";
import { formatPatches } from "./file-changes.ts";

type ScriptOutcome = { exitCodes: number[]; durationsMs: number[]; patches: string[]; hasFailed: boolean };

type Script = { source: string; began: number; outcome: ScriptOutcome };

type Yielded = Omit<Script, "outcome">;

const maxScripts = 20;
const maxSourceChars = 8000;
const maxPatchChars = 1024 * 1024;

/**
 * Events before the result of an `exec` call name its commands, but not the call; a command that ends in the
 * background belongs to no result.
 */
export class ScriptRuns {
  readonly #open = new Map<string, Script>();
  /** Scripts that continued after their result, by the cell that a `wait` names. */
  readonly #yielded: Map<string, Yielded>;

  constructor(saved?: [string, Yielded][]) {
    this.#yielded = new Map(saved);
  }

  save(): [string, Yielded][] {
    return [...this.#yielded];
  }

  get isRunning(): boolean {
    return this.#open.size > 0;
  }

  /** Calls without a result at the end of the turn get none. */
  endTurn(): void {
    this.#open.clear();
  }

  see(message: Message, at: string | undefined): Message {
    const { tool, result } = message.metadata ?? {};
    if (isFields(result)) return this.#end(message, result);
    const isWait = isFields(tool) && this.#begin(tool, at) === "wait";
    return isWait ? withMetadata(message, { kind: "shell" }) : message;
  }

  seeEvent({ item, started_at_ms: startedAt }: Fields): void {
    if (!isFields(item) || this.#open.size === 0) return;
    const command = readCommand(item);
    const outcome = this.#findScript(command, asCount(startedAt))?.outcome;
    if (!outcome) return;
    outcome.hasFailed ||= item.status === "failed" || item.status === "declined";
    if (item.type === "FileChange" && item.status === "completed") this.#addPatches(outcome, item.changes);
    if (item.type !== "CommandExecution") return;
    if (Number.isSafeInteger(item.exit_code)) outcome.exitCodes.push(item.exit_code as number);
    const durationMs = readDuration(item.duration);
    if (durationMs !== undefined) outcome.durationsMs.push(durationMs);
  }

  #begin({ name, callId, input }: Fields, at: string | undefined): "exec" | "wait" | undefined {
    const id = asString(callId);
    const { input: source, cell_id: cell } = asFields(input);
    if (id === undefined) return undefined;
    const waited = name === "wait" && typeof cell === "string" ? this.#yielded.get(cell) : undefined;
    const script = waited ?? (name === "exec" && typeof source === "string" ? makeScript(source, at) : undefined);
    if (!script) return undefined;
    this.#open.set(id, { ...script, outcome: makeOutcome() });
    dropOldest(this.#open, maxScripts);
    return waited ? "wait" : "exec";
  }

  #end(message: Message, result: Fields): Message {
    const id = asString(result.callId) ?? "";
    const script = this.#open.get(id);
    if (!script) return message;
    this.#open.delete(id);
    const [, cell] = /^Script running with cell ID (\S{1,40})\n/.exec(message.content) ?? [];
    const { outcome, ...rest } = script;
    if (cell !== undefined) this.#yielded.set(cell, rest);
    dropOldest(this.#yielded, maxScripts);
    const { exitCodes, durationsMs, patches, hasFailed } = outcome;
    const exitCode = exitCodes.find((code) => code !== 0) ?? exitCodes[0];
    const isError = message.content.startsWith("Script failed\n") || (hasFailed && exitCode === undefined);
    const details = {
      ...result,
      ...(isError && { isError }),
      ...(exitCode !== undefined && { exitCode }),
      ...(patches.length > 0 && { patch: patches.join("\n") }),
    };
    // Several commands may have run at once.
    return withMetadata(message, {
      result: details,
      durationMs: durationsMs.length === 1 ? durationsMs[0] : undefined,
    });
  }

  #findScript(command: string | undefined, startedAt = Number.POSITIVE_INFINITY): Script | undefined {
    const scripts = [...this.#open.values()];
    const wanted = command === undefined ? "" : stripSpaces(command);
    const named = wanted === "" ? undefined : scripts.find(({ source }) => stripSpaces(source).includes(wanted));
    return named ?? scripts.find(({ began }) => began <= startedAt);
  }

  #addPatches(outcome: ScriptOutcome, changes: unknown): void {
    const left = maxPatchChars - outcome.patches.reduce((sum, { length }) => sum + length, 0);
    const added = formatPatches(changes);
    if (added && added.length <= left) outcome.patches.push(added);
  }
}

const makeScript = (source: string, at: string | undefined): Yielded => ({
  source: source.slice(0, maxSourceChars),
  began: at ? Date.parse(at) : 0,
});

const makeOutcome = (): ScriptOutcome => ({ exitCodes: [], durationsMs: [], patches: [], hasFailed: false });

export const readCommand = ({ command }: Fields): string | undefined =>
  Array.isArray(command) ? asString(command.at(-1)) : asString(command);

/** A script may write spaces and escapes in several ways. */
const stripSpaces = (text: string): string => text.replace(/\\[nrt]|[\\\s]/g, "");

function readDuration(duration: unknown): number | undefined {
  if (!isFields(duration) || typeof duration.secs !== "number" || typeof duration.nanos !== "number") return undefined;
  return asCount(Math.round(duration.secs * 1000 + duration.nanos / 1e6));
}
