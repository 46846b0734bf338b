import { useState } from "react";
import { isCut, Proposed } from "@/components/chat/Proposed";
import { useReturnFocus } from "@/components/files/useReturnFocus";
import { Button, useSettled } from "@/components/ui/Button";
import { Dialog } from "@/components/ui/Dialog";
import { useGeneralChat } from "@/hooks/useGeneralChat";
import { visible } from "@/lib/visible";
import type { App, AppApproval } from "./callApi";

export type AppQuestion =
  | { kind: "link"; url: string; done(yes: boolean): void }
  | { kind: "message"; text: string; done(yes: boolean): void }
  | { kind: "approval"; approval: AppApproval; done(decision: "allow" | "deny"): void };

/** AppDialogs asks the person before an app opens an address, says something in their name, or calls a tool that needs it. */
export function AppDialogs({ app, question }: { app: App; question: AppQuestion }) {
  const name = app.tool.title || app.tool.name;
  switch (question.kind) {
    case "link":
      return (
        <Ask of={question} title={`${name} wants to open an address`} yes="Open it in a tab" onDone={question.done}>
          <p className="font-mono text-[13px] break-all">{visible(question.url)}</p>
        </Ask>
      );
    case "message":
      return <AskToSend question={question} name={name} />;
    case "approval":
      return (
        <AskToCall question={question} name={name} />
      );
  }
}

function AskToCall({ question, name }: { question: AppQuestion & { kind: "approval" }; name: string }) {
  const { approval } = question;
  const [seen, setSeen] = useState<unknown>(null);
  const whole = seen === question;
  return (
    <Ask
      of={question}
      title={`${name} wants to call ${visible(approval.tool)}`}
      about={approval.reason}
      yes="Allow once"
      no="Deny"
      disabled={!whole && isCut(approval.arguments)}
      onDone={(yes) => question.done(yes ? "allow" : "deny")}
    >
      <Proposed args={approval.arguments} whole={whole} onWhole={() => setSeen(question)} />
    </Ask>
  );
}

function AskToSend({ question, name }: { question: AppQuestion & { kind: "message" }; name: string }) {
  const { text } = question;
  const { sendMessage, isLoading } = useGeneralChat();
  return (
    <Ask
      of={question}
      title={`${name} wants to send a message as you`}
      about={isLoading ? "An answer is being made; when it has ended, this can be sent." : undefined}
      yes="Send it"
      disabled={isLoading}
      onDone={(yes) => {
        if (yes) sendMessage(text);
        question.done(yes);
      }}
    >
      <p className="break-words whitespace-pre-wrap">{visible(text)}</p>
    </Ask>
  );
}

function Ask({ of, title, about, yes, no = "Don’t", disabled, onDone, children }: { of: AppQuestion; title: string; about?: string; yes: string; no?: string; disabled?: boolean; onDone(yes: boolean): void; children: React.ReactNode }) {
  useReturnFocus();
  // The app chooses when this appears: not under a pointer that was about to press something else.
  const settled = useSettled(of);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onDone(false)}
      title={title}
      about={about}
      footer={
        <>
          {/* What a stray Enter hits changes nothing. */}
          <Button autoFocus onClick={() => onDone(false)}>
            {no}
          </Button>
          <Button look="accent" disabled={disabled || !settled} onClick={() => onDone(true)}>
            {yes}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
