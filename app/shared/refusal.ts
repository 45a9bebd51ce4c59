import { NextResponse } from "next/server";
import { SpoorError } from "#lib/core/errors";
import { problemResponse } from "#lib/http/problem";

const detail = "This session is being read very often, from your network or by everybody with its link.";

/** Made without Next's rendering, which would cost too much. @param nonce allows the page's style sheet */
export function refuseReader(
  request: { headers: Headers },
  { seconds, nonce, requestId }: { seconds: number; nonce: string; requestId: string },
): NextResponse {
  if (request.headers.get("accept")?.includes("text/html")) return waitPage(seconds, nonce);
  const problem = problemResponse(new SpoorError("rate_limited", detail, { retryAfterSeconds: seconds }), requestId);
  return new NextResponse(problem.body, problem);
}

function waitPage(seconds: number, nonce: string): NextResponse {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>Please wait · Spoor</title>
<style nonce="${nonce}">
body { font: 15px/24px system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem; }
h1 { font-size: 18px; font-weight: 600; }
</style>
</head>
<body>
<main>
<h1>Please wait a moment</h1>
<p>${detail}</p>
<p>Reload this page in ${seconds === 1 ? "a second" : `${seconds} seconds`}. Nothing is lost.</p>
</main>
</body>
</html>
`;
  return new NextResponse(html, {
    status: 429,
    headers: { "Content-Type": "text/html; charset=utf-8", "Retry-After": String(seconds) },
  });
}
