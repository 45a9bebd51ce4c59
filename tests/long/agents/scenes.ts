// What the stand-in says and does. A prompt names a script, which has a step for each answer. All of it is made up; the secret is in
// the form of a real one, so that it is masked.

/** What a step does, in no agent's words. */
export type Deed =
  | { does: "shell"; command: string }
  | { does: "write"; file: string; text: string }
  | { does: "read"; file: string }
  | { does: "edit"; file: string; from: string; to: string }
  | { does: "search"; pattern: string }
  | { does: "wait" }
  | { does: "help"; title: string; prompt: string };

export type Step = {
  thinking?: string;
  text?: string;
  deeds?: Deed[];
  /** The request fails so often before it is answered. */
  fails?: { status: number; times: number };
  /** The answer tells that it filled the model's context. */
  isFull?: boolean;
  isCutOff?: boolean;
  /** The answer stops in the middle of its text, and the agent is sent the scene's signal. */
  holds?: boolean;
};

export const secret = ["ghp", "_R7x2Kq9TfL4mWz8VbN3cYp6DhJ5sGa1E0uQi"].join("");
const letters = "Grüße, naïve façade, 你好世界, こんにちは, 👩‍👩‍👧, مرحبا, שלום, 𝔘𝔫𝔦";
const count: Step[] = [
  { thinking: "I count what is here.", deeds: [{ does: "shell", command: "ls | wc -l" }] },
  { text: "I counted the files." },
];

const scripts: Record<string, Step[]> = {
  plain: [{ text: "The capital of France is Paris." }],
  thinking: [{ thinking: "They greet me.\nI greet them, too.", text: "Hello to you, too." }],
  tools: [
    { text: "I look around first.", deeds: [{ does: "shell", command: "ls && pwd" }] },
    { text: "Now I write a file.", deeds: [{ does: "write", file: "notes.txt", text: "first\nsecond\nthird\n" }] },
    { deeds: [{ does: "read", file: "notes.txt" }] },
    { deeds: [{ does: "search", pattern: "second" }] },
    { text: "The file `notes.txt` has **three** lines." },
  ],
  edit: [
    { deeds: [{ does: "read", file: "readme.md" }] },
    { thinking: "The heading changes.", deeds: [{ does: "edit", file: "readme.md", from: "Widgets", to: "Gadgets" }] },
    { text: "The heading says Gadgets now." },
  ],
  failures: [
    { text: "I try what fails.", deeds: [{ does: "shell", command: "echo to-out; echo to-err >&2; exit 3" }] },
    { deeds: [{ does: "read", file: "no/such/file.txt" }] },
    { text: "Both failed." },
  ],
  parallel: [
    {
      text: "Three at once.",
      deeds: ["one", "two", "three"].map((word) => ({ does: "shell", command: `echo ${word}` })),
    },
    { text: "All three came back." },
  ],
  helper: [
    { text: "I send a helper.", deeds: [helper("Count the files", "Count the files here. (script helping)")] },
    { deeds: [{ does: "wait" }] },
    { text: "The helper is back." },
  ],
  helpers: [
    {
      text: "I send two helpers.",
      deeds: [
        helper("Count once", "Count the files once. (script helping-once)"),
        helper("Count twice", "Count the files twice. (script helping-twice)"),
      ],
    },
    { deeds: [{ does: "wait" }] },
    { text: "Both helpers are back." },
  ],
  helping: count,
  "helping-once": count,
  "helping-twice": count,
  first: [{ text: "That was the first.", deeds: [{ does: "shell", command: "echo first" }] }, { text: "First done." }],
  second: [{ text: "That was the second." }],
  third: [{ thinking: "The third.", deeds: [{ does: "shell", command: "echo third" }] }, { text: "Third done." }],
  secret: [
    { text: "I read the settings.", deeds: [{ does: "shell", command: `echo "GITHUB_TOKEN=${secret}"` }] },
    { text: `The token is ${secret}, keep it safe.` },
  ],
  commit: [
    {
      text: "I commit.",
      deeds: [{ does: "shell", command: "echo work > work.txt && git add -A && git commit -m 'Work'" }],
    },
    { text: "It is committed." },
  ],
  picture: [{ text: "I look at it.", deeds: [{ does: "read", file: "dot.png" }] }, { text: "It is a dot." }],
  compaction: [
    { text: "I begin.", deeds: [{ does: "shell", command: "echo begun" }] },
    { text: "The context is full now.", isFull: true, deeds: [{ does: "shell", command: "echo full" }] },
    { text: "I went on behind the summary." },
  ],
  retry: [{ fails: { status: 529, times: 2 }, text: "The third try was answered." }],
  refused: [{ fails: { status: 400, times: 1000 } }],
  cutoff: [{ text: "This answer is cut off aft", isCutOff: true }],
  stopped: [
    { text: "I begin.", deeds: [{ does: "shell", command: "echo begun" }] },
    { text: `This answer never ends. ${"And on. ".repeat(30)}`, holds: true },
  ],
  unicode: [
    {
      thinking: `Thought: ${letters}`,
      text: `Said: ${letters}`,
      deeds: [{ does: "shell", command: `printf '%s\\n' '${letters}'` }],
    },
    { text: `All came through: ${letters}` },
  ],
  long: [
    {
      text: "Much follows.",
      deeds: [{ does: "shell", command: 'for i in $(seq 1 3000); do echo "row $i of many"; done' }],
    },
    { text: Array.from({ length: 300 }, (_, at) => `Line ${at + 1} of a long answer.`).join("\n") },
  ],
};

