// Cursors contain the place of a session, so they are sealed.
import "server-only";
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { requiredEnv } from "#lib/core/env";
import { SpoorError } from "#lib/core/errors";
import type { AgentReader } from "#lib/mcp/tools/tool";

const algorithm = "aes-256-gcm";
const [nonceBytes, tagBytes] = [12, 16];

/** A cursor of one reader or tool opens nothing for another (NIST SP 800-38D, RFC 5869). */
const makeCursorKey = ({ userId, projectId }: AgentReader, tool: string): Buffer =>
  Buffer.from(
    hkdfSync("sha256", requiredEnv("AUTH_SECRET"), "", JSON.stringify(["cursor", userId, projectId, tool]), 32),
  );

export function sealCursor(reader: AgentReader, tool: string, cursor: string | null): string | null {
  if (cursor === null) return null;
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, makeCursorKey(reader, tool), nonce);
  const sealed = Buffer.concat([cipher.update(Buffer.from(cursor, "base64url")), cipher.final()]);
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString("base64url");
}

export function openCursor(reader: AgentReader, tool: string, sealed: string | undefined): string | undefined {
  if (sealed === undefined) return undefined;
  const bytes = Buffer.from(sealed, "base64url");
  try {
    const decipher = createDecipheriv(algorithm, makeCursorKey(reader, tool), bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const opened = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([opened, decipher.final()]).toString("base64url");
  } catch {
    throw new SpoorError("invalid_request", "This tool did not issue the cursor.");
  }
}
