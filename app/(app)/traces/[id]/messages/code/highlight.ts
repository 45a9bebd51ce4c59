import "server-only";
import type { HighlighterCore, LanguageInput, ThemedToken, ThemeRegistration } from "shiki/core";
import { createHighlighterCore } from "shiki/core";
import { createOnigurumaEngine } from "shiki/engine/oniguruma";
import type { Effort } from "../effort";
import { coloursAfter } from "./ansi";

/** They run on Oniguruma: the JavaScript engine takes seconds for some long lines. */
const grammars: Record<string, () => Promise<{ default: LanguageInput }>> = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  cpp: () => import("shiki/langs/cpp.mjs"),
  csharp: () => import("shiki/langs/csharp.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  docker: () => import("shiki/langs/docker.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  graphql: () => import("shiki/langs/graphql.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  ini: () => import("shiki/langs/ini.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  jsx: () => import("shiki/langs/jsx.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"),
  lua: () => import("shiki/langs/lua.mjs"),
  make: () => import("shiki/langs/make.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  php: () => import("shiki/langs/php.mjs"),
  powershell: () => import("shiki/langs/powershell.mjs"),
  prisma: () => import("shiki/langs/prisma.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  ruby: () => import("shiki/langs/ruby.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  scala: () => import("shiki/langs/scala.mjs"),
  scss: () => import("shiki/langs/scss.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  svelte: () => import("shiki/langs/svelte.mjs"),
  swift: () => import("shiki/langs/swift.mjs"),
  terraform: () => import("shiki/langs/terraform.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  vue: () => import("shiki/langs/vue.mjs"),
  xml: () => import("shiki/langs/xml.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
  zig: () => import("shiki/langs/zig.mjs"),
};

const scopes: [className: string, scope: string[]][] = [
  ["", []],
  ["c", ["comment", "punctuation.definition.comment"]],
  ["s", ["string", "punctuation.definition.string", "string.regexp", "markup.inline.raw"]],
  ["k", ["keyword", "storage", "variable.language", "keyword.operator.new", "entity.name.tag"]],
  ["v", ["constant", "support.constant", "variable.other.enummember"]],
  ["n", ["entity.name.function", "support.function", "entity.other.attribute-name", "meta.function-call.generic"]],
  ["t", ["entity.name.type", "entity.name.class", "support.type", "support.class", "entity.name.namespace"]],
  ["", ["keyword.operator", "punctuation", "meta.brace"]],
  ["h", ["markup.heading", "entity.name.section", "markup.bold"]],
  ["a", ["markup.inserted"]],
  ["r", ["markup.deleted"]],
];

const terminal = ["Black", "Red", "Green", "Yellow", "Blue", "Magenta", "Cyan", "White"];
const colour = (index: number) => `#0000${index.toString(16).padStart(2, "0")}`;
const ansiBase = 0x80;

/** Class names, since the page's policy allows no style attributes. */
const theme: ThemeRegistration = {
  name: "classes",
  type: "light",
  fg: colour(0),
  bg: "#ffffff",
  colors: Object.fromEntries(
    terminal.flatMap((name, index) => [
      [`terminal.ansi${name}`, colour(ansiBase + index)],
      [`terminal.ansiBright${name}`, colour(ansiBase + index)],
    ]),
  ),
  settings: [
    { settings: { foreground: colour(0) } },
    ...scopes.flatMap(([, scope], index) =>
      scope.length > 0 ? [{ scope, settings: { foreground: colour(index) } }] : [],
    ),
  ],
};

const classes = new Map<string, string>([
  ...scopes.map(([className], index) => [colour(index), className] as const),
  ...terminal.map((_, index) => [colour(ansiBase + index), `ansi-${index}`] as const),
]);

export type CodeSpan = { text: string; className: string };

let highlighter: Promise<HighlighterCore> | undefined;
let ready: HighlighterCore | undefined;

/** Makes highlighting synchronous later. */
export async function prepareLanguages(languages: Set<string>): Promise<void> {
  highlighter ??= createHighlighterCore({
    themes: [theme],
    langs: [],
    engine: createOnigurumaEngine(import("shiki/wasm")),
  });
  ready = await highlighter;
  const loaded = new Set(ready.getLoadedLanguages());
  const wanted = [...languages].flatMap((language) => (loaded.has(language) ? [] : (grammars[language]?.() ?? [])));
  await ready.loadLanguage(...(await Promise.all(wanted)).map((grammar) => grammar.default));
  for (const language of languages) if (!loaded.has(language)) warmUp(ready, language);
}

/** A grammar's first use is ten times slower, and no text's budget should pay for it. */
function warmUp(core: HighlighterCore, language: string): void {
  if (core.getLoadedLanguages().includes(language)) core.codeToTokensBase(sample, { lang: language, theme: "classes" });
}

const sample = `import { a } from "b"; // c
/** d */ export const e = (f: string): number => { return f.g("h", 1, true) + \`\${i}\`; };
class J extends K<L> { async m() { if (!n) throw new O('p'); else for (const q of r) await s[0]; } }
# t
u: v
`;

const max = { lines: 500, characters: 60_000, lineLength: 1000 };
const stepLines = 20;

export function highlight(text: string, language: string, effort: Effort): CodeSpan[][] | undefined {
  if (!ready || text.length > max.characters) return undefined;
  if (language !== "ansi" && !ready.getLoadedLanguages().includes(language)) return undefined;
  const lines = text.split("\n");
  if (lines.length > max.lines || !effort.take(text.length)) return undefined;
  const core = ready;
  return effort.spend(() => tokenize(core, lines, language, effort));
}

function tokenize(core: HighlighterCore, lines: string[], language: string, effort: Effort): CodeSpan[][] | undefined {
  const coloured: CodeSpan[][] = [];
  let grammarState: ReturnType<HighlighterCore["getLastGrammarState"]> | undefined;
  let colours = "";
  for (let from = 0; from < lines.length; from += stepLines) {
    if (effort.isSpent()) return undefined;
    const step = colours + lines.slice(from, from + stepLines).join("\n");
    const tokens = core.codeToTokensBase(step, {
      lang: language,
      theme: "classes",
      tokenizeMaxLineLength: max.lineLength,
      ...(grammarState && { grammarState }),
    });
    if (language === "ansi") colours = coloursAfter(step);
    else grammarState = core.getLastGrammarState(tokens);
    coloured.push(...tokens.map(toSpans));
  }
  return coloured;
}

const shownBlank = /ansi-(?:on|inverse)|\b[ux]\b/;

/** Blanks take their neighbour's class if it doesn't show. */
function toSpans(tokens: ThemedToken[]): CodeSpan[] {
  const spans: CodeSpan[] = [];
  for (const token of tokens) {
    const last = spans.at(-1);
    const own = getTokenClass(token);
    const isBlank = token.content.trim() === "" && last && !shownBlank.test(`${own} ${last.className}`);
    const className = isBlank ? last.className : own;
    if (last && last.className === className) last.text += token.content;
    else spans.push({ text: token.content, className });
  }
  return spans;
}

/** Only programs' output has these font styles. */
const styles = [
  [1, "e"],
  [2, "b"],
  [4, "u"],
  [8, "x"],
] as const;

function getTokenClass({ color = "", bgColor, fontStyle = 0 }: ThemedToken): string {
  const styled = styles.flatMap(([bit, className]) => (fontStyle > 0 && fontStyle & bit ? className : []));
  return [getInkClass(color), getBackgroundClass(bgColor), ...styled].filter(Boolean).join(" ");
}

/** Dimmed plain text has half the opacity. */
const getInkClass = (color: string): string => ansiClass(color) || (color.length > 7 ? "ansi-0" : "");

/** Inverted text has the theme's two default colours exchanged. */
function getBackgroundClass(bgColor: string | undefined): string {
  if (!bgColor || bgColor === "#ffffff") return "";
  return bgColor.startsWith(colour(0)) ? "ansi-inverse" : ansiClass(bgColor).replace("ansi-", "ansi-on-");
}

function ansiClass(color: string): string {
  const known = classes.get(color.slice(0, 7));
  if (known !== undefined) return known;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) || 0);
  const threshold = Math.max(red, green, blue) / 2;
  return `ansi-${Number(red > threshold) + 2 * Number(green > threshold) + 4 * Number(blue > threshold)}`;
}
