// Compares what the API saw of a run with what Spoor shows of it.
import { isDeepStrictEqual } from "node:util";
import { type Agent, inOutput, oneSum, type Prices } from "./agents.ts";
import type { Tokens } from "./apis/api.ts";
import type { Archived, Session } from "./archive.ts";
import { type Conversation, type Item, listConversations } from "./expected.ts";
import { branch } from "./machine.ts";
import type { Played } from "./play.ts";
import { type Scene, secret } from "./scenes.ts";
import { listShown, type Shown } from "./shown.ts";
import { type Exchange, sideTexts } from "./standin.ts";

const aspects = [
  ...(["sessions", "texts", "order", "roles", "tools", "tokens", "side tokens", "cost", "titles", "project"] as const),
  ...(["branch", "commits", "parents", "times", "secrets", "pictures"] as const),
];
export type Aspect = (typeof aspects)[number];
/** By aspect, what is shown otherwise. Without a difference it is empty. */
export type Differences = Map<Aspect, string>;

export function compare(agent: Agent, scene: Scene, played: Played, archived: Archived): Differences {
  const found: Differences = new Map();
  const differ = (aspect: Aspect, text: string) => {
    if (!agent.unrecorded?.includes(aspect)) found.set(aspect, found.get(aspect) ?? text.slice(0, 300));
  };
  const expected = listConversations(played, agent.told);
  if (scene.needs === "help" && expected.length === 1) differ("sessions", "no helper was started");
  const [main, ...others] = inOrder(archived.sessions, played.prompts[0] ?? "");
  if (!main) return new Map([["sessions", "there is none"]]);
  if (others.length !== expected.length - 1) {
    differ(
      "sessions",
      `${archived.sessions.length} for ${expected.length}: ${archived.sessions.map((one) => one.title)}`,
    );
  }
  for (const conversation of expected) {
    const session = conversation.script ? others.find((one) => hasTask(one, conversation)) : main;
    if (!session) {
      differ("sessions", `none for the helper "${conversation.title}"`);
      continue;
    }
    compareItems(conversation, listShown(session), differ);
    compareFacts(session, conversation, main, differ);
  }
  compareWhole(agent, played, archived, differ);
  return found;
}

type Differ = (aspect: Aspect, text: string) => void;

const inOrder = (sessions: Session[], prompt: string): Session[] =>
  sessions.toSorted((a, b) => Number(hasText(b, prompt)) - Number(hasText(a, prompt)));
const hasText = (session: Session, text: string) =>
  listShown(session)
    .find(({ kind }) => kind === "user")
    ?.text.includes(text);
const hasTask = (session: Session, { items: [task], title }: Conversation) =>
  hasText(session, task?.text ?? "") ||
  session.title === title ||
  session.title === title.toLowerCase().replaceAll(" ", "_");

function compareItems({ items: expected, script }: Conversation, shown: Shown[], differ: Differ): void {
  const left = [...shown];
  const matched: Shown[] = [];
  for (const item of expected) {
    const at = left.findIndex((one) => one.kind === item.kind && isSame(item, one));
    const [found] = at < 0 ? [] : left.splice(at, 1);
    if (found) matched.push(found);
    else if (!item.isCut) {
      const nearest = left.find((one) => one.kind === item.kind);
      const aspect = item.kind === "call" || item.kind === "result" ? "tools" : "texts";
      differ(aspect, `no ${describe(item)}, but ${nearest ? describe(nearest) : "nothing"}`);
    }
  }
  for (const item of left) {
    // What an agent asks itself may be a part of the session, such as whether there is more to do.
    if (item.kind === "assistant" && (item.text === sideTexts.other || item.text === sideTexts.summary)) continue;
    differ(item.kind === "call" || item.kind === "result" ? "tools" : "texts", `besides ${describe(item)}`);
  }
  const order = matched.filter(({ kind }) => kind !== "result").map((item) => shown.indexOf(item));
  if (
    !isDeepStrictEqual(
      order,
      order.toSorted((a, b) => a - b),
    )
  )
    differ("order", `${order}${script ?? ""}`);
  for (const result of matched.filter(({ kind }) => kind === "result")) {
    const call = shown.find(({ kind, callId }) => kind === "call" && callId === result.callId);
    if (!call || shown.indexOf(call) > shown.indexOf(result)) differ("order", "a result without a call before it");
  }
  const roles = { user: "user", thinking: "assistant", assistant: "assistant", call: "assistant", result: "tool" };
  for (const { kind, role, text } of shown) if (role !== roles[kind]) differ("roles", `${role} of ${kind} ${text}`);
}

