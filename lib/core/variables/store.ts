import { z } from "zod";
import { choice, httpUrl, optional, type Variable, withDefault } from "#lib/core/variables/kinds";

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
