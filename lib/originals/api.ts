import { z } from "zod";
import { limits } from "#lib/core/limits";
import type { Operation } from "#lib/http/operation";
import {
  keyRequest,
  keyResponse,
  originalParams,
  originalRequest,
  originalResponse,
  originalsQuery,
  originalsResponse,
  partParams,
  writtenResponse,
} from "#lib/originals/schema";

const { originals } = limits;
const group = "Exact copies";

const recipient = "age1vhddrrdds2wrxxphkarvnghnryr8t8ty827p4eeg932yvsfjascq9h5mqd";
const key = { ok: true, recipient, fingerprint: "21596F85", createdAt: "2026-11-20T10:05:00.000Z" };
/** An empty file encrypted to `recipient`. */
const part =
  "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSB0YWszUndwT1ByeGpwU1RaaFIvTmQ4c20rQzFVaTlaSEVtdkhaaktWK0drCjNTRGRhZUxoV3FoTmE5TjRVUEhWWDNYaHVORnVGWHNwMzJxZDArWERhbUEKLS0tIGE2aFVOMXFkQzlwaElKd1NiY3Bqam5FNloxMnZBdmE3MCs2Sk5yVkFRZTAKNYvD6uwPIMftbtpgJs6vt1Rcq2TqothJObBUv9oIuIw=";
const partHash = "04f03bbd207db37cd1aed764eba473422901b4313bce8bb487d1d74d79a2c194";
const version = "1795687500000";

const copy = {
  source: "claude-code",
  sourceId: "0b9ddc6e-3b0f-4c86-9a4c-4e2d1f2a7c55",
  version,
  fingerprint: key.fingerprint,
  files: 1,
  plainBytes: 0,
  storedBytes: 400,
  machine: "ada-laptop",
  updatedAt: "2026-11-20T10:05:00.000Z",
};

const firstOnly = (what: string) => ({
  "If-None-Match": { text: `\`*\` stores the first ${what}.`, example: "*" },
});
const conditions = {
  precondition_failed: "The condition does not match: another one exists, or one already exists.",
  precondition_required: "Send `If-None-Match: *`, or `If-Match` with one entity tag.",
};

export const readOriginalKey = {
  methods: ["GET"],
  path: "/api/originals/key",
  auth: "cookie-or-bearer",
  scope: "originals",
  response: keyResponse,
  about: {
    group,
    summary: "Get the key",
    text: "The age recipient to which the account's machines encrypt. A machine with another recipient must not use this one before a person has compared the fingerprints, since anybody with a token could have replaced it. The identity that decrypts is only on the person's machines.",
    answers: { 200: { text: "The recipient, and the first eight hexadecimal digits of its SHA-256.", example: key } },
    errors: { not_found: "The account has no key." },
  },
} satisfies Operation;

export const setOriginalKey = {
  methods: ["PUT"],
  path: "/api/originals/key",
  auth: "bearer",
  scope: "originals",
  body: { schema: keyRequest, maxBytes: limits.device.bodyBytes },
  response: keyResponse,
  about: {
    group,
    summary: "Change the key",
    text: "Send `If-None-Match: *` for the first recipient, or `If-Match` with the fingerprint of the one to replace. Stored copies stay encrypted to the previous one.",
    headers: firstOnly("key"),
    answers: { 200: { text: "The key.", example: key } },
    errors: conditions,
    example: { body: { recipient } },
    wrong: { body: { recipient: "age1" } },
  },
} satisfies Operation;

export const sendPart = {
  methods: ["PUT"],
  path: "/api/originals/parts/{sha256}",
  auth: "bearer",
  scope: "originals",
  params: partParams.extend({ sha256: partParams.shape.sha256.meta({ examples: [partHash] }) }),
  response: keyResponse.pick({ ok: true }),
  about: {
    group,
    summary: "Send a part",
    text: `An age file of at most ${originals.partBytes / 2 ** 20} MiB, by the SHA-256 of its bytes. It counts against your quota, and is deleted after ${originals.unusedHours} hours if no copy refers to it.`,
    raw: { types: ["application/octet-stream"], example: { type: "application/octet-stream", base64: part } },
    answers: {
      200: { text: "It was already stored.", example: { ok: true } },
      201: { text: "It is on disk.", example: { ok: true } },
    },
    errors: {
      invalid_part: {
        when: "The bytes have another SHA-256, or are not an age file.",
        detail: "The body's SHA-256 differs from the path's.",
      },
      not_found: "The path contains no SHA-256.",
      payload_too_large: {
        when: "The part is too large or exceeds your quota; `detail` contains the figures.",
        detail: `The body is over the limit of ${originals.partBytes} bytes.`,
      },
      unsupported_media_type: {
        when: "The Content-Type is not application/octet-stream.",
        detail: "The Content-Type must be application/octet-stream.",
      },
    },
  },
} satisfies Operation;

