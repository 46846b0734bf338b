// What one copy of the chat is made of. The build wraps it into a function, so that
// each <fettle-chat> has a copy with a state, a server and a token of its own:
// see vite.embed.config.ts.
import { registerPayloadHandler as register } from "@/lib/payloadHandlers";
import { sharedSheet } from "./css";
import { adopted } from "./Foreign";
import type { EmbedHandler } from "./types";

export { define, getPayloadHandler, registerPayloadHandler } from "./element";
export { mount } from "./mount";
export const sheet = sharedSheet;

export function registerEverywhere(type: string, handler: EmbedHandler, host: HTMLElement): void {
  register(type, adopted(handler, host));
}