export type Scene = {
  /** Each is a run of the agent; all but the first resume the session. */
  prompts: string[];
  /** Sent to the agent while an answer is held. */
  signal?: "SIGINT" | "SIGKILL";
  needs?: "help" | "resume" | "thinking";
};

const prompts: Record<string, string> = {
  plain: "Which city is the capital of France?",
  unicode: `Write in these letters: ${letters}`,
};

const ask = (script: string) => `${prompts[script] ?? `Please show what ${script} looks like.`} (script ${script})`;

export const scenes: Record<string, Scene> = {
  plain: { prompts: [ask("plain")] },
  thinking: { prompts: [ask("thinking")], needs: "thinking" },
  tools: { prompts: [ask("tools")] },
  edit: { prompts: [ask("edit")] },
  failures: { prompts: [ask("failures")] },
  parallel: { prompts: [ask("parallel")] },
  "sub-agent": { prompts: [ask("helper")], needs: "help" },
  "two sub-agents": { prompts: [ask("helpers")], needs: "help" },
  resume: { prompts: [ask("first"), ask("second"), ask("third")], needs: "resume" },
  secret: { prompts: [ask("secret")] },
  commit: { prompts: [ask("commit")] },
  picture: { prompts: [ask("picture")] },
  compaction: { prompts: [ask("compaction")] },
  retry: { prompts: [ask("retry")] },
  refusal: { prompts: [ask("refused")] },
  "cut off": { prompts: [ask("cutoff")] },
  interrupted: { prompts: [ask("stopped")], signal: "SIGINT" },
  killed: { prompts: [ask("stopped")], signal: "SIGKILL" },
  unicode: { prompts: [ask("unicode")] },
  "long output": { prompts: [ask("long")] },
};

/** The step of a script by the number of answers since its prompt; the last one where there are no more. */
export const getStep = (script: string, answered: number): Step =>
  scripts[script]?.[answered] ?? scripts[script]?.at(-1) ?? { text: "There is no such script." };

/** The last script that a text names. */
export const scriptIn = (text: string): string | undefined => [...text.matchAll(/\(script ([\w-]+)\)/g)].at(-1)?.[1];

export const isHelper = (script: string): boolean => script.startsWith("helping");

/** What a helper was told, by its script. */
export function getTask(script: string): { title: string; prompt: string } {
  const deeds = Object.values(scripts).flatMap((steps) => steps.flatMap(({ deeds = [] }) => deeds));
  for (const deed of deeds) if (deed.does === "help" && scriptIn(deed.prompt) === script) return deed;
  throw new Error(`no helper plays ${script}`);
}

function helper(title: string, prompt: string): Deed {
  return { does: "help", title, prompt };
}
