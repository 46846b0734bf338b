import { Wrench } from "lucide-react";
import { useState } from "react";
import { groupTitle } from "@/components/context/filter";
import { useTools, type ToolGroup } from "@/components/context/queries";
import { Button } from "@/components/ui/Button";
import { Dialog } from "@/components/ui/Dialog";
import { Failed, Skeleton } from "@/components/ui/States";
import { Switch } from "@/components/ui/Switch";
import { Tooltip } from "@/components/ui/Tooltip";
import { useChat } from "@/hooks/useGeneralChat";
import { chatToolsOf, chooseTools, useChatTools } from "@/lib/chat/chatTools";
import { cn } from "@/lib/cn";

/** ChatTools chooses the tools of one chat, and whether its model may call any. */
export function ChatTools() {
  const { chatId, kept } = useChat((s) => ({ chatId: s.chatId, kept: s.chat?.agent_mode }));
  const chosen = useChatTools((s) => s.of[chatId ?? "new"]);
  const [open, setOpen] = useState(false);
  const mode = chosen?.agent_mode ?? kept ?? true;
  const text = !mode ? "Agent mode is off: the model calls no tools" : chosen?.tools ? `Tools of this chat: ${chosen.tools.length} chosen` : "Tools of this chat: all that are on";
  return (
    <>
      <Tooltip text={text}>
        <button type="button" aria-label="Tools of this chat" onClick={() => setOpen(true)} className={cn("flex h-8 min-w-8 shrink-0 items-center justify-center gap-1 rounded-md px-1 text-[13px] hover:bg-raised", mode && !chosen?.tools ? "text-muted" : "text-accent-ink")}>
          <Wrench className="size-4" aria-hidden="true" />
          {!mode ? "off" : chosen?.tools?.length}
        </button>
      </Tooltip>
      {open && <Choice chatId={chatId} mode={mode} chosen={chosen?.tools} onClose={() => setOpen(false)} />}
    </>
  );
}

function Choice({ chatId, mode, chosen, onClose }: { chatId: string | null; mode: boolean; chosen: string[] | undefined; onClose(): void }) {
  const tools = useTools();
  const groups = usable(tools.data ?? []);
  const all = groups.flatMap((group) => group.tools.map((tool) => tool.tool_id));
  const picked = new Set(chosen ?? all);
  const change = (id: string, on: boolean) => {
    const now = all.filter((other) => (other === id ? on : picked.has(other)));
    chooseTools(chatId, { ...chatToolsOf(chatId), tools: now.length === all.length ? undefined : now });
  };
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title="Tools of this chat" about="For the questions that follow in this chat. Other chats have all tools that are on.">
      <div className="flex flex-col gap-4 text-[13px]">
        <div className="flex items-center gap-3">
          <span className="min-w-0 flex-1">
            <span className="block font-medium">Agent mode</span>
            <span className="block text-muted">The model may call tools and continue with their results.</span>
          </span>
          <Switch label="Agent mode" checked={mode} onChange={(on) => chooseTools(chatId, { ...chatToolsOf(chatId), agent_mode: on })} />
        </div>
        {tools.isPending && <Skeleton lines={6} />}
        {tools.isError && <Failed error={tools.error} what="The tools can't be listed" onRetry={() => void tools.refetch()} />}
        {groups.map((group) => (
          <fieldset key={group.kind + group.id} disabled={!mode} className={cn("flex flex-col gap-1", !mode && "opacity-60")}>
            <legend className="mb-1 font-medium">{groupTitle(group).title}</legend>
            {group.tools.map((tool) => (
              <label key={tool.tool_id} className="flex min-h-6 items-center gap-2">
                <input type="checkbox" checked={picked.has(tool.tool_id)} onChange={(e) => change(tool.tool_id, e.target.checked)} className="size-4 accent-(--fettle-accent)" />
                <span className="min-w-0 break-words">{tool.name}</span>
              </label>
            ))}
          </fieldset>
        ))}
        <div className="flex justify-end gap-2">
          <Button disabled={!chosen} onClick={() => chooseTools(chatId, { ...chatToolsOf(chatId), tools: undefined })}>
            All tools
          </Button>
          <Button disabled={chosen?.length === 0} onClick={() => chooseTools(chatId, { ...chatToolsOf(chatId), tools: [] })}>
            No tools
          </Button>
          <Button look="accent" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** usable are the tools that a turn can be offered: those that are on and work. */
function usable(groups: ToolGroup[]): ToolGroup[] {
  return groups.flatMap((group) => {
    const tools = group.enabled && !group.problem ? group.tools.filter((tool) => tool.enabled && !tool.problem) : [];
    return tools.length > 0 ? [{ ...group, tools }] : [];
  });
}
