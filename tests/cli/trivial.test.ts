import { expect, test } from "vitest";
import type { Message } from "../../cli/adapters/adapter.ts";
import { notice, toolCall } from "../../cli/adapters/messages.ts";
import { TrivialCheck } from "../../cli/adapters/trivial.ts";

const user = (content: string): Message => ({ role: "user", content });
const answer = (content: string): Message => ({ role: "assistant", content });

function kindOf(...messages: Message[]): string | undefined {
  const check = new TrivialCheck();
  for (const message of messages) check.see(message);
  return new TrivialCheck(JSON.parse(JSON.stringify(check.save()))).details().kind;
}

test("a warm-up, commands of the program and its notices alone make a session trivial", () => {
  expect(kindOf(notice("<environment_context>"))).toBe("trivial");
  expect(kindOf(user("Warmup"), answer("I'm ready to help."))).toBe("trivial");
  expect(kindOf(user("/exit"))).toBe("trivial");
  expect(kindOf(user("/model opus"))).toBe("trivial");
  const command = "<command-name>/model</command-name>\n<command-message>model</command-message>";
  expect(kindOf(user(command), user("<local-command-stdout>Set model to opus</local-command-stdout>"))).toBe("trivial");
  expect(kindOf(user("<command-name>/exit</command-name>"), answer("No response requested."))).toBe("trivial");
});

test("a question, an answer, a tool's call and a picture are content", () => {
  expect(kindOf(user("Why?"))).toBeUndefined();
  expect(kindOf(user("/etc/hosts is wrong"))).toBeUndefined();
  expect(kindOf(user("<command-name>/review</command-name>"), answer("One bug."))).toBeUndefined();
  expect(kindOf(user("Warmup"), toolCall("Bash", "c1", { command: "ls" }))).toBeUndefined();
  expect(kindOf(user("/exit"), user("Warmup the cache, please"))).toBeUndefined();
  expect(kindOf(user("[image: image/png, 2 KiB]"))).toBeUndefined();
  expect(kindOf(answer("A report without its question."))).toBeUndefined();
});
