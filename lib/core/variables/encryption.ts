import { z } from "zod";
import { optional, secret } from "#lib/core/variables/kinds";

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
