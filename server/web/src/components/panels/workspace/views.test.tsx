import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { createElement, Suspense, type ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { getPayloadHandler } from "@/lib/payloadHandlers";
import { workspacePayload } from "@/lib/workspace/payload";
import recorded from "@/lib/workspace/testdata/payloads.json";
import { getPayloadView, getWorkflowView } from "@/lib/workspace/workspaceRegistry";
import type { WorkspacePayload } from "@/types/chat";
import StandardPayloadView from "./StandardPayloadView";
import { configOf, payloadTypeConfig } from "./types";
import WorkflowExecutionView from "./workflows/WorkflowExecutionView";
import { WithData } from "./WithData";
import "./payloads";

const send = vi.fn();
vi.mock("@/hooks/useGeneralChat", () => ({
  useChat: (select: (chat: unknown) => unknown) => select({ chatId: null, messages: [], turn: null, starting: false, send, reload: vi.fn() }),
}));

afterEach(cleanup);

function Around({ children }: { children: ReactNode }) {
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  return (
    <QueryClientProvider client={client}>
      <Suspense fallback="loading">{children}</Suspense>
    </QueryClientProvider>
  );
}

/** draw shows a payload as the panel does: by its handler, or by its view. */
function draw(payload: WorkspacePayload) {
  const handler = getPayloadHandler(payload.type);
  const shown = handler ? handler.render(payload.data, {}) : createElement(getPayloadView(payload.type), { payload });
  return render(<Around>{shown}</Around>);
}

const all: Record<string, unknown> = recorded;
const real = (type: string): WorkspacePayload => {
  const p = workspacePayload(all[type]);
  if (!p) throw new Error(`nothing was recorded of ${type}`);
  return p;
};

test.each([
  ["review_analysis", ["43", "not recommended", "9 short five-star reviews within 4 days of 2026-01-14"]],
  ["review_collection", ["QuickShift Moving Co", "My sofa came back scratched."]],
  ["entity_verification", ["Several may be meant", "Northside Movers", "Careful Hands Movers"]],
  ["research_result", ["planned naps", "melatonin", "nothing found"]],
  ["research", ["What lowers errors and fatigue on night shifts?", "forward rotation"]],
  ["pubmed_search_results", ["99000006"]],
  ["pubmed_article", ["99000006"]],
  ["schema_proposal", ["Sleep and memory in shift workers", "Exclusion criteria"]],
  ["validation_results", ["Queries", "Ask for the words in title or abstract, with [tiab]."]],
  ["presentation_categories", ["What helps", "bright light"]],
  ["stream_template", ["Memory consolidation", "melatonin, drug"]],
  ["stream_suggestions", ["Wearables that measure sleep"]],
  ["portfolio_insights", ["Two streams read the same journals"]],
  ["quick_setup", ["Planned naps", "Weekly"]],
])("%s shows what its tool gave", async (type, says) => {
  const { container } = draw(real(type));
  for (const text of says) await vi.waitFor(() => expect(container.textContent).toContain(text), 10_000);
});

test("articles are sorted by the header that is clicked", async () => {
  const articles = [
    { title: "Beta", pmid: "9", authors: ["Quist A", "Roe B"] },
    { title: "alpha", pmid: "10", authors: "Adler C" },
  ];
  draw({ type: "pubmed_search_results", title: "", content: "", data: { query: "naps", articles } });
  const titles = () => screen.getAllByRole("row").slice(1).map((row) => row.querySelector("td")?.textContent);
  await vi.waitFor(() => expect(titles()).toEqual(["Beta", "alpha"]));
  const header = (name: string) => screen.getByRole("columnheader", { name });
  const click = (name: string) => fireEvent.click(screen.getByRole("button", { name }));
  expect(screen.getByText(/Quist A/)).toBeTruthy();
  click("Title");
  expect(titles()).toEqual(["alpha", "Beta"]);
  expect(header("Title").getAttribute("aria-sort")).toBe("ascending");
  click("PMID"); // by number, not by letters
  expect(titles()).toEqual(["Beta", "alpha"]);
  click("PMID");
  expect(titles()).toEqual(["alpha", "Beta"]);
  expect(header("PMID").getAttribute("aria-sort")).toBe("descending");
  expect(header("Title").getAttribute("aria-sort")).toBe("none");
  click("PMID");
  expect(titles()).toEqual(["Beta", "alpha"]);
});

const odd: unknown[] = [
  undefined, null, 5, "text", [], {}, [null, [1], { a: 1 }],
  { business: [1], verdict: { score: "NaN", concerns: [null, { x: 1 }] }, overview: { periods: [null, {}], distribution: [{ stars: {}, count: -1 }, { stars: 5, count: "9" }] }, negative: { themes: [{ quotes: 3 }] }, credibility: 7 },
  { reviews: [null, {}, { rating: 1e308, text: { a: 1 } }], candidates: [{}], findings: [{ evidence: [{ citation: "x" }] }], sources: [{}], nodes: [null, 3], edges: [[]], rows: [null, 1, [2]], columns: [null, {}] },
  { agent: { prompt: ["a"], tools: "one" }, changes: [], proposed_changes: { a: null, b: [{ c: 1 }] }, checks: [{}], categories: [{}], suggestions: [{}], insights: [{}], semantic_space: [], articles: [{ authors: 5 }], suggested_values: [{}], suggested_actions: [{}] },
];

test.each(Object.keys(payloadTypeConfig))("%s breaks on no data", async (type) => {
  for (const data of odd) {
    const { container, unmount } = draw({ type, title: "", content: "", data });
    await vi.waitFor(() => expect(container.textContent).not.toBe("loading"), 10_000);
    unmount();
  }
});

test("what is unknown, or called like a part of every object, is shown as text and data", () => {
  for (const type of ["nobody_knows", "constructor", "__proto__", "toString"]) expect(getPayloadView(type)).toBe(StandardPayloadView);
  expect(getWorkflowView("kit:odd")).toBe(WorkflowExecutionView);
  expect(getWorkflowView("reviews:vendor_finder")).not.toBe(WorkflowExecutionView);
  expect(configOf("my_new_type").label).toBe("My new type");
  expect(configOf("table", { type: "table", style: { icon: "zap", colour: "#2F7AC4", label: "Figures" } })).toMatchObject({ label: "Figures", tint: "#2F7AC4", bg: payloadTypeConfig.table?.bg });
});

test("ten megabytes are shown in parts", () => {
  const { container } = draw({ type: "draft", title: "", content: "x".repeat(10 << 20) });
  expect(container.textContent.length).toBeLessThan(100_000);
  expect(screen.getByRole("button", { name: /Show more of/ })).toBeTruthy();
});

test("a link of a stranger's leads to the web or nowhere", async () => {
  const article = { ...recorded.pubmed_article.data, title: "An article", url: "javascript:alert(1)" };
  const { container } = draw({ type: "pubmed_article", title: "", content: "", data: article });
  await vi.waitFor(() => expect(container.textContent).toContain("An article"), 10_000);
  for (const link of container.querySelectorAll("a")) expect(link.href).toMatch(/^https:/);
});

test("choosing who is meant is an answer", async () => {
  draw(real("entity_verification"));
  fireEvent.click(await screen.findByRole("button", { name: "I mean Northside Movers" }, { timeout: 10_000 }));
  expect(send).toHaveBeenCalledWith("I mean Northside Movers, Portland, OR.", "value_selected");
});

test.each([
  ["stream_suggestions", [{ name: "Bright light", rationale: "Many trials" }], "Many trials"],
  ["presentation_categories", [{ name: "Interventions", topics: ["naps"] }], "naps"],
  ["validation_results", { errors: ["No topic is given"], warnings: [{ field: "queries", message: "Only one query" }] }, "No topic is given"],
  ["validation_results", { errors: ["No topic is given"], warnings: [{ field: "queries", message: "Only one query" }] }, "Only one query"],
  ["portfolio_insights", { gaps: ["Nothing on shift length"], overlaps: [{ title: "Naps", description: "In two streams" }] }, "Nothing on shift length"],
  ["portfolio_insights", { gaps: ["Nothing on shift length"], overlaps: [{ title: "Naps", description: "In two streams" }] }, "In two streams"],
])("%s draws each form that its schema allows", async (type, data, says) => {
  draw({ type, title: "", content: "", data });
  expect(await screen.findByText(says)).toBeTruthy();
});

test("data are a tab of each view, and shown by themselves where the view drew none of them", async () => {
  render(
    <Around>
      <WithData data={{ odd: "Zwieback" }}>
        <p>The plan is empty.</p>
      </WithData>
    </Around>,
  );
  expect(screen.queryByText(/Zwieback/)).toBeNull();
  expect(await screen.findByText(/Zwieback/)).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "View" }));
  expect(screen.queryByText(/Zwieback/)).toBeNull();
});
