import { Words } from "@/components/ui/Words";
import { explain, ApiFault } from "@/lib/api/fault";
import { cn } from "@/lib/cn";
import { problemOf } from "./consent";

/** Refused says why a bundle can't be imported: what is wrong, place by place. */
export function Refused({ error, name }: { error: unknown; name: string }) {
  const { message, hints } = explain(error);
  const detail = error instanceof ApiFault ? error.detail : [];
  return (
    <div role="alert" className="flex flex-col gap-3 text-[13px]">
      {/* The server knows an upload by a name of its own. */}
      <p className="break-words">{message.replace(/^upload-\d+\.(zip|tar\.gz)\b/, name)}</p>
      {detail.length > 0 && <Problems lines={detail} />}
      {hints.map((hint) => (
        <p key={hint} className="text-muted">
          <Words>{hint}</Words>
        </p>
      ))}
      <p className="text-muted">Nothing was installed.</p>
    </div>
  );
}

export function Problems({ lines }: { lines: string[] }) {
  return (
    <ul className="flex flex-col gap-1.5">
      {lines.map(problemOf).map((problem, i) => (
        <li key={i} className="rounded-md border border-border bg-bg px-3 py-2">
          {problem.place && <span className="mr-2 font-mono text-muted">{problem.place}</span>}
          {problem.level && <span className={cn("mr-2", problem.level === "error" ? "text-bad" : "text-warn")}>{problem.level}</span>}
          <span className="break-words">{problem.text}</span>
        </li>
      ))}
    </ul>
  );
}
