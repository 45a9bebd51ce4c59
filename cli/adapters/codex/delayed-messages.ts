import { isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import type { EntryFacts, SessionBuilder } from "../session-builder.ts";
import type { Usage } from "../usage.ts";
import { asString, dropOldest } from "../values.ts";
import { ExecScripts } from "./exec-script.ts";

const maxDelayed = 50;
const maxAgents = 100;

type SavedMessages = { scripts: ReturnType<ExecScripts["save"]>; agents: [string, string][] };

/** Later lines add tokens, sub-agents and names of images to earlier messages. */
export class DelayedMessages {
  readonly #session: SessionBuilder;
  #scripts = new ExecScripts();
  #agents = new Map<string, string>();
  #delayed: { message: Message; model: string | undefined }[] = [];
  #sent = 0;

  constructor(session: SessionBuilder) {
    this.#session = session;
  }

  save(): SavedMessages {
    return { scripts: this.#scripts.save(), agents: [...this.#agents] };
  }

  resume({ scripts, agents }: SavedMessages, messages: number): void {
    this.#scripts = new ExecScripts(scripts);
    this.#agents = new Map(agents);
    this.#sent = messages;
  }

  get hasAnswer(): boolean {
    return this.#delayed.some(({ message }) => message.role === "assistant");
  }

  add(message: Message, model: string | undefined): void {
    const result = message.metadata?.result;
    const session = isFields(result) ? this.#agents.get(asString(result.callId) ?? "") : undefined;
    if (isFields(result) && session) result.session ??= session;
    this.#delayed.push({ message, model: message.role === "assistant" ? model : undefined });
    if (this.#delayed.length > maxDelayed) this.send();
  }

  /** The result may come before the event that names the sub-agent's session. */
  noteAgent({ callId, session }: { callId: string; session: string }): void {
    const results = this.#delayed.map(({ message }) => message.metadata?.result);
    const result = results.find((one) => isFields(one) && one.callId === callId);
    if (isFields(result)) result.session ??= session;
    else this.#agents.set(callId, session);
    dropOldest(this.#agents, maxAgents);
  }

  nameImages(paths: unknown): void {
    const names = Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
    const last = this.#delayed.findLast(({ message }) => message.role === "user" && message.metadata?.attachments);
    const attachments = last?.message.metadata?.attachments;
    if (!Array.isArray(attachments) || attachments.length !== names.length) return;
    for (const [index, attachment] of attachments.entries()) attachment.name = names[index];
  }

  send(usage?: Usage, facts: EntryFacts = {}): void {
    const isCounted = usage !== undefined && Object.values(usage).some((count) => count > 0);
    const isReplayed = facts.isReplayed ?? false;
    const isAnswer = ({ role, metadata }: Message) =>
      role === "assistant" && (metadata?.replayed === true) === isReplayed;
    const producer = isCounted ? this.#delayed.find(({ message }) => isAnswer(message)) : undefined;
    for (const delayed of this.#delayed) {
      const { message, model } = delayed;
      const isOwn = message.metadata?.replayed !== true;
      if (isOwn) this.#scripts.see(message, this.#sent, this.#session.evidence);
      const entry = { at: isOwn ? message.createdAt : undefined, model };
      this.#session.send([message], delayed === producer ? { ...entry, usage, ...facts } : entry);
      this.#sent++;
    }
    if (isCounted && !producer && !isReplayed) this.#session.addUsage(usage);
    this.#delayed = [];
  }
}
