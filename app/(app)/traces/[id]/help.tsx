"use client";
import { Dialog } from "@base-ui/react/dialog";

const keys: [keys: string, does: string][] = [
  ["j k", "next and previous message"],
  ["J K", "next and previous turn"],
  ["o O", "open or close this one's folds, or all"],
  ["v", "all messages, or the talk alone"],
  ["f", "find in the session"],
  ["n N", "next and previous match"],
  ["c", "copy the message as Markdown"],
  ["y", "copy a link to the message"],
  ["t", "outline"],
  ["[ ]", "newer and older session of the list"],
  ["u", "back to the list"],
  ["?", "this help"],
  ["Esc", "close what is open"],
];

type Props = { open: boolean; onOpenChange: (open: boolean) => void; enabled: boolean };

/** The keys of the page. They can be switched off in the settings. */
export function HelpDialog({ open, onOpenChange, enabled }: Props) {
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-30 bg-page/70" />
        <Dialog.Popup className="fixed top-1/2 left-1/2 z-40 flex max-h-[calc(100dvh-2rem)] w-[min(26rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 flex-col gap-3 overflow-y-auto rounded-dialog border border-hairline bg-overlay p-4 shadow-lg">
          <Dialog.Title className="font-semibold text-title">Keys</Dialog.Title>
          {!enabled && (
            <Dialog.Description className="text-muted">
              Single keys are switched off in{" "}
              <a href="/settings" className="link">
                your settings
              </a>
              .
            </Dialog.Description>
          )}
          <dl className="grid grid-cols-[4rem_1fr] gap-y-1">
            {keys.map(([key, does]) => (
              <div key={key} className="contents">
                <dt>
                  <kbd className="font-mono text-code">{key}</kbd>
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
          <Dialog.Close className="button w-fit">Close</Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
