import type { components } from "./schema";

type FaultBody = components["schemas"]["error_"];

/** ApiFault is a refusal of the server, in its own words. */
export class ApiFault extends Error {
  readonly status: number;
  readonly code: string;
  readonly hints: string[];
  /** what is wrong, one place a line */
  readonly detail: string[];

  constructor(status: number, body: Partial<FaultBody>) {
    super(body.message || `the server answered ${status}`);
    this.name = "ApiFault";
    this.status = status;
    this.code = body.code ?? "failed";
    // The hints name operations of the API; the texts of the remedies fit a page.
    this.hints = body.remedies?.filter((remedy) => remedy.kind !== "command").map((remedy) => remedy.text) ?? body.hints ?? [];
    this.detail = Array.isArray(body.detail) ? body.detail.filter((line) => typeof line === "string") : [];
  }
}

/** Unreachable is a request that got no answer: the network, or a server that isn't there. */
export class Unreachable extends Error {
  constructor(cause?: unknown) {
    super("fettle can't be reached", { cause });
    this.name = "Unreachable";
  }
}

/** faultOf reads the failure of a response, whatever its body is. */
export async function faultOf(response: Response): Promise<ApiFault> {
  try {
    const body: unknown = await response.json();
    const error = (body as { error?: Partial<FaultBody> } | null)?.error;
    return new ApiFault(response.status, typeof error === "object" && error ? error : {});
  } catch {
    return new ApiFault(response.status, {});
  }
}

/** explain is an error as a person reads it. */
export function explain(error: unknown): { message: string; hints: string[]; retry: boolean } {
  if (error instanceof ApiFault) return { message: error.message, hints: error.hints, retry: error.status >= 500 || error.status === 429 };
  if (error instanceof Unreachable) return { message: error.message, hints: ["is `fettle serve` still running?"], retry: true };
  return { message: error instanceof Error ? error.message : String(error), hints: [], retry: true };
}