const describe = ({ kind, text, name, input, failed }: Item): string =>
  [kind, failed && "failed", name, JSON.stringify(input ?? text).slice(0, 120)].filter(Boolean).join(" ");

function isSame(item: Item, shown: Item): boolean {
  if (item.kind === "call") return shown.name?.split(".").at(-1) === item.name && hasInput(item.input, shown.input);
  if (item.kind === "result") return item.failed === shown.failed && isOutput(item.text, shown.text);
  if (item.isCut) return shown.text !== "" && item.text.startsWith(shown.text.trim());
  return isText(item.text.trim(), shown.text.trim());
}

/** A secret is masked in what is shown. */
function isText(text: string, shown: string): boolean {
  const [before = "", after] = text.split(secret);
  return after === undefined ? shown === text : shown.startsWith(before) && shown.endsWith(after);
}

/** Agents add fields of their own to a call's. */
function hasInput(input: unknown, shown: unknown): boolean {
  const fields = Object.entries((shown ?? {}) as Record<string, unknown>);
  if (typeof input === "string") return fields.some(([, value]) => value === input || isMasked(value, input));
  return Object.entries((input ?? {}) as Record<string, unknown>).every(([key, value]) =>
    fields.some(([name, one]) => name === key && (isDeepStrictEqual(one, value) || isMasked(one, value))),
  );
}

const isMasked = (shown: unknown, value: unknown) =>
  typeof value === "string" && value.includes(secret) && typeof shown === "string" && isText(value, shown);

/**
 * Agents add reminders and headers to what the model sees, and cut long outputs elsewhere than in their files: nearly all lines of
 * the shorter one are in the other.
 */
function isOutput(text: string, shown: string): boolean {
  const linesIn = (one: string) =>
    one
      .replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, "")
      .replace(/^Script \w+\nWall time .*\nOutput:\n/, "")
      .replaceAll(/\[image: [^\]]*\]/g, "")
      .replaceAll(/\[redacted:[^\]]*\]/g, secret)
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  const [asked, seen] = [linesIn(text), linesIn(shown)];
  const covers = (lines: string[], others: string[]) => {
    const all = others.join("\n");
    const within = lines.filter((line) => all.includes(line));
    return within.length >= lines.length * 0.9;
  };
  if (asked.length === 0 || seen.length === 0) return asked.length === seen.length;
  return covers(asked, seen) || covers(seen, asked);
}

function compareFacts(session: Session, { script, title, items }: Conversation, main: Session, differ: Differ): void {
  const shown = session.title ?? "";
  const titles = [title, title.toLowerCase().replaceAll(" ", "_"), ...(script ? [items[0]?.text ?? ""] : [])];
  if (!titles.includes(shown)) differ("titles", `${shown} for ${title}`);
  if (session.project !== "widgets" || session.projectId !== main.projectId) differ("project", `${session.project}`);
  const branches = session.branches.map((one) => one.branch);
  if (!isDeepStrictEqual(branches, [branch])) differ("branch", `${branches}`);
  const parent = script ? main.id : null;
  if (session.parentId !== parent) differ("parents", `${session.parentId} for ${parent}`);
  const pictures = items.flatMap((item) => item.pictures ?? []);
  const missing = pictures.filter((sha256) => !session.pictures.includes(sha256));
  if (missing.length > 0) differ("pictures", `${missing.length} of ${pictures.length} pictures did not arrive`);
}

function compareWhole(agent: Agent, played: Played, { sessions, total }: Archived, differ: Differ): void {
  const commits = sessions.flatMap((session) => session.commits.map(({ hash }) => hash));
  const isMade = (hash: string) => commits.some((one) => hash.startsWith(one));
  if (!played.commits.every(isMade) || commits.length < played.commits.length) {
    differ("commits", `${commits} for ${played.commits}`);
  }
  const text = JSON.stringify(sessions);
  for (const one of [secret, "a-password"]) if (text.includes(one)) differ("secrets", "one is shown");
  compareTimes(played, sessions, differ);
  compareTokens(agent, played.exchanges, total, differ);
}

