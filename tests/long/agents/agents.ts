// The agents: how each is pointed at the stand-in, told a prompt, and made to resume its last session.
import type { Aspect } from "./compare.ts";
import packages from "./packages/package.json" with { type: "json" };

/** Dollars for a million tokens, from the providers' own lists. */
export type Prices = { input: number; output: number; cacheRead: number; cacheWrite5m: number; cacheWrite1h: number };

export type Agent = {
  name: string;
  package: keyof typeof packages.dependencies;
  /** Its folder below AGENTS_FOLDER, and its command. */
  folder: string;
  command: string;
  prices: Prices;
  /** Those of a request with more input. */
  longPrices?: Prices & { above: number };
  /** How many tokens fill its model's context. */
  context: number;
  /** What it can't do, by the need of a scene. */
  lacks?: readonly ("help" | "resume" | "thinking")[];
  /** What is in none of its files. */
  unrecorded?: readonly (Aspect | typeof oneSum | typeof inOutput)[];
  /** How it writes a prompt that it is told. */
  told?: (prompt: string) => string;
  environment?: (url: string) => Record<string, string>;
  /** Files below the home folder, as text or as JSON. */
  files?: (url: string) => Record<string, unknown>;
  words: (prompt: string, isResumed: boolean, home: string) => string[];
};

/** Its files have cache writes as one sum, which counts as written for five minutes. */
export const oneSum = "an hour's cache writes";
/** Its files have the tokens of thoughts among those of the output. */
export const inOutput = "thoughts' tokens";

const sonnet: Prices = { input: 3, output: 15, cacheRead: 0.3, cacheWrite5m: 3.75, cacheWrite1h: 6 };
/** Where only the price of reading from the cache is another. */
const flat = (input: number, output: number, cacheRead: number, cacheWrite5m = input): Prices => ({
  input,
  output,
  cacheRead,
  cacheWrite5m,
  cacheWrite1h: cacheWrite5m,
});
const when = (isTrue: boolean, ...words: string[]) => (isTrue ? words : []);
const anthropicModel = { contextWindow: 200_000, maxTokens: 16_000 };

export const getVersion = (agent: Agent): string => packages.dependencies[agent.package];

