/** Fetches the client that this server delivers. */
export const fetchCommand = (baseUrl: string) => `curl -fsSO ${baseUrl}/spoor.mjs`;

/** Logs a machine in that has the client. */
export const loginCommand = "node spoor.mjs login";

/** Sends every session of a machine that is logged in. */
export const pushCommand = "node spoor.mjs push";

/** Tells how one scan of a machine went. */
export const telemetryCommand = (baseUrl: string) =>
  `curl -sS ${baseUrl}/api/cli/telemetry -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"schema":1,"deviceId":"my-laptop","cliVersion":"1.0.0","platform":"linux","arch":"x64","command":"scan","diagnostics":[{"adapter":"claude-code","totalEntries":120,"skippedEntries":2,"unhandledTypes":["summary"]}]}'`;
