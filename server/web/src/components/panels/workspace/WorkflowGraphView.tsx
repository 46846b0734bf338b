import { Minus, Plus } from "lucide-react";
import { useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { IconButton } from "@/components/ui/Button";
import { Empty } from "@/components/ui/States";
import { cn } from "@/lib/cn";
import { box, layOut, readGraph, type Layout, type Placed } from "@/lib/workspace/graph";
import { dataOf } from "@/lib/workspace/payload";
import { cut, words } from "@/lib/workspace/read";
import type { WorkspacePayload } from "@/types/chat";
import { JsonView } from "./JsonView";
import { Prose } from "./LongText";
import { Badge, Section, Words } from "./parts";

/** WorkflowGraphView draws what follows what. The same stands below it as text. */
export default function WorkflowGraphView({ payload }: { payload: WorkspacePayload }) {
  const data = dataOf(payload);
  const graph = useMemo(() => readGraph(data), [data]);
  const layout = useMemo(() => layOut(graph), [graph]);
  const [chosen, setChosen] = useState<string | null>(null);
  const [zoom, setZoom] = useState(1);
  const node = layout.nodes.find((n) => n.id === chosen);
  if (layout.nodes.length === 0) {
    return payload.content ? (
      <div className="p-4">
        <Prose text={payload.content} />
      </div>
    ) : (
      <Empty title="The workflow has no steps" />
    );
  }
  return (
    <div className="flex min-w-0 flex-col gap-4 p-4 text-sm">
      {payload.content && <Prose text={payload.content} />}
      <div className="flex items-center gap-1 text-[13px] text-muted">
        <span className="flex-1">
          {layout.nodes.length === 1 ? "1 step" : `${layout.nodes.length} steps`}, {layout.edges.length === 1 ? "1 connection" : `${layout.edges.length} connections`}
          {graph.more > 0 && `; ${graph.more} more steps aren't drawn`}
        </span>
        <IconButton label="Smaller" disabled={zoom <= 0.4} onClick={() => setZoom(zoom / 1.25)}>
          <Minus />
        </IconButton>
        <IconButton label="Larger" disabled={zoom >= 2.5} onClick={() => setZoom(zoom * 1.25)}>
          <Plus />
        </IconButton>
      </div>
      <Drawing layout={layout} zoom={zoom} chosen={chosen} onChoose={setChosen} label={payload.title || "Workflow"} />
      {node && (
        <Section title={node.label}>
          <div className="flex flex-col gap-2">
            {node.kind && <div><Badge>{words(node.kind)}</Badge></div>}
            {node.about && <Words>{node.about}</Words>}
            <JsonView value={node.fields} />
          </div>
        </Section>
      )}
      <details>
        <summary className="cursor-pointer rounded text-[13px] text-accent-ink">As text</summary>
        <ol className="mt-2 list-decimal pl-6">
          {layout.nodes.map((n) => (
            <li key={n.id} dir="auto" className="break-words">
              {n.label}
              <After node={n} layout={layout} />
            </li>
          ))}
        </ol>
      </details>
    </div>
  );
}

function After({ node, layout }: { node: Placed; layout: Layout }) {
  const name = new Map(layout.nodes.map((n) => [n.id, n.label]));
  const out = layout.edges.filter((e) => e.from === node.id);
  if (out.length === 0) return <span className="text-muted"> (an end)</span>;
  return <span className="text-muted"> leads to {out.map((e) => `${name.get(e.to) ?? e.to}${e.label && ` (${e.label})`}`).join(", ")}</span>;
}

const moves: Record<string, [number, number]> = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] };

/** neighbour is the node that an arrow leads to: the nearest one that way. */
function neighbour(nodes: Placed[], from: Placed, [dx, dy]: [number, number]): Placed | undefined {
  const that = nodes.filter((n) => (dx ? n.layer === from.layer && Math.sign(n.x - from.x) === dx : Math.sign(n.layer - from.layer) === dy));
  return that.sort((a, b) => Math.abs(a.layer - from.layer) * 10_000 + Math.abs(a.x - from.x) - (Math.abs(b.layer - from.layer) * 10_000 + Math.abs(b.x - from.x)))[0];
}

function Drawing({ layout, zoom, chosen, onChoose, label }: { layout: Layout; zoom: number; chosen: string | null; onChoose(id: string): void; label: string }) {
  const id = useId();
  const svg = useRef<SVGSVGElement>(null);
  const [at, setAt] = useState(layout.nodes[0]?.id ?? "");
  const current = layout.nodes.some((n) => n.id === at) ? at : layout.nodes[0]?.id;
  const onKeyDown = (e: KeyboardEvent, node: Placed) => {
    const move = moves[e.key];
    if (move) {
      e.preventDefault();
      const to = neighbour(layout.nodes, node, move);
      if (to) svg.current?.querySelector<SVGGElement>(`[data-node="${layout.nodes.indexOf(to)}"]`)?.focus();
    } else if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      onChoose(node.id);
    }
  };
  return (
    <div className="overflow-x-auto rounded-md border border-border bg-surface">
      <svg
        ref={svg}
        role="group"
        aria-label={`${label}: arrows move between steps`}
        width={layout.width * zoom}
        height={layout.height * zoom}
        viewBox={`0 0 ${layout.width} ${layout.height}`}
        className="mx-auto block"
      >
        <defs>
          <marker id={`${id}-head`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
            <path d="M0,0 L8,4 L0,8 z" className="fill-muted" />
          </marker>
        </defs>
        {layout.edges.map((e, i) => (
          <g key={i} aria-hidden="true">
            <path d={e.path} fill="none" strokeWidth="1.5" className="stroke-muted" markerEnd={`url(#${id}-head)`} />
            {e.label && (
              <text x={e.middle.x} y={e.middle.y} textAnchor="middle" fontSize="13" strokeWidth="4" paintOrder="stroke" className="fill-muted stroke-surface">
                {cut(e.label, 24)}
              </text>
            )}
          </g>
        ))}
        {layout.nodes.map((n, i) => (
          <g
            key={n.id}
            data-node={i}
            role="button"
            aria-pressed={n.id === chosen}
            tabIndex={n.id === current ? 0 : -1}
            onFocus={() => setAt(n.id)}
            onClick={() => onChoose(n.id)}
            onKeyDown={(e) => onKeyDown(e, n)}
            className="group outline-none"
          >
            <title>{[n.label, n.kind].filter(Boolean).join(", ")}</title>
            <rect
              x={n.x}
              y={n.y}
              width={box.width}
              height={box.height}
              rx="8"
              className={cn("fill-bg group-hover:fill-raised group-focus-visible:stroke-accent-ink group-focus-visible:[stroke-width:2.5]", n.id === chosen ? "stroke-accent" : "stroke-muted")}
            />
            <text aria-hidden="true" x={n.x + box.width / 2} y={n.y + (n.kind ? 22 : 31)} textAnchor="middle" fontSize="14" className="fill-ink">
              {cut(n.label, 21)}
            </text>
            {n.kind && (
              <text aria-hidden="true" x={n.x + box.width / 2} y={n.y + 41} textAnchor="middle" fontSize="13" className="fill-muted">
                {cut(n.kind, 22)}
              </text>
            )}
          </g>
        ))}
      </svg>
    </div>
  );
}
