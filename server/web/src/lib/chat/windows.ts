import type { QueryClient } from "@tanstack/react-query";

const name = "fettle_chats";

/** heedWindows has the windows of this browser list their chats anew when one of them changed something. */
export function heedWindows(client: QueryClient): () => void {
  if (typeof BroadcastChannel === "undefined") return () => {};
  const channel = new BroadcastChannel(name);
  let heard = false; // what comes from another window isn't told again
  const stop = client.getQueryCache().subscribe((e) => {
    if (e.type === "updated" && e.action.type === "invalidate" && e.query.queryKey[0] === "chats" && !heard) channel.postMessage("changed");
  });
  channel.onmessage = () => {
    heard = true;
    void client.invalidateQueries({ queryKey: ["chats"] });
    heard = false;
  };
  return () => {
    stop();
    channel.close();
  };
}
