// Where each state of a timeline stands, and which lines pass it. Lane 0 is the way
// to the active state; what was undone, and other branches, stand beside it.

/** Line is a line of one lane; a dashed one leads down from what was undone. */
export interface Line {
  lane: number;
  dashed: boolean;
}

export interface Placed {
  lane: number;
  /** the line that comes to the dot from above, in its lane */
  up?: Line;
  /** and the one that goes on below */
  down?: Line;
  /** lines that pass this row */
  through: Line[];
  /** lines that end in this dot: what they hold began here */
  joins: Line[];
  /** the state that this one came from, where it isn't the one in the next row */
  from?: number;
}

interface Linked {
  id: string;
  parent_id?: string;
  active?: boolean;
  undone?: boolean;
}

interface Waiting {
  id: string;
  dashed: boolean;
}

/** lanesOf places states that are listed with the latest first. */
export function lanesOf(listed: Linked[]): Placed[] {
  const states = linked(listed);
  const at = new Map(states.map((s, i) => [s.id, i]));
  const trunk = new Set<string>();
  for (let s = states.find((s) => s.active); s && !trunk.has(s.id); s = s.parent_id ? states[at.get(s.parent_id) ?? -1] : undefined) trunk.add(s.id);
  const waits: (Waiting | null)[] = []; // by lane: the state that its line goes down to
  return states.map((s, i) => {
    const here = lines(waits, (w) => w.id === s.id);
    const lane = trunk.has(s.id) ? 0 : (here.find((l) => l.lane > 0)?.lane ?? freeLane(waits));
    for (const l of here) waits[l.lane] = null;
    const through = lines(waits, (_, l) => l !== lane);
    const parent = s.parent_id === undefined ? undefined : at.get(s.parent_id);
    // One that isn't listed, or not below, has no dot that a line could lead to.
    const below = parent !== undefined && parent > i;
    waits[lane] = below && s.parent_id ? { id: s.parent_id, dashed: s.undone ?? false } : null;
    return {
      lane,
      up: here.find((l) => l.lane === lane),
      down: s.parent_id === undefined ? undefined : { lane, dashed: s.undone ?? false },
      through,
      joins: here.filter((l) => l.lane !== lane),
      from: below && parent !== i + 1 ? parent : undefined,
    };
  });
}

/** linked has what an undo left go on from before that what it took away: it came after it, but not out of it. */
function linked(listed: Linked[]): Linked[] {
  const byId = new Map(listed.map((s) => [s.id, s]));
  return listed.map((s) => {
    let parent = s.parent_id;
    for (let p = parent ? byId.get(parent) : undefined; !s.undone && p?.undone && parent; p = parent ? byId.get(parent) : undefined) parent = p.parent_id;
    return { ...s, parent_id: parent };
  });
}

function lines(waits: (Waiting | null)[], which: (w: Waiting, lane: number) => boolean): Line[] {
  return waits.flatMap((w, lane) => (w && which(w, lane) ? [{ lane, dashed: w.dashed }] : []));
}

function freeLane(waits: (Waiting | null)[]): number {
  for (let lane = 1; lane < waits.length; lane++) if (!waits[lane]) return lane;
  return Math.max(1, waits.length);
}

/** mostLanes are drawn; the lines of more branches lie on the last of them. */
export const mostLanes = 6;

/** widthOf is how many lanes a list is drawn with. */
export function widthOf(placed: Placed[]): number {
  const used = placed.reduce((most, p) => Math.max(most, p.lane + 1), 1);
  return Math.min(used, mostLanes);
}
