export type ModelName = {
  /** Without date and suffixes: `claude-opus-4-5`. */
  model: string;
  /** With its date, since dated models may have their own prices. */
  dated: string;
  /** Lower case, as routers and clouds list it: `anthropic/claude-opus-4.5`. */
  listed: string;
  provider?: string;
  /** Claude's fast mode. */
  speed?: "fast";
};

const maxLength = 200;

/** Written by agents if no model answered or the model is unknown. */
const nobody = new Set(["", "auto", "default", "unknown", "none", "null", "undefined", "inherit", "cursor-auto"]);

const providers: Record<string, string> = {
  anthropic: "anthropic",
  openai: "openai",
  "openai-codex": "openai",
  google: "google",
  gemini: "google",
  "google-vertex": "google",
  "google-ai-studio": "google",
  vertex_ai: "google",
  models: "google",
  openrouter: "openrouter",
  bedrock: "aws",
  "amazon-bedrock": "aws",
  azure: "azure",
  "x-ai": "x-ai",
  xai: "x-ai",
  deepseek: "deepseek",
  moonshotai: "moonshotai",
  moonshot: "moonshotai",
  "moonshot-ai": "moonshotai",
  mistral: "mistral",
  mistralai: "mistral",
  minimax: "minimax",
  "z-ai": "zai",
  zai: "zai",
  zhipuai: "zhipuai",
  groq: "groq",
  cerebras: "cerebras",
  cursor: "cursor",
  cohere: "cohere",
  perplexity: "perplexity",
  together: "together",
  togetherai: "together",
};

const routes = new Set([
  "litellm",
  "vercel",
  "gateway",
  "opencode",
  "publishers",
  "projects",
  "copilot",
  "github-copilot",
]);

const dates = "[-@](?:20\\d{6}|20\\d{2}-\\d{2}-\\d{2})$";
const date = new RegExp(dates);
const cloud =
  /^(?:(?:us|eu|apac|ap|global|jp|au|ca|us-gov)\.)?(anthropic|amazon|meta|mistral|cohere|deepseek|openai|qwen)\.(.+)$/;
/** Effort does not change the price; in other families `thinking` is a separate model (kimi-k2-thinking). */
const effort =
  /^((?:claude|gpt|gemini|o\d)(?=-).*?)(?:-(?:thinking|reasoning|minimal|low|medium|high|xhigh|extra-high|1m)|:(?:thinking|beta))+$/;

/**
 * Nothing else is shortened, so that no model is taken for another. Undefined for names of no model, such as `<synthetic>`
 * and `auto`.
 */
export function parseModelName(name: string): ModelName | undefined {
  const written = plain(name);
  if (written === undefined) return undefined;
  const { provider, listed, bare } = route(written);
  const inCloud = cloud.exec(bare);
  const own = (inCloud?.[2]?.replace(/-v\d+(?::\d+)?$/, "") ?? bare).replace(/@(?:default|latest)$/, "");
  const calm = effort.exec(own)?.[1] ?? own;
  const fast = /^(claude-.+)-fast$/.exec(calm)?.[1];
  const dated = canonical((fast ?? calm).replace("@", "-"));
  const model = canonical(dated.replace(date, "").replace(/^(claude-.+)-latest$/, "$1"));
  if (nobody.has(model)) return undefined;
  return { model, dated, listed, provider: provider ?? (inCloud ? "aws" : undefined), ...(fast && { speed: "fast" }) };
}

export const undated = (name: string): string => name.replace(date, "");

/** Also valid in PostgreSQL. */
export const datePattern = `^${dates}`;

export const getModelFamily = (name: string): string => parseModelName(name)?.model ?? name;

function plain(name: string): string | undefined {
  const text = name
    .slice(0, maxLength + 1)
    .trim()
    .toLowerCase()
    .replace(/\s+20\d{2}-\d{2}-\d{2}t[\d:.]+z?$/, "")
    .replace(/\s*\[\d+[km]\]$/, "")
    .replace(/\s*\((thinking|minimal|low|medium|high|xhigh)\)$/, "-$1")
    .replace(/\s+/g, "-");
  return text.length > maxLength || nobody.has(text) || text.startsWith("<") ? undefined : text;
}

/** Splits off `openrouter/…`, `models/…`, `anthropic/…`. */
function route(text: string): { provider?: string; listed: string; bare: string } {
  const words = text.replace(/^arn:aws[^/]*\//, "bedrock/").split("/");
  let provider: string | undefined;
  let listed: string | undefined;
  while (words.length > 1) {
    const word = words[0] ?? "";
    const named = Object.hasOwn(providers, word) ? providers[word] : undefined;
    if (named === undefined && !routes.has(word)) break;
    words.shift();
    if (word === "projects" || word === "publishers") words.splice(0, words.lastIndexOf("models") + 1);
    if (named === "openrouter") listed ??= words.join("/");
    provider ??= named;
  }
  const bare = words.join("/");
  return { provider, listed: listed ?? bare, bare };
}

/** Unifies `claude-4.5-opus` and `claude-opus-4-5`, `gpt-5-1` and `gpt-5.1`. */
function canonical(name: string): string {
  const claude =
    /^claude-(?:(?<first>\d)(?:[.-](?<second>\d{1,2}))?-(?<family>[a-z]+)|(?<name>[a-z]+)-(?<major>[3-9])(?:[.-](?<minor>\d{1,2}))?)(?<rest>[-@:].*)?$/.exec(
      name,
    )?.groups;
  if (claude) {
    const major = claude.first ?? claude.major;
    const minor = claude.second ?? claude.minor;
    const family = claude.family ?? claude.name;
    const version = minor === undefined || minor === "0" ? `${major}` : `${major}-${minor}`;
    const model = Number(major) < 4 ? `claude-${version}-${family}` : `claude-${family}-${version}`;
    return `${model}${claude.rest ?? ""}`;
  }
  return name.replace(/^gpt-(\d)-(\d{1,2})(?=-|$)/, "gpt-$1.$2");
}
