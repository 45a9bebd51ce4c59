// What `npm run prove:usage` compared with other tools; docs/usage-proof.md tells each difference.
export const proved: Record<
  string,
  [input: number, output: number, cacheRead: number, cacheWrite: number, nano: bigint | undefined]
> = {
  "claude-code claude-opus-4-8 2026-11-01": [8, 508, 11_000, 11_310, 142_677_500n],
  "claude-code claude-haiku-4-5 2026-11-02": [2100, 125, 0, 4000, 7_725_000n],
  "claude-code claude-opus-4-6 2026-11-02": [40, 300, 12_000, 0, 82_200_000n],
  "claude-code claude-sonnet-4-5 2026-11-02": [250, 1200, 240_000, 1500, 183_750_000n],
  "claude-code claude-opus-4-8 2026-11-03": [16, 108, 22_800, 970, 23_317_500n],
  "codex-cli gpt-5.2-codex 2026-11-03": [12_000, 1433, 23_000, 0, 45_087_000n],
  "codex-cli gpt-5.1-codex-mini 2026-11-03": [3000, 50, 0, 0, 850_000n],
  "gemini-cli gemini-2.5-pro 2026-11-04": [2000, 200, 6000, 0, 5_250_000n],
  "gemini-cli gemini-2.5-flash 2026-11-04": [500, 20, 0, 0, 200_000n],
  "opencode claude-sonnet-4 2026-11-05": [400, 140, 9000, 1500, 11_625_000n],
  "opencode gpt-5.2 2026-11-05": [2000, 350, 500, 0, 8_487_500n],
  "amp claude-opus-4-5 2026-11-01": [40, 20, 400, 28, 1_075_000n],
  "amp gpt-5.2 2026-11-01": [40, 20, 400, 28, 469_000n],
  "copilot-cli gpt-5 2026-11-01": [160, 28, 240, 0, 510_000n],
  "droid claude-opus-4-5 2026-11-01": [160, 28, 240, 0, 1_620_000n],
  "kimi-cli  2026-11-01": [160, 28, 240, 0, undefined],
  "kimi-code kimi-k2.7-code 2026-11-01": [169, 31, 241, 0, 330_340n],
  "openclaw claude-opus-4-5 2026-11-01": [160, 28, 240, 12, 1_695_000n],
  "pi claude-opus-4-5 2026-11-01": [160, 28, 240, 12, 1_695_000n],
  "qwen-code qwen3-coder 2026-11-01": [160, 28, 240, 0, 138_400n],
};