export const readPart = {
  methods: ["GET"],
  path: "/api/originals/parts/{sha256}",
  auth: "cookie-or-bearer",
  scope: "originals",
  params: sendPart.params,
  about: {
    group,
    summary: "Get a part",
    text: "The sent bytes; `age -d -i KEYFILE` decrypts them.",
    partialExample: true,
    answers: {
      200: {
        text: "An age file.",
        type: "application/octet-stream",
        schema: z.string(),
        example: "age-encryption.org/v1…",
      },
    },
  },
} satisfies Operation;

export const sendOriginal = {
  methods: ["PUT"],
  path: "/api/originals/{source}/{sourceId}",
  auth: "bearer",
  scope: "originals",
  params: originalParams,
  response: writtenResponse,
  about: {
    group,
    summary: "Send a copy",
    text: `Stores the list of parts that form the copy of a session's files; send the parts first. \`source\` and \`sourceId\` identify the session, which need not be stored. Send \`If-None-Match: *\` for the first copy, or \`If-Match\` with the version to replace, so that no machine overwrites an unseen version. \`head\` is an age file that tells the client what the parts are. Parts without a copy are deleted ${originals.unusedHours} hours later.`,
    sent: originalRequest,
    headers: firstOnly("copy"),
    answers: {
      200: { text: "It replaced the previous one.", headers: tag(), example: { ok: true, version } },
      201: { text: "It is the first.", headers: tag(), example: { ok: true, version } },
    },
    errors: {
      ...conditions,
      parts_missing: { when: "The copy names parts that are not stored.", missing: [partHash] },
      session_deleted: "The session was deleted here, so its copy is refused.",
      not_found: "The path has no source or source id.",
      payload_too_large: {
        when: "The body is too large or exceeds your quota; `detail` contains the figures.",
        detail: `The body is over the limit of ${originals.manifestBytes} bytes.`,
      },
      rate_limited: `More than ${originals.manifestsPerMinutePerUser} copies per minute.`,
    },
    example: { body: { recipient, files: 1, plainBytes: 0, head: part, parts: [partHash] } },
    wrong: { body: { recipient: "age1", files: -1, head: "no base64", parts: ["0"] } },
  },
} satisfies Operation;

function tag() {
  return { ETag: { text: "The version, for `If-Match`.", example: `"${version}"` } };
}

export const readOriginal = {
  methods: ["GET"],
  path: "/api/originals/{source}/{sourceId}",
  auth: "cookie-or-bearer",
  scope: "originals",
  params: originalParams,
  response: originalResponse,
  about: {
    group,
    summary: "Get a copy",
    text: "The copy as sent: `head` in base64, and the parts in order with their sizes.",
    answers: {
      200: {
        text: "The copy.",
        headers: tag(),
        example: { ok: true, ...copy, recipient, head: part, parts: [{ sha256: partHash, bytes: 200 }] },
      },
    },
  },
} satisfies Operation;

export const exportAllOriginals = {
  methods: ["GET"],
  path: "/api/originals/export",
  auth: "cookie-or-bearer",
  scope: "originals",
  about: {
    group,
    summary: "Export all copies",
    text: "A tar archive: for each session the folder `source/sourceId` with `head.age` and its parts as `{sha256}.age`. `age -d -i KEYFILE FILE | gunzip` decrypts each of them. A failed export closes the connection early. It counts as one of the user's exports, of which two run at a time.",
    partialExample: true,
    answers: {
      200: {
        text: "The archive.",
        type: "application/x-tar",
        schema: z.string(),
        headers: {
          "Content-Disposition": { text: "A file's name.", example: 'attachment; filename="spoor-originals.tar"' },
        },
        example: "claude-code/0b9ddc6e-3b0f-4c86-9a4c-4e2d1f2a7c55/head.age…",
      },
    },
  },
} satisfies Operation;

export const removeOriginal = {
  methods: ["DELETE"],
  path: "/api/originals/{source}/{sourceId}",
  auth: "cookie-or-bearer",
  scope: "originals",
  params: originalParams,
  about: {
    group,
    summary: "Delete a copy",
    text: "The session itself stays. Deleting a missing copy succeeds. Deleting a session also deletes its copy.",
    answers: { 204: { text: "The copy is deleted." } },
    errors: { not_found: "The path has no source or source id." },
  },
} satisfies Operation;

export const readOriginalList = {
  methods: ["GET"],
  path: "/api/originals",
  auth: "cookie-or-bearer",
  scope: "originals",
  query: originalsQuery,
  response: originalsResponse,
  about: {
    group,
    summary: "List copies",
    text: "Latest first. `title` and `project` belong to the stored session. Continue with `cursor` from `nextCursor`, which is null at the end.",
    answers: {
      200: {
        text: "A page of the copies.",
        example: { ok: true, originals: [{ ...copy, title: "Retry the upload", project: "api" }], nextCursor: null },
      },
    },
    errors: { invalid_request: "A parameter is not valid, or the cursor is unknown." },
    example: { query: { source: "claude-code", limit: "20" } },
    wrong: { query: { limit: "0" } },
  },
} satisfies Operation;
