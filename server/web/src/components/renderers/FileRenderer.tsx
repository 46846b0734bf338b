import { useQuery } from "@tanstack/react-query";
import { FolderOpen } from "lucide-react";
import { useState } from "react";
import { FileView } from "@/components/files/FileView";
import { isMarkdown } from "@/components/files/kinds";
import { readPart, type FileState } from "@/components/files/workspaceApi";
import { Button } from "@/components/ui/Button";
import { Failed, Skeleton } from "@/components/ui/States";
import { useUI } from "@/lib/ui";
import { isMissing } from "./callApi";

interface FileRendererProps {
  chatId: string;
  /** the call that left the file so; without one the file is shown as it is now */
  callId?: string;
  path: string;
  editable: boolean;
  language?: string;
  document?: boolean;
}

/** digestAt is the digest of a file in a state; "" where it isn't there. */
async function digestAt(chatId: string, path: string, state: FileState, signal: AbortSignal): Promise<string> {
  try {
    return (await readPart(chatId, path, state, 1, signal)).sha256;
  } catch (error) {
    if (isMissing(error)) return "";
    throw error;
  }
}

/** FileRenderer shows the file that a call was about, as it is now; where it has moved on, also as the call left it. */
export function FileRenderer({ chatId, callId, path, editable, language, document }: FileRendererProps) {
  const select = useUI((s) => s.select);
  const [wants, setWants] = useState<"now" | "then">("now");
  const digests = useQuery({
    queryKey: ["workspace", chatId, "digests", callId, path],
    queryFn: async ({ signal }) => ({
      now: await digestAt(chatId, path, {}, signal),
      then: callId ? await digestAt(chatId, path, { tool_call_id: callId }, signal) : "",
    }),
  });
  if (digests.isError && !digests.data) return <Failed what={`${path} could not be read`} error={digests.error} onRetry={() => void digests.refetch()} />;
  if (!digests.data) return <Skeleton lines={6} />;
  const { now, then } = digests.data;
  if (!now && !then) return <p className="p-3 text-[13px] text-muted">{path} is not in the workspace.</p>;
  const shown = now && (wants === "now" || !then) ? "now" : "then";
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 flex-wrap items-center gap-1 border-b border-border py-1 pr-1 pl-3 text-[13px]">
        <span className="min-w-0 flex-1 truncate font-mono" title={path}>
          <bdi>{path}</bdi>
        </span>
        {now && then && now !== then && (
          <Button size="small" look="quiet" onClick={() => setWants(shown === "now" ? "then" : "now")}>
            {shown === "now" ? "Changed since: show as the call left it" : "Show as it is now"}
          </Button>
        )}
        {!now && <span className="text-warn">not there any more</span>}
        <Button
          size="small"
          look="quiet"
          onClick={() => select({ kind: "file", path })}
          disabled={!now}
        >
          <FolderOpen className="size-4" aria-hidden="true" />
          Open in workspace
        </Button>
      </div>
      <div className="min-h-0 flex-1">
        <FileView
          key={shown}
          chatId={chatId}
          path={path}
          state={shown === "now" ? {} : { tool_call_id: callId }}
          readOnly={!editable || shown === "then"}
          language={language}
          markdown={document ? "preview" : isMarkdown(path) ? "source" : undefined}
        />
      </div>
    </div>
  );
}
