import type { Part } from "./parts";

/** What the server said to a part: it has it, it refuses it for good, or it can't right now. */
export type Answer =
  | { kind: "accepted"; jobId: string }
  | { kind: "refused"; sentence: string; errors: { path: string; message: string }[] }
  | { kind: "later"; seconds: number; sentence: string }
  | { kind: "signedOut" }
  | { kind: "lost" };

type Problem = { detail?: string; errors?: { path: string; message: string }[] };

/**
 * Sends a part, compressed. The same part can be sent again without being stored twice: its key is made from its content.
 * Browsers compute the key on https and localhost only; elsewhere a part that comes twice is a second upload, which finds
 * everything unchanged.
 *
 * @param onProgress how much of the request has left, from 0 to 1.
 */
export async function sendPart(part: Part, onProgress: (share: number) => void): Promise<Answer> {
  const bytes = new TextEncoder().encode(part.body);
  const key = globalThis.crypto.subtle && hex(await crypto.subtle.digest("SHA-256", bytes));
  const gzip = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const body = await new Response(gzip).blob();
  return new Promise((resolve) => {
    const request = new XMLHttpRequest(); // fetch tells no progress of a request
    request.open("POST", "/upload/file");
    request.setRequestHeader("Content-Type", "application/json");
    request.setRequestHeader("Content-Encoding", "gzip");
    if (key) request.setRequestHeader("Idempotency-Key", `browser ${key}`);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onload = () => resolve(answerOf(request));
    request.onerror = () => resolve({ kind: "lost" });
    request.send(body);
  });
}

function answerOf(request: XMLHttpRequest): Answer {
  const { status } = request;
  if (status === 202) return { kind: "accepted", jobId: jsonOf<{ jobId: string }>(request).jobId };
  if (status === 401) return { kind: "signedOut" };
  const { detail, errors = [] } = jsonOf<Problem>(request);
  const sentence = detail ?? `The server answered ${status}.`;
  const seconds = Number(request.getResponseHeader("Retry-After"));
  if (seconds > 0) return { kind: "later", seconds, sentence };
  return status >= 500 || status === 408 ? { kind: "lost" } : { kind: "refused", sentence, errors };
}

/** The answer's JSON; nothing of it where something between here and the server answered in another form. */
function jsonOf<T extends object>(request: XMLHttpRequest): T {
  try {
    return JSON.parse(request.responseText) as T;
  } catch {
    return {} as T;
  }
}

const hex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
