import { z } from "zod";
import { choice, httpUrl, optional, type Variable, withDefault } from "#lib/variables/kinds";

export const storeVariables = {
  UPLOAD_STORE: choice(
    ["postgres", "s3"],
    "postgres",
    "where the bodies of new uploads, and new pictures, are kept; see [Uploads in an S3 store](#uploads-in-an-s3-store)",
  ),
  UPLOAD_S3_BUCKET: optional(z.string(), {
    text: "the bucket; required with `UPLOAD_STORE=s3`, and for as long as there are uploads or pictures in it",
  }),
  UPLOAD_S3_ENDPOINT: optional(httpUrl, {
    text: "the store's address, for one that is not AWS",
    unset: "AWS",
    allowed: "an http or https URL without a path",
  }),
  UPLOAD_S3_REGION: withDefault(z.string(), "us-east-1", { text: "the bucket's region" }),
  UPLOAD_S3_ACCESS_KEY_ID: optional(z.string(), {
    text: "the store's key",
    unset: "as the AWS SDK finds it: its own variables, the machine's role",
  }),
  UPLOAD_S3_SECRET_ACCESS_KEY: optional(z.string(), { text: "required with `UPLOAD_S3_ACCESS_KEY_ID`" }),
  UPLOAD_S3_PREFIX: withDefault(
    z.string().regex(/^([\w.-]+\/)*$/, "must be empty or folders that each end with a slash"),
    "uploads/",
    {
      text: "what the keys of all objects begin with; each Spoor needs its own, since it deletes objects that it does not know",
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
