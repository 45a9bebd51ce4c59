import { expect, test } from "vitest";
import { isLive } from "#lib/traces/standing";
import { findWaitingState } from "../../../lib/traces/standing";
import { message } from "./rendering";

const user = () => message({ role: "user", content: "Mend it" });
const said = (stopReason?: string) => message({ content: "Done.", ...(stopReason && { metadata: { stopReason } }) });
const asks = (output?: string) =>
  message({
    metadata: {
      tool: {
        name: "AskUserQuestion",
        callId: "q",
        input: { questions: [{ question: "Which?", options: [{ label: "A" }] }] },
        ...(output !== undefined && { output }),
      },
    },
  });

test("an agent waits once it has said all, and asks as long as nobody answered", () => {
  expect(findWaitingState([user(), said("end_turn")])).toBe("waiting");
  expect(findWaitingState([user(), said("end_turn"), message({ content: "And this." })])).toBe("waiting");
  expect(findWaitingState([user(), asks()])).toBe("asking");
});

test("nothing is said of an agent that works, that was asked again, or whose format does not tell", () => {
  expect(findWaitingState([user(), said("tool_use")])).toBeUndefined();
  expect(findWaitingState([user(), said()])).toBeUndefined();
  expect(findWaitingState([user(), said("end_turn"), user()])).toBeUndefined();
  expect(findWaitingState([user(), asks("A")])).toBeUndefined();
  expect(findWaitingState([said("end_turn"), user(), message({ content: "Well" })])).toBeUndefined();
  expect(findWaitingState([])).toBeUndefined();
});

test("a session is live for ten minutes after its last activity, whose clock may be wrong", () => {
  const now = Date.UTC(2026, 2, 3);
  const at = (minutes: number) => new Date(now + minutes * 60_000).toISOString();
  expect([-9, -11, 5, 600].map((minutes) => isLive(at(minutes), now))).toEqual([true, false, true, false]);
});
