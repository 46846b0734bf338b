import { useMemo, useState } from "react";
import { Button } from "@/components/ui/Button";
import { sortRows, type Sorting, type Table } from "@/lib/workspace/table";
import { address, fields, number, records, text, texts, type Fields } from "@/lib/workspace/read";
import { ariaSort, SortButton } from "../SortButton";
import { Badge, Facts, Listed, Nothing, Outside, Section, View, Words } from "../parts";

const SAMPLE = "Sample data: these articles are invented";

/** authorsOf are the names of an article's authors, which some servers give as a list. */
function authorsOf(article: Fields): string {
  return text(article.authors) || texts(article.authors).join(", ");
}

function doiAddress(doi: string): string {
  return doi ? `https://doi.org/${doi.split("/").map(encodeURIComponent).join("/")}` : "";
}

/** PubMedArticleCard is one article (document 001: pubmed_article). */
export function PubMedArticleCard({ data }: { data: unknown }) {
  const a = fields(data);
  return (
    <View>
      {a.source === "sample" && <Badge tone="warn">{SAMPLE}</Badge>}
      <h3 dir="auto" className="text-base font-semibold break-words">
        <Outside href={a.url}>{text(a.title) || "Without a title"}</Outside>
      </h3>
      <Facts
        facts={[
          { name: "Authors", value: authorsOf(a) },
          { name: "Journal", value: text(a.journal) },
          { name: "Published", value: text(a.publication_date ?? a.year, 60) },
          { name: "PMID", value: <span className="font-mono">{text(a.pmid, 40)}</span> },
          { name: "DOI", value: text(a.doi) && <Outside href={doiAddress(text(a.doi, 300))}>{text(a.doi, 300)}</Outside> },
          { name: "PMC", value: text(a.pmcid, 60) },
          { name: "Kind", value: texts(a.publication_types).join(", ") },
        ]}
      />
      <Section title="Abstract">{text(a.abstract, 40_000) ? <Words className="leading-relaxed">{text(a.abstract, 40_000)}</Words> : <Nothing>It has none.</Nothing>}</Section>
      <Listed title="MeSH terms" values={texts(a.mesh_terms)} />
      <Listed title="Keywords" values={texts(a.keywords)} />
    </View>
  );
}

/** PubMedSearchResultsCard is what a search found (document 001: pubmed_search_results). */
export function PubMedSearchResultsCard({ data }: { data: unknown }) {
  const d = fields(data);
  const articles = records(d.articles ?? d.results);
  const total = number(d.total_results);
  return (
    <View>
      {d.source === "sample" && <Badge tone="warn">{SAMPLE}</Badge>}
      <Facts
        facts={[
          { name: "Asked", value: text(d.query) },
          { name: "Understood as", value: <span className="font-mono">{text(d.understood_as)}</span> },
        ].filter((f) => f.name === "Asked" || text(d.understood_as) !== "")}
      />
      <Section title="Articles" aside={total === undefined ? undefined : `${articles.length} of ${total.toLocaleString()}`}>
        {articles.length === 0 ? <Nothing>No article matches.</Nothing> : <ArticleTable articles={articles} />}
      </Section>
    </View>
  );
}

const columns = [
  { label: "Title", key: (a: Fields) => text(a.title) },
  { label: "Authors", key: authorsOf },
  { label: "Journal", key: (a: Fields) => text(a.journal, 300) },
  { label: "Published", key: (a: Fields) => text(a.publication_date ?? a.year, 60) },
  { label: "PMID", key: (a: Fields) => text(a.pmid, 40) },
];
const shownAtOnce = 50;

/** ArticleTable is a table of articles that a click on a header sorts. */
function ArticleTable({ articles }: { articles: Fields[] }) {
  const [by, setBy] = useState<Sorting | null>(null);
  const [most, setMost] = useState(shownAtOnce);
  const table = useMemo(() => tableOf(articles), [articles]);
  const sorted = useMemo(() => sortRows(table, table.rows, by), [table, by]);
  return (
    <div className="overflow-x-auto">
      <table aria-label="Articles" className="w-full min-w-[560px] border-collapse text-[13px]">
        <thead>
          <tr className="border-b border-border text-left">
            {columns.map((c, i) => (
              <th key={c.label} scope="col" aria-sort={ariaSort(by, i)} className="p-0">
                <SortButton label={c.label} column={i} sorting={by} onSort={setBy} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, most).map(({ index }) => (
            <Article key={index} article={articles[index] ?? {}} />
          ))}
        </tbody>
      </table>
      {sorted.length > most && (
        <Button size="small" className="mt-2" onClick={() => setMost(most + shownAtOnce)}>
          {`Show ${Math.min(shownAtOnce, sorted.length - most)} more`}
        </Button>
      )}
    </div>
  );
}

/** tableOf has the articles' columns for sorting. */
function tableOf(articles: Fields[]): Table {
  return {
    columns: columns.map(({ label }) => ({ key: label, label, numeric: label === "PMID" })),
    rows: articles.map((a, index) => ({ index, cells: columns.map((c) => c.key(a)) })),
    more: 0,
  };
}

function Article({ article }: { article: Fields }) {
  const abstract = text(article.abstract, 40_000);
  return (
    <tr className="border-b border-border/60 align-top">
      <td className="min-w-48 px-2 py-2 break-words">
        <Outside href={address(article.url)}>{text(article.title) || "Without a title"}</Outside>
        {abstract && (
          <details className="mt-1">
            <summary className="cursor-pointer rounded text-accent-ink">Abstract</summary>
            <Words className="mt-1">{abstract}</Words>
          </details>
        )}
      </td>
      <td dir="auto" className="px-2 py-2 break-words">{firstOf(authorsOf(article))}</td>
      <td dir="auto" className="px-2 py-2 break-words">{text(article.journal, 300)}</td>
      <td className="px-2 py-2 whitespace-nowrap tabular-nums">{text(article.publication_date ?? article.year, 60)}</td>
      <td className="px-2 py-2 font-mono">{text(article.pmid, 40)}</td>
    </tr>
  );
}

function firstOf(authors: string): string {
  const names = authors.split(", ");
  return names.length <= 3 ? authors : `${names[0]} and ${names.length - 1} others`;
}
