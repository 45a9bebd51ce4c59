"use client";
import { Dialog } from "@base-ui/react/dialog";
import { useSyncExternalStore } from "react";
import { formatCount } from "../../../../components/figures";
import { Sign } from "../../../../components/sign";
import { useFrame } from "../frame/frame";
import { OutlineTabs } from "./outline";
import { turnAt } from "./turns";

/** As high as the button that replaces it: the bar must not grow over what was jumped to. Without script a link. */
function PendingMenu() {
  return (
    <span className="flex h-8 items-center px-1 text-code text-muted pointer-coarse:h-11">
      <span className="noscript:hidden">Outline…</span>
      <a href="#outline" className="link hidden noscript:inline">
        Outline
      </a>
    </span>
  );
}

type Props = { open: boolean; onOpenChange: (open: boolean) => void };

/** The outline where there is no room beside the messages: a button that says the turn, and a sheet. */
export function OutlineMenu({ open, onOpenChange }: Props) {
  const { outline, top } = useFrame();
  const known = useSyncExternalStore(outline.subscribe, outline.get, () => undefined);
  const position = useSyncExternalStore(top.subscribe, top.get, top.get);
  if (!known) return <PendingMenu />;
  const { turns } = known;
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Trigger className="flex h-8 items-center gap-1 rounded-control px-1 text-code hover:bg-block pointer-coarse:h-11">
        {turns.length > 0
          ? `${formatCount(turnAt(turns, position) + 1)}/${formatCount(turns.length)} turns`
          : "Outline"}
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
