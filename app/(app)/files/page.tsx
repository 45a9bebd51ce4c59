import type { Metadata } from "next";
import { requireUser } from "#lib/auth/guards";
import { listTouching } from "#lib/files/files";
import { filesQuery, type Touched } from "#lib/files/schema";
import { Pager, readByCursor } from "../../components/pager";
import { formatCount } from "../../components/values/figures";
import { ActivityTime } from "../../components/values/time";
import { readerHref } from "../traces/[id]/frame/links";
import { listHref } from "../traces/hrefs";

export const metadata: Metadata = { title: "Files" };

export default async function Page({ searchParams }: PageProps<"/files">) {
  const given = await searchParams;
  const query = filesQuery.safeParse(
    Object.fromEntries(Object.entries(given).filter(([, value]) => typeof value === "string" && value !== "")),
  ).data;
  const user = await requireUser(query ? filesHref(query) : "/files");
  const path = query?.path ?? "";
  const found = query && (await readByCursor(query, (asked) => listTouching(user.id, asked)));
  return (
    <div className="flex flex-col gap-4">
      <h1 className="font-semibold text-title">Sessions with a file</h1>
      <SearchForm path={path} action={query?.action ?? "any"} />
      {found ? <Found path={path} files={found.files} /> : <Hint />}
      {query && found && (
        <Pager
          first={query.cursor && ["Newest", filesHref({ path, action: query.action })]}
          next={found.nextCursor && ["Older", filesHref({ path, action: query.action, cursor: found.nextCursor })]}
        />
      )}
    </div>
  );
}

type FilesQuery = NonNullable<ReturnType<typeof filesQuery.safeParse>["data"]>;

function filesHref({
  path,
  action,
  cursor,
}: Pick<FilesQuery, "path" | "action"> & { cursor?: string | undefined }): string {
  return `/files?${new URLSearchParams({ path, ...(action !== "any" && { action }), ...(cursor && { cursor }) })}`;
}

function SearchForm({ path, action }: Pick<FilesQuery, "path" | "action">) {
  return (
    <search>
      <form method="get" action="/files" className="flex flex-wrap gap-2">
        <label htmlFor="path" className="sr-only">
          Path or name of a file
        </label>
        <input
          id="path"
          name="path"
          type="search"
          defaultValue={path}
          placeholder="src/x.ts"
          autoComplete="off"
          spellCheck={false}
          maxLength={1024}
          className="input min-w-0 max-w-lg grow basis-60 font-mono"
        />
        <label htmlFor="action" className="sr-only">
          What was done
        </label>
        <select id="action" name="action" defaultValue={action} className="input w-auto">
          <option value="any">read or changed</option>
          <option value="changed">changed</option>
          <option value="read">read</option>
        </select>
        <button type="submit" className="button">
          Search
        </button>
      </form>
    </search>
  );
}

function Hint() {
  return <p className="py-4 text-muted">Find sessions that touched a file, by its name or the end of its path.</p>;
}

function Found({ path, files }: { path: string; files: Touched[] }) {
  if (files.length === 0) return <Nothing path={path} />;
  return (
    <>
      <ul aria-label="Sessions" className="border-hairline border-t">
        {files.map((file) => (
          <Session key={`${file.traceId} ${file.path}`} file={file} />
        ))}
      </ul>
      <p className="text-code text-muted">
        <a href={listHref({ q: makeFileTerm(path) })} className="link">
          Search sessions for {makeFileTerm(path)}
        </a>
      </p>
    </>
  );
}

const makeFileTerm = (path: string) => (/\s/.test(path) ? `file:"${path.replaceAll('"', "")}"` : `file:${path}`);

function Session({ file }: { file: Touched }) {
  const { traceId, title, project, path, edits, reads, added, removed, firstPosition, lastPosition } = file;
  const place = (position: number) => `${readerHref(traceId, { at: String(position) })}#m${position}`;
  return (
    <li className="flex flex-col gap-0.5 border-hairline border-b py-2">
      <div className="flex items-baseline gap-2">
        <a href={place(firstPosition)} className="quiet-link min-w-0 truncate">
          {title || <span className="text-muted">Untitled session</span>}
        </a>
        <span className="ml-auto shrink-0 text-meta text-muted">
          <ActivityTime of={file} />
        </span>
      </div>
      <div className="flex flex-wrap items-baseline gap-x-3 text-code text-muted">
        <span className="min-w-0 break-all font-mono">{path}</span>
        {project && <span>{project}</span>}
        <span className="ml-auto flex gap-3">
          {edits > 0 && (
            <span>
              {formatCount(edits)} {edits === 1 ? "change" : "changes"}{" "}
              <span className="text-ok">+{formatCount(added)}</span>{" "}
              <span className="text-bad">−{formatCount(removed)}</span>
            </span>
          )}
          {reads > 0 && (
            <span>
              {formatCount(reads)} {reads === 1 ? "read" : "reads"}
            </span>
          )}
          {lastPosition !== firstPosition && (
            <a href={place(lastPosition)} className="link">
              Last edit
            </a>
          )}
        </span>
      </div>
    </li>
  );
}

function Nothing({ path }: { path: string }) {
  const parts = path.split(/[\\/]/).filter(Boolean);
  const name = parts.at(-1) ?? "";
  return (
    <div className="flex flex-col gap-2 py-4">
      <p>No session read or changed a file whose path ends with “{path}”.</p>
      <ul className="flex flex-col gap-1 text-muted">
        {parts.length > 1 && (
          <li>
            <a href={filesHref({ path: name, action: "any" })} className="link">
              Any file named {name}
            </a>
          </li>
        )}
        <li>
          <a href={listHref({ q: name })} className="link">
            Sessions that mention {name}
          </a>
        </li>
        <li>
          Paths are relative to the session’s folder, and a session that was just uploaded is still being counted.
        </li>
      </ul>
    </div>
  );
}
