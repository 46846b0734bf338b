import { ArrowUp, Paperclip, Square, X } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState, type ClipboardEvent, type DragEvent, type KeyboardEvent } from "react";
import { IconButton } from "@/components/ui/Button";
import { tell } from "@/components/ui/Toasts";
import { useChat, useChatStore } from "@/hooks/useGeneralChat";
import { useChoices, useComposer } from "@/lib/chat/choices";
import { pick, pickedOf, unpick, usePicked } from "@/lib/chat/picked";
import { cn } from "@/lib/cn";
import { attachmentsOf, kindOf, revoke } from "@/lib/files";
import { usePage } from "@/lib/page";
import { bytes } from "@/lib/time";
import { AttachmentChip } from "./AttachmentChip";
import { Pickers } from "./Pickers";
import { useDraft } from "./useDraft";

const rows = 5; // document 003's
const turnBytes = 24 << 20; // where the server doesn't say

// A field that goes while it is written in hands the focus to the one that comes.
let handed = false;
const fresh = 500; // milliseconds for which a wish for the focus holds

/** ChatInput is where a person writes. Typing goes on while an answer is made. */
export function ChatInput() {
  const { chatId, opened } = useChat((s) => ({ chatId: s.chatId, opened: s.opened }));
  return <Field key={opened} chatId={chatId} />;
}

function Field({ chatId }: { chatId: string | null }) {
  const store = useChatStore();
  const { busy, stopping, cancel } = useChat((s) => ({ busy: s.starting || s.turn !== null, stopping: s.stopping, cancel: s.cancel }));
  const limits = usePage().data?.limits;
  const { text, write, sent: cleared } = useDraft(chatId);
  usePicked((s) => s.files);
  const picked = pickedOf(chatId);
  const [over, setOver] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);

  useLayoutEffect(() => {
    const el = field.current;
    if (handed || performance.now() - useComposer.getState().at < fresh) el?.focus();
    handed = false;
    return () => {
      handed = el !== null && document.activeElement === el;
    };
  }, []);

  // Something else on the page writes into the field, or asks for it.
  useEffect(
    () =>
      useComposer.subscribe((now) => {
        if (now.text !== null) write(now.text);
        field.current?.focus();
        // What was hidden can't take it yet.
        requestAnimationFrame(() => field.current?.focus());
      }),
    [write],
  );

  useLayoutEffect(() => {
    if (field.current) fit(field.current);
  }, [text]);
  useEffect(() => {
    const el = field.current;
    if (!el) return;
    // Its lines break elsewhere in another width, and it has none while its panel is hidden.
    let width = el.clientWidth;
    const look = new ResizeObserver(() => {
      if (el.clientWidth === width) return;
      width = el.clientWidth;
      fit(el);
    });
    look.observe(el);
    return () => look.disconnect();
  }, []);

  // Bodies are base64, which is a third longer.
  const most = ((limits?.turn_bytes ?? turnBytes) * 3) / 4 - 64_000;
  function add(files: Iterable<File>) {
    const list = [...picked];
    for (const file of files) {
      const size = list.reduce((n, p) => n + p.file.size, file.size);
      if (size > most) {
        tell(`${file.name} (${bytes(file.size)}) doesn't fit: a message takes ${bytes(most)} of files. fettle docs add takes larger ones.`);
        continue;
      }
      const [shown] = attachmentsOf([file]);
      if (shown) list.push({ file, shown });
    }
    pick(chatId, list);
    field.current?.focus();
  }

  const readable = picked.some((p) => kindOf(p.file) !== "upload");
  const ready = text.trim() !== "" || readable;
  async function send() {
    if (!ready || busy) return;
    const { model, agent, params } = useChoices.getState();
    const was = { text, picked };
    cleared();
    pick(chatId, []);
    const sent = await store.getState().send(was.text, "text_input", undefined, {
      attachments: was.picked.map((p) => p.file),
      ...(model ? { model } : {}),
      ...(agent ? { agent } : {}),
      params,
    });
    // The store gives the text back, wherever they look by then.
    if (!sent) pick(chatId, [...was.picked, ...pickedOf(chatId)]);
    else revoke(was.picked.map((p) => p.shown));
  }

  function onKeyDown(e: KeyboardEvent) {
    // While a word is composed, Enter belongs to the input method.
    if (e.key !== "Enter" || e.shiftKey || e.nativeEvent.isComposing || e.keyCode === 229) return;
    e.preventDefault();
    void send();
  }
  function onPaste(e: ClipboardEvent) {
    if (e.clipboardData.files.length === 0) return;
    e.preventDefault();
    add(e.clipboardData.files);
  }
  const drop = {
    onDragOver: (e: DragEvent) => {
      if (!e.dataTransfer.types.includes("Files")) return;
      e.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (e: DragEvent) => {
      setOver(false);
      if (e.dataTransfer.files.length === 0) return;
      e.preventDefault();
      add(e.dataTransfer.files);
    },
  };

  return (
    <div className="mx-auto w-full max-w-[800px] shrink-0 px-4 pb-3">
      {/* Dropping has the button beside it for those who can't. */}
      <div {...drop} className={cn("rounded-xl border bg-surface focus-within:border-muted", over ? "border-accent" : "border-border")}>
        {picked.length > 0 && (
          <ul aria-label="Files to send" className="flex flex-wrap gap-2 p-2 pb-0">
            {picked.map((p, i) => (
              <li key={i}>
                <AttachmentChip attachment={p.shown}>
                  <IconButton label={`Remove ${p.file.name}`} onClick={() => unpick(chatId, p)}>
                    <X />
                  </IconButton>
                </AttachmentChip>
              </li>
            ))}
          </ul>
        )}
        <textarea
          ref={field}
          aria-label="Message"
          placeholder={over ? "Drop files here" : "Ask something"}
          dir="auto"
          rows={1}
          value={text}
          onChange={(e) => write(e.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          className="block w-full resize-none bg-transparent px-4 pt-3 pb-1 text-base outline-none placeholder:text-muted"
        />
        <div className="flex items-center gap-1 px-2 pb-2">
          <IconButton label="Attach files" onClick={() => chooser.current?.click()}>
            <Paperclip />
          </IconButton>
          <input
            ref={chooser}
            type="file"
            multiple
            hidden
            onChange={(e) => {
              add(e.target.files ?? []);
              e.target.value = "";
            }}
          />
          <Pickers />
          <span className="flex-1" />
          {busy ? (
            <IconButton label={stopping ? "Stop now, and wait for no tool" : "Stop"} look="accent" onClick={cancel}>
              <Square fill="currentColor" />
            </IconButton>
          ) : (
            <IconButton label="Send" look={ready ? "accent" : "quiet"} disabled={!ready} className="disabled:opacity-100" onClick={() => void send()}>
              <ArrowUp />
            </IconButton>
          )}
        </div>
      </div>
    </div>
  );
}

/** fit makes a field as high as its text, up to so many rows. */
function fit(el: HTMLTextAreaElement) {
  el.style.height = "auto";
  if (el.scrollHeight === 0) return; // it isn't seen
  const line = parseFloat(getComputedStyle(el).lineHeight) || 24;
  el.style.height = `${Math.min(el.scrollHeight, Math.ceil(line * rows) + 4)}px`;
}
