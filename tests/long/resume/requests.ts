// Reads a conversation out of requests, byte for byte.
import type { Exchange } from "../agents/standin.ts";

/** Each message's bytes, one character for each. @param list the field that has them */
export function listMessages(body: Buffer, list: string): string[] {
  const text = body.toString("latin1");
  const messages: string[] = [];
  let [depth, isText, isEscaped, start, field] = [0, false, false, 0, ""];
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (isText) {
      if (isEscaped) isEscaped = false;
      else if (sign === "\\") isEscaped = true;
      else if (sign === '"') {
        isText = false;
        if (depth === 1 && /^\s*:/.test(text.slice(at + 1, at + 20))) field = text.slice(start + 1, at);
      }
      continue;
    }
    if (sign === '"') {
      isText = true;
      if (depth === 1) start = at;
    } else if (sign === "{" || sign === "[") {
      depth++;
      if (depth === 3 && field === list) start = at;
    } else if (sign === "}" || sign === "]") {
      depth--;
      if (depth === 2 && field === list) messages.push(text.slice(start, at + 1));
    }
  }
  return messages;
}

/** The messages before the last one that asks. @throws if there is none */
export function listBefore({ body }: Exchange, list: string, script: string): string[] {
  const messages = listMessages(body, list);
  const at = messages.findLastIndex((message) => message.includes(`(script ${script})`));
  if (at < 1) throw new Error(`no message before the prompt: ${messages.length} messages`);
  return messages.slice(0, at);
}

/** @returns where a request's conversation begins otherwise than expected; undefined if it begins with exactly these bytes */
export function findDifference(expected: readonly string[], messages: readonly string[]): string | undefined {
  const at = expected.findIndex((message, index) => message !== messages[index]);
  if (at === -1) return undefined;
  const [was = "", is = ""] = [expected[at], messages[at]];
  const first = [...was].findIndex((sign, index) => sign !== is.charAt(index));
  const near = (text: string) => text.slice(Math.max(0, first - 60), first + 120);
  return `message ${at} of ${expected.length}: …${near(was)}… is …${near(is)}…`;
}

/** Refuses a thought whose signature the stand-in did not make, in the words of Anthropic's API. */
export function refuseForged(body: Buffer, before: readonly Exchange[]): unknown {
  const signed = new Set(before.flatMap(({ answer }) => (answer ? sign(answer.id) : [])));
  for (const [at, message] of listMessages(body, "messages").entries()) {
    const forged = [...message.matchAll(/"signature":"([^"]*)"/g)].some(([, signature = ""]) => !signed.has(signature));
    const text = `messages.${at}.content.0: thinking block is bound to a different conversation`;
    if (forged) return { type: "error", error: { type: "invalid_request_error", message: text } };
  }
  return undefined;
}

/** As apis/anthropic.ts does. */
const sign = (id: string): string => Buffer.from(`signed ${id}`).toString("base64");
