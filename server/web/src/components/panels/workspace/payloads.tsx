import { lazy, type ComponentType } from "react";
import { registerPayloadHandler, type RenderOptions } from "@/lib/payloadHandlers";

// Document 001's payloads and how they are shown everywhere. A card is loaded
// when one of its kind is shown.

type Card = ComponentType<{ data: unknown }>;

function cards<K extends string>(load: () => Promise<Record<K, Card>>, name: K): Card {
  const Lazy = lazy(async () => ({ default: (await load())[name] as Card }));
  return ({ data }) => <Lazy data={data} />;
}

const pubmed = () => import("./cards/pubmed");
const streams = () => import("./cards/streams");
const suggestions = () => import("./cards/suggestions");

function register(type: string, Shown: Card, renderOptions?: RenderOptions) {
  registerPayloadHandler(type, { render: (data) => <Shown data={data} />, renderOptions });
}

register("pubmed_article", cards(pubmed, "PubMedArticleCard"), { panelWidth: "550px", headerTitle: "PubMed Article" });
register("pubmed_search_results", cards(pubmed, "PubMedSearchResultsCard"), { panelWidth: "800px", headerTitle: "PubMed Search Results" });
register("schema_proposal", cards(streams, "SchemaProposalCard"), { headerTitle: "Proposed changes" });
register("validation_results", cards(streams, "ValidationResultsCard"), { headerTitle: "Validation" });
register("presentation_categories", cards(streams, "PresentationCategoriesCard"), { headerTitle: "Categories" });
register("stream_template", cards(streams, "StreamTemplateCard"), { headerTitle: "Stream" });
register("stream_suggestions", cards(suggestions, "StreamSuggestionsCard"), { headerTitle: "Suggested streams" });
register("portfolio_insights", cards(streams, "PortfolioInsightsCard"), { headerTitle: "Portfolio" });
register("quick_setup", cards(streams, "QuickSetupCard"), { headerTitle: "Quick setup" });
register("suggested_values", cards(suggestions, "SuggestedValuesCard"), { headerTitle: "Suggested answers" });
register("suggested_actions", cards(suggestions, "SuggestedActionsCard"), { headerTitle: "Suggested actions" });
