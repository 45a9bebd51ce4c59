// Until there is a client program, a machine is connected with what every machine has: curl and sed.

/** Runs a request, shows its answer and keeps one field of it in a variable. */
const keep = (variable: string, field: string, request: string) =>
  `ANSWER=$(${request}); echo "$ANSWER"
${variable}=$(echo "$ANSWER" | sed -n 's/.*"${field}":"\\([^"]*\\)".*/\\1/p')`;

/** Starts a device login and keeps its device code. */
export const startCommand = (baseUrl: string) =>
  keep(
    "DEVICE_CODE",
    "deviceCode",
    `curl -sS ${baseUrl}/api/cli/device/start -H 'Content-Type: application/json' -d '{"machine":"my-laptop"}'`,
  );

/** Fetches the token of an approved login and keeps it. */
export const pollCommand = (baseUrl: string) =>
  keep("TOKEN", "token", `curl -sS "${baseUrl}/api/cli/device/poll?deviceCode=$DEVICE_CODE"`);

/** Sends one small session. */
export const ingestCommand = (baseUrl: string) =>
  `curl -sS ${baseUrl}/api/ingest -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"traces":[{"source":"curl","sourceId":"first","messages":[{"position":0,"role":"user","content":"Hello, Spoor"}]}]}'`;

/** Tells how one scan of a machine went. */
export const telemetryCommand = (baseUrl: string) =>
  `curl -sS ${baseUrl}/api/cli/telemetry -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"schema":1,"deviceId":"my-laptop","cliVersion":"1.0.0","platform":"linux","arch":"x64","command":"scan","diagnostics":[{"adapter":"claude-code","totalEntries":120,"skippedEntries":2,"unhandledTypes":["summary"]}]}'`;
