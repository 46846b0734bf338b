import type { PayloadCallbacks, RenderOptions } from "@/lib/payloadHandlers";

/** EmbedHandler is document 001's handler for pages of any making: what it renders is a DOM node or a text. */
export interface EmbedHandler {
  render(payload: unknown, callbacks: PayloadCallbacks): Node | string | number | null | undefined;
  renderOptions?: RenderOptions;
  onAccept?(data: unknown): void;
  onReject?(data: unknown): void;
}

/** Options are the element's attributes and properties. */
export interface Options {
  server: string;
  token: string;
  page: string;
  tab: string;
  context: Record<string, unknown>;
  chat: string | null;
  handlers: Record<string, EmbedHandler>;
}

export interface Mounted {
  update(options: Options): void;
  unmount(): void;
}

/** Instance is a whole copy of the chat with a state of its own: several elements know nothing of each other. */
export interface Instance {
  mount(host: HTMLElement, root: ShadowRoot, options: Options): Mounted;
  registerEverywhere(type: string, handler: EmbedHandler, host: HTMLElement): void;
  sheet(): CSSStyleSheet;
}
