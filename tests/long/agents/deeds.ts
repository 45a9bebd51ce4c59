// A deed as a call of the tool that the agent has for it, known by its name and its fields' names.
import { join } from "node:path";
import type { Call, Tool } from "./apis/api.ts";
import type { Deed } from "./scenes.ts";

const names: Record<Deed["does"], string[]> = {
  shell: ["Bash", "bash", "exec_command", "shell_command", "run_shell_command", "execute_command"],
  read: ["Read", "read", "read_file", "view"],
  write: ["Write", "write", "write_file", "create"],
  edit: ["Edit", "edit", "replace", "MultiEdit"],
  search: ["Grep", "grep", "grep_search", "search_files", "Search"],
  wait: ["wait_agent"],
  help: ["Agent", "agent", "task", "invoke_agent", "spawn_agent", "Subagent"],
};

export type Wanted = Omit<Call, "id">;

/** @returns nothing where the agent has no way to do it */
export function makeCall(deed: Deed, tools: Tool[], folder: string): Wanted | undefined {
  const script = tools.find(({ name, isText }) => name === "exec" && isText);
  if (script && deed.does !== "help" && deed.does !== "wait")
    return { name: script.name, input: makeScript(deed), isText: true };
  const tool = names[deed.does].map((name) => tools.find((one) => one.name === name)).find(Boolean);
  if (tool) return { name: tool.name, namespace: tool.namespace, input: makeInput(deed, tool, folder) };
  const patch = tools.find(({ name }) => name === "apply_patch");
  const text = patch && makePatch(deed);
  if (text) return { name: patch.name, input: patch.isText ? text : { input: text }, isText: patch.isText };
  const command = makeCommand(deed);
  return command ? makeCall({ does: "shell", command }, tools, folder) : undefined;
}

/** Fields by all names that agents have for them, of which the tool's are taken. */
function makeInput(deed: Deed, tool: Tool, folder: string): Record<string, unknown> {
  const { schema, about } = tool;
  const file = "file" in deed ? join(folder, deed.file) : undefined;
  const path = { file_path: file, filePath: file, filepath: file, path: file };
  const fields = (): Record<string, unknown> => {
    if (deed.does === "shell") {
      const { command } = deed;
      return { command, cmd: command, description: "Runs a command", requires_approval: false };
    }
    if (deed.does === "write") return { ...path, content: deed.text, file_text: deed.text };
    if (deed.does === "search") return { pattern: deed.pattern, regex: deed.pattern, path: folder };
    if (deed.does === "edit") return { ...path, ...makeEdit(deed.from, deed.to), instruction: "Change the heading" };
    if (deed.does === "read") return path;
    if (deed.does === "wait") return { timeout_ms: 30_000 };
    const { title, prompt } = deed;
    const type = /general-purpose/.test(about + JSON.stringify(schema)) ? "general-purpose" : "general";
    const name = title.toLowerCase().replaceAll(" ", "_");
    return {
      ...{ description: title, prompt, message: prompt, name, task_name: name },
      ...{ subagent_type: type, agent_type: type, agent_name: "generalist" },
      ...(tool.name === "spawn_agent" && { fork_turns: "none" }), // Qwen Code's field of this name knows no such word
    };
  };
  const known = Object.keys(schema?.properties ?? {});
  return Object.fromEntries(
    Object.entries(fields()).filter(([key, value]) => known.includes(key) && value !== undefined),
  );
}

const makeEdit = (from: string, to: string) => ({
  ...{ old_string: from, new_string: to, oldString: from, newString: to, old_str: from, new_str: to },
  edits: [{ oldText: from, newText: to, old_string: from, new_string: to }],
});

function makePatch(deed: Deed): string | undefined {
  const body =
    deed.does === "write"
      ? `*** Add File: ${deed.file}\n${deed.text.trimEnd().replace(/^/gm, "+")}\n`
      : deed.does === "edit"
        ? `*** Update File: ${deed.file}\n@@\n-# ${deed.from}\n+# ${deed.to}\n`
        : undefined;
  return body && `*** Begin Patch\n${body}*** End Patch\n`;
}

function makeCommand(deed: Deed): string | undefined {
  if (deed.does === "wait") return "echo waiting";
  if (deed.does === "read") return `cat ${deed.file}`;
  if (deed.does === "search") return `grep -rn '${deed.pattern}' .`;
  if (deed.does === "edit") return `sed -i 's/${deed.from}/${deed.to}/' ${deed.file}`;
  return undefined;
}

/** Codex' newer models have one tool, which runs a script that calls the others. */
function makeScript(deed: Deed): string {
  const call = (name: string, input: unknown) => `const result = await tools.${name}(${JSON.stringify(input)});\n`;
  if (deed.does === "read" && deed.file.endsWith(".png")) {
    return `${call("view_image", { path: deed.file })}image(result);\n`;
  }
  const patch = makePatch(deed);
  const command = deed.does === "shell" ? deed.command : makeCommand(deed);
  const made = patch ? call("apply_patch", patch) : call("exec_command", { cmd: command });
  return `${made}text(typeof result === "string" ? result : (result.output ?? JSON.stringify(result)));\n`;
}
