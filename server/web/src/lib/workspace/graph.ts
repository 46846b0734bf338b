import { fields, list, records, text } from "./read";

export interface GraphNode {
  id: string;
  label: string;
  kind: string;
  about: string;
  fields: Record<string, unknown>;
}

export interface GraphEdge {
  from: string;
  to: string;
  label: string;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  /** nodes beyond those that can be drawn */
  more: number;
}

const maxNodes = 250;
const maxEdges = 1_000;

/** readGraph reads nodes (or steps) and edges in the forms that tools give them. */
export function readGraph(data: unknown): Graph {
  const given = fields(fields(data).graph ?? fields(data).workflow ?? data);
  const source = given.nodes ?? given.steps;
  const named = Array.isArray(source) ? source : Object.entries(fields(source)).map(([id, node]) => ({ id, ...fields(node) }));
  const all: GraphNode[] = [];
  const seen = new Set<string>();
  for (const [i, entry] of named.slice(0, 20_000).entries()) {
    const f = typeof entry === "string" ? { id: entry } : fields(entry);
    const id = text(f.id ?? f.key ?? f.name, 200) || String(i + 1);
    if (seen.has(id)) continue;
    seen.add(id);
    const inner = fields(f.data);
    all.push({
      id,
      label: text(f.label ?? f.name ?? f.title ?? inner.label, 200) || id,
      kind: text(f.type ?? f.node_type ?? f.kind ?? (f.tool ? "tool" : f.agent ? "agent" : ""), 60),
      about: text(f.description ?? f.about ?? inner.description),
      fields: f,
    });
  }
  const nodes = all.slice(0, maxNodes);
  const kept = new Set(nodes.map((n) => n.id));
  const edges: GraphEdge[] = [];
  const add = (from: string, to: string, label = "") => {
    if (kept.has(from) && kept.has(to) && edges.length < maxEdges && !edges.some((e) => e.from === from && e.to === to && e.label === label)) edges.push({ from, to, label });
  };
  const connections = list(given.edges ?? given.links ?? given.connections);
  for (const e of connections.slice(0, 5_000)) {
    if (Array.isArray(e)) add(text(e[0], 200), text(e[1], 200), text(e[2], 100));
    else {
      const f = fields(e);
      add(text(f.from ?? f.source ?? f.from_node, 200), text(f.to ?? f.target ?? f.to_node, 200), text(f.label ?? f.condition, 100));
    }
  }
  for (const node of nodes) {
    for (const before of [...list(node.fields.depends_on), ...list(node.fields.after)].slice(0, 100)) add(text(before, 200), node.id);
    for (const after of (typeof node.fields.next === "string" ? [node.fields.next] : list(node.fields.next)).slice(0, 100)) add(node.id, text(after, 200));
  }
  // Steps in a list, with nothing said of their order, follow each other.
  if (edges.length === 0 && given.nodes === undefined && records(source).length > 1) nodes.slice(1).forEach((n, i) => add(nodes[i]?.id ?? "", n.id));
  return { nodes, edges, more: all.length - nodes.length };
}

export interface Placed extends GraphNode {
  x: number;
  y: number;
  layer: number;
}

export interface Layout {
  nodes: Placed[];
  edges: (GraphEdge & { path: string; middle: { x: number; y: number } })[];
  width: number;
  height: number;
}

export const box = { width: 176, height: 52, gapX: 28, gapY: 56, pad: 28 };

/** layOut puts nodes into layers, each below those that lead to it. */
export function layOut(graph: Graph): Layout {
  const layers = layersOf(graph);
  const widest = Math.max(1, ...layers.map((l) => l.length));
  const width = 2 * box.pad + widest * box.width + (widest - 1) * box.gapX;
  const place = new Map<string, Placed>();
  const byId = new Map(graph.nodes.map((n) => [n.id, n]));
  layers.forEach((layer, y) => {
    const own = layer.length * box.width + (layer.length - 1) * box.gapX;
    layer.forEach((id, i) => {
      const node = byId.get(id);
      if (node) place.set(id, { ...node, layer: y, x: (width - own) / 2 + i * (box.width + box.gapX), y: box.pad + y * (box.height + box.gapY) });
    });
  });
  let lanes = 0;
  const edges = graph.edges.flatMap((e) => {
    const from = place.get(e.from);
    const to = place.get(e.to);
    if (!from || !to) return [];
    return [{ ...e, ...(from.layer < to.layer ? down(from, to) : around(from, to, width - box.pad / 2 + 10 * (lanes++ % 12))) }];
  });
  return { nodes: [...place.values()], edges, width: width + 10 * Math.min(lanes, 12), height: 2 * box.pad + layers.length * box.height + Math.max(0, layers.length - 1) * box.gapY };
}

