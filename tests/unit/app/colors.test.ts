import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { getAgentColor } from "../../../app/components/values/agent-icon.tsx";

type Color = [red: number, green: number, blue: number];
type Theme = "light" | "dark";

const css = await readFile("app/styles/tokens.css", "utf8");
const pairs = [
  ...css.matchAll(
    /--color-([\w-]+): light-dark\((#\w{6}), (#\w{6})\)|\.(agent-\w+) \{\s*--agent: light-dark\((#\w{6}), (#\w{6})\)/g,
  ),
];
const tokens = new Map(
  pairs.map(([, color, light, dark, agent, agentLight, agentDark]) => [
    color ?? agent ?? "",
    { light: light ?? agentLight ?? "", dark: dark ?? agentDark ?? "" },
  ]),
);

/** In linear light, from 0 to 1. */
function linear(name: string, theme: Theme): Color {
  const hex = tokens.get(name)?.[theme] || expect.fail(`no color ${name}`);
  return [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Color;
}

const luminance = ([red, green, blue]: Color) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

function contrast(one: Color, other: Color): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Machado, Oliveira and Fernandes 2009, at full severity. */
const sights: Record<string, number[][]> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const times = (matrix: number[][], color: number[]): Color =>
  matrix.map((row) => row.reduce((sum, factor, at) => sum + factor * (color[at] ?? 0), 0)) as Color;

/** Björn Ottosson's OKLab, whose distances are those that people see. */
function oklab(color: Color): Color {
  const cone = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    color.map((one) => Math.max(0, one)),
  );
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cone.map(Math.cbrt),
  );
}

const distance = (one: Color, other: Color) => Math.hypot(...one.map((value, at) => value - (other[at] ?? 0)));

const agents = ["claude-code", "codex", "cursor", "gemini", "copilot", "opencode", "kilo", "cline", "windsurf", "qwen"];
const themes = ["light", "dark"] as const;
const surfaces = ["page", "block", "overlay", "tint"];
const inks = [
  "text",
  "muted",
  "accent",
  "thinking",
  "tool",
  "subagent",
  "ok",
  "warn",
  "bad",
  ...[...tokens.keys()].filter((name) => name.startsWith("agent-")),
];

test.each(themes)("%s text has enough contrast on every surface", (theme) => {
  const low = inks.flatMap((ink) =>
    surfaces
      .map((surface) => ({ ink, surface, ratio: contrast(linear(ink, theme), linear(surface, theme)) }))
      .filter(({ ratio }) => ratio < 4.5),
  );
  expect(low).toEqual([]);
});

test.each(themes)("%s text has enough contrast on what was found or changed", (theme) => {
  for (const ground of ["match", "added", "added-word", "removed", "removed-word"])
    expect(contrast(linear("text", theme), linear(ground, theme)), ground).toBeGreaterThan(4.5);
});

test("every agent has a color", () => {
  const classes = agents.map(getAgentColor);
  expect(classes.filter((name) => !tokens.has(name))).toEqual([]);
  expect(new Set(classes)).toEqual(new Set([...tokens.keys()].filter((name) => name.startsWith("agent-"))));
});

test.each(themes)("%s series of charts are told apart by every eye, and from the page", (theme) => {
  const series = [1, 2, 3, 4, 5, 6].map((place) => `chart-${place}`);
  const close = Object.entries(sights).flatMap(([sight, matrix]) =>
    series.flatMap((one, at) =>
      series
        .slice(at + 1)
        .map((other) => {
          const [first, second] = [one, other].map((name) => oklab(times(matrix, linear(name, theme))));
          return { sight, one, other, distance: first && second ? distance(first, second) : 0 };
        })
        .filter(({ distance }) => distance < 0.06),
    ),
  );
  expect(close).toEqual([]);
  for (const one of series) expect(contrast(linear(one, theme), linear("page", theme)), one).toBeGreaterThan(3);
});
