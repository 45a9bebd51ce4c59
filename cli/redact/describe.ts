import { kinds } from "../../common/secrets/kinds.ts";
import { program } from "../program.ts";
import { formatCount } from "../terminal/format.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";
import { addCounts, type SecretCounts } from "./masker.ts";

const names = new Map(kinds.map(({ id, name }) => [id, name]));

export const kindName = (id: string): string => names.get(id) ?? id;

const describeSecrets = (counts: SecretCounts): string =>
  Object.entries(counts)
    .sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1))
    .map(([id, count]) => (count === 1 ? kindName(id) : `${kindName(id)} ×${count}`))
    .join(", ");

const sumCounts = (counts: SecretCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

export function saySent(terminal: Terminal, secrets: SecretCounts, isMasked: boolean): void {
  const count = sumCounts(secrets);
  if (count === 0) return;
  const [found, kinds] = [formatCount(count, "secret"), describeSecrets(secrets)];
  if (isMasked) terminal.say(`  ${found} ${count === 1 ? "was" : "were"} masked: ${kinds}.`);
  else terminal.warn(styled("yellow", "!"), ` ${found} may have been sent: ${kinds}. Masking is off.`);
}

const maxProjects = 10;

export function sayFound(
  terminal: Terminal,
  projects: { name: string; secrets: SecretCounts }[],
  isMasked: boolean,
): void {
  const total: SecretCounts = {};
  const found = projects.filter(({ secrets }) => sumCounts(secrets) > 0);
  for (const { secrets } of found) addCounts(total, secrets);
  if (found.length === 0) return;
  found.sort((a, b) => sumCounts(b.secrets) - sumCounts(a.secrets) || (a.name < b.name ? -1 : 1));
  const what = `${formatCount(sumCounts(total), "secret")} in ${formatCount(found.length, "project")}`;
  const becomes = isMasked
    ? "masked before anything is sent"
    : `sent unmasked. To mask them: ${program} config redact on`;
  terminal.say();
  terminal.say(styled("bold", `${what}: ${becomes}`));
  for (const { name, secrets } of found.slice(0, maxProjects)) terminal.say(`  ${name}  ${describeSecrets(secrets)}`);
  if (found.length > maxProjects)
    terminal.say(styled("dim", `  and ${formatCount(found.length - maxProjects, "more project")}`));
}
