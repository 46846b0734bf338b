import { address, fields, number, records, text, texts, type Fields } from "@/lib/workspace/read";
import { Badge, Capped, Facts, Listed, Nothing, Outside, Section, View, Words } from "../parts";

const SAMPLE = "Sample data: these articles are invented";

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
          { name: "Authors", value: text(a.authors) || texts(a.authors).join(", ") },
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
        {articles.length === 0 ? <Nothing>No article matches.</Nothing> : <Capped items={articles} className="gap-4" step={20} render={(a) => <Found article={a} />} />}
      </Section>
    </View>
  );
}

function Found({ article }: { article: Fields }) {
  const abstract = text(article.abstract, 40_000);
  return (
    <article className="border-b border-border pb-4">
      <h4 className="font-medium break-words">
        <Outside href={address(article.url)}>{text(article.title) || "Without a title"}</Outside>
      </h4>
      <p dir="auto" className="mt-1 text-[13px] break-words text-muted">
        {[firstOf(text(article.authors)), text(article.journal, 300), text(article.publication_date ?? article.year, 60), text(article.pmid, 40) && `PMID ${text(article.pmid, 40)}`].filter(Boolean).join(" · ")}
      </p>
      {abstract && (
        <details className="mt-1">
          <summary className="cursor-pointer rounded text-[13px] text-accent-ink">Abstract</summary>
          <Words className="mt-1">{abstract}</Words>
        </details>
      )}
    </article>
  );
}

function firstOf(authors: string): string {
  const names = authors.split(", ");
  return names.length <= 3 ? authors : `${names[0]} and ${names.length - 1} others`;
}
