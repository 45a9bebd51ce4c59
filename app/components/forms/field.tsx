type Props = Omit<React.ComponentProps<"input">, "id" | "name"> & {
  name: string;
  label: string;
  error?: string | undefined;
  hint?: string;
};

export function Field({ name, label, error, hint, className = "", ...input }: Props) {
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(" ");
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={name} className="font-medium">
        {label}
      </label>
      <input
        id={name}
        name={name}
        aria-invalid={error ? true : undefined}
        aria-describedby={described || undefined}
        className={`input ${className}`}
        {...input}
      />
      {hint && (
        <p id={`${name}-hint`} className="text-meta text-muted">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${name}-error`} className="text-meta text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

type CheckProps = { name: string; label: string; defaultChecked?: boolean; hint?: string };

export function Check({ name, label, hint, ...input }: CheckProps) {
  const box = (
    <label className="flex items-center gap-2 pointer-coarse:min-h-11">
      <input
        type="checkbox"
        name={name}
        className="size-4 shrink-0 accent-accent"
        aria-describedby={hint && `${name}-hint`}
        {...input}
      />{" "}
      {label}
    </label>
  );
  if (!hint) return box;
  return (
    <div className="flex flex-col gap-1">
      {box}
      <p id={`${name}-hint`} className="text-meta text-muted">
        {hint}
      </p>
    </div>
  );
}

/** Anybody can change these fields; a ticket among them proves what this server wrote. */
export function Hidden({ fields }: { fields: Record<string, string> }) {
  return Object.entries(fields).map(([name, value]) => <input key={name} type="hidden" name={name} value={value} />);
}
