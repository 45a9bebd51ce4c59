type Props = { pending: boolean; children: React.ReactNode };

/** Its name stays, so that a screen reader doesn't announce another button. */
export function SubmitButton({ pending, children }: Props) {
  return (
    <button type="submit" aria-disabled={pending} aria-busy={pending} className="button button-accent gap-2">
      {pending && <span aria-hidden="true" className="i-lucide-loader-circle size-4 motion-safe:animate-spin" />}
      {children}
    </button>
  );
}
