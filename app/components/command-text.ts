export const fetchCommand = (baseUrl: string) => `curl -fsSO ${baseUrl}/spoor.mjs`;

export const loginCommand = "node spoor.mjs login";

export const installCommand = "node spoor.mjs install";

export const telemetryCommand = (baseUrl: string) =>
  `curl -sS ${baseUrl}/api/cli/telemetry -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"schema":1,"deviceId":"my-laptop","cliVersion":"1.0.0","platform":"linux","arch":"x64","command":"scan","diagnostics":[{"adapter":"claude-code","totalEntries":120,"skippedEntries":2,"unhandledTypes":["summary"]}]}'`;
