import { join } from "node:path";
import type { Host } from "../../adapters/adapter.ts";
import { escapeXml, runTool } from "../tools.ts";
import type { Service, ServiceSpec, SystemCommand } from "./service.ts";

const label = "local.spoor.client";

export function launchd(host: Host, uid = process.getuid?.() ?? 0): Service {
  const path = join(host.home, "Library", "LaunchAgents", `${label}.plist`);
  const domain = `gui/${uid}`;
  const launchctl = (...words: string[]): SystemCommand => ({ words: ["launchctl", ...words] });
  const unload = { ...launchctl("bootout", `${domain}/${label}`), mayFail: true };
  const start = () => [unload, launchctl("enable", `${domain}/${label}`), launchctl("bootstrap", domain, path)];
  return {
    title: "launchd agent",
    files: (spec) => [{ path, text: formatPlist(spec), mode: 0o600 }],
    findObstacle: async () => {
      const { code, output } = await runTool(host, launchctl("print", domain).words);
      if (code === 0) return undefined;
      return [
        `There is no desktop session here (${output.split("\n")[0]}), so nothing can run in the background.`,
        "Run `spoor install` again in Terminal on the Mac itself, or keep `spoor watch` running.",
      ];
    },
    start,
    stop: () => [launchctl("disable", `${domain}/${label}`), unload],
    restart: start,
    forget: () => [{ ...launchctl("enable", `${domain}/${label}`), mayFail: true }],
    isRunning: async () =>
      /\bstate = running\b/.test((await runTool(host, launchctl("print", `${domain}/${label}`).words)).output),
  };
}

const string = (text: string): string => `<string>${escapeXml(text)}</string>`;

const formatPlist = ({ words, env }: ServiceSpec): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Made by \`spoor install\`; \`spoor uninstall\` removes it. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  ${string(label)}
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    ${string(word)}`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(env)
  .map(([name, value]) => `    <key>${escapeXml(name)}</key>\n    ${string(value)}\n`)
  .join("")}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`;
