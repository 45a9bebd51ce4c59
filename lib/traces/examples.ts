// Examples for the API's documentation.

export const trace = {
  id: "019a9c3e-5b8f-7a10-8c44-92d5e1f06a3b",
  source: "claude-code",
  sourceId: "6f1c2b9e",
  model: "claude-opus-4-5",
  title: "Fix the flaky test",
  shortTitle: "Fix the flaky test",
  project: "api",
  createdAt: "2026-11-20T10:00:00.000Z",
  updatedAt: "2026-11-20T10:00:00.000Z",
  dated: true,
  messageCount: 2,
  tokenCount: 7,
  sanitized: false,
  metadata: null,
  usage: {
    inputTokens: 12,
    outputTokens: 7,
    cacheReadTokens: 18_400,
    cacheWrite5mTokens: 0,
    cacheWrite1hTokens: 310,
    reasoningTokens: 0,
    unpricedTokens: 0,
    tierNotPricedTokens: 0,
  },
  costNano: 12_535_000,
  recordedNano: null,
  parentId: null,
  parentRelation: null,
  projectId: "019a9c3e-5c02-7b31-a1d4-0f4be27a9c55",
  filesChanged: 1,
  linesAdded: 4,
  linesRemoved: 2,
  machine: "ada-laptop",
  turnCount: 1,
  callCount: 1,
  errorCount: 0,
  activeSeconds: 95,
  trivial: false,
  customTitle: null,
  starredAt: null,
  archivedAt: null,
  note: null,
  tags: [] as string[],
};

const pullRequest = { number: 123, repository: "ada/api", url: "https://github.com/ada/api/pull/123" };

export const listedTrace = { ...trace, pullRequests: [pullRequest] };

export const wholeTrace = {
  ...trace,
  branches: [{ branch: "mend-timer", evidence: "message", position: 0 }],
  commits: [
    {
      hash: "5f607182a3b4c5d6e7f8091a2b3c4d5e6f708192",
      subject: "Mend the timer",
      branch: "mend-timer",
      repository: "https://github.com/ada/api.git",
      url: "https://github.com/ada/api/commit/5f607182a3b4c5d6e7f8091a2b3c4d5e6f708192",
      evidence: "git-commit",
      position: 1,
    },
  ],
  pullRequests: [{ ...pullRequest, evidence: "gh-pr-create", position: 1 }],
};

export const messages = [
  {
    position: 0,
    role: "user",
    content: "The retry test fails now and then.",
    tokenCount: null,
    createdAt: "2026-11-20T10:00:00.000Z",
    metadata: null,
  },
  {
    position: 1,
    role: "assistant",
    content: "I'll look at its timers.",
    tokenCount: 7,
    createdAt: null,
    metadata: null,
  },
];
