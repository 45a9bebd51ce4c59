import { z } from "zod";
import { pictureTypes } from "#common/evidence/picture-format";
import { sha256Text } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import type { Operation } from "#lib/http/operation";
import { missingPicturesRequest, missingPicturesResponse } from "#lib/ingest/schema";

/** One transparent pixel. */
const pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const pixelHash = "ef1955ae757c8b966c83248350331bd3a30f658ced11f387f8ebf05ab3368629";
const otherHash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

export const findMissingPictures = {
  methods: ["POST"],
  path: "/api/pictures/missing",
  auth: "bearer",
  scope: "ingest",
  body: { schema: missingPicturesRequest, maxBytes: limits.pictures.requestBytes },
  response: missingPicturesResponse,
  about: {
    group: "Ingest",
    summary: "Find the pictures to send",
    text: `Takes the SHA-256s of pictures that messages will name in \`metadata.pictures\`, and returns those that are not stored. Send these with \`PUT /api/pictures/{sha256}\`, then the batch. The others stay for at least ${limits.pictures.unusedHours} hours, even if their sessions are deleted meanwhile. \`maxBytes\` is the maximum size of a picture.`,
    answers: {
      200: {
        text: "The missing ones, in the order of the request.",
        example: { ok: true, missing: [otherHash], maxBytes: limits.pictures.bytes },
      },
    },
    example: { body: { hashes: [otherHash] } },
  },
} satisfies Operation;

export const sendPicture = {
  methods: ["PUT"],
  path: "/api/pictures/{sha256}",
  auth: "bearer",
  scope: "ingest",
  params: z.object({ sha256: sha256Text.meta({ examples: [pixelHash] }) }),
  response: z.strictObject({ ok: z.literal(true) }),
  about: {
    group: "Ingest",
    summary: "Send a picture",
    text: `The picture's bytes, at most ${limits.pictures.bytes / 2 ** 20} MiB and ${limits.pictures.pixels / 1_000_000} million pixels. A picture is stored once and counts against your quota. It is removed with the last session that refers to it, or after ${limits.pictures.unusedHours} hours if none does. Pictures are not masked.`,
    raw: { types: pictureTypes, example: { type: "image/gif", base64: pixel } },
    answers: {
      200: { text: "It was already stored.", example: { ok: true } },
      201: { text: "It is on disk.", example: { ok: true } },
    },
    errors: {
      invalid_request: {
        when: "The bytes have another SHA-256 or type, or the body ended early.",
        detail: "The body's SHA-256 differs from the path's.",
      },
      not_found: "The path contains no SHA-256.",
      payload_too_large: {
        when: "The picture has too many bytes or pixels, or exceeds your quota; `detail` contains the figures.",
        detail: `The body is over the limit of ${limits.pictures.bytes} bytes.`,
      },
      unsupported_media_type: {
        when: "The Content-Type is not that of a supported picture.",
        detail: `The Content-Type must be one of ${pictureTypes.join(", ")}.`,
      },
    },
  },
} satisfies Operation;
