import { lutimes, readdir, readFile, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { config } from "../../cli/commands/config.ts";
import { login } from "../../cli/commands/login.ts";
import { projects } from "../../cli/commands/projects.ts";
import { updateSettings } from "../../cli/settings.ts";
import { makeHome, writeBelow } from "./home.ts";
import { pushInside, runInside, worldInside } from "./inside.ts";

const settingsFile = ".config/spoor/settings.json";

describe("the settings", () => {
  test("keep what several commands change at once", async () => {
    const host = await makeHome();
    const names = Array.from({ length: 20 }, (_, index) => `project-${index}`);
    const ran = await Promise.all(names.map((name) => runInside(projects, host, { words: ["exclude", name] })));
    expect(ran.map(({ code }) => code)).toEqual(names.map(() => 0));
    const folder = join(host.home, ".config/spoor");
    const { projects: rules } = JSON.parse(await readFile(join(folder, "settings.json"), "utf8"));
    expect(rules.map(({ exclude }: { exclude: string }) => exclude).sort()).toEqual(names.sort());
    expect(await readdir(folder)).toEqual(["settings.json"]);
  });

  test("lose the drafts that a killed process left beside them, and no younger or other file", async () => {
    const drafts = ["settings.json.0123456789ab", "settings.json.ba9876543210", "settings.json.old"];
    const host = await makeHome(Object.fromEntries(drafts.map((name) => [`.config/spoor/${name}`, "{}"])));
    const folder = join(host.home, ".config/spoor");
    for (const name of ["settings.json.0123456789ab", "settings.json.old"]) await utimes(join(folder, name), 1e9, 1e9);
    await runInside(projects, host, { words: ["exclude", "one"] });
    expect((await readdir(folder)).sort()).toEqual([
      "settings.json",
      "settings.json.ba9876543210",
      "settings.json.old",
    ]);
  });

  test("that can't be read are written over by no command", async () => {
    const broken = '{"projects":[{"exclude":"secret"}],"accounts":{';
    const host = await makeHome({ [settingsFile]: broken });
    const { code, message } = await runInside(config, host, { words: ["redact", "on"] });
    expect([code, message]).toEqual([1, expect.stringContaining("can't be read, so it was not changed")]);
    expect(await readFile(join(host.home, settingsFile), "utf8")).toBe(broken);
  });

  test("that change while a login asks about plain http stay changed", async () => {
    const host = await makeHome();
    const rules = { projects: [{ exclude: "secret" }] };
    await runInside(
      (context) => {
        context.terminal.ask = async () => {
          await writeBelow(host.home, settingsFile, JSON.stringify(rules));
          return true;
        };
        return login(context);
      },
      host,
      { values: { server: "http://spoor.invalid", patience: "0" } },
    );
    const plainHttp = ["http://spoor.invalid"];
    expect(JSON.parse(await readFile(join(host.home, settingsFile), "utf8"))).toMatchObject({ ...rules, plainHttp });
  });

  test.each([-1, 1])(
    "are not locked by what a kill left behind, also where the clock was wrong (%i day)",
    async (days) => {
      const host = await makeHome();
      const lock = await writeBelow(host.home, `${settingsFile}.lock`, "");
      const at = new Date(Date.now() + days * 86_400_000);
      await utimes(lock, at, at);
      await updateSettings(host, (now) => ({ ...now, redact: false }));
      expect(JSON.parse(await readFile(join(host.home, settingsFile), "utf8")).redact).toBe(false);
    },
  );

  test("and the record of what was sent are read without what can't be in them", async () => {
    const { host } = await worldInside(1);
    await writeBelow(host.home, settingsFile, JSON.stringify({ accounts: { "http://x": null } }));
    expect(await pushInside(host)).toMatchObject({ sent: { sessions: 1 } });
    const state = join(host.home, ".local/state/spoor");
    const [record = ""] = (await readdir(state)).filter((name) => name.endsWith(".json"));
    await writeBelow(state, record, JSON.stringify({ version: 1, jobs: [null], sent: { "x/y": null } }));
    expect(await pushInside(host)).toMatchObject({ code: 0, sent: { sessions: 1 } });
  });

  test("are not locked by a link that leads nowhere", async () => {
    const host = await makeHome({ [settingsFile]: "{}" });
    const lock = join(host.home, `${settingsFile}.lock`);
    await symlink(join(host.home, "gone"), lock);
    await lutimes(lock, new Date(0), new Date(0));
    await updateSettings(host, (now) => ({ ...now, redact: false }));
    expect(JSON.parse(await readFile(join(host.home, settingsFile), "utf8")).redact).toBe(false);
  });
});
