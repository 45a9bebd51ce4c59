import { z } from "zod";
import { sha256Text } from "#lib/core/fields";
import type { Operation } from "#lib/http/operation";

const hash = sha256Text.meta({ examples: ["ef1955ae757c8b966c83248350331bd3a30f658ced11f387f8ebf05ab3368629"] });

const picture = {
  text: "The bytes as they were sent, with their own Content-Type.",
  type: "image/*",
  schema: z.string(),
  example: "GIF89a…",
} as const;

export const readTracePicture = {
  methods: ["GET"],
  path: "/api/traces/{id}/pictures/{sha256}",
  auth: "cookie-or-bearer",
  scope: "read",
  params: z.object({ id: z.uuid(), sha256: hash }),
  about: {
    group: "Traces",
    summary: "Get a picture",
    text: "A picture that a message of the trace names in `metadata.pictures`. One that was not sent, and one that only other traces name, is missing.",
    partialExample: true,
    answers: { 200: picture },
  },
} satisfies Operation;

export const readSharedPicture = {
  methods: ["GET"],
  path: "/api/shared/{link}/pictures/{sha256}",
  auth: "none",
  params: z.object({
    link: z
      .string()
      .max(64)
      .meta({ examples: ["hHY0mVJbZHr0Yp3q1kPxTqkzQqvY1o2nF9aX"] }),
    sha256: hash,
  }),
  about: {
    group: "Traces",
    summary: "Get a shared picture",
    text: "For the page of a share link, whose last part `link` is: a picture of a message that the link opens, where it was made with pictures. Anything else is missing.",
    partialExample: true,
    answers: { 200: picture },
    errors: {
      rate_limited: "Too many pictures were read from this network.",
    },
  },
} satisfies Operation;
