import { lazy, Suspense, useEffect, useRef, useState, type KeyboardEvent } from "react";
import { Failed, Skeleton } from "@/components/ui/States";
import { Tabs } from "@/components/ui/Tabs";
import { useChat } from "@/hooks/useGeneralChat";
import { cn } from "@/lib/cn";
import { useUI, type Selection } from "@/lib/ui";
import { visit } from "@/lib/workspace/trail";
import { NoFiles } from "./workspace/NoFiles";
import { inertRest } from "./workspace/inertRest";
import { PanelHeader } from "./workspace/PanelHeader";
import { Result } from "./workspace/Result";
import { useShown } from "./workspace/useShown";
import { useTitle } from "./workspace/useTitle";

const FilesBrowser = lazy(() => import("@/components/files/FilesBrowser"));
const Timeline = lazy(() => import("@/components/files/Timeline"));
const StartWorkflow = lazy(() => import("./workspace/workflows/StartWorkflow").then((m) => ({ default: m.StartWorkflow })));

type TabId = "result" | "files" | "timeline";

function tabOf(selection: Selection | null): TabId {
  if (selection?.kind === "file" || selection?.kind === "files") return "files";
  return selection?.kind === "timeline" ? "timeline" : "result";
}

/** WorkspacePanel shows what the answer brought, the chat's files, and how they came to be. */
export default function WorkspacePanel() {
  const { chatId, turnId, historyId } = useChat((s) => ({ chatId: s.chatId, turnId: s.turn?.turnId, historyId: s.messages.findLast((m) => m.tool_history.length > 0)?.id }));
  const selection = useUI((s) => s.selection);
  const place = useUI((s) => s.chat);
  const { select, keep, followAnswer } = useUI.getState();
  const tab = tabOf(selection);
  const [result, setResult] = useState<{ place: string | null; selection: Selection | null }>({ place, selection: null });
  // Beside the files the result stays what it was; that of another chat is forgotten.
  const last = tab === "result" ? selection : result.place === place ? result.selection : null;
  const shown = useShown(last);
  const title = useTitle(shown, tab);
  const [wide, setWide] = useState(false);
  const [starting, setStarting] = useState(false);
  const panel = useRef<HTMLDivElement>(null);

  useEffect(() => visit(selection, place), [selection, place]);
  useEffect(() => {
    if (turnId) followAnswer();
  }, [turnId, followAnswer]);
  useEffect(() => (wide && panel.current ? inertRest(panel.current) : undefined), [wide]);

  const change = (to: TabId) => {
    if (tab === "result" && to !== "result") setResult({ place, selection });
    select(to === "files" ? { kind: "files" } : to === "timeline" ? { kind: "timeline" } : last);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === "Escape" && wide && !e.defaultPrevented) {
      e.preventDefault();
      setWide(false);
    }
  };
  const file = selection?.kind === "file" ? selection : undefined;
  return (
    // Escape leaves the full width, wherever the focus is within.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div ref={panel} onKeyDown={onKeyDown} className={cn("flex h-full min-h-0 flex-col bg-bg", wide && "fixed inset-0 z-30")}>
      <PanelHeader
        {...title}
        following={selection === null}
        canPin={shown.pin !== null}
        onPin={() => shown.pin && keep(shown.pin)}
        wide={wide}
        onWide={() => setWide(!wide)}
        onStart={() => setStarting(true)}
        callId={shown.callId}
        historyId={historyId}
      />
      <div className="min-h-0 flex-1">
        <Tabs<TabId>
          label="Workspace"
          value={tab}
          onChange={change}
          tabs={[
            {
              id: "result",
              label: "Result",
              content: shown.failed ? <Failed what="The workflow can't be read" error={shown.failed} onRetry={shown.retry} /> : <Result shown={shown} onStart={() => setStarting(true)} />,
            },
            {
              id: "files",
              label: "Files",
              content: (
                <Suspense fallback={<Skeleton lines={8} />}>{chatId ? <FilesBrowser chatId={chatId} path={file?.path} manifestId={file?.manifestId} /> : <NoFiles />}</Suspense>
              ),
            },
            { id: "timeline", label: "Timeline", content: <Suspense fallback={<Skeleton lines={8} />}>{chatId ? <Timeline chatId={chatId} /> : <NoFiles />}</Suspense> },
          ]}
        />
      </div>
      <Suspense>{starting && <StartWorkflow onClose={() => setStarting(false)} />}</Suspense>
    </div>
  );
}
