import { Ellipsis, Pencil, Trash2 } from "lucide-react";
import type { KeyboardEvent } from "react";
import { IconButton } from "@/components/ui/Button";
import { Menu } from "@/components/ui/Menu";
import { RelativeTime } from "@/components/ui/RelativeTime";
import type { Chat } from "@/lib/api/client";
import { cn } from "@/lib/cn";
import { useUI } from "@/lib/ui";
import { TitleField } from "./TitleField";

/** titleOf is a chat's title, else what was asked first. */
export function titleOf(chat: Chat & { preview?: string }): string {
  return chat.title || chat.preview || `Chat ${chat.number}`;
}

export function ChatRow(props: {
  chat: Chat;
  active: boolean;
  tabbed: boolean;
  naming: boolean;
  onName(): void;
  onNamed(title: string | null): void;
  onDelete(): void;
  onFocus(): void;
  onKeyDown(e: KeyboardEvent): void;
}) {
  const { chat, active } = props;
  if (props.naming) {
    return (
      <div className="flex h-full items-center px-2">
        <TitleField title={chat.title} onDone={props.onNamed} />
      </div>
    );
  }
  return (
    <div className={cn("group/row flex h-full items-center border-l-2 pr-1", active ? "border-accent bg-raised" : "border-transparent hover:bg-raised")}>
      <button
        type="button"
        data-chat={chat.id}
        aria-current={active ? "page" : undefined}
        tabIndex={props.tabbed ? 0 : -1}
        onFocus={props.onFocus}
        onKeyDown={props.onKeyDown}
        onDoubleClick={props.onName}
        onClick={() => useUI.getState().openChat(chat.id)}
        className="h-full min-w-0 flex-1 pr-1 pl-3 text-left outline-offset-[-2px]"
      >
        <span dir="auto" className="block truncate text-[13px]" title={titleOf(chat)}>
          {titleOf(chat)}
        </span>
        <span className="block truncate text-xs text-muted">
          <RelativeTime at={chat.updated_at} />
        </span>
      </button>
      <div className="opacity-0 group-focus-within/row:opacity-100 group-hover/row:opacity-100 has-[[aria-expanded=true]]:opacity-100 [@media(hover:none)]:opacity-100">
        <Menu
          items={[
            { label: "Rename", icon: <Pencil />, onSelect: props.onName },
            { label: "Delete", icon: <Trash2 />, danger: true, onSelect: props.onDelete },
          ]}
        >
          <IconButton label={`More for ${titleOf(chat)}`} tabIndex={props.tabbed ? 0 : -1}>
            <Ellipsis />
          </IconButton>
        </Menu>
      </div>
    </div>
  );
}
