import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode, useEffect, useMemo } from "react";
import { createRoot } from "react-dom/client";
import { Toasts } from "@/components/ui/Toasts";
import { ChatProvider, useChatStore } from "@/hooks/useGeneralChat";
import { useServer as nameServer } from "@/lib/api/client";
import { keep } from "@/lib/api/token";
import { PayloadPageContext } from "@/lib/payloadHandlers";
import { PortalContext } from "@/lib/portal";
import { useUI } from "@/lib/ui";
import { EmbedPanel } from "./EmbedPanel";
import { Events } from "./Events";
import { adopted } from "./Foreign";
import type { Mounted, Options } from "./types";

/** mount draws the chat into a shadow root. */
export function mount(host: HTMLElement, root: ShadowRoot, first: Options): Mounted {
  const box = document.createElement("div");
  box.className = "fettle-root";
  const over = document.createElement("div");
  root.append(box, over);
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: 5_000, retry: 1 } } });
  const react = createRoot(box);
  let last: Options | null = null;

  function update(options: Options) {
    if (options.server !== last?.server) nameServer(options.server);
    if (options.token !== last?.token) keep(options.token);
    if (options.chat !== last?.chat) useUI.setState({ chat: options.chat, selection: null });
    const moved = last && (options.server !== last.server || options.token !== last.token);
    last = options;
    if (moved) void client.resetQueries();
    react.render(
      <StrictMode>
        <QueryClientProvider client={client}>
          <PortalContext value={over}>
            {/* Another server or token is another chat altogether. */}
            <ChatProvider key={options.server + "\n" + options.token}>
              <Embedded host={host} options={options} />
            </ChatProvider>
            <Toasts />
          </PortalContext>
        </QueryClientProvider>
      </StrictMode>,
    );
  }
  update(first);
  return {
    update,
    unmount: () => {
      react.unmount();
      client.clear();
      box.remove();
      over.remove();
    },
  };
}

function Embedded({ host, options }: { host: HTMLElement; options: Options }) {
  const { page, tab, context, handlers } = options;
  const store = useChatStore();
  useEffect(() => {
    store.getState().updateContext({ ...context, ...(page ? { page } : {}), ...(tab ? { tab } : {}) });
  }, [store, context, page, tab]);
  // Its streams end with it.
  useEffect(() => () => store.getState().close(), [store]);
  const value = useMemo(
    () => ({ page: page || undefined, handlers: Object.fromEntries(Object.entries(handlers).map(([type, handler]) => [type, adopted(handler, host)])) }),
    [page, handlers, host],
  );
  return (
    <PayloadPageContext value={value}>
      <Events host={host} />
      <EmbedPanel />
    </PayloadPageContext>
  );
}
