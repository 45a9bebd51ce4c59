import { commandsOfScript, outputsOfScript } from "../../../common/evidence/commands.ts";
import { isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import type { GitEvidence } from "../git-evidence.ts";
import { asString, dropOldest } from "../values.ts";

const maxCalls = 100;

/** Newer versions call tools from a script, and print each command's output as JSON. */
export class ExecScripts {
  readonly #commands: Map<string, string>;

  constructor(saved: [string, string][] = []) {
    this.#commands = new Map(saved);
  }

  save(): [string, string][] {
    return [...this.#commands];
  }

  see({ content, metadata }: Message, position: number, evidence: GitEvidence): void {
    const { tool, result } = metadata ?? {};
    if (isFields(tool) && tool.name === "exec" && isFields(tool.input)) this.#seeCall(tool.callId, tool.input.input);
    if (!isFields(result)) return;
    const callId = asString(result.callId) ?? "";
    const commands = this.#commands.get(callId);
    if (commands === undefined) return;
    this.#commands.delete(callId);
    for (const output of outputsOfScript(content)) evidence.addOutput(commands, output, position);
  }

  #seeCall(callId: unknown, script: unknown): void {
    if (typeof callId !== "string" || typeof script !== "string") return;
    const commands = commandsOfScript(script);
    if (commands !== undefined) this.#commands.set(callId, commands);
    dropOldest(this.#commands, maxCalls);
  }
}