export const agents: Agent[] = [
  {
    ...{ name: "Claude Code", package: "@anthropic-ai/claude-code", folder: "claude", command: "claude" },
    ...{ prices: sonnet, context: 200_000 },
    environment: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "local", IS_SANDBOX: "1" }),
    words: (prompt, isResumed) => [
      ...["-p", prompt, "--model", "claude-sonnet-4-5", "--dangerously-skip-permissions"],
      ...when(isResumed, "--continue"),
    ],
  },
  {
    ...{ name: "Codex CLI", package: "@openai/codex", folder: "codex", command: "codex" },
    ...{ prices: flat(2, 10, 0.2, 2.5), context: 272_000 },
    environment: () => ({ STAND_IN_KEY: "local" }),
    files: (url) => ({
      ".codex/config.toml": [
        `model = "gpt-6-sol"\nmodel_provider = "local"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"`,
        `[model_providers.local]\nname = "Local"\nbase_url = "${url}/v1"\nenv_key = "STAND_IN_KEY"\nwire_api = "responses"\n`,
      ].join("\n"),
    }),
    words: (prompt, isResumed) => ["exec", ...when(isResumed, "resume", "--last"), prompt],
  },
  {
    ...{ name: "Gemini CLI", package: "@google/gemini-cli", folder: "gemini", command: "gemini" },
    ...{ prices: flat(1.25, 10, 0.125), context: 1_048_576 },
    longPrices: { ...flat(2.5, 15, 0.25), above: 200_000 },
    unrecorded: ["branch"],
    environment: (url) => ({ GEMINI_API_KEY: "local", GOOGLE_GEMINI_BASE_URL: url }),
    files: () => ({ ".gemini/settings.json": { security: { auth: { selectedType: "gemini-api-key" } } } }),
    words: (prompt, isResumed) => [
      ...["-m", "gemini-2.5-pro", "-p", prompt, "--yolo", "--skip-trust"],
      ...when(isResumed, "--resume", "latest"),
    ],
  },
  {
    ...{ name: "OpenCode", package: "opencode-ai", folder: "opencode", command: "opencode" },
    ...{ prices: sonnet, context: 200_000, unrecorded: ["branch", oneSum], told: (prompt: string) => `"${prompt}"` },
    files: (url) => ({
      ".config/opencode/opencode.json": {
        model: "anthropic/claude-sonnet-4-5",
        small_model: "anthropic/claude-sonnet-4-5",
        permission: { "*": "allow" },
        provider: {
          anthropic: {
            options: { baseURL: `${url}/v1`, apiKey: "local" },
            models: {
              "claude-sonnet-4-5": {
                ...{ name: "Sonnet", reasoning: true, tool_call: true, attachment: true },
                limit: { context: 200_000, output: 16_000 },
                cost: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
              },
            },
          },
        },
      },
    }),
    words: (prompt, isResumed) => ["run", ...when(isResumed, "--continue"), prompt],
  },
  {
    ...{ name: "Qwen Code", package: "@qwen-code/qwen-code", folder: "qwen", command: "qwen" },
    ...{ prices: flat(0.65, 3.25, 0.13, 0.8125), context: 1_000_000 },
    environment: (url) => ({
      ...{ OPENAI_API_KEY: "local", OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "qwen3-coder-plus" },
      QWEN_CODE_SUPPRESS_YOLO_WARNING: "1",
    }),
    words: (prompt, isResumed) => [prompt, "--yolo", "--auth-type", "openai", ...when(isResumed, "--continue")],
  },
  {
    ...{ name: "Copilot CLI", package: "@github/copilot", folder: "copilot", command: "copilot" },
    ...{ prices: sonnet, context: 200_000, unrecorded: [oneSum] },
    environment: (url) => ({
      ...{ COPILOT_OFFLINE: "true", COPILOT_PROVIDER_BASE_URL: url, COPILOT_PROVIDER_TYPE: "anthropic" },
      ...{ COPILOT_PROVIDER_API_KEY: "local", COPILOT_MODEL: "claude-sonnet-4.5", COPILOT_AUTO_UPDATE: "false" },
    }),
    words: (prompt, isResumed) => [
      ...["-p", prompt, "--allow-all-tools", "--allow-all-paths"],
      ...when(isResumed, "--continue"),
    ],
  },
  {
    ...{ name: "Pi", package: "@earendil-works/pi-coding-agent", folder: "pi", command: "pi" },
    ...{ prices: sonnet, context: 200_000, lacks: ["help"], unrecorded: ["branch"] },
    environment: () => ({ PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1" }),
    files: (url) => {
      const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
      const kept = { id: "claude-sonnet-4-5", name: "Sonnet", reasoning: true, input: ["text", "image"], cost };
      const models = [{ ...kept, ...anthropicModel }];
      const local = { baseUrl: url, api: "anthropic-messages", apiKey: "local", models };
      return { ".pi/agent/models.json": { providers: { local } } };
    },
    words: (prompt, isResumed) => [
      ...["-p", "--model", "local/claude-sonnet-4-5", "--thinking", "low"],
      ...when(isResumed, "--continue"),
      prompt,
    ],
  },
  {
    ...{ name: "Continue", package: "@continuedev/cli", folder: "continue", command: "cn" },
    ...{ prices: sonnet, context: 200_000, lacks: ["help"], unrecorded: ["branch", "times", oneSum, inOutput] },
    environment: () => ({ CONTINUE_TELEMETRY_ENABLED: "0" }),
    files: (url) => {
      const model = { name: "Sonnet", provider: "anthropic", model: "claude-sonnet-4-5", apiKey: "local" };
      const models = [{ ...model, apiBase: `${url}/v1/`, roles: ["chat"] }];
      return { ".continue/config.yaml": { name: "Local", version: "1.0.0", schema: "v1", models } };
    },
    words: (prompt, isResumed, home) => [
      ...["-p", prompt, "--config", `${home}/.continue/config.yaml`, "--auto"],
      ...when(isResumed, "--resume"),
    ],
  },
  {
    ...{ name: "Cline", package: "cline", folder: "cline", command: "cline" },
    ...{ prices: flat(1.75, 14, 0.175), context: 400_000, lacks: ["help", "resume"], unrecorded: ["branch", inOutput] },
    files: (url) => {
      const modes = ["act", "plan"].map((mode) => [
        [`${mode}ModeApiProvider`, "openai"],
        [`${mode}ModeOpenAiModelId`, "gpt-5.2"],
      ]);
      const state = { ...Object.fromEntries(modes.flat()), openAiBaseUrl: `${url}/v1`, welcomeViewCompleted: true };
      return { ".cline/data/globalState.json": state, ".cline/data/secrets.json": { openAiApiKey: "local" } };
    },
    words: (prompt, isResumed) => ["-y", "--timeout", "60", ...when(isResumed, "--continue"), prompt],
  },
];
