import { z } from "zod";
import { choice, httpUrl, optional, secret, type Variable, withDefault } from "#lib/core/variables/kinds";

export const encryptionVariables = {
  AUTH_SECRET: secret(32, {
    text: "signs cookies and codes; required with `DATABASE_URL`; equal in all processes",
    unset: "generated once, in `.data/auth.secret`",
  }),
  ENCRYPTION_KEY: optional(z.string().min(43, "must be 32 bytes in base64"), {
    text: "[encrypts](#encryption-at-rest) uploads and pictures: 32 bytes in base64; of several, separated by commas, the first encrypts and all decrypt",
    unset: "no encryption",
  }),
  ENCRYPTION_KEY_FILE: optional(z.string(), {
    text: "file with the key",
    unset: "`ENCRYPTION_KEY`",
  }),
};

export const storeVariables = {
  UPLOAD_STORE: choice(
    ["postgres", "s3"],
    "postgres",
    "where new uploads, pictures and exact copies are stored; see [S3](#uploads-in-an-s3-store)",
  ),
  UPLOAD_S3_BUCKET: optional(z.string(), {
    text: "bucket; required with `UPLOAD_STORE=s3` and while it has uploads or pictures",
  }),
  UPLOAD_S3_ENDPOINT: optional(httpUrl, {
    text: "the store's address",
    unset: "AWS",
    allowed: "an http or https URL without a path",
  }),
  UPLOAD_S3_REGION: withDefault(z.string(), "us-east-1", { text: "the bucket's region" }),
  UPLOAD_S3_ACCESS_KEY_ID: optional(z.string(), {
    text: "the store's key",
    unset: "from AWS SDK's variables or the machine's role",
  }),
  UPLOAD_S3_SECRET_ACCESS_KEY: optional(z.string(), { text: "required with `UPLOAD_S3_ACCESS_KEY_ID`" }),
  UPLOAD_S3_PREFIX: withDefault(
    z.string().regex(/^([\w.-]+\/)*$/, "must be empty or end with a slash, such as uploads/"),
    "uploads/",
    {
      text: "prefix of all object keys; unique per Spoor, since unknown objects are deleted",
    },
  ),
} satisfies Record<string, Variable>;

type Store = { [Name in keyof typeof storeVariables]?: z.output<(typeof storeVariables)[Name]["schema"]> };

/** Reports missing settings of a store. @param wrong takes a variable's name and a message */
export function checkStore(env: Store, wrong: (name: string, message: string) => void): void {
  const { UPLOAD_STORE: store, UPLOAD_S3_BUCKET: bucket } = env;
  if (store === "s3" && !bucket) wrong("UPLOAD_S3_BUCKET", "must be set with UPLOAD_STORE=s3");
  if (!env.UPLOAD_S3_ACCESS_KEY_ID !== !env.UPLOAD_S3_SECRET_ACCESS_KEY) {
    wrong("UPLOAD_S3_SECRET_ACCESS_KEY", "must be set together with UPLOAD_S3_ACCESS_KEY_ID");
  }
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export const priceVariables = {
  PRICES_FILE: optional(z.string(), {
    text: "JSON file of own [prices](#prices) and the currency",
    unset: "list prices, in US dollars",
  }),
  PRICES_URL: optional(
    z.url({ protocol: /^https?$/, error: "must be an http or https URL", abort: true }).refine((text) => {
      const { protocol, hostname, username, password } = new URL(text);
      return (protocol === "https:" || loopback.test(hostname)) && username === "" && password === "";
    }, "must be https (http only on loopback), without a user name and a password"),
    {
      text: "fetches newer list [prices](#prices) daily (genai-prices' format)",
      unset: "nothing is fetched",
      allowed: "an https URL without credentials; http on loopback",
    },
  ),
} satisfies Record<string, Variable>;
