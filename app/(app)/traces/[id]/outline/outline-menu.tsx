"use client";
import { Dialog } from "@base-ui/react/dialog";
import { useSyncExternalStore } from "react";
import { Sign } from "../../../../components/sign";
import { useFrame } from "../frame/frame";
import { usePlace } from "../frame/where";
import { OutlineTabs } from "./outline";

const lineLook = "flex h-4 items-center gap-1 text-meta text-muted pointer-coarse:min-h-0";

function PendingMenu() {
  return (
    <span className={lineLook}>
      <span className="noscript:hidden">Outline…</span>
      <a href="#outline" className="link hidden noscript:inline">
        Outline
      </a>
    </span>
  );
}

type Props = { open: boolean; onOpenChange: (open: boolean) => void };

export function OutlineMenu({ open, onOpenChange }: Props) {
  const { outline } = useFrame();
  const known = useSyncExternalStore(outline.subscribe, outline.get, () => undefined);
  const place = usePlace();
  if (!known) return <PendingMenu />;
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Trigger
        aria-label={`Outline: ${place ?? ""}`}
        className={`${lineLook} w-fit max-w-full after:absolute after:inset-0 after:-inset-y-2 after:rounded-control`}
      >
        <span className="truncate">{place}</span>
        <Sign name="down" />
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-30 bg-page/70" />
        <Dialog.Popup className="fixed inset-x-0 bottom-0 z-40 flex h-[75dvh] flex-col gap-2 rounded-t-dialog border border-hairline bg-overlay p-3 shadow-lg">
          <div className="flex items-center justify-between">
            <Dialog.Title className="font-semibold text-prose">Outline</Dialog.Title>
            <Dialog.Close className="button">Close</Dialog.Close>
          </div>
          <OutlineTabs outline={known} onPick={() => onOpenChange(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