function compareTimes({ begun, ended }: Played, sessions: Session[], differ: Differ): void {
  for (const session of sessions) {
    let before = begun.getTime() - 1000;
    for (const { kind, createdAt } of listShown(session)) {
      const at = Date.parse(createdAt ?? "");
      if (Number.isNaN(at)) differ("times", "a message has none");
      // Results of calls that ran at once stand in the order of the calls.
      else if ((at < before && kind !== "result") || at > ended.getTime() + 1000)
        differ("times", `${createdAt} after ${new Date(before).toISOString()}`);
      if (kind !== "result") before = Math.max(before, at);
    }
  }
}

const kinds = ["input", "output", "reasoning", "cacheRead", "cacheWrite5m", "cacheWrite1h"] as const;

/** What was asked beside the conversation, and what was cut off, may be in no file. */
function compareTokens(agent: Agent, exchanges: Exchange[], total: Archived["total"], differ: Differ): void {
  const answered = exchanges.filter(({ answer }) => answer);
  const [certain, others] = [answered.filter((one) => !isUnsure(one)), answered.filter(isUnsure)];
  const hasCut = others.some(({ isCut }) => isCut);
  const shown: Tokens = {
    input: total.inputTokens,
    output: total.outputTokens - total.reasoningTokens,
    reasoning: total.reasoningTokens,
    cacheRead: total.cacheReadTokens,
    cacheWrite5m: total.cacheWrite5mTokens,
    cacheWrite1h: total.cacheWrite1hTokens,
  };
  const compared = hasCut ? kinds.filter((kind) => kind !== "output" && kind !== "reasoning") : kinds;
  // All of them first, then fewer.
  for (let mask = 2 ** others.length - 1; mask >= 0; mask -= 1) {
    const counted = [...certain, ...others.filter((_, at) => mask & (1 << at))];
    const sum = computeSum(agent, counted);
    if (!compared.every((kind) => sum[kind] === shown[kind])) continue;
    const missed = others.filter((one) => one.side && !counted.includes(one)).map(({ side }) => side);
    if (missed.length > 0) differ("side tokens", `without the requests for ${missed}`);
    const cost = sumCost(agent, counted);
    if (!hasCut && Math.abs(total.costNano - cost) > counted.length) differ("cost", `${total.costNano} for ${cost}`);
    return;
  }
  differ("tokens", `${JSON.stringify(shown)} for ${JSON.stringify(computeSum(agent, answered))}`);
}

const isUnsure = ({ side, isCut }: Exchange) => Boolean(side || isCut);

function computeSum(agent: Agent, exchanges: Exchange[]): Tokens {
  const sum = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };
  for (const { answer, api } of exchanges) for (const kind of api.tells) sum[kind] += answer?.tokens[kind] ?? 0;
  if (agent.unrecorded?.includes(oneSum)) {
    sum.cacheWrite5m += sum.cacheWrite1h;
    sum.cacheWrite1h = 0;
  }
  if (agent.unrecorded?.includes(inOutput)) {
    sum.output += sum.reasoning;
    sum.reasoning = 0;
  }
  return sum;
}

function sumCost(agent: Agent, exchanges: Exchange[]): number {
  return exchanges.reduce((sum, exchange) => {
    const tokens = computeSum(agent, [exchange]);
    const { prices, longPrices } = agent;
    const { input, cacheRead, cacheWrite5m, cacheWrite1h, output, reasoning } = tokens;
    const isLong = longPrices && input + cacheRead + cacheWrite5m + cacheWrite1h > longPrices.above;
    const rates: Prices = isLong ? longPrices : prices;
    const inputs = (["input", "cacheRead", "cacheWrite5m", "cacheWrite1h"] as const).map(
      (kind) => tokens[kind] * rates[kind],
    );
    return sum + 1000 * (inputs.reduce((a, b) => a + b, 0) + (output + reasoning) * rates.output);
  }, 0);
}
