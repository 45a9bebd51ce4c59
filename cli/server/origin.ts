import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { type Settings, updateSettings } from "../settings.ts";

/** Hosts can contain `;` and `$(…)`, which are unsafe in a suggested command. */
export const isPlain = ({ protocol, host }: URL): boolean => /^https?:$/.test(protocol) && /^[\w.:[\]-]+$/.test(host);

function isLoopback(origin: string): boolean {
  const { hostname } = new URL(origin);
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** Tells whether nobody on the network can read or change the traffic. */
export const isPrivate = (server: string): boolean => server.startsWith("https:") || isLoopback(server);

export const isAgreed = ({ values }: Context, { plainHttp = [] }: Settings, server: string): boolean =>
  isPrivate(server) || values.insecure === true || plainHttp.includes(server);

/** @throws CommandError `usage` if the answer is no or nobody can answer */
export async function agreeToPlainHttp(context: Context, settings: Settings, server: string): Promise<Settings> {
  if (isAgreed(context, settings, server)) return settings;
  const { host, terminal, signal } = context;
  const warning = `${server} is not encrypted: others on the network can read your sessions and your token.`;
  if (!(await terminal.ask(`${warning} Use it anyway?`, signal))) {
    signal.throwIfAborted();
    const advice = terminal.canAsk ? "Nothing was sent." : "Use https, or pass --insecure to allow it.";
    throw new CommandError("usage", `${warning} ${advice}`);
  }
  const agree = (now: Settings): Settings => ({ ...now, plainHttp: [...new Set([...(now.plainHttp ?? []), server])] });
  await updateSettings(host, agree).catch((error) => {
    if (!(error instanceof CommandError)) throw error;
    terminal.warn(`${error.message} You will be asked again.`);
  });
  return agree(settings);
}
