import { explain } from "@/lib/api/fault";
import type { AppQuestion } from "./AppDialogs";
import { newBridge, step, type Effect, type Input } from "./bridge";
import { callAppTool, readAppResource, type App, type AppToolAnswer } from "./callApi";
import { hostContext } from "./hostContext";

type Id = string | number;

export interface AppPlace {
  frame: HTMLIFrameElement;
  origin: string;
  /** the call whose server answers the app; an app without a server calls and reads nothing */
  callId?: string;
  app: App;
  /** a tool that the app called has ended */
  onCalled(): void;
  onHeight(height: number): void;
  /** shows a question, or none any more */
  onQuestion(question: AppQuestion | null): void;
  /** the app asked to be closed */
  onClose(): void;
}

const noServer = "this page belongs to no MCP server";

/**
 * hostApp carries out what the bridge says, for one frame. It hears the frame alone,
 * and posts to its origin alone. What it gives ends it.
 */
export function hostApp({ frame, origin, callId, app, onCalled, onHeight, onQuestion, onClose }: AppPlace): () => void {
  let bridge = newBridge;
  let questions = Promise.resolve();
  const host = () => ({ html: app.html, csp: app.csp, context: hostContext(app.tool), toolInput: app.tool_input, toolResult: app.tool_result });

  function put(input: Input) {
    const [next, effects] = step(bridge, input, host());
    bridge = next;
    for (const effect of effects) carryOut(effect);
  }

  /** ask shows questions one after the other; a closed app asks nothing. */
  function ask<T>(make: (done: (answer: T) => void) => AppQuestion, otherwise: T): Promise<T> {
    const answer = questions.then(() => {
      if (bridge.phase === "closed") return otherwise;
      return new Promise<T>((resolve) => onQuestion(make(resolve))).finally(() => onQuestion(null));
    });
    questions = answer.then(() => undefined);
    return answer;
  }

  async function callTool(name: string, args: Record<string, unknown>): Promise<unknown> {
    if (!callId) throw new Error(noServer);
    const first = await callAppTool(callId, { name, arguments: args });
    const { approval } = first;
    if (!approval) return first.result;
    const decision = await ask<"allow" | "deny">((done) => ({ kind: "approval", approval, done }), "deny");
    const second: AppToolAnswer = await callAppTool(callId, { name, arguments: args, approval: approval.nonce, decision });
    if (second.result === undefined) throw new Error("the person said no");
    return second.result;
  }

  function settle(id: Id, work: Promise<unknown>) {
    work.then(
      (result) => put({ type: "answer", id, result }),
      (error: unknown) => put({ type: "refusal", id, message: explain(error).message }),
    );
  }

  function carryOut(effect: Effect) {
    switch (effect.do) {
      case "post":
        frame.contentWindow?.postMessage(effect.message, origin);
        return;
      case "resize":
        onHeight(effect.height);
        return;
      case "openLink":
        settle(effect.id, ask<boolean>((done) => ({ kind: "link", url: effect.url, done }), false).then((yes) => {
          if (yes) window.open(effect.url, "_blank", "noopener,noreferrer");
          return yes ? {} : { isError: true };
        }));
        return;
      case "message":
        settle(effect.id, ask<boolean>((done) => ({ kind: "message", text: effect.text, done }), false).then((yes) => (yes ? {} : { isError: true })));
        return;
      case "callTool":
        settle(effect.id, callTool(effect.name, effect.arguments).finally(onCalled));
        return;
      case "readResource":
        settle(effect.id, callId ? readAppResource(callId, effect.uri) : Promise.reject(new Error(noServer)));
        return;
      case "close":
        put({ type: "close" });
        onClose();
    }
  }

  const hear = (event: MessageEvent) => {
    if (event.source === frame.contentWindow && event.origin === origin) put({ type: "message", data: event.data });
  };
  window.addEventListener("message", hear);
  const theme = new MutationObserver(() => put({ type: "context", context: hostContext(app.tool) }));
  theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    theme.disconnect();
    put({ type: "close" });
    window.removeEventListener("message", hear);
    onQuestion(null);
  };
}
