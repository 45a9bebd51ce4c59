import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { withMetadata } from "../messages.ts";
import { asCount, asString } from "../values.ts";
import { filePatches } from "./file-changes.ts";

/** What the commands and patches of a script came to. */
type Outcome = { exitCodes: number[]; durationsMs: number[]; patches: string[]; hasFailed: boolean };

/** A call that runs a script, from its beginning in milliseconds since 1970 until its result. */
type Script = { source: string; began: number; outcome: Outcome };

type Yielded = Omit<Script, "outcome">;

/** So many calls wait for their results, and scripts for the call that waits for them. */
const maxScripts = 20;
/** So much of a script is searched for its commands. */
const maxSourceChars = 8000;
/** So much of changes is kept with a result, in characters. */
const maxPatchChars = 1024 * 1024;

/**
 * Newer models call one tool, `exec`, with a script that calls the others. What these did is told by events between the call and
 * its result, which name the command, but not the call. One that ends after its script, in the background, belongs to no result.
 */
export class ScriptRuns {
  readonly #open = new Map<string, Script>();
  /** Scripts that went on after their result, by the cell that a `wait` names. */
  readonly #yielded: Map<string, Yielded>;

  /** @param saved what `save` returned */
  constructor(saved?: [string, Yielded][]) {
    this.#yielded = new Map(saved);
  }

  save(): [string, Yielded][] {
    return [...this.#yielded];
  }

  /** Whether a script's result is still to come. */
  get isRunning(): boolean {
    return this.#open.size > 0;
  }

  /** Ends the turn: what has no result by now gets none. */
  endTurn(): void {
    this.#open.clear();
  }

  /** Sees an item's message in order. @returns it, with what the events told where it is a script's result */
  see(message: Message, at: string | undefined): Message {
    const { tool, result } = message.metadata ?? {};
    if (isFields(result)) return this.#end(message, result);
    const isWait = isFields(tool) && this.#begin(tool, at) === "wait";
    return isWait ? withMetadata(message, { kind: "shell" }) : message;
  }

  /** Sees an event of something that was done. */
  seeEvent({ item, started_at_ms: startedAt }: Fields): void {
    if (!isFields(item) || this.#open.size === 0) return;
    const command = ranCommand(item);
    const outcome = this.#findScript(command, asCount(startedAt))?.outcome;
    if (!outcome) return;
    outcome.hasFailed ||= item.status === "failed" || item.status === "declined";
    if (item.type === "FileChange" && item.status === "completed") this.#addPatches(outcome, item.changes);
    if (item.type !== "CommandExecution") return;
    if (Number.isSafeInteger(item.exit_code)) outcome.exitCodes.push(item.exit_code as number);
    const durationMs = toMilliseconds(item.duration);
    if (durationMs !== undefined) outcome.durationsMs.push(durationMs);
  }

  /** @returns the tool, where it runs a script or waits for one */
  #begin({ name, callId, input }: Fields, at: string | undefined): "exec" | "wait" | undefined {
    const id = asString(callId);
    const { input: source, cell_id: cell } = isFields(input) ? input : ({} as Fields);
    if (id === undefined) return undefined;
    const waited = name === "wait" && typeof cell === "string" ? this.#yielded.get(cell) : undefined;
    const script = waited ?? (name === "exec" && typeof source === "string" ? newScript(source, at) : undefined);
    if (!script) return undefined;
    this.#open.set(id, { ...script, outcome: noOutcome() });
    dropFirst(this.#open);
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
    dropFirst(this.#yielded);
    const { exitCodes, durationsMs, patches, hasFailed } = outcome;
    const exitCode = exitCodes.find((code) => code !== 0) ?? exitCodes[0];
    const isError = message.content.startsWith("Script failed\n") || (hasFailed && exitCode === undefined);
    const told = {
      ...result,
      ...(isError && { isError }),
      ...(exitCode !== undefined && { exitCode }),
      ...(patches.length > 0 && { patch: patches.join("\n") }),
    };
    // Several commands may have run at once: the script's own text tells how long it took.
    return withMetadata(message, { result: told, durationMs: durationsMs.length === 1 ? durationsMs[0] : undefined });
  }

  /** The script that ran a command: the one that has it, else the first that was running when it began. */
  #findScript(command: string | undefined, startedAt = Number.POSITIVE_INFINITY): Script | undefined {
    const scripts = [...this.#open.values()];
    const wanted = command === undefined ? "" : bare(command);
    const named = wanted === "" ? undefined : scripts.find(({ source }) => bare(source).includes(wanted));
    return named ?? scripts.find(({ began }) => began <= startedAt);
  }

  #addPatches(outcome: Outcome, changes: unknown): void {
    const left = maxPatchChars - outcome.patches.reduce((sum, { length }) => sum + length, 0);
    const added = filePatches(changes);
    if (added && added.length <= left) outcome.patches.push(added);
  }
}

const newScript = (source: string, at: string | undefined): Yielded => ({
  source: source.slice(0, maxSourceChars),
  began: at ? Date.parse(at) : 0,
});

const noOutcome = (): Outcome => ({ exitCodes: [], durationsMs: [], patches: [], hasFailed: false });

function dropFirst(scripts: Map<string, unknown>): void {
  if (scripts.size > maxScripts) scripts.delete(scripts.keys().next().value ?? "");
}

/** The command that an item of an event ran, of `["/bin/bash", "-lc", "…"]`. */
export const ranCommand = ({ command }: Fields): string | undefined =>
  Array.isArray(command) ? asString(command.at(-1)) : asString(command);

/** A text without spaces and escapes, which a script writes in several ways. */
const bare = (text: string): string => text.replace(/\\[nrt]|[\\\s]/g, "");

function toMilliseconds(duration: unknown): number | undefined {
  if (!isFields(duration) || typeof duration.secs !== "number" || typeof duration.nanos !== "number") return undefined;
  return asCount(Math.round(duration.secs * 1000 + duration.nanos / 1e6));
}
