import { ArrowLeft, ArrowRight, EllipsisVertical, List, Maximize2, Minimize2, Pin, PinOff, SquareArrowOutUpRight, Upload, Workflow } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "@/components/ui/Button";
import { Menu, type MenuItem } from "@/components/ui/Menu";
import { useUI } from "@/lib/ui";
import { step, useTrail } from "@/lib/workspace/trail";

/** PanelHeader says what is shown, and leads to where one has been. */
export function PanelHeader({
  icon,
  title,
  label,
  following,
  canPin,
  onPin,
  wide,
  onWide,
  onStart,
  callId,
  historyId,
}: {
  icon: ReactNode;
  title: string;
  label: string;
  following: boolean;
  canPin: boolean;
  onPin(): void;
  wide: boolean;
  onWide(): void;
  onStart(): void;
  callId?: string;
  historyId?: string;
}) {
  const { places, at } = useTrail();
  const { select } = useUI.getState();
  const items: MenuItem[] = [
    { label: "Workflows", icon: <Workflow />, onSelect: onStart },
    { label: "Add files", icon: <Upload />, onSelect: () => select({ kind: "files" }) },
    ...(callId ? [{ label: "Show the call", icon: <SquareArrowOutUpRight />, onSelect: () => select({ kind: "call", callId }) }] : []),
    ...(historyId ? [{ label: "Calls of the last answer", icon: <List />, onSelect: () => select({ kind: "history", messageId: historyId }) }] : []),
  ];
  return (
    <header className="flex h-11 shrink-0 items-center gap-1 border-b border-border pr-1 pl-3">
      {icon}
      <div className="min-w-0 flex-1 px-1 leading-tight">
        <h2 dir="auto" className="truncate text-sm font-semibold" title={title}>
          {title}
        </h2>
        {label && <p className="truncate text-[13px] text-muted">{label}</p>}
      </div>
      {places.length > 1 && (
        <>
          <IconButton label="Back" disabled={at === 0} onClick={() => step(-1)}>
            <ArrowLeft />
          </IconButton>
          <IconButton label="Forward" disabled={at >= places.length - 1} onClick={() => step(1)}>
            <ArrowRight />
          </IconButton>
        </>
      )}
      {following ? (
        <IconButton label="Keep this shown" disabled={!canPin} onClick={onPin}>
          <Pin />
        </IconButton>
      ) : (
        <IconButton label="Follow the answer" onClick={() => select(null)} className="text-accent-ink">
          <PinOff />
        </IconButton>
      )}
      <IconButton label={wide ? "Beside the chat" : "Full width"} aria-pressed={wide} onClick={onWide} className="max-[899px]:hidden">
        {wide ? <Minimize2 /> : <Maximize2 />}
      </IconButton>
      <Menu items={items}>
        <IconButton label="More">
          <EllipsisVertical />
        </IconButton>
      </Menu>
    </header>
  );
}
