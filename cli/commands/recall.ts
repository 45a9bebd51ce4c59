import { type Context, stringValue } from "../context.ts";
import { CommandError } from "../errors.ts";
import { type Fields, isFields, toText } from "../files/json.ts";
import { program } from "../program.ts";
import { connectLoggedIn } from "../server/connection.ts";
import { styled } from "../terminal/terminal.ts";

const maxLength = 2000;
const maxLines = 3;

export async function recall(context: Context): Promise<void> {
  const { terminal, words } = context;
  const error = words.join(" ").trim().slice(0, maxLength).toWellFormed().replaceAll("\0", "");
  if (error === "") throw new CommandError("usage", `recall takes an error's text. See: ${program} recall --help`);
  const { api, server } = await connectLoggedIn(context, { patienceSeconds: 5 });
  const project = stringValue(context, "project");
  const query = new URLSearchParams({ error, ...(project && { project }) });
  const { body } = await api.request(`/api/recall?${query}`);
  const places = Array.isArray(body.places) ? body.places.filter(isFields) : [];
  terminal.json({ server, exact: body.exact === true, places });
  if (places.length === 0) terminal.say("No session on the server contains this.");
  else if (body.exact !== true) terminal.say("No session contains this line; these contain its most specific words:");
  for (const place of places) write(context, place);
}

function write({ terminal }: Context, place: Fields): void {
  const facts = [toText(place.at).slice(0, 10), toText(place.source), toText(place.project)].filter(Boolean);
  terminal.say(styled("bold", toText(place.title) || "Untitled session"), styled("dim", `  ${facts.join(" · ")}`));
  for (const line of cutLines(place.excerpt)) terminal.say("  ", line);
  for (const line of cutLines(place.said)) terminal.say("  ", styled("green", "→ "), line);
  terminal.say("  ", styled("cyan", toText(place.link)));
}

const cutLines = (text: unknown): string[] =>
  toText(text)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .slice(0, maxLines)
    .map((line) => (line.length > 200 ? `${line.slice(0, 199)}…` : line));
