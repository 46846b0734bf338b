import { record } from "@/lib/record";
import type { EmbedHandler, Instance, Mounted, Options } from "./types";

const attributes = ["server", "token", "page", "tab", "context", "chat", "theme"] as const;

const everywhere = new Map<string, EmbedHandler>();
const living = new Map<HTMLElement, Instance>();

/** registerPayloadHandler says how payloads of a type are shown in every <fettle-chat> (document 001's global registry). */
export function registerPayloadHandler(type: string, handler: EmbedHandler): void {
  everywhere.set(type, handler);
  for (const [host, instance] of living) instance.registerEverywhere(type, handler, host);
}

export function getPayloadHandler(type: string): EmbedHandler | undefined {
  return everywhere.get(type);
}

/** define makes the element known. Each element has an instance of its own, which `make` gives. */
export function define(make: () => Instance): void {
  if (customElements.get("fettle-chat")) return;

  class FettleChat extends HTMLElement {
    static observedAttributes: readonly string[] = attributes;
    #root = this.attachShadow({ mode: "open" });
    #handlers: Record<string, EmbedHandler> = {};
    #context: Record<string, unknown> | null = null;
    #mounted: Mounted | null = null;
    #light = matchMedia("(prefers-color-scheme: light)");
    #drawTheme = () => this.#theme();
    #due = false;

    connectedCallback() {
      this.#upgrade("payloadHandlers");
      this.#upgrade("context");
      this.#light.addEventListener("change", this.#drawTheme);
      this.#theme();
      const instance = make();
      this.#root.adoptedStyleSheets = [instance.sheet()];
      living.set(this, instance);
      for (const [type, handler] of everywhere) instance.registerEverywhere(type, handler, this);
      this.#mounted = instance.mount(this, this.#root, this.#options());
    }

    disconnectedCallback() {
      this.#light.removeEventListener("change", this.#drawTheme);
      this.#mounted?.unmount();
      this.#mounted = null;
      living.delete(this);
    }

    attributeChangedCallback(name: string) {
      if (name === "theme") this.#theme();
      else this.#changed();
    }

    get payloadHandlers() {
      return this.#handlers;
    }
    set payloadHandlers(handlers: Record<string, EmbedHandler>) {
      this.#handlers = handlers ?? {};
      this.#changed();
    }

    get context(): Record<string, unknown> {
      return this.#context ?? objectOf(this.getAttribute("context"));
    }
    set context(context: Record<string, unknown>) {
      this.#context = context;
      this.#changed();
    }

    /** A property that was set before the element was known hides the class's own. */
    #upgrade(name: "payloadHandlers" | "context") {
      const own = Object.getOwnPropertyDescriptor(this, name);
      if (!own) return;
      delete (this as unknown as Record<string, unknown>)[name];
      if (name === "context") this.context = own.value as Record<string, unknown>;
      else this.payloadHandlers = own.value as Record<string, EmbedHandler>;
    }

    #options(): Options {
      const at = (name: string) => this.getAttribute(name) ?? "";
      return {
        server: at("server").replace(/\/$/, ""), token: at("token"), page: at("page"), tab: at("tab"),
        context: this.context, chat: this.getAttribute("chat"), handlers: this.#handlers,
      };
    }

    // Several changes of one task are drawn once.
    #changed() {
      if (!this.#mounted || this.#due) return;
      this.#due = true;
      queueMicrotask(() => {
        this.#due = false;
        this.#mounted?.update(this.#options());
      });
    }

    #theme() {
      const wish = this.getAttribute("theme");
      const theme = wish === "dark" || wish === "light" ? wish : this.#light.matches ? "light" : "dark";
      if (this.dataset.theme !== theme) this.dataset.theme = theme;
    }
  }

  for (const name of ["server", "token", "page", "tab", "chat", "theme"] as const) {
    Object.defineProperty(FettleChat.prototype, name, {
      get(this: HTMLElement) {
        return this.getAttribute(name) ?? "";
      },
      set(this: HTMLElement, value: unknown) {
        if (value === null || value === undefined) this.removeAttribute(name);
        else this.setAttribute(name, String(value));
      },
      enumerable: true,
      configurable: true,
    });
  }
  customElements.define("fettle-chat", FettleChat);
}

function objectOf(text: string | null): Record<string, unknown> {
  if (!text) return {};
  try {
    return record(JSON.parse(text));
  } catch {
    console.warn("fettle-chat: the attribute context is no JSON object");
    return {};
  }
}