interface Line {
  path: string;
  middle: { x: number; y: number };
}

function down(from: Placed, to: Placed): Line {
  const [x1, y1] = [from.x + box.width / 2, from.y + box.height];
  const [x2, y2] = [to.x + box.width / 2, to.y];
  const bend = Math.min(60, (y2 - y1) / 2);
  return { path: `M${x1},${y1} C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}`, middle: { x: (x1 + x2) / 2, y: (y1 + y2) / 2 } };
}

/** around is a way back: out below, up beside all others, and in from above. */
function around(from: Placed, to: Placed, lane: number): Line {
  const [x1, y1] = [from.x + box.width / 2 + 24, from.y + box.height];
  const [x2, y2] = [to.x + box.width / 2 + 24, to.y];
  const [low, high] = [y1 + 16, y2 - 16];
  return {
    path: `M${x1},${y1} Q${x1},${low} ${x1 + 12},${low} L${lane - 8},${low} Q${lane},${low} ${lane},${low - 8} L${lane},${high + 8} Q${lane},${high} ${lane - 8},${high} L${x2 + 12},${high} Q${x2},${high} ${x2},${y2}`,
    middle: { x: lane - 24, y: (low + high) / 2 },
  };
}

/** layersOf are the nodes' ids by layer, in an order that crosses few edges. */
function layersOf({ nodes, edges }: Graph): string[][] {
  const next = new Map<string, string[]>(nodes.map((n) => [n.id, []]));
  for (const e of edges) if (e.from !== e.to) next.get(e.from)?.push(e.to);
  const order = forward(nodes, next);
  const depth = new Map<string, number>();
  for (const id of order.sorted) {
    const d = depth.get(id) ?? 0;
    depth.set(id, d);
    for (const to of next.get(id) ?? []) if (!order.back.has(id + "\0" + to)) depth.set(to, Math.max(depth.get(to) ?? 0, d + 1));
  }
  const layers: string[][] = [];
  for (const n of nodes) (layers[depth.get(n.id) ?? 0] ??= []).push(n.id);
  for (let i = 0; i < layers.length; i++) layers[i] ??= [];
  for (let sweep = 0; sweep < 4; sweep++) reorder(layers, edges, sweep % 2 === 0);
  return layers;
}

/** forward sorts nodes along their edges, and names the edges that lead back. */
function forward(nodes: GraphNode[], next: Map<string, string[]>): { sorted: string[]; back: Set<string> } {
  const state = new Map<string, "open" | "done">();
  const back = new Set<string>();
  const sorted: string[] = [];
  for (const start of nodes) {
    if (state.has(start.id)) continue;
    const stack: { id: string; at: number }[] = [{ id: start.id, at: 0 }];
    state.set(start.id, "open");
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      if (!top) break;
      const to = next.get(top.id)?.[top.at++];
      if (to === undefined) {
        state.set(top.id, "done");
        sorted.push(top.id);
        stack.pop();
      } else if (!state.has(to)) {
        state.set(to, "open");
        stack.push({ id: to, at: 0 });
      } else if (state.get(to) === "open") back.add(top.id + "\0" + to);
    }
  }
  return { sorted: sorted.reverse(), back };
}

/** reorder moves each node towards the middle of its neighbours in the layer before. */
function reorder(layers: string[][], edges: GraphEdge[], down: boolean) {
  const indexes = down ? layers.keys() : [...layers.keys()].reverse();
  for (const i of indexes) {
    const before = layers[down ? i - 1 : i + 1];
    const layer = layers[i];
    if (!before || !layer) continue;
    const at = new Map(before.map((id, n) => [id, n]));
    const sums = new Map<string, [number, number]>();
    for (const e of edges) {
      const [id, other] = down ? [e.to, e.from] : [e.from, e.to];
      const n = at.get(other);
      if (n === undefined) continue;
      const [sum, count] = sums.get(id) ?? [0, 0];
      sums.set(id, [sum + n, count + 1]);
    }
    const key = new Map(layer.map((id, n) => {
      const s = sums.get(id);
      return [id, s ? s[0] / s[1] : n];
    }));
    layer.sort((a, b) => (key.get(a) ?? 0) - (key.get(b) ?? 0));
  }
}
