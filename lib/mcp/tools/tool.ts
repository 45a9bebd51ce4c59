import type { z } from "zod";

/** `projectId` is the only project that the reader may see. */
export type AgentReader = { userId: string; projectId: string | null };

/** Answers Markdown; throws SpoorError. */
export type Tool<Input extends z.ZodObject = z.ZodObject> = {
  name: string;
  title: string;
  description: string;
  input: Input;
  run(input: z.output<Input>, reader: AgentReader): Promise<string>;
};
