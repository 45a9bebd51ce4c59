import { z } from "zod";
import { optional, secret } from "#lib/variables/kinds";

export const encryptionVariables = {
  AUTH_SECRET: secret(32, {
    text: "signs cookies and keys codes; required with `DATABASE_URL`, and the same for all processes",
    unset: "generated once, in `.data/auth.secret`",
  }),
  ENCRYPTION_KEY: optional(z.string().min(43, "must be 32 bytes in base64"), {
    text: "encrypts the bodies of uploads, and pictures, at rest: 32 bytes in base64; several, separated by commas: the first one encrypts, all are read with; see [Encryption at rest](#encryption-at-rest)",
    unset: "bodies of uploads, and pictures, are stored unencrypted",
  }),
  ENCRYPTION_KEY_FILE: optional(z.string(), {
    text: "a file with what `ENCRYPTION_KEY` would have",
    unset: "`ENCRYPTION_KEY`",
  }),
};
