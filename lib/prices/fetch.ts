/** The list of 2026 has 1.1 MB. */
const bounds = { bytes: 16 * 1024 * 1024, timeoutMs: 30_000 };

/**
 * Does not follow redirects.
 * @throws Error with the reason: too large, too slow, redirected, or not 200
 */
export async function fetchText(url: string, { bytes, timeoutMs } = bounds): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {
    redirect: "manual",
    signal,
    headers: { Accept: "application/json", "User-Agent": "Spoor" },
  });
  try {
    if (response.status !== 200) throw new Error(`the server answered ${response.status}`);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > bytes) throw new Error(`the answer is larger than ${bytes} bytes`);
      chunks.push(chunk);
    }
    return new TextDecoder("utf8", { fatal: true }).decode(Buffer.concat(chunks));
  } finally {
    await response.body?.cancel().catch(() => {}); // closes the connection where the rest is not wanted
  }
}
