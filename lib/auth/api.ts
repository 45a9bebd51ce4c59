import { sessionResponse } from "#lib/auth/schema";
import type { Operation } from "#lib/http/operation";

export const readSession = {
  methods: ["GET"],
  path: "/api/cli/session",
  auth: "bearer",
  scope: "none",
  response: sessionResponse,
  about: {
    group: "CLI token",
    summary: "Get the token's user",
    text: "A 401 means that the token is unknown, expired or revoked: log in again.",
    answers: {
      200: {
        text: "The token and its user.",
        example: {
          ok: true,
          userId: "0b9ddc6e-3b0f-4c86-9a4c-4e2d1f2a7c55",
          user: { name: "Ada", email: "ada@example.org" },
          machine: "ada-laptop",
          tokenId: "5d0f5c0e-8a53-4b4e-9b0c-0a8b5c7f1e11",
          scopes: ["ingest", "read"],
          createdAt: "2026-11-20T10:05:00.000Z",
          expiresAt: "2027-02-18T10:05:00.000Z",
        },
      },
    },
  },
} satisfies Operation;

export const endSession = {
  methods: ["DELETE"],
  path: "/api/cli/session",
  auth: "bearer",
  scope: "none",
  about: {
    group: "CLI token",
    summary: "Revoke the token",
    text: "Logs out: the token that authorizes the call is revoked.",
    answers: { 204: { text: "The token is revoked." } },
  },
} satisfies Operation;
