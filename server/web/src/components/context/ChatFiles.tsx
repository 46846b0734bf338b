import { Paperclip } from "lucide-react";
import { useChat } from "@/hooks/useGeneralChat";
import { byteText } from "./bytes";

/** ChatFiles are the attachments of this chat's questions. */
export function ChatFiles() {
  const messages = useChat((chat) => chat.messages);
  const seen = new Set<string>();
  const files = messages
    .flatMap((m) => m.attachments)
    .filter((a) => {
      const key = a.doc ?? a.name;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
  if (files.length === 0) return null;
  return (
    <section className="mt-4 px-3 text-[13px]">
      <h3 className="mb-1 font-semibold">In this chat</h3>
      <ul>
        {files.map((file) => (
          <li key={file.doc ?? file.name} className="flex items-center gap-2 py-1">
            <Paperclip className="size-4 shrink-0 text-muted" aria-hidden="true" />
            <span className="min-w-0 flex-1 truncate" title={file.name}>
              {file.name}
            </span>
            {file.size !== undefined && <span className="shrink-0 text-muted">{byteText(file.size)}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
