import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { type Settings, updateSettings } from "../settings.ts";

/**
 * Whether a server's address that another server sent may stand in a command which is suggested: hosts of URLs can hold `;` and
 * `$(…)`.
 */
export const isPlain = ({ protocol, host }: URL): boolean => /^https?:$/.test(protocol) && /^[\w.:[\]-]+$/.test(host);

/** Whether an origin is on this machine: nobody else sees what is sent there. */
function isLoopback(origin: string): boolean {
  const { hostname } = new URL(origin);
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** Whether nobody between can read or change what is exchanged with a server. */
export const isPrivate = (server: string): boolean => server.startsWith("https:") || isLoopback(server);

/** Whether a server may be talked to without asking: it is encrypted, on this machine, or was agreed to. */
export const isAgreed = ({ values }: Context, { plainHttp = [] }: Settings, server: string): boolean =>
  isPrivate(server) || values.insecure === true || plainHttp.includes(server);

/**
 * Asks before anything is sent unencrypted over a network, and remembers a yes.
 *
 * @returns the settings, with the answer
 * @throws CommandError `usage` where the answer is no, or there is nobody to ask
 */
export async function agreeToPlainHttp(context: Context, settings: Settings, server: string): Promise<Settings> {
  if (isAgreed(context, settings, server)) return settings;
  const { host, terminal, signal } = context;
  const warning = `${server} is not encrypted: whoever is on the network between can read your sessions and your token.`;
  if (!(await terminal.ask(`${warning} Use it all the same?`, signal))) {
    signal.throwIfAborted();
    const advice = terminal.canAsk ? "Nothing was sent." : "Use https, or agree to it with --insecure.";
    throw new CommandError("usage", `${warning} ${advice}`);
  }
  const agree = (now: Settings): Settings => ({ ...now, plainHttp: [...new Set([...(now.plainHttp ?? []), server])] });
  await updateSettings(host, agree).catch((error) => {
    if (!(error instanceof CommandError)) throw error;
    terminal.warn(`${error.message} You will be asked again.`);
  });
  return agree(settings);
}
