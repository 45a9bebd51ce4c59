import type { Manifest } from "../install/manifest.ts";
import { styled } from "../terminal/styled.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { ServiceState } from "./state.ts";
import type { Trouble } from "./troubles.ts";

type ServiceFacts = { manifest: Manifest | undefined; isRunning: boolean; state: ServiceState | undefined };

const formatMinute = (at: string): string => `${at.slice(0, 16).replace("T", " ")} UTC`;

export function describeService({ manifest, isRunning, state }: ServiceFacts): string {
  if (!manifest?.hasService) return "No background service is installed. Install it with: spoor install";
  const heard = state?.heardAt ? ` The server last heard it at ${formatMinute(state.heardAt)}.` : "";
  if (!isRunning) return `The background service does not run. Start it with: spoor service start.${heard}`;
  const since = state ? ` since ${formatMinute(state.startedAt)} (version ${state.version})` : "";
  const updates = manifest.autoUpdate ? "" : " It does not update itself.";
  return `The background service runs${since}, and sends to ${manifest.server}.${heard}${updates}`;
}

export function sayTroubles(terminal: Terminal, troubles: Trouble[]): void {
  for (const { message, since } of troubles) {
    terminal.warn(styled("yellow", "!"), ` Since ${formatMinute(since)}: ${message}`);
  }
}
