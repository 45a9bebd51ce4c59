import { pool } from "#lib/db/client";

/**
 * SQL for the content of the message at position `p`: prose, commands, files and thoughts of one to hundreds of lines.
 */
const contentSql = `case
  when p % 50 = 0 then 'Question ' || p || ': why does the build of module ' || (p % 7) || ' fail?'
  when p % 97 = 0 then '<tool-use data-tool-type="read" data-tool-name="Read"><details>' || chr(10)
    || '<summary>Tool use: **Read**</summary>' || chr(10) || ' \`src/module' || p || '.ts\`' || chr(10) || chr(10) || '\`\`\`text' || chr(10)
    || (select string_agg(n || chr(9) || 'export const line' || n || ' = ' || (p * n % 1000) || ';', chr(10)) from generate_series(1, 300) n)
    || chr(10) || '\`\`\`' || chr(10) || '</details></tool-use>'
  when p % 3 = 0 then '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>' || chr(10)
    || '<summary>Tool use: **Bash**</summary>' || chr(10) || 'Look at step ' || p || chr(10) || chr(10) || '\`npm test -- step' || p || '\`' || chr(10) || chr(10)
    || '\`\`\`text' || chr(10) || (select string_agg('line ' || n || ' of the output of ' || p, chr(10)) from generate_series(1, 1 + p % 40) n)
    || chr(10) || '\`\`\`' || chr(10) || '</details></tool-use>'
  when p % 11 = 0 then '## Findings ' || p || chr(10) || chr(10)
    || (select string_agg('- point ' || n || ' of **' || p || '**, in \`src/a' || n || '.ts\`', chr(10)) from generate_series(1, 5 + p % 60) n)
    || chr(10) || chr(10) || '\`\`\`ts' || chr(10)
    || (select string_agg('const value' || n || ': number = compute(' || n || ', "text"); // ' || p, chr(10)) from generate_series(1, 3 + p % 30) n)
    || chr(10) || '\`\`\`'
  else 'Answer ' || p || '. ' || repeat('It depends on the order in which the modules are read. ', 1 + p % 9)
  end`;

/** SQL for messages of words only, for tests that depend on heights; position 2502 is a command with its output. */
export const wordsSql = `case p
  when 2502 then '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>' || chr(10)
    || '<summary>Tool use: **Bash**</summary>' || chr(10) || 'Look' || chr(10) || chr(10) || '\`ls\`' || chr(10) || chr(10)
    || '\`\`\`text' || chr(10) || 'a line' || chr(10) || '\`\`\`' || chr(10) || '</details></tool-use>'
  else 'Answer ' || p || '. ' || repeat('It depends on the order in which the modules are read. ', p % 40)
  end`;

type Options = {
  messages: number;
  first?: number;
  title?: string;
  source?: string;
  sourceId?: string;
  content?: string;
};

/** Stores a session of generated messages, a minute apart, starting at position `first`. @returns the trace's id */
export async function storeSession(userId: string, options: Options): Promise<string> {
  const {
    messages,
    first = 0,
    title = "A long session",
    source = "claude-code",
    sourceId = `long-${messages}`,
    content,
  } = options;
  const { rows } = await pool().query<{ id: string }>(
    `insert into trace (user_id, id, source, source_id, model, project, title, created_at, message_count, token_count,
       content_hash, upload_sequence, activity_at)
     values ($1, gen_random_uuid(), $2, $3, 'opus-4', 'api', $4, '2026-01-01T00:00:00Z', $5, $5 * 100, '', 1,
       '2026-01-01T00:00:00Z'::timestamptz + $5 * interval '1 minute') returning id`,
    [userId, source, sourceId, title, messages],
  );
  const id = rows[0]?.id ?? "";
  await addMessages(userId, id, { from: first, to: first + messages - 1, content });
  await pool().query("analyze message");
  return id;
}

/** Adds generated messages to a session without updating its trace. */
export async function addMessages(
  userId: string,
  traceId: string,
  { from, to, content = contentSql }: { from: number; to: number; content?: string | undefined },
): Promise<void> {
  await pool().query(
    `insert into message (user_id, trace_id, position, role, content, token_count, created_at)
     select $1, $2, p, case when p % 50 = 0 then 'user' else 'assistant' end, ${content}, 100,
       '2026-01-01T00:00:00Z'::timestamptz + p * interval '1 minute'
     from generate_series($3::int, $4::int) p`,
    [userId, traceId, from, to],
  );
}
