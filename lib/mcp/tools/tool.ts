import type { z } from "zod";

/** Who calls: whose sessions are read, and of which project alone, where the person let no more be read. */
export type AgentReader = { userId: string; projectId: string | null };

/** A tool that reads sessions and changes nothing. It answers Markdown, and throws SpoorError. */
export type Tool<Input extends z.ZodObject = z.ZodObject> = {
  name: string;
  title: string;
  /** For the agent that chooses among tools. */
  description: string;
  input: Input;
  run(input: z.output<Input>, reader: AgentReader): Promise<string>;
};
