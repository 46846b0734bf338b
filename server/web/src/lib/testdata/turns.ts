// Turns as a real server streamed them, with the messages that it listed after them.
import type { Message, TurnEvent } from "@/lib/api/client";
import agents from "./agents.json";
import broken from "./broken.json";
import build from "./build.json";
import cancelled from "./cancelled.json";
import denied from "./denied.json";
import failed from "./failed.json";
import reviews from "./reviews.json";

export interface Recorded {
  events: TurnEvent[];
  messages: { messages: Message[] };
}

export const turns = { agents, broken, build, cancelled, denied, failed, reviews } as unknown as Record<
  "agents" | "broken" | "build" | "cancelled" | "denied" | "failed" | "reviews",
  Recorded
>;
