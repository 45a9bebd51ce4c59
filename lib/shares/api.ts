import { z } from "zod";
import type { Operation } from "#lib/http/operation";
import { pictureAnswer, pictureHashParameter } from "#lib/traces/api";

export const readSharedPicture = {
  methods: ["GET"],
  path: "/api/shared/{link}/pictures/{sha256}",
  auth: "none",
  params: z.object({
    link: z
      .string()
      .max(64)
      .meta({ examples: ["hHY0mVJbZHr0Yp3q1kPxTqkzQqvY1o2nF9aX"] }),
    sha256: pictureHashParameter,
  }),
  about: {
    group: "Traces",
    summary: "Get a shared picture",
    text: "For the page of a share link with pictures, whose last part is `link`: a picture of a shared message. Anything else is 404.",
    partialExample: true,
    answers: { 200: pictureAnswer },
    errors: {
      rate_limited: "Too many pictures were read from this network.",
    },
  },
} satisfies Operation;
