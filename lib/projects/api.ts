import { z } from "zod";
import type { Operation } from "#lib/http/operation";
import { projectResponse, projectsQuery, projectsResponse } from "#lib/projects/schema";

const project = {
  id: "019a9c40-1f2e-7c31-9a70-5b1c7e2d4f60",
  name: "api",
  distinction: null,
  sessions: 41,
  sessionsPutAway: 2,
  costNano: 12_345_678_900,
  usage: {
    inputTokens: 120_400,
    outputTokens: 310_020,
    cacheReadTokens: 18_400_112,
    cacheWrite5mTokens: 1_204_000,
    cacheWrite1hTokens: 0,
    reasoningTokens: 0,
    unpricedTokens: 0,
    tierNotPricedTokens: 0,
  },
  agents: ["claude-code", "codex"],
  lastActiveAt: "2026-11-20T10:00:00.000Z",
};

const share = (value: string) => ({ value, sessions: 41, costNano: 12_345_678_900 });

export const readProjectList = {
  methods: ["GET"],
  path: "/api/projects",
  auth: "cookie-or-bearer",
  scope: "read",
  query: projectsQuery,
  response: projectsResponse,
  about: {
    group: "Projects",
    summary: "List projects",
    text: "A project unites machines and worktrees: sessions of the same Git remote, otherwise of the same folder, otherwise of the same name. Most recently active first; `sort` is `active`, `name`, `sessions` or `cost`, and `q` a part of the name. `distinction` distinguishes projects with equal names. `costNano` is in billionths of a US dollar; it excludes `unpricedTokens`, whose model has no price, and includes `tierNotPricedTokens` at the standard price. `sessionsPutAway` counts archived sessions and those without content. Continue with `cursor` from `nextCursor`, which is null at the end.",
    answers: { 200: { text: "A page of the projects.", example: { ok: true, projects: [project], nextCursor: null } } },
    errors: {
      invalid_request: "A parameter is not valid, or the cursor is unknown.",
    },
    example: { query: { sort: "cost", limit: "20" } },
    wrong: { query: { limit: "0", sort: "size" } },
  },
} satisfies Operation;

export const readProject = {
  methods: ["GET"],
  path: "/api/projects/{id}",
  auth: "cookie-or-bearer",
  scope: "read",
  params: z.object({ id: z.uuid() }),
  response: projectResponse,
  about: {
    group: "Projects",
    summary: "Get a project",
    text: "Includes its identifiers (`aliases`), and its sessions by agent, model, machine and branch (at most 50 of each) and by month (the latest 24, UTC). `GET /api/traces?projectId=` lists its sessions.",
    answers: {
      200: {
        text: "The project.",
        example: {
          ok: true,
          project: {
            ...project,
            createdAt: "2026-03-01T09:00:00.000Z",
            aliases: [
              { kind: "remote", machine: null, value: "github.com/ada/api" },
              { kind: "folder", machine: "ada-laptop", value: "/home/ada/api" },
            ],
            byAgent: [share("claude-code")],
            byModel: [share("claude-opus-4-5")],
            byMachine: [share("ada-laptop")],
            byBranch: [share("main")],
            byMonth: [
              {
                month: "2026-11",
                tokens: 20_034_532,
                costNano: 12_345_678_900,
                unpricedTokens: 0,
                tierNotPricedTokens: 0,
              },
            ],
          },
        },
      },
    },
  },
} satisfies Operation;
