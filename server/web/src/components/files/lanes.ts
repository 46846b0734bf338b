// Where each state of a timeline stands, and which lines pass it. Lane 0 is the way
// to the active state; what was undone, and other branches, stand beside it.

export interface Placed {
  lane: number;
  /** a line comes to the dot from above, in its lane */
  up: boolean;
  /** and goes on below */
  down: boolean;
  /** lanes whose lines pass this row */
  through: number[];
  /** lanes that end in this dot: what they hold began here */
  joins: number[];
}

interface Linked {
  id: string;
  parent_id?: string;
  active?: boolean;
  undone?: boolean;
}

/** lanesOf places states that are listed with the latest first. */
export function lanesOf(listed: Linked[]): Placed[] {
  const byId = new Map(listed.map((s) => [s.id, s]));
  // What an undo left came after what it took away; it goes on from before that.
  const states = listed.map((s) => {
    let parent = s.parent_id;
    for (let p = parent ? byId.get(parent) : undefined; !s.undone && p?.undone && parent; p = parent ? byId.get(parent) : undefined) parent = p.parent_id;
    return { ...s, parent_id: parent };
  });
  const shown = new Map(states.map((s) => [s.id, s]));
  const trunk = new Set<string>();
  for (let s = states.find((s) => s.active); s && !trunk.has(s.id); s = s.parent_id ? shown.get(s.parent_id) : undefined) trunk.add(s.id);
  const waits: (string | null)[] = []; // by lane: the state that its line goes down to
  return states.map((s) => {
    const here = waits.flatMap((id, lane) => (id === s.id ? [lane] : []));
    const lane = trunk.has(s.id) ? 0 : (here.find((l) => l > 0) ?? freeLane(waits));
    const up = here.includes(lane);
    const joins = here.filter((l) => l !== lane);
    for (const l of here) waits[l] = null;
    const through = waits.flatMap((id, l) => (id !== null && l !== lane ? [l] : []));
    waits[lane] = s.parent_id ?? null;
    return { lane, up, down: s.parent_id !== undefined, through, joins };
  });
}

function freeLane(waits: (string | null)[]): number {
  for (let lane = 1; lane < waits.length; lane++) if (waits[lane] === null || waits[lane] === undefined) return lane;
  return Math.max(1, waits.length);
}
