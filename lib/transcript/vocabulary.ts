import type { PartKind } from "#lib/transcript/message";

const names: Partial<Record<PartKind, string>> = {
  shell: `bash shell shellcommand exec execcommand execute executecommand runcommand runshellcommand runterminalcmd
    runterminalcommand runterminalcommandv2 localshell localshellcall terminal bashoutput taskoutput killshell killbash
    writestdin commandstatus sendcommandinput powershell runterminal shellexec developershell
    runcommands readcommandoutput runinterminal getterminaloutput copilotruninterminal
    executebash executecmd controlbashprocess`,
  edit: `edit multiedit notebookedit applypatch applydiff searchreplace strreplace strreplaceeditor
    strreplacebasededittool strreplacefile replace editfile replaceincontent replaceinfile replacefilecontent
    multireplacefilecontent update patch editnotebook editfilev2 multistrreplace
    developertexteditor append fsappend
    editedexistingfile applieddiff insertcontent searchandreplace editor replacestringinfile multireplacestringinfile
    inserteditintofile copilotreplacestring copilotmultireplacestring copilotinsertedit copilotapplypatch editexistingfile
    singlefindandreplace editnotebookfile vscodeeditfileinternal copiloteditnotebook
    deletefile deletefilev2 removefile deletepath movefile movepath renamefile`,
  write: "write writefile writetofile createfile newfile create newfilecreated copilotcreatefile createnewfile fswrite",
  read: `read readfile viewfile view readmanyfiles listdir listdirectory listfiles ls notebookread openfile
    viewfileoutline viewcodeitem viewimage readfiles listcodedefinitionnames readfilev2 listdirv2
    listfilestoplevel listfilesrecursive copilotreadfile copilotlistdirectory fsread readcode readmultiplefiles`,
  search: `grep glob search searchfiles grepsearch filesearch codebasesearch searchfilecontent findfiles findbyname
    ripgrep toolsearch codesearch findfile globfilesearch
    ripgreprawsearch semanticsearch semanticsearchfull
    copilotfindtextinfiles copilotfindfiles copilotsearchcodebase globfile fileglobsearch`,
  web: `webfetch websearch fetch googlewebsearch searchweb readurlcontent browser browseraction webrun
    webfetchtool urlfetch fetchurl
    fetchwebpage copilotfetchwebpage vscodefetchwebpageinternal readwebpage fetchurlcontent`,
  question: "askuserquestion askquestion askfollowupquestion requestuserinput askuser question",
  plan: "exitplanmode enterplanmode planmoderespond createplan presentplan",
  tasks: `todowrite todoread taskcreate taskupdate tasklist taskget updateplan todo todolist managetask writetodos
    updatetodos setplan settodolist todotodowrite updatetodolist focuschain managetodolist`,
  subagent:
    "task agent spawnagent invokesubagent subagent delegate newtask dispatchagent agentswarm taskv2 subagentexecutetask usesubagents usesubagent runsubagent",
  command: "skill slashcommand useskill activateskill",
};

const kindByName = new Map(
  Object.entries(names).flatMap(([kind, list]) => list.split(/\s+/).map((name) => [name, kind as PartKind] as const)),
);

export const plainName = (name: string): string =>
  name
    .slice(0, 128)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "");

const kindByType: Record<string, PartKind> = {
  shell: "shell",
  write: "edit",
  read: "read",
  search: "search",
  task: "tasks",
};

export function findToolKind(name: string, type?: string): PartKind {
  const typed = type !== undefined && Object.hasOwn(kindByType, type) ? kindByType[type] : undefined;
  return kindByName.get(plainName(name)) ?? typed ?? "unknown";
}

const languages: Record<string, string> = {
  bash: "bash sh zsh shell shellscript console shellsession fish ksh",
  c: "c h",
  cpp: "cpp cc cxx hpp hh c++",
  csharp: "cs csharp c#",
  css: "css",
  diff: "diff patch",
  docker: "docker dockerfile",
  go: "go golang",
  graphql: "graphql gql",
  html: "html htm",
  ini: "ini cfg conf properties",
  java: "java",
  javascript: "js javascript mjs cjs",
  json: "json jsonl ndjson json5 jsonc ipynb",
  jsx: "jsx",
  kotlin: "kt kts kotlin",
  lua: "lua",
  make: "make makefile mk",
  markdown: "md markdown mdx",
  php: "php",
  powershell: "ps1 powershell pwsh",
  prisma: "prisma",
  python: "py python py3 pyi",
  ruby: "rb ruby",
  rust: "rs rust",
  scala: "scala sc",
  scss: "scss sass",
  sql: "sql pgsql psql",
  svelte: "svelte",
  swift: "swift",
  terraform: "tf hcl terraform",
  toml: "toml",
  tsx: "tsx",
  typescript: "ts typescript mts cts",
  vue: "vue",
  xml: "xml svg plist",
  yaml: "yaml yml",
  zig: "zig",
};

const languageByName = new Map(
  Object.entries(languages).flatMap(([language, list]) => list.split(" ").map((name) => [name, language] as const)),
);

/** "" if the reader doesn't highlight it. */
export const findLanguage = (name: string) => languageByName.get(name.slice(0, 32).toLowerCase()) ?? "";

export function findPathLanguage(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return findLanguage(name.slice(name.lastIndexOf(".") + 1));
}
