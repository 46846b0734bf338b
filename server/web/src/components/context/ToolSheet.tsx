import type { ReactNode } from "react";
import { Dialog } from "@/components/ui/Dialog";
import { Markdown } from "@/components/ui/Markdown";
import type { ListedTool } from "@/lib/api/client";
import { inputsOf } from "./inputs";
import { originText } from "./filter";
import { reachText, rendererText } from "./marks";
import { useTools } from "./queries";

/** ToolSheet is all that is known of a tool. */
export function ToolSheet({ tool, onClose }: { tool: ListedTool | null; onClose(): void }) {
  return (
    <Dialog open={tool !== null} onOpenChange={(open) => !open && onClose()} title={tool?.name ?? ""} about={tool && <code className="font-mono">{tool.tool_id}</code>} wide>
      {tool && <Body tool={tool} />}
    </Dialog>
  );
}

function Body({ tool }: { tool: ListedTool }) {
  const inputs = inputsOf(tool.input_schema);
  const groups = useTools().data;
  return (
    <div className="flex flex-col gap-4 text-[13px]">
      {tool.problem && <p className="rounded-lg border border-bad p-3 text-bad">{tool.problem}</p>}
      <Markdown text={tool.description} />
      <Facts
        facts={[
          ["Reach", reachText(tool.reach)],
          ["Asks", tool.requires_confirmation ? "Before each call" : ""],
          ["Renderer", rendererText(tool.renderer?.type)],
          ["Origin", originText(groups ?? [], tool)],
          ["Category", tool.category],
          ["Entrypoint", tool.entrypoint && <code className="font-mono break-all">{tool.entrypoint}</code>],
          ["Time limit", tool.timeout],
          ["Repeating", tool.annotations.idempotent ? "A second call changes nothing more" : "A second call acts again"],
          ["Progress", tool.streaming ? "Tells what it is doing while it runs" : ""],
        ]}
      />
      <Part title={inputs.length === 0 ? "Takes nothing" : "Takes"}>
        {inputs.length > 0 && (
          <dl className="flex flex-col gap-2">
            {inputs.map((input) => (
              <div key={input.name} className="border-l-2 border-border pl-3">
                <dt>
                  <code className="font-mono">{input.name}</code>
                  <span className="ml-2 text-muted">
                    {input.type}
                    {input.required ? ", needed" : ""}
                  </span>
                </dt>
                {input.description && <dd className="break-words text-muted">{input.description}</dd>}
              </div>
            ))}
          </dl>
        )}
      </Part>
      <Json title="Input schema" value={tool.input_schema} />
      {tool.output_schema !== undefined && <Json title="Output schema" value={tool.output_schema} />}
      {tool.renderers.length > 0 && <Json title={tool.renderers.length === 1 ? "Renderer's configuration" : "Renderers, the first that fits"} value={tool.renderers.map(({ renderer, priority, config }) => ({ renderer, priority, config }))} />}
    </div>
  );
}

export function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false)
        .map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Part({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <section>
      <h3 className="mb-1.5 font-semibold">{title}</h3>
      {children}
    </section>
  );
}

/** Json is a value to read, closed until asked for. */
export function Json({ title, value }: { title: string; value: unknown }) {
  return (
    <details>
      <summary className="cursor-pointer rounded text-muted hover:text-ink">{title}</summary>
      {/* A region that scrolls has to be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} role="region" aria-label={title} className="mt-1.5 max-h-80 overflow-auto rounded-md border border-border bg-bg p-3 font-mono text-[13px] leading-5">
        {typeof value === "string" ? value : JSON.stringify(value, null, 2)}
      </pre>
    </details>
  );
}
