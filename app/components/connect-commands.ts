// Until there is a client program, a machine is connected with what every machine has: curl and sed.

const field = (name: string) => `tee /dev/stderr | sed -n 's/.*"${name}":"\\([^"]*\\)".*/\\1/p'`;

/** Starts a device login, shows its answer and keeps its device code. */
export const startCommand = (baseUrl: string) =>
  `DEVICE_CODE=$(curl -sS ${baseUrl}/api/cli/device/start -H 'Content-Type: application/json' -d '{"machine":"my-laptop"}' | ${field("deviceCode")})`;

/** Fetches the token of an approved login and keeps it. */
export const pollCommand = (baseUrl: string) =>
  `TOKEN=$(curl -sS "${baseUrl}/api/cli/device/poll?deviceCode=$DEVICE_CODE" | ${field("token")})`;

/** Sends one small session. */
export const ingestCommand = (baseUrl: string) =>
  `curl -sS ${baseUrl}/api/ingest -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"traces":[{"source":"curl","sourceId":"first","messages":[{"position":0,"role":"user","content":"Hello, Spoor"}]}]}'`;
