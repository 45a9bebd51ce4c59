// Made-up secrets of the forms that Secretlint's recommended rules know.
import { run } from "./fill-form.ts";

type Example = { rule: string; kind: string; text: string; secret: string };

/** A secret, and what its rule needs beside it. */
const example = (rule: string, kind: string, secret: string, before = "", after = ""): Example => ({
  rule,
  kind,
  secret,
  text: before + secret + after,
});

const ends = "KEY-----";
const key = `-----BEGIN PRIVATE ${ends}\nMIIE${run("alnum:60")}\n${run("alnum:64")}\n${run("alnum:30")}\n-----END PRIVATE ${ends}`;
const inJson = key.replaceAll("\n", "\\n");
const account = Buffer.from(
  JSON.stringify({ email: `${run("lower:12")}@1passwordserviceaccounts.lcl`, secretKey: run("alnum:40"), n: 10 }),
).toString("base64");

/** One at least for each rule. */
export const examples: Example[] = [
  example("aws", "aws-secret", run("alnum:40"), "AWS_SECRET_ACCESS_KEY=", "\n"),
  example("aws", "aws-secret", run("alnum:40"), 'SecretAccessKey = "', '"x'),
  example("gcp", "private-key", inJson, `{"private_key_id":"${run("hex:40")}","private_key":"`, '\\n","a":"b"}'),
  example("privatekey", "private-key", key),
  example("npm", "npm", `npm_${run("alnum:36")}`),
  example("npm", "npm", `${run("alnum:16")}.${run("alnum:16")}`, "//npm.internal/:_authToken=", "\n"),
  example("npm", "github", run("alnum:40"), "git+https://", ":x-oauth-basic@github.com/ada/api.git"),
  example("basicauth", "url-password", run("alnum:18"), "https://ada:", "@git.corp.io/ada/api.git"),
  example("database-connection-string", "url-password", run("alnum:18"), "postgres://ada:", "@db.internal:5432/app"),
  example("slack", "slack", `xoxb-${run("digit:12")}-${run("digit:12")}-${run("alnum:24")}`),
  example(
    "slack",
    "slack-webhook",
    `https://hooks.slack.com/services/T${run("upper:10")}/B${run("upper:10")}/${run("alnum:24")}`,
  ),
  example("sendgrid", "sendgrid", `SG.${run("alnum:22")}.${run("alnum:43")}`),
  example("shopify", "shopify", `shpat_${run("alnum:32")}`),
  example("stripe", "stripe", `sk_live_${run("alnum:24")}`),
  example("github", "github", `ghp_${run("alnum:36")}`),
  example("github", "github", `github_pat_${run("alnum:82")}`),
  example("gitlab", "gitlab", `glpat-${run("alnum:12")}4${run("alnum:7")}`),
  example("grafana", "grafana", `glsa_${run("alnum:32")}_${run("hex:8")}`),
  example("openai", "openai", `sk-${run("alnum:20")}T3BlbkFJ${run("alnum:20")}`),
  example("anthropic", "anthropic", `sk-ant-api03-${run("alnum:93")}AA`),
  example("groq", "groq", `gsk_${run("alnum:52")}`),
  example(
    "huggingface",
    "huggingface",
    `hf_${run("alnum:60").replaceAll(/\d/g, "")}${run("alnum:60").replaceAll(/\d/g, "")}`.slice(0, 37),
  ),
  example("linear", "linear", `lin_api_${run("alnum:40")}`),
  example("notion", "notion", `ntn_${run("digit:11")}${run("alnum:35")}`),
  example("1password", "1password", `ops_${account}`),
  example("hashicorp-vault", "vault", `hvs.${run("alnum:95")}`),
  example("vercel", "vercel", `vcp_${run("alnum:24")}`),
  example("databricks", "databricks", `dapi${run("hex:32").toLowerCase()}`),
  example("docker", "docker", `dckr_pat_${run("alnum:27")}`),
  example("figma", "figma", `figd_${run("alnum:40")}`),
  example("cloudflare", "cloudflare", `cfut_${run("alnum:40")}${run("hex:8").toLowerCase()}`),
  example("tailscale", "tailscale", `tskey-auth-${run("alnum:17")}-${run("alnum:32")}`),
  ...["vca", "vci", "vcr"].map((head) => example("vercel", "vercel", `${head}_a7B${run("alnum:21")}`)),
  example("tailscale", "tailscale", `tskey-node-${run("alnum:17")}-${run("alnum:32")}`),
  example("github", "github", `ghp_${run("alnum:17")}_${run("alnum:18")}`),
  example("figma", "figma", `figd_${run("alnum:90")}`),
  example("slack", "slack", `xoxb-${[1, 2, 3, 4, 5, 6, 7].map(() => run("alnum:38")).join("-")}`),
  example("sendgrid", "sendgrid", `SG.${run("alnum:12")}.${run("alnum:53")}`),
];
