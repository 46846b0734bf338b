import { useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/Button";
import { useChatStore } from "@/hooks/useGeneralChat";
import { request } from "@/lib/api/client";
import { explain } from "@/lib/api/fault";
import { keep, token } from "@/lib/api/token";

/** TokenScreen says how the page is opened where it came without its token, or with an old one. */
export function TokenScreen() {
  const store = useChatStore();
  const client = useQueryClient();
  const [value, setValue] = useState("");
  const [problem, setProblem] = useState("");
  const wrong = token() !== "";

  async function use() {
    setProblem("");
    const was = token();
    // A whole address may be pasted as well as what is behind token= in it.
    keep(/token=([\w-]+)/.exec(value)?.[1] ?? value.trim());
    try {
      await request("/api/chats?limit=1");
    } catch (error) {
      keep(was);
      setProblem(explain(error).message);
      return;
    }
    store.getState().lock(false);
    void client.resetQueries();
    void store.getState().reopen();
  }

  return (
    <div className="flex h-full items-center justify-center p-4">
      <form
        className="flex w-full max-w-md flex-col gap-3"
        onSubmit={(e) => {
          e.preventDefault();
          if (value.trim()) void use();
        }}
      >
        <KeyRound className="size-6 text-muted" aria-hidden="true" />
        <h1 className="text-lg font-semibold">{wrong ? "This token isn't the server's" : "This page needs its token"}</h1>
        <p className="text-muted">
          Only who can read fettle's files may use it. <code className="font-mono text-[13px] text-ink">fettle serve --open</code> opens the page with the token;{" "}
          <code className="font-mono text-[13px] text-ink">fettle serve --print-url --check</code> prints the address of the server that runs.
        </p>
        <label className="flex flex-col gap-1 text-[13px]">
          Token, or the address with it
          <input
            type="password"
            autoComplete="off"
            value={value}
            onChange={(e) => setValue(e.target.value)}
            aria-describedby={problem ? "token-problem" : undefined}
            className="h-9 rounded-md border border-border bg-surface px-3 font-mono"
          />
        </label>
        {problem && <p id="token-problem" role="alert" className="text-[13px] text-bad">{problem}</p>}
        <Button type="submit" look="accent" className="self-start" disabled={!value.trim()}>
          Open
        </Button>
      </form>
    </div>
  );
}
