import { join } from "node:path";
import type { Host } from "../../adapters/adapter.ts";
import { findRunningPid } from "../../service/state.ts";
import { getPlaces } from "../places.ts";
import { escapeXml, quoteCmd, runTool } from "../tools.ts";
import type { Service, ServiceSpec, SystemCommand } from "./service.ts";

/** It starts again every five minutes, because "restart on failure" misses some ends. */
export function taskScheduler(host: Host): Service {
  const { dataFolder } = getPlaces(host);
  const [script, task] = [join(dataFolder, "service.cmd"), join(dataFolder, "service.xml")];
  const user = [host.env.USERDOMAIN, host.env.USERNAME].filter(Boolean).join("\\");
  // Tasks of all users share one namespace.
  const name = `Spoor ${host.env.USERNAME ?? ""}`.trim();
  const schtasks = (...words: string[]): SystemCommand => ({ words: ["schtasks", ...words] });
  const end = { ...schtasks("/End", "/TN", name), mayFail: true };
  const run = schtasks("/Run", "/TN", name);
  const create = schtasks("/Create", "/TN", name, "/XML", task, "/F");
  return {
    title: "scheduled task",
    files: (spec) => [
      { path: script, text: formatScript(spec), mode: 0o600 },
      {
        path: task,
        text: `\uFEFF${formatTask(user, script, spec)}`,
        mode: 0o600,
        encoding: "utf16le",
      },
    ],
    findObstacle: async () => {
      const { code, output } = await runTool(host, ["schtasks", "/Query", "/FO", "CSV", "/NH"]);
      return code === 0
        ? undefined
        : [`Task Scheduler can't be used (${output.split("\n")[0]}). Keep \`spoor watch\` running.`];
    },
    start: () => [create, run],
    // Windows would start an enabled task again within five minutes.
    stop: () => [end, schtasks("/Change", "/TN", name, "/DISABLE")],
    restart: () => [end, create, run],
    forget: () => [end, { ...schtasks("/Delete", "/TN", name, "/F"), mayFail: true }],
    // The output of `schtasks /Query` is localized.
    isRunning: async () => (await findRunningPid(host)) !== undefined,
  };
}

const formatScript = ({ words, env }: ServiceSpec): string =>
  [
    "@echo off",
    "rem Made by `spoor install`; `spoor uninstall` removes it.",
    "chcp 65001 >nul",
    ...Object.entries(env).map(([name, value]) => `set ${quoteCmd(`${name}=${value}`)}`),
    words.map(quoteCmd).join(" "),
    "",
  ].join("\r\n");

const formatTask = (user: string, script: string, { server }: ServiceSpec): string =>
  `<?xml version="1.0" encoding="UTF-16"?>
<!-- Made by \`spoor install\`; \`spoor uninstall\` removes it. -->
<Task version="1.3" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Spoor: sends coding-agent sessions to ${escapeXml(server)}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Repetition>
        <Interval>PT5M</Interval>
      </Repetition>
      <UserId>${escapeXml(user)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${escapeXml(user)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>8</Priority>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>conhost.exe</Command>
      <Arguments>--headless cmd.exe /d /s /c ""${escapeXml(script)}""</Arguments>
    </Exec>
  </Actions>
</Task>
`.replaceAll("\n", "\r\n");
