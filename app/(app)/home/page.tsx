import type { Metadata } from "next";
import { requireUser } from "#lib/auth/guards";
import { countTraces } from "#lib/traces/facets";
import { Section } from "../../components/section";
import { readerZone } from "../../components/shell/preferences";
import { Refresh } from "../../components/shell/refresh";
import { Counting } from "../../components/values/counting";
import { formatDate } from "../../components/values/date-format";
import { formatCount, formatQuantity } from "../../components/values/figures";
import { formatMoney } from "../../components/values/money";
import { Connect } from "../traces/connect";
import { listHref } from "../traces/hrefs";
import { noteVisitAction } from "./actions";
import { Concerns } from "./concerns";
import { Days, Figures } from "./figures";
import { maxCounted, type News, readNews } from "./news";
import { Projects } from "./projects";
import { Seen } from "./seen";
import { Sessions } from "./sessions";
import { inWords, sinceText, timeText } from "./words";

export const metadata: Metadata = { title: "Home" };

export default async function Page() {
  const user = await requireUser("/home");
  const [zone, now] = [await readerZone(), new Date()];
  const news = await readNews(user, zone, now);
  const { digests, concerns, live, fresh, earlier } = news;
  if (live.length + fresh.length + earlier.length === 0 && (await countTraces(user.id, {}, 1)) === 0)
    return <Connect />;
  return (
    <div className="flex flex-col gap-8">
      <header className="flex max-w-[72ch] flex-col gap-1">
        <p className="text-code text-muted">
          {formatDate(now, zone, { weekday: "long", day: "numeric", month: "long", year: "numeric" })}
        </p>
        <h1 className="font-semibold text-figure text-balance">{headline(news, now, zone)}</h1>
        <Summary news={news} />
      </header>
      <div className="grid gap-x-14 gap-y-8 lg:grid-cols-[minmax(0,1fr)_22rem] lg:grid-rows-[auto_1fr]">
        <div className="lg:col-start-2">
          <Section id="look" title="Needs attention">
            <Concerns concerns={concerns} />
          </Section>
        </div>
        <div className="flex min-w-0 flex-col gap-8 lg:col-start-1 lg:row-span-2 lg:row-start-1">
          <Stories news={news} />
        </div>
        <div className="flex flex-col gap-8 lg:col-start-2">
          <Section id="figures" title="Today and this week">
            <Figures digests={digests} due={news.due} />
            <Counting sessions={news.due} />
            <Days days={digests.days} />
          </Section>
          {digests.projects.length > 0 && (
            <Section id="projects" title="By project this week">
              <Projects projects={digests.projects} labels={news.labels} />
            </Section>
          )}
        </div>
      </div>
      <Seen action={noteVisitAction} />
    </div>
  );
}

function Stories({ news: { since, count, more, labels, live, standings, fresh, earlier } }: { news: News }) {
  return (
    <>
      {live.length > 0 && (
        <Section id="live" title="Running now">
          <Sessions label="Running now" sessions={live} labels={labels} standings={standings} />
          <Refresh everySeconds={15} />
        </Section>
      )}
      {fresh.length > 0 && (
        <Section id="fresh" title="New">
          <Sessions label="New" sessions={fresh} labels={labels} />
          {more > 0 && since && (
            <p>
              <a href={listHref({ from: since.toISOString() })} className="link target">
                {count >= maxCounted ? `${formatCount(maxCounted)} or more` : `${formatCount(more)} more`}
              </a>
            </p>
          )}
        </Section>
      )}
      {earlier.length > 0 && (
        <Section id="earlier" title={fresh.length > 0 || live.length > 0 ? "Before that" : "Latest sessions"}>
          <Sessions label="Earlier sessions" sessions={earlier} labels={labels} />
          <p>
            <a href="/traces" className="link target">
              All sessions
            </a>
          </p>
        </Section>
      )}
    </>
  );
}

function headline({ since, count, live }: News, now: Date, zone: string): string {
  const running = live.length > 0 ? `${formatQuantity(live.length, "session")} running` : "";
  if (!since) return running || "Welcome";
  const text = sinceText(since, now, zone);
  if (count === 0) return running ? `${running} · nothing new since ${text}` : `Nothing new since ${text}`;
  const sessions =
    count >= maxCounted ? `${formatCount(maxCounted)} sessions or more` : formatQuantity(count, "session");
  return `${sessions} since ${text}${running && ` · ${running.replace(/ sessions?/, "")}`}`;
}

function Summary({ news: { since, digests, failing, fresh, live, labels } }: { news: News }) {
  const { messages, costNano, seconds } = (since ? digests.since : digests.week) ?? digests.week;
  if (messages === 0) return null;
  const names = [...fresh, ...live].flatMap(({ projectId }) => labels.get(projectId ?? "")?.name ?? []);
  const known = [...new Set(names)].slice(0, 3);
  const parts = [formatQuantity(messages, "message"), ...(costNano > 0 ? [formatMoney(costNano)] : [])];
  return (
    <p className="text-muted text-prose">
      {since ? "" : "This week: "}
      {inWords(parts)}
      {seconds > 0 && ` in ${timeText(seconds)}`}
      {since && known.length > 0 && `, mostly in ${inWords(known)}`}.
      {since && failing > 0 && (
        <>
          {" "}
          <a href={listHref({ from: since.toISOString(), errors: "true" })} className="link">
            {failing >= maxCounted ? `${formatCount(maxCounted)} sessions or more` : formatQuantity(failing, "session")}
          </a>{" "}
          had failed calls.
        </>
      )}
    </p>
  );
}
