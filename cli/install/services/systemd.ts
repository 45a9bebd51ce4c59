import { join } from "node:path";
import type { Host } from "../../adapters/adapter.ts";
import { quoteExec, quoteUnit, runTool } from "../tools.ts";
import type { Service, ServiceSpec, SystemCommand } from "./service.ts";

const unit = "spoor.service";
const systemctl = (...words: string[]): SystemCommand => ({ words: ["systemctl", "--user", ...words] });

export function systemd(host: Host): Service {
  const { home, env } = host;
  const path = join(env.XDG_CONFIG_HOME || join(home, ".config"), "systemd", "user", unit);
  return {
    title: "systemd user service",
    files: (spec) => [{ path, text: formatUnit(spec), mode: 0o600 }],
    findObstacle: () => findObstacle(host),
    start: () => [systemctl("daemon-reload"), systemctl("enable", "--now", unit)],
    stop: () => [systemctl("disable", "--now", unit)],
    restart: () => [systemctl("daemon-reload"), systemctl("restart", unit)],
    forget: () => [{ ...systemctl("daemon-reload"), mayFail: true }],
    isRunning: async () => (await runTool(host, systemctl("is-active", unit).words)).output === "active",
  };
}

const formatUnit = ({
  words,
  server,
  env,
}: ServiceSpec): string => `# Made by \`spoor install\`; \`spoor uninstall\` removes it.
[Unit]
Description=Spoor: sends coding-agent sessions to ${server.replaceAll("%", "%%")}

[Service]
ExecStart=${formatExec(words)}
${Object.entries(env)
  .map(([name, value]) => `Environment=${quoteUnit(`${name}=${value}`)}\n`)
  .join("")}Restart=always
RestartSec=10
Nice=10
UMask=0077

[Install]
WantedBy=default.target
`;

/** systemd refuses programs with unusual characters in their paths, so a shell starts those. */
function formatExec(words: string[]): string {
  const isPlain = /^[\w./@+~-]+$/.test(words[0] ?? "");
  return [...(isPlain ? [] : ["/bin/sh", "-c", 'exec "$0" "$@"']), ...words].map(quoteExec).join(" ");
}

async function findObstacle(host: Host): Promise<string[] | undefined> {
  const { code, output } = await runTool(host, systemctl("show-environment").words);
  if (code === 0) return undefined;
  return [
    `There is no systemd user session here (${output.split("\n")[0]}), so nothing can run in the background.`,
    "In a container, run `spoor watch` as a separate process, or `spoor push` when a session ends.",
    "In WSL, set systemd=true below [boot] in /etc/wsl.conf, run `wsl --shutdown` in Windows, and install again.",
    "As root or another user over ssh, log in as that user and run: loginctl enable-linger; then install again.",
    "Anywhere, cron can send every ten minutes: */10 * * * * ~/.local/bin/spoor push",
  ];
}
