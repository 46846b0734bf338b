import { QueryClient } from "@tanstack/react-query";
import { expect, it, vi } from "vitest";
import { turns } from "@/lib/testdata/turns";
import type { Chat } from "@/lib/api/client";
import { isBehind } from "./conversations";
import { heedWindows } from "./windows";

const { chat } = turns.build.messages as unknown as { chat: Chat };

it("is behind where the list tells more of a chat than is shown", () => {
  expect(isBehind(chat, [chat])).toBe(false);
  expect(isBehind(chat, [])).toBe(false);
  expect(isBehind(null, [chat])).toBe(false);
  expect(isBehind(chat, [{ ...chat, turn_id: "T" }])).toBe(true);
  expect(isBehind(chat, [{ ...chat, updated_at: "2030-01-01T00:00:00Z" }])).toBe(true);
  expect(isBehind(chat, [{ ...chat, id: "other", turn_id: "T" }])).toBe(false);
});

it("has other windows list their chats anew, and is silent about what it heard", async () => {
  const clients = [new QueryClient(), new QueryClient()];
  for (const client of clients) client.setQueryData(["chats"], 1);
  const stops = clients.map(heedWindows);
  const told = vi.fn();
  const listener = new BroadcastChannel("fettle_chats");
  listener.onmessage = told;
  void clients[0]?.invalidateQueries({ queryKey: ["chats"] });
  await vi.waitFor(() => expect(clients[1]?.getQueryState(["chats"])?.isInvalidated).toBe(true));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(told).toHaveBeenCalledTimes(1);
  listener.close();
  for (const stop of stops) stop();
});
