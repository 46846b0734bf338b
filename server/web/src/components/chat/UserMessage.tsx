import { memo, useEffect, useRef } from "react";
import { Button } from "@/components/ui/Button";
import type { GeneralChatMessage } from "@/types/chat";
import { useChat } from "@/hooks/useGeneralChat";
import { useEdits } from "@/lib/chat/choices";
import { AttachmentChip } from "./AttachmentChip";
import { MessageActions } from "./MessageActions";

/** UserMessage is what a person asked, at the right, and editable in its place. */
export const UserMessage = memo(function UserMessage({ message }: { message: GeneralChatMessage }) {
  const text = useEdits((s) => s.texts[message.id]);
  if (text !== undefined) return <Edit message={message} text={text} />;
  return (
    <div className="group/message flex flex-col items-end gap-1">
      {message.attachments.length > 0 && (
        <ul aria-label="Attachments" className="flex max-w-[70%] flex-wrap justify-end gap-2">
          {message.attachments.map((a, i) => (
            <li key={i}>
              <AttachmentChip attachment={a} />
            </li>
          ))}
        </ul>
      )}
      {message.content && (
        <div dir="auto" className="max-w-[70%] rounded-xl bg-raised px-4 py-2.5 text-base break-words whitespace-pre-wrap">
          {message.content}
        </div>
      )}
      <MessageActions message={message} onEdit={() => useEdits.getState().begin(message.id, message.content)} />
    </div>
  );
});

function Edit({ message, text }: { message: GeneralChatMessage; text: string }) {
  const { edit, busy } = useChat((s) => ({ edit: s.edit, busy: s.starting || s.turn !== null }));
  const { begin, write, end } = useEdits.getState();
  const setText = (now: string) => write(message.id, now);
  const onDone = () => end(message.id);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const el = field.current;
    // One that is scrolled to again leaves the focus where it is.
    if (useEdits.getState().fresh !== message.id) return;
    el?.focus();
    el?.setSelectionRange(el.value.length, el.value.length);
  }, [message.id]);
  const ready = !busy && text.trim() !== "" && text !== message.content;
  const ask = async () => {
    // Where it is refused, or never gets there, the words are still here.
    if (await edit(message.id, text)) onDone();
    else begin(message.id, text);
  };
  return (
    <div className="ml-auto flex w-full max-w-[85%] flex-col gap-2 rounded-xl border border-border bg-surface p-2">
      <textarea
        ref={field}
        aria-label="Question"
        dir="auto"
        value={text}
        rows={Math.min(10, Math.max(2, text.split("\n").length))}
        onChange={(e) => setText(e.target.value)}
        onKeyDown={(e) => {
          if (e.key === "Escape") onDone();
          if (e.key === "Enter" && !e.shiftKey && !e.nativeEvent.isComposing && ready) {
            e.preventDefault();
            void ask();
          }
        }}
        className="w-full resize-none bg-transparent px-2 py-1 text-base outline-none"
      />
      <div className="flex items-center justify-end gap-2">
        {message.attachments.length > 0 && <p className="flex-1 px-2 text-[13px] text-muted">The attachments don't go along.</p>}
        <Button size="small" onClick={onDone}>
          Cancel
        </Button>
        <Button size="small" look="accent" disabled={!ready} onClick={() => void ask()}>
          Ask again
        </Button>
      </div>
    </div>
  );
}
