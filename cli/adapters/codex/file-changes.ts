import { isFields } from "../../files/json.ts";
import { formatFilePatch } from "../messages.ts";
import { asString } from "../values.ts";

/** @param changes by path: `{type: "add" | "delete", content}` or `{type: "update", unified_diff, move_path}` */
export function formatPatches(changes: unknown): string | undefined {
  if (!isFields(changes)) return undefined;
  const patches = Object.entries(changes).flatMap(([path, change]) => {
    if (!isFields(change)) return [];
    const content = asString(change.content) ?? "";
    switch (change.type) {
      case "add":
        return [formatFilePatch(undefined, path, formatWholeFile(content, "+"))];
      case "delete":
        return [formatFilePatch(path, undefined, formatWholeFile(content, "-"))];
      case "update":
        return [formatFilePatch(path, asString(change.move_path) ?? path, readHunks(change.unified_diff))];
      default:
        return [];
    }
  });
  return patches.length > 0 ? patches.join("\n") : undefined;
}

function formatWholeFile(content: string, sign: "+" | "-"): string {
  const lines = content === "" ? [] : content.replace(/\n$/, "").split("\n");
  const heading = sign === "+" ? `@@ -0,0 +1,${lines.length} @@` : `@@ -1,${lines.length} +0,0 @@`;
  return [heading, ...lines.map((line) => `${sign}${line}`)].join("\n");
}

function readHunks(diff: unknown): string {
  const text = (asString(diff) ?? "").replace(/\n$/, "");
  const at = text.search(/^@@/m);
  return at === -1 ? "@@ -0,0 +0,0 @@" : text.slice(at);
}
