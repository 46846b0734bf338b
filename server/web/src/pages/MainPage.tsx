import { MessageSquare, PanelLeft, PanelRight, SlidersHorizontal, SquareStack } from "lucide-react";
import { lazy, Suspense, useEffect, type ReactNode } from "react";
import { Group, Panel, Separator, useDefaultLayout, usePanelRef } from "react-resizable-panels";
import ChatPanel from "@/components/panels/ChatPanel";
import Sidebar from "@/components/panels/Sidebar";
import { Guard } from "@/components/panels/workspace/Guard";
import { Shortcuts } from "@/components/Shortcuts";
import { Toolsets } from "@/components/toolsets/Toolsets";
import { IconButton } from "@/components/ui/Button";
import { Skeleton } from "@/components/ui/States";
import { ChatProvider } from "@/hooks/useGeneralChat";
import { cn } from "@/lib/cn";
import { useNarrow } from "@/lib/narrow";
import { followAddress, useUI, type PanelName } from "@/lib/ui";

// What a first look doesn't need is loaded after it.
const WorkspacePanel = lazy(() => import("@/components/panels/WorkspacePanel"));
const ContextPanel = lazy(() => import("@/components/panels/ContextPanel"));

/** MainPage is document 000's four panels: beside each other, or one at a time where the window is narrow. */
export function MainPage() {
  const narrow = useNarrow();
  useEffect(followAddress, []);
  return (
    <ChatProvider>
      {narrow ? <OnePanel /> : <FourPanels />}
      <Toolsets />
      <Shortcuts />
    </ChatProvider>
  );
}

function FourPanels() {
  const { sidebar, workspace, context, panelWish, toggle } = useUI();
  const layout = useDefaultLayout({ id: "fettle_panels", panelIds: ["chat", ...(workspace ? ["workspace"] : []), ...(context ? ["context"] : [])] });
  return (
    <div className="flex h-full">
      {sidebar && (
        <nav aria-label="Chats" className="w-[260px] shrink-0 border-r border-border bg-surface">
          <Guard what="The chats can't be shown">
            <Sidebar />
          </Guard>
        </nav>
      )}
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="flex h-11 shrink-0 items-center gap-1 border-b border-border px-2">
          <IconButton label={sidebar ? "Hide chats" : "Show chats"} aria-pressed={sidebar} onClick={() => toggle("sidebar")}>
            <PanelLeft />
          </IconButton>
          <div id="chat-title" className="min-w-0 flex-1" />
          <IconButton label={workspace ? "Hide workspace" : "Show workspace"} aria-pressed={workspace} onClick={() => toggle("workspace")}>
            <PanelRight />
          </IconButton>
          <IconButton label={context ? "Hide tools and settings" : "Show tools and settings"} aria-pressed={context} onClick={() => toggle("context")}>
            <SlidersHorizontal />
          </IconButton>
        </header>
        <Group orientation="horizontal" className="min-h-0 flex-1" defaultLayout={layout.defaultLayout} onLayoutChanged={layout.onLayoutChanged}>
          <Panel id="chat" minSize="320px" className="min-w-0">
            <main aria-label="Chat" className="h-full">
              <Guard what="The chat can't be shown">
                <ChatPanel />
              </Guard>
            </main>
          </Panel>
          {workspace && (
            <Side id="workspace" label="Workspace" size="42%" wish={panelWish}>
              <WorkspacePanel />
            </Side>
          )}
          {context && (
            <Side id="context" label="Tools and settings" size="300px">
              <ContextPanel />
            </Side>
          )}
        </Group>
      </div>
    </div>
  );
}

/** Side is a panel that can be resized. While it has a wish for a width, it is that wide where there is room. */
function Side({ id, label, size, wish = null, children }: { id: string; label: string; size: string; wish?: number | null; children: ReactNode }) {
  const panel = usePanelRef();
  useEffect(() => {
    if (wish === null) return;
    let was = wish;
    let grown: number | null = null;
    // The layout has a new panel, and a new width, one frame later.
    let frame = requestAnimationFrame(() => {
      was = panel.current?.getSize().inPixels ?? wish;
      if (was >= wish) return;
      panel.current?.resize(`${wish}px`);
      frame = requestAnimationFrame(() => (grown = panel.current?.getSize().inPixels ?? null));
    });
    return () => {
      cancelAnimationFrame(frame);
      const { current } = panel; // null once the panel is closed
      if (was >= wish || !current) return;
      // A width that the user dragged stays.
      if (grown === null || Math.abs(current.getSize().inPixels - grown) < 2) current.resize(`${was}px`);
    };
  }, [panel, wish]);
  return (
    <>
      <Separator aria-label={`Width of ${label.toLowerCase()}`} className="w-px bg-border outline-offset-0 hover:bg-accent data-[separator=active]:bg-accent" />
      <Panel id={id} panelRef={panel} defaultSize={size} minSize="240px" className="min-w-0">
        <aside aria-label={label} className="h-full">
          {/* A panel that breaks leaves the others as they are. */}
          <Guard what={`${label} can't be shown`}>
            <Suspense fallback={<Skeleton lines={6} />}>{children}</Suspense>
          </Guard>
        </aside>
      </Panel>
    </>
  );
}

const places: { panel: PanelName; label: string; icon: ReactNode }[] = [
  { panel: "sidebar", label: "Chats", icon: <PanelLeft /> },
  { panel: "chat", label: "Chat", icon: <MessageSquare /> },
  { panel: "workspace", label: "Workspace", icon: <SquareStack /> },
  { panel: "context", label: "Tools", icon: <SlidersHorizontal /> },
];

function OnePanel() {
  const { narrow, show } = useUI();
  return (
    <div className="flex h-full flex-col">
      <main className="min-h-0 flex-1" aria-label={places.find((p) => p.panel === narrow)?.label}>
        <div id="chat-title" className="empty:hidden flex h-11 items-center border-b border-border px-2" hidden={narrow !== "chat"} />
        <Suspense fallback={<Skeleton lines={6} />}>
          {narrow === "sidebar" && <Sidebar />}
          {/* The chat stays, so that its draft and place do. */}
          <div className={cn("h-[calc(100%-44px)]", narrow !== "chat" && "hidden")}>
            <ChatPanel />
          </div>
          <Guard key={narrow} what="This panel can't be shown">
            {narrow === "workspace" && <WorkspacePanel />}
            {narrow === "context" && <ContextPanel />}
          </Guard>
        </Suspense>
      </main>
      <nav aria-label="Panels" className="flex shrink-0 border-t border-border bg-surface pb-[env(safe-area-inset-bottom)]">
        {places.map(({ panel, label, icon }) => (
          <button
            key={panel}
            type="button"
            aria-current={narrow === panel ? "page" : undefined}
            onClick={() => show(panel)}
            className={cn("flex flex-1 flex-col items-center gap-0.5 py-2 text-xs [&_svg]:size-4", narrow === panel ? "text-accent-ink" : "text-muted")}
          >
            {icon}
            {label}
          </button>
        ))}
      </nav>
    </div>
  );
}
