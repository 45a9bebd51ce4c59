const tones = { warn: "border-warn", bad: "border-bad", info: "border-accent" } as const;
const signs = { warn: "!", bad: "!", info: "i" } as const;
const inks = { warn: "text-warn", bad: "text-bad", info: "text-accent" } as const;

/** The sign conveys the tone without colour. */
export function Notice({ tone, children }: { tone: keyof typeof tones; children: React.ReactNode }) {
  return (
    <div className={`flex gap-3 rounded-block border border-l-4 bg-block px-3 py-2 ${tones[tone]}`}>
      <span aria-hidden="true" className={`font-semibold ${inks[tone]}`}>
        {signs[tone]}
      </span>
      <div className="flex min-w-0 flex-col gap-2">{children}</div>
    </div>
  );
}
