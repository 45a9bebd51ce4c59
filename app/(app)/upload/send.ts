import type { UploadPart } from "./split-file";

/** `later` may be retried after some seconds, `refused` never. */
export type UploadAnswer =
  | { kind: "accepted"; jobId: string }
  | { kind: "refused"; sentence: string; requestId?: string; errors: { path: string; message: string }[] }
  | { kind: "later"; seconds: number; sentence: string }
  | { kind: "signedOut" }
  | { kind: "lost" };

type Problem = { detail?: string; requestId?: string; errors?: { path: string; message: string }[] };

/**
 * The idempotency key is the content's hash. Browsers hash only on https and localhost; elsewhere a resent part
 * leaves every trace unchanged.
 * @param onProgress gets the share that was sent, from 0 to 1
 */
export async function sendPart(part: UploadPart, onProgress: (share: number) => void): Promise<UploadAnswer> {
  const bytes = new TextEncoder().encode(part.body);
  const key = globalThis.crypto.subtle && hex(await crypto.subtle.digest("SHA-256", bytes));
  const gzip = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const body = await new Response(gzip).blob();
  return new Promise((resolve) => {
    const request = new XMLHttpRequest(); // fetch reports no upload progress
    request.open("POST", "/api/uploads");
    request.setRequestHeader("Content-Type", "application/json");
    request.setRequestHeader("Content-Encoding", "gzip");
    if (key) request.setRequestHeader("Idempotency-Key", `browser ${key}`);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onload = () => resolve(toUploadAnswer(request));
    request.onerror = () => resolve({ kind: "lost" });
    request.send(body);
  });
}

function toUploadAnswer(request: XMLHttpRequest): UploadAnswer {
  const { status } = request;
  if (status === 202) return { kind: "accepted", jobId: parseResponse<{ jobId: string }>(request).jobId };
  if (status === 401) return { kind: "signedOut" };
  const { detail, requestId, errors = [] } = parseResponse<Problem>(request);
  const sentence = detail ?? `The server answered ${status}.`;
  const seconds = Number(request.getResponseHeader("Retry-After"));
  if (seconds > 0) return { kind: "later", seconds, sentence };
  if (status >= 500 || status === 408) return { kind: "lost" };
  return { kind: "refused", sentence, errors, ...(requestId && { requestId }) };
}

/** Empty if a proxy answered with something else. */
function parseResponse<T extends object>(request: XMLHttpRequest): T {
  try {
    return JSON.parse(request.responseText) as T;
  } catch {
    return {} as T;
  }
}

const hex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
