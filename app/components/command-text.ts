export const fetchCommand = (baseUrl: string) => `curl -fsSO ${baseUrl}/spoor.mjs`;

export const loginCommand = "node spoor.mjs login";

export const installCommand = "node spoor.mjs install";

export const telemetryCommand = (baseUrl: string) =>
  `curl -sS ${baseUrl}/api/cli/telemetry -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"schema":1,"deviceId":"my-laptop","cliVersion":"1.0.0","platform":"linux","arch":"x64","command":"scan","diagnostics":[{"adapter":"claude-code","totalEntries":120,"skippedEntries":2,"unhandledTypes":["summary"]}]}'`;

/** Also used by HTML that React does not draw (app/docs/entry.tsx). */
export const commandStyle =
  "whitespace-pre-wrap rounded-block border border-hairline bg-block py-2 pr-16 pl-3 font-mono text-code [overflow-wrap:anywhere]";

export const copyStyle =
  "absolute top-1.5 right-1.5 rounded-control border border-hairline bg-overlay px-2 py-0.5 text-meta text-muted hover:text-text pointer-coarse:min-h-11 pointer-coarse:min-w-11";
